#include "bind.hpp"
#include "continuum.hpp"

namespace nb = nanobind;

namespace noregret {

using continuum::Net;

void bind_nets(nb::module_& m) {
    nb::module_ l = m.def_submodule("lms");
    CONSTANT(l, lms, TILE), CONSTANT(l, lms, COUNT), CONSTANT(l, lms, MEAN);
    CONSTANT(l, lms, SPREAD), CONSTANT(l, lms, LAST), CONSTANT(l, lms, FACTS);
    CONSTANT(l, lms, STEPS);
    l.def("remember", &lms::remember);
    l.def("oldest", &lms::oldest);
    l.def("follow", &lms::follow);
    l.def("outputs", &lms::outputs);

    nb::module_ c = m.def_submodule("continuum");
    CONSTANT(c, continuum, PRIOR), CONSTANT(c, continuum, PAID), CONSTANT(c, continuum, CELLS);
    CONSTANT(c, continuum, RAW), CONSTANT(c, continuum, CLIPPED);
    CONSTANT(c, continuum, WEIGHT), CONSTANT(c, continuum, LOGS), CONSTANT(c, continuum, SAID);
    CONSTANT(c, continuum, FRESH), CONSTANT(c, continuum, MATCH);
    CONSTANT(c, continuum, FORECAST), CONSTANT(c, continuum, AT), CONSTANT(c, continuum, RANGE);
    CONSTANT(c, continuum, GAME), CONSTANT(c, continuum, RATE), CONSTANT(c, continuum, LOSS);
    CONSTANT(c, continuum, MIX), CONSTANT(c, continuum, WORST), CONSTANT(c, continuum, ERROR);
    CONSTANT(c, continuum, COUNTS), CONSTANT(c, continuum, BOX), CONSTANT(c, continuum, PEAK);
    CONSTANT(c, continuum, BUDGETS), CONSTANT(c, continuum, BOOK), CONSTANT(c, continuum, OK);
    CONSTANT(c, continuum, OUTSIDE), CONSTANT(c, continuum, FULL);
    CONSTANT(c, continuum, WIDTH), CONSTANT(c, continuum, LIMIT);
    c.def("weigh", &continuum::weigh);
    c.def("merged", &continuum::merged);
    c.def("clip", &continuum::clip);
    c.def("settle_all", &continuum::settle_all);
    c.def("predict", [](Cube points, Cube coefs, Block cells, Block book, Block rates, Whole levels,
                        Block work, Block said, Row at, Strided x) {
        Net net{points, coefs, {}, cells, {}, book, rates, levels, work, said, {}, {}, at};
        return continuum::predict(net, x);
    });
    c.def("learn", [](Cube points, Cube coefs, Block facts, Block cells, Cube finer, Block book,
                      Block rates, Whole levels, Block work, Block said, Cube heard, Cube lift,
                      Row at, Strided x, double y) {
        Net net{points, coefs, facts, cells, finer, book, rates, levels, work, said, heard, lift, at};
        return continuum::learn(net, x, y);
    });
    c.def("replay", [](Cube points, Cube coefs, Block facts, Block cells, Cube finer, Block book,
                       Block rates, Whole levels, Block work, Block said, Cube heard, Cube lift,
                       Row at, Block xs, Row ys, Row forecasts) {
        Net net{points, coefs, facts, cells, finer, book, rates, levels, work, said, heard, lift, at};
        return continuum::replay(net, xs, ys, forecasts);
    });
}

}  // namespace noregret
