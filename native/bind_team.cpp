#include "bind.hpp"
#include "ensemble_rounds.hpp"

namespace nb = nanobind;

namespace noregret {

void bind_team(nb::module_& m) {
    nb::module_ v = m.def_submodule("views");
    CONSTANT(v, views, PAST), CONSTANT(v, views, FEATURE), CONSTANT(v, views, OUTCOMES), CONSTANT(v, views, PLAN);
    CONSTANT(v, views, ROUNDS), CONSTANT(v, views, FIRST), CONSTANT(v, views, KINDS), CONSTANT(v, views, VALUES);
    CONSTANT(v, views, MOST_VALUES), CONSTANT(v, views, RUN);
    CONSTANT(v, views, ONE), CONSTANT(v, views, STANDARD), CONSTANT(v, views, ROBUST), CONSTANT(v, views, HINGE);
    CONSTANT(v, views, BEFORE), CONSTANT(v, views, IS), CONSTANT(v, views, BOTH), CONSTANT(v, views, WAVE);
    v.def("observe", &views::observe, nb::call_guard<nb::gil_scoped_release>());
    v.def("fill", &views::fill, nb::call_guard<nb::gil_scoped_release>());

    nb::module_ t = m.def_submodule("team");
    t.def("size", [](Row sizes) { return team::Team(nullptr, sizes).size(); });
    t.def("start", [](Row memory, Row sizes) { team::Team(memory.p, sizes).start(); });
    t.def("replay", &team::replay, nb::call_guard<nb::gil_scoped_release>());
    // The groups' weights in a forecast from these words, and the running mean of each group's square errors.
    t.def("weights", [](Row memory, Row sizes, Row said, Row weights, Row errors) {
        team::Team all(memory.p, sizes);
        all.forecast(said);
        all.weights(weights);
        for (Size g = 0; g < all.G; ++g) errors[g] = all.groups[std::size_t(g)].at[adaptive::ERROR];
    });

    using O = nb::object;
    using T = nb::tuple;
    nb::module_ r = nb::cast<nb::module_>(m.attr("rows"));
    nb::class_<EnsembleRounds, Rounds>(r, "EnsembleRounds")
        .def(nb::init<Reader&, O, double, T, O, O, nb::list, nb::list, O, T, T, O, O, T, O, T>(),
             nb::arg("reader"), nb::arg("scale"), nb::arg("constant"), nb::arg("linear"), nb::arg("features"),
             nb::arg("outcomes"), nb::arg("groups"), nb::arg("boosted"), nb::arg("waves"), nb::arg("team"),
             nb::arg("last"), nb::arg("tree").none(), nb::arg("pool"), nb::arg("guard"), nb::arg("span").none(),
             nb::arg("limits"),
             nb::sig("def __init__(self, reader: Reader, scale: object, constant: float, linear: Any, "
                     "features: object, outcomes: object, groups: list[Any], boosted: list[Any], "
                     "waves: object, team: Any, last: Any, tree: object, pool: object, guard: Any, span: object, "
                     "limits: Any) -> None"));
}

}  // namespace noregret
