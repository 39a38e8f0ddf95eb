// One learner's rounds, one at a time, in the arrays of its state, for whatever the caller holds.
//
// `look`, then perhaps `settle` the same round: every check lies between the two.  No code of the
// caller's runs, and the interpreter lock is held: a round is one step for other threads.
#pragma once

#include "rows.hpp"

namespace noregret {

inline nanobind::object number_or_none(double value) {
    if (value != value) return nanobind::none();
    return nanobind::steal(PyFloat_FromDouble(value));
}

template <class Array>
Array array(nanobind::handle object, const char* name) {
    Array found;
    if (!load(object.ptr(), found)) throw nanobind::type_error(name);
    return found;
}

// A reader of rows, and references to what it works with.
struct Held {
    Reader& reader;
    std::vector<nanobind::object> things;

    template <class... Objects>
    explicit Held(Reader& reader, Objects... objects)
        : reader(reader), things{nanobind::find(&reader), nanobind::object(objects)...} {}
};

class Rounds {
  public:
    virtual ~Rounds() = default;

    // The forecast at x; NaN where a closer look is needed.  Nothing is learned.
    virtual double look(PyObject* x) = 0;

    // y as a number; false where a closer look is needed.
    virtual bool outcome(PyObject* y, double& value) { return read_number(y, value); }

    // Whether y is sure to be learned at the x just looked at.
    virtual bool takes(double y) = 0;

    // Learn y, which is taken, at the x just looked at.
    virtual void settle(double y) = 0;

    // -ln of the density at y of what was forecast; NaN where the forecast is a number.
    virtual double log_loss(double) { return NaN; }

    // Fleets let many states take turns in the same arrays: forget the look at the last one, then
    // look at a vector of all features; no Python runs.  NaN where it does not fit.
    virtual void forget() {}
    virtual double look_row(Row) { return NaN; }

    // How many ends there are about a forecast, and those about the one just made.
    virtual Size ends() const { return 0; }
    virtual void issue(Row) {}

    // Whether the round was learned; if not, nothing has changed and a closer look is needed.
    virtual bool learn_pair(PyObject* x, PyObject* y) {
        double value;
        if (!outcome(y, value)) return false;
        double g = look(x);
        if (g != g || !takes(value)) return false;
        settle(value);
        return true;
    }

    // The same for Python; None where a closer look is needed.
    nanobind::object predict(nanobind::handle x) { return number_or_none(look(x.ptr())); }
    bool learn(nanobind::handle x, nanobind::handle y) { return learn_pair(x.ptr(), y.ptr()); }
};

}  // namespace noregret
