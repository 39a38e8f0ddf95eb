#include "bind.hpp"
#include "leaders.hpp"
#include "pool_rounds.hpp"
#include "sequence.hpp"

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
    CONSTANT(p, mixing, LIKELIHOOD), CONSTANT(p, mixing, NARROW), CONSTANT(p, mixing, FALLING);
    p.def("wake", [](Block pool) { return mixing::wake(pool); });
    p.def("leader", [](Block pool, double charged) { return mixing::leader(pool, charged); });
    p.def("forecast", [](Block pool, Block book) {
        Size awake;
        return mixing::wake_and_forecast(pool, book, &awake, aggregating::lanes_for(pool).data());
    });
    p.def("settle", [](Block pool, Block book, double y, double g, Size asleep) {
        return mixing::settle(pool, book, y, g, asleep, aggregating::lanes_for(pool).data());
    });
    p.def("shares", &mixing::shares);
    p.def("replay", &mixing::replay, nb::call_guard<nb::gil_scoped_release>());
    p.def("survey", &mixing::survey);
    p.def("beyond", &mixing::beyond);
    // -ln of normal densities, as `log_density` has them.
    p.def("normal_losses", [](Row ys, Row means, Row vars, Row losses) {
        for (Size t = 0; t < ys.n; ++t) losses[t] = rules::normal_loss(vars[t], means[t], ys[t]);
    });

    nb::module_ v = m.def_submodule("vectors");
    v.def("exponentials", [](Row x, double top) { return vectors::exponentials(x, top); });
    v.def("place", [](Row x, double value) { return vectors::place(x, value); });

    nb::module_ g = m.def_submodule("grid");
    g.def("within", &grid::within);
    g.def("measure", &grid::measure);
    g.def("look", &grid::look);
    g.def("absorb", &grid::absorb);
    g.def("replay", &grid::replay, nb::call_guard<nb::gil_scoped_release>());
    g.def("late", &grid::late);

    nb::module_ l = m.def_submodule("leaders");
    l.def("late", &leaders::late);
    l.def("guard", &leaders::guard);
    l.def("pay", &leaders::pay);

    nb::module_ q = m.def_submodule("sequence");
    q.def("best", &sequence::best, nb::call_guard<nb::gil_scoped_release>());
}

void bind_pool_rounds(nb::module_& r) {
    using O = nb::object;
    nb::class_<RenewedRounds, Rounds>(r, "RenewedRounds")
        .def(nb::init<>())
        .def("renew", &RenewedRounds::renew, nb::arg().none(),
             nb::sig("def renew(self, rounds: Rounds | None, /) -> None"));
    nb::class_<PoolRounds, Rounds>(r, "PoolRounds")
        .def(nb::init<O, bool, double, nb::list, nb::list>(),
             nb::sig("def __init__(self, pool: object, binary: bool, largest: float, "
                     "models: list[Any], locks: list[Any], /) -> None"));
    nb::class_<NamedRounds, Rounds>(r, "NamedRounds")
        .def(nb::init<O, bool, double, nb::dict>(),
             nb::sig("def __init__(self, pool: object, binary: bool, largest: float, "
                     "places: dict[Any, int], /) -> None"));
    nb::class_<AutoRounds, Rounds>(r, "AutoRounds")
        .def(nb::init<Reader&, O, double, O, O, O, O, O, O, O, O, double>());
}

}  // namespace noregret
