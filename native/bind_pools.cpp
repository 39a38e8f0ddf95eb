#include "bind.hpp"
#include "grid.hpp"
#include "mixing.hpp"

namespace nb = nanobind;

namespace noregret {

void bind_pools(nb::module_& m) {
    nb::module_ p = m.def_submodule("mixing");
    CONSTANT(p, mixing, PRIOR), CONSTANT(p, mixing, EXCESS), CONSTANT(p, mixing, PAID);
    CONSTANT(p, mixing, TRACK), CONSTANT(p, mixing, COURSE), CONSTANT(p, mixing, TURNS);
    CONSTANT(p, mixing, SAID), CONSTANT(p, mixing, COST), CONSTANT(p, mixing, MASS);
    CONSTANT(p, mixing, STAY), CONSTANT(p, mixing, AWAKE), CONSTANT(p, mixing, POOL_ROWS);
    CONSTANT(p, mixing, LOSS), CONSTANT(p, mixing, MIX), CONSTANT(p, mixing, OVER);
    CONSTANT(p, mixing, WORST), CONSTANT(p, mixing, SEEN), CONSTANT(p, mixing, RANGE);
    CONSTANT(p, mixing, WIDTH), CONSTANT(p, mixing, RATE), CONSTANT(p, mixing, ROUNDS);
    CONSTANT(p, mixing, GAME), CONSTANT(p, mixing, BEST), CONSTANT(p, mixing, CHANGES);
    CONSTANT(p, mixing, REACH), CONSTANT(p, mixing, BOOK_ROWS);
    CONSTANT(p, mixing, SUBSTITUTED), CONSTANT(p, mixing, AVERAGED);
    CONSTANT(p, mixing, LIKELIHOOD), CONSTANT(p, mixing, NARROW);
    p.def("wake", [](Block pool) { return mixing::wake(pool); });
    p.def("leader", [](Block pool, double charged) { return mixing::leader(pool, charged); });
    p.def("forecast", [](Block pool, Block book) { return mixing::forecast(pool, book); });
    p.def("settle", &mixing::settle);
    p.def("shares", &mixing::shares);
    p.def("replay", &mixing::replay);
    p.def("survey", &mixing::survey);
    p.def("beyond", &mixing::beyond);

    nb::module_ v = m.def_submodule("vectors");
    v.def("exponentials", [](Row x, double top) { return vectors::exponentials(x, top); });
    v.def("place", [](Row x, double value) { return vectors::place(x, value); });

    nb::module_ g = m.def_submodule("grid");
    g.def("within", &grid::within);
    g.def("measure", &grid::measure);
    g.def("look", &grid::look);
    g.def("absorb", &grid::absorb);
    g.def("replay", &grid::replay);
}

}  // namespace noregret
