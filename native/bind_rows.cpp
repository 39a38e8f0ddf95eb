// Rounds one at a time: an object that has a state's arrays and reads whatever the caller holds.
//
// The arrays stay NumPy's, and the state's: these objects hold references.  Every call is one step
// for other threads, as it holds the interpreter lock and runs no Python.
#include "bind.hpp"
#include "rounds.hpp"
#include "rows.hpp"

namespace nb = nanobind;

namespace noregret {

static nb::object number_or_none(double value) {
    if (value != value) return nb::none();
    return nb::steal(PyFloat_FromDouble(value));
}

template <class Array>
static Array array(nb::handle object, const char* name) {
    Array found;
    if (!load(object.ptr(), found)) throw nb::type_error(name);
    return found;
}

// A reader of rows, and references to what it works with.
struct Held {
    Reader& reader;
    std::vector<nb::object> things;

    template <class... Objects>
    explicit Held(Reader& reader, Objects... objects)
        : reader(reader), things{nb::find(&reader), nb::object(objects)...} {}
};

// The rounds of a Gaussian learner of one outcome.
class GaussianRounds {
  public:
    GaussianRounds(Reader& reader, nb::object factor, nb::object work, nb::object ledger,
                   bool alone)
        : alone_(alone), held_(reader, factor, work, ledger), factor_(array<Block>(factor, "factor")), work_(array<Block>(work, "work")),
          ledger_(array<Block>(ledger, "ledger")) {}

    // The forecast; None where a closer look is needed.
    nb::object predict(nb::handle x) {
        Strided row;
        if (!held_.reader.read(x.ptr(), row)) return nb::none();
        return number_or_none(rounds::predict(factor_, work_, row));
    }

    // Whether the round was learned; if not, nothing has changed and a closer look is needed.
    bool learn(nb::handle x, nb::handle y) {
        Strided row;
        double outcome;
        return alone_ && read_number(y.ptr(), outcome) && held_.reader.read(x.ptr(), row) &&
               rounds::learn(factor_, work_, ledger_, row, outcome) == layout::OK;
    }

  private:
    bool alone_;  // a round needs nothing from Python before or after it
    Held held_;
    Block factor_, work_, ledger_;
};

static const nb::sig PREDICT("def predict(self, x: object, /) -> float | None");
static const nb::sig LEARN("def learn(self, x: object, y: object, /) -> bool");

void bind_rows(nb::module_& m) {
    nb::module_ r = m.def_submodule("rows");
    nb::class_<Reader>(r, "Reader")
        .def(nb::init<Size>())
        .def(nb::init<nb::dict>(), nb::sig("def __init__(self, slots: dict[Any, int], /) -> None"))
        .def("read", [](Reader& self, nb::handle x) -> nb::object {
            Strided row;
            if (!self.read(x.ptr(), row)) return nb::none();
            if (!self.buffered(row)) return nb::borrow(x);  // a vector of float64 as it is
            npy_intp size = row.n;
            nb::object vector = nb::steal(PyArray_SimpleNew(1, &size, NPY_DOUBLE));
            double* to = data_of(reinterpret_cast<PyArrayObject*>(vector.ptr()));
            for (Size k = 0; k < row.n; ++k) to[k] = row[k];
            return vector;
        }, nb::arg().none(), nb::sig("def read(self, x: object, /) -> Vector | None"));
    r.def("number", [](nb::handle value) -> nb::object {
        double found;
        return read_number(value.ptr(), found) ? number_or_none(found) : nb::none();
    }, nb::arg().none(), nb::sig("def number(value: object, /) -> float | None"));
    nb::class_<GaussianRounds>(r, "GaussianRounds")
        .def(nb::init<Reader&, nb::object, nb::object, nb::object, bool>())
        .def("predict", &GaussianRounds::predict, nb::arg().none(), PREDICT)
        .def("learn", &GaussianRounds::learn, nb::arg().none(), nb::arg().none(), LEARN);
}

}  // namespace noregret
