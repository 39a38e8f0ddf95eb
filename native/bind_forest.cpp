// Mondrian forests, and their rounds.
#include "bind.hpp"
#include "forest.hpp"
#include "one_by_one.hpp"

namespace nb = nanobind;

namespace noregret {

using mondrian::Forest;

static nb::object copied(const double* from, std::initializer_list<npy_intp> shape) {
    std::vector<npy_intp> sides(shape);
    nb::object made = nb::steal(PyArray_SimpleNew(int(sides.size()), sides.data(), NPY_DOUBLE));
    if (!made.is_valid()) throw nb::python_error();
    auto* array = reinterpret_cast<PyArrayObject*>(made.ptr());
    Size size = PyArray_SIZE(array);
    if (size > 0) std::memcpy(PyArray_DATA(array), from, std::size_t(size) * sizeof(double));
    return made;
}
static nb::object copied(Block b) { return copied(b.p, {b.rows, b.cols}); }

// All that a forest has learned, as the constructor takes it.
static nb::tuple arrays(Forest& forest) {
    Cube factors = forest.factors();
    return nb::make_tuple(copied(forest.nodes()), copied(forest.boxes()),
                          copied(factors.p, {factors.depth, factors.rows, factors.cols}),
                          copied(forest.units()), copied(forest.book()));
}

static void make(Forest* place, Size features, Size trees, Size cap, bool linear, double precision,
                 double rate, std::uint64_t seed, Block nodes, Block boxes, Cube factors, Block units,
                 Block book) {
    mondrian::Settings set{features, trees, cap, linear, precision, rate, seed};
    Size N = nodes.rows, m = set.width();
    bool fits = nodes.cols == mondrian::COLUMNS && boxes.rows == N && boxes.cols == 2 * features &&
                factors.depth == N && factors.rows == m && factors.cols == m + 1 && units.rows == 2 &&
                units.cols == features && book.rows == mondrian::BOOK_ROWS && book.cols == 2;
    if (!fits || trees < 1 || !mondrian::sound(nodes, trees, features))
        throw nb::value_error("these arrays are no forest");
    new (place) Forest(set, nodes, boxes, factors, units, book);
}

// Forecast and learn every row; -1, or the first row whose look does not fit in float64.
static Size replay(Forest& forest, StridedBlock xs, Strided ys, Row forecasts, Row losses) {
    for (Size t = 0; t < xs.rows; ++t) {
        forecasts[t] = forest.look(Copied(xs[t]).row());
        if (forecasts[t] != forecasts[t]) return t;
        losses[t] = forest.settle(ys[t]);
    }
    return -1;
}

class ForestRounds : public Rounds {
  public:
    ForestRounds(Reader& reader, nb::object forest)
        : held_(reader, forest), forest_(*nb::cast<Forest*>(forest)) {}

    double look(PyObject* x) override {
        Row row;
        return held_.reader.read(x, row) ? forest_.look(row) : NaN;
    }
    bool takes(double y) override { return Forest::takes(y); }
    void settle(double y) override { forest_.settle(y); }

  private:
    Held held_;
    Forest& forest_;
};

void bind_forest(nb::module_& m) {
    nb::module_ f = m.def_submodule("mondrian");
    CONSTANT(f, mondrian, LEFT), CONSTANT(f, mondrian, RIGHT), CONSTANT(f, mondrian, FEATURE);
    CONSTANT(f, mondrian, CUT), CONSTANT(f, mondrian, BIRTH), CONSTANT(f, mondrian, TIME);
    CONSTANT(f, mondrian, HEIGHT), CONSTANT(f, mondrian, ROUNDS), CONSTANT(f, mondrian, GAIN);
    CONSTANT(f, mondrian, PAID), CONSTANT(f, mondrian, FIT), CONSTANT(f, mondrian, CHARGE);
    CONSTANT(f, mondrian, COLUMNS), CONSTANT(f, mondrian, DEEPEST);
    CONSTANT(f, mondrian, WIDENED), CONSTANT(f, mondrian, FIRST), CONSTANT(f, mondrian, BOOK_ROWS);
    f.def("draws", [](std::uint64_t seed, std::uint64_t tree, std::uint64_t round, Row to) {
        mondrian::Dice dice(seed, tree, round);
        for (Size i = 0; i < to.n; ++i) to[i] = dice.uniform();
    });
    nb::class_<Forest>(f, "Forest")
        .def("__init__", &make)
        .def("copy", [](const Forest& forest) { return Forest(forest); },
             nb::sig("def copy(self) -> Forest"))
        .def("size", &Forest::size)
        .def("arrays", &arrays,
             nb::sig("def arrays(self) -> tuple[Matrix, Matrix, Matrix, Matrix, Matrix]"))
        .def("look", [](Forest& forest, Strided x) { return forest.look(Copied(x).row()); })
        .def("settle", &Forest::settle)
        .def("book", [](Forest& forest) { return copied(forest.book()); },
             nb::sig("def book(self) -> Matrix"))
        .def("replay", &replay, nb::call_guard<nb::gil_scoped_release>())
        .def("reckoned", [](Forest& forest) {
            auto r = forest.reckoned(forest.book()(mixing::RATE, 0));
            return nb::make_tuple(r.potential, r.price, r.course, r.linear, r.fit);
        }, nb::sig("def reckoned(self) -> tuple[float, float, float, float, float]"));
}

void bind_forest_rounds(nb::module_& r) {
    nb::class_<ForestRounds, Rounds>(r, "ForestRounds").def(nb::init<Reader&, nb::object>());
}

}  // namespace noregret
