#include "bind.hpp"
#include "continuum.hpp"
#include "one_by_one.hpp"

namespace nb = nanobind;

namespace noregret {

using continuum::Net;

// The rounds of K-LMS-NET for Gaussian widths, as long as there is room.
class NetRounds : public Rounds {
  public:
    NetRounds(Reader& reader, nb::object points, nb::object coefs, nb::object facts,
              nb::object cells, nb::object finer, nb::object book, nb::object rates,
              nb::object levels, nb::object work, nb::object said, nb::object heard,
              nb::object lift, nb::object at)
        : held_(reader, points, coefs, facts, cells, finer, book, rates, levels, work, said, heard,
                lift, at),
          net_{array<Cube>(points, "points"), array<Cube>(coefs, "coefs"),
               array<Block>(facts, "facts"), array<Block>(cells, "cells"),
               array<Cube>(finer, "finer"), array<Block>(book, "book"),
               array<Block>(rates, "rates"), array<Whole>(levels, "levels"),
               array<Block>(work, "work"), array<Block>(said, "said"),
               array<Cube>(heard, "heard"), array<Cube>(lift, "lift"), array<Row>(at, "at")} {}

    double look(PyObject* x) override {
        Strided row;
        return held_.reader.read(x, row) ? continuum::predict(net_, row) : NaN;
    }

    bool takes(double y) override { return continuum::takes(net_, y); }

    void settle(double y) override { continuum::learn(net_, net_.seen(), y); }

  private:
    Held held_;
    Net net_;
};

void bind_net_rounds(nb::module_& r) {
    using O = nb::object;
    nb::class_<NetRounds, Rounds>(r, "NetRounds")
        .def(nb::init<Reader&, O, O, O, O, O, O, O, O, O, O, O, O, O>());
}

void bind_nets(nb::module_& m) {
    nb::module_ l = m.def_submodule("lms");
    CONSTANT(l, lms, TILE), CONSTANT(l, lms, COUNT), CONSTANT(l, lms, MEAN);
    CONSTANT(l, lms, SPREAD), CONSTANT(l, lms, LAST), CONSTANT(l, lms, FACTS);
    CONSTANT(l, lms, STEPS);
    l.def("remember", &lms::remember);
    l.def("oldest", &lms::oldest);
    l.def("follow", &lms::follow);
    l.def("outputs", [](Cube points, Cube coefs, Size size, Row x, Block rates, Whole levels,
                        Block work, Row out) {
        return lms::outputs(points, coefs, size, x, rates, levels, work, out);
    });

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
