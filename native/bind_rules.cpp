#include "bind.hpp"
#include "guarded.hpp"

namespace nb = nanobind;

namespace noregret {

void bind_rules(nb::module_& m) {
    nb::module_ a = m.def_submodule("adaptive");
    CONSTANT(a, adaptive, PRIOR), CONSTANT(a, adaptive, WEIGHT), CONSTANT(a, adaptive, MASS);

    nb::module_ r = m.def_submodule("rule_pool");
    CONSTANT(r, rule_pool, STEADY), CONSTANT(r, rule_pool, AGILE), CONSTANT(r, rule_pool, MLPOL);
    CONSTANT(r, rule_pool, STACK), CONSTANT(r, rule_pool, RULES);
    CONSTANT(r, rule_pool, STEADY_CELLS), CONSTANT(r, rule_pool, AGILE_CELLS);
    CONSTANT(r, rule_pool, REGRET_CELLS), CONSTANT(r, rule_pool, FACTOR), CONSTANT(r, rule_pool, WORK);
    CONSTANT(r, rule_pool, MERGER_CELLS), CONSTANT(r, rule_pool, REGRET_BOOK);
    CONSTANT(r, rule_pool, SCALARS), CONSTANT(r, rule_pool, SPOKEN), CONSTANT(r, rule_pool, PLAYING);
    CONSTANT(r, stacking, PRECISION);
    CONSTANT(r, layout, AT), CONSTANT(r, layout, ROOTED), CONSTANT(r, layout, PASSED);  // of WORK
    // Where part i lies in the array: at, rows, columns.
    r.def("part", [](Size N, Size k, Size i) {
        rule_pool::Part p = rule_pool::layout(N, k)[std::size_t(i)];
        return nb::make_tuple(p.at, p.rows, p.cols);
    }, nb::sig("def part(N: int, k: int, i: int, /) -> tuple[int, int, int]"));
    r.def("size", [](Size N, Size k) { return rule_pool::size(N, k); });
    r.def("start", [](Row memory, Row prior, Row rules, Size k) {
        rule_pool::Rules(memory.p, prior.n, k).start(prior, rules);
    });

    nb::module_ g = m.def_submodule("guarded");
    g.def("forecast", [](Block pool, Block book, Row memory, Block said, Row forecast) {
        return guarded::Guarded(pool, book, memory.p, forecast.n).forecast(said, forecast);
    });
    g.def("learn", [](Block pool, Block book, Row memory, Block said, Row y, Row forecast) {
        return guarded::Guarded(pool, book, memory.p, y.n).learn(said, y, forecast);
    });
    g.def("weights", [](Block pool, Block book, Row memory, Block said, Row weights) {
        guarded::Guarded(pool, book, memory.p, said.cols).weights(said, weights);
    });
    g.def("replay", &guarded::replay, nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace noregret
