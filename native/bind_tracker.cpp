#include "bind.hpp"
#include "tracked_rounds.hpp"

namespace nb = nanobind;

namespace noregret {

void bind_tracker(nb::module_& m) {
    nb::module_ t = m.def_submodule("tracker");
    CONSTANT(t, tracker, TRACKERS), CONSTANT(t, tracker, LIVES), CONSTANT(t, tracker, STEADY);
    CONSTANT(t, tracker, LONG), CONSTANT(t, tracker, SHORT), CONSTANT(t, tracker, RING);
    CONSTANT(t, tracker, ETA), CONSTANT(t, tracker, EARLY), CONSTANT(t, tracker, CALM);
    CONSTANT(t, tracker, MEAN), CONSTANT(t, tracker, SIZE), CONSTANT(t, tracker, APART);
    CONSTANT(t, tracker, COUNT), CONSTANT(t, tracker, SCALE_ROWS);
    CONSTANT(t, tracker, THETA), CONSTANT(t, tracker, REGRET), CONSTANT(t, tracker, WORTH);
    CONSTANT(t, tracker, INVERSE);
    CONSTANT(t, tracker, WEIGHT), CONSTANT(t, tracker, PAID), CONSTANT(t, tracker, FIXED);
    CONSTANT(t, tracker, SAID), CONSTANT(t, tracker, TRACK_ROWS);
    CONSTANT(t, tracker, LEVEL), CONSTANT(t, tracker, ALPHA), CONSTANT(t, tracker, SIDE);
    CONSTANT(t, tracker, START), CONSTANT(t, tracker, LAST), CONSTANT(t, tracker, MISSES);
    CONSTANT(t, tracker, LOSS), CONSTANT(t, tracker, MERGED), CONSTANT(t, tracker, PRICE);
    CONSTANT(t, tracker, PEAK), CONSTANT(t, tracker, PUSH), CONSTANT(t, tracker, STEPS);
    CONSTANT(t, tracker, LOW), CONSTANT(t, tracker, HIGH), CONSTANT(t, tracker, REACH);
    CONSTANT(t, tracker, NESTED), CONSTANT(t, tracker, CROSSED), CONSTANT(t, tracker, LATE);
    CONSTANT(t, tracker, OPEN), CONSTANT(t, tracker, OWN), CONSTANT(t, tracker, MIX);
    CONSTANT(t, tracker, BOOK_COLUMNS);
    CONSTANT(t, tracker, MOST_SHORT), CONSTANT(t, tracker, MOST_LONG);
    CONSTANT(t, tracker, PLACE), CONSTANT(t, tracker, BITS);
    t.attr("STEADY_STEP") = tracker::STEP[tracker::STEADY];
    t.def("fits", &tracker::fits);
    t.def("issue", &tracker::issue);
    t.def("learn", [](Block scale, Cube track, Block book, Block ring, double y, double g,
                      double root, Row ends) {
        return tracker::learn(scale, track, book, ring, y, g, root, ends);
    });
    t.def("replay", [](Block scale, Cube track, Block book, Block ring, Row ys, Row gs, Row roots,
                       Block ends) {
        return tracker::replay(scale, track, book, ring, ys, gs, roots, ends);
    });
}

void bind_tracked_rounds(nb::module_& r) {
    using O = nb::object;
    nb::class_<TrackedRounds, Rounds>(r, "TrackedRounds")
        .def(nb::init<O, O, O, O, O, O>(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg(),
             nb::arg(), nb::arg(),
             nb::sig("def __init__(self, model: Any, work: Matrix | None, scale: Matrix, "
                     "track: Matrix, book: Matrix, ring: Matrix, /) -> None"));
}

}  // namespace noregret
