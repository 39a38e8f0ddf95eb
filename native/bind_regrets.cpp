#include "bind.hpp"
#include "regrets.hpp"

namespace nb = nanobind;

namespace noregret {

void bind_regrets(nb::module_& m) {
    nb::module_ r = m.def_submodule("regrets");
    CONSTANT(r, regrets, PRIOR), CONSTANT(r, regrets, REGRET), CONSTANT(r, regrets, WORTH);
    CONSTANT(r, regrets, EDGE), CONSTANT(r, regrets, PAID), CONSTANT(r, regrets, WEIGHT);
    CONSTANT(r, regrets, CELL_ROWS);
    CONSTANT(r, regrets, LOSS), CONSTANT(r, regrets, PRICE), CONSTANT(r, regrets, UNIT);
    CONSTANT(r, regrets, ROUNDS), CONSTANT(r, regrets, GAME), CONSTANT(r, regrets, LEVEL);
    CONSTANT(r, regrets, BOOK_ROWS), CONSTANT(r, regrets, STEP);
    CONSTANT(r, regrets, MLPOL), CONSTANT(r, regrets, BOA);
    CONSTANT(r, regrets, SQUARE), CONSTANT(r, regrets, ABSOLUTE), CONSTANT(r, regrets, PINBALL);
    CONSTANT(r, regrets, HUBER), CONSTANT(r, regrets, GIVEN);
    r.def("forecast", &regrets::forecast);
    r.def("settle", &regrets::settle);
    r.def("learn", &regrets::learn);
    r.def("replay", &regrets::replay, nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace noregret
