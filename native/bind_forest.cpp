// Mondrian forests, and their rounds.
#include "bind.hpp"
#include "boosting.hpp"
#include "counting.hpp"
#include "forest.hpp"
#include "one_by_one.hpp"

namespace nb = nanobind;

namespace noregret {

using boosting::Booster;
using counting::Counts;
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

static void make_counts(Counts* place, Size features, Size trees, Size cap, double strength, double rate,
                        std::uint64_t seed, Block nodes, Block boxes, Block units, Block book) {
    bool fits = nodes.cols == counting::COUNTS && boxes.rows == nodes.rows && boxes.cols == 2 * features &&
                units.rows == counting::UNIT_ROWS && units.cols == features &&
                book.rows == counting::BOOK_ROWS && book.cols == 2;
    if (!fits || trees < 1 || !mondrian::sound(nodes, trees, features))
        throw nb::value_error("these arrays are no forest");
    new (place) Counts({features, trees, cap, strength, rate, seed}, nodes, boxes, units, book);
}

static void make_booster(Booster* place, Size trees, Size leaves, Size window, double part, double step,
                         bool labels, Size features, Block rows, Row targets, Block nodes, double since) {
    bool fits = rows.cols == features && rows.rows == targets.n && rows.rows <= window &&
                nodes.cols == boosting::COLUMNS && trees >= 1 && boosting::sound(nodes, trees, features);
    if (!fits) throw nb::value_error("these arrays are no boosted trees");
    new (place) Booster({trees, leaves, window, part, step}, labels, features, rows, targets, nodes, since);
}

// Forecast and learn every row; -1, or the first row whose look does not fit in float64.
template <class Trees>
static Size replay(Trees& trees, StridedBlock xs, Strided ys, Row forecasts, Row losses) {
    for (Size t = 0; t < xs.rows; ++t) {
        forecasts[t] = trees.look(Copied(xs[t]).row());
        if (forecasts[t] != forecasts[t]) return t;
        losses[t] = trees.settle(ys[t]);
    }
    return -1;
}

template <class Trees>
class TreeRounds : public Rounds {
  public:
    TreeRounds(Reader& reader, nb::object trees)
        : held_(reader, trees), trees_(*nb::cast<Trees*>(trees)) {}

    double look(PyObject* x) override {
        Row row;
        return held_.reader.read(x, row) ? trees_.look(row) : NaN;
    }
    bool takes(double y) override { return Trees::takes(y); }
    void settle(double y) override { trees_.settle(y); }

  private:
    Held held_;
    Trees& trees_;
};

static nb::tuple told(const prunings::Reckoned& r) {
    return nb::make_tuple(r.potential, r.price, r.course, r.linear, r.fit);
}

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
        .def("replay", &replay<Forest>, nb::call_guard<nb::gil_scoped_release>())
        .def("reckoned", [](Forest& forest) {
            return told(forest.reckoned(forest.book()(mixing::RATE, 0)));
        }, nb::sig("def reckoned(self) -> tuple[float, float, float, float, float]"));

    nb::module_ c = m.def_submodule("counting");
    CONSTANT(c, counting, YES), CONSTANT(c, counting, NO), CONSTANT(c, counting, START);
    CONSTANT(c, counting, COUNTS), CONSTANT(c, counting, MIX), CONSTANT(c, counting, BOOK_ROWS);
    CONSTANT(c, counting, UNIT_ROWS), CONSTANT(c, counting, EVEN);
    nb::class_<Counts>(c, "Counts")
        .def("__init__", &make_counts)
        .def("copy", [](const Counts& trees) { return Counts(trees); }, nb::sig("def copy(self) -> Counts"))
        .def("size", &Counts::size)
        .def("arrays", [](Counts& trees) {
            return nb::make_tuple(copied(trees.nodes()), copied(trees.boxes()), copied(trees.units()),
                                  copied(trees.book()));
        }, nb::sig("def arrays(self) -> tuple[Matrix, Matrix, Matrix, Matrix]"))
        .def("look", [](Counts& trees, Strided x) { return trees.look(Copied(x).row()); })
        .def("log_odds", [](Counts& trees, Strided x) {
            trees.look(Copied(x).row());
            return std::log(trees.chances().yes) - std::log(trees.chances().no);
        })
        .def("settle", &Counts::settle)
        .def("book", [](Counts& trees) { return copied(trees.book()); }, nb::sig("def book(self) -> Matrix"))
        .def("replay", &replay<Counts>, nb::call_guard<nb::gil_scoped_release>())
        .def("reckoned", [](Counts& trees) { return told(trees.reckoned()); },
             nb::sig("def reckoned(self) -> tuple[float, float, float, float, float]"));

    nb::module_ b = m.def_submodule("boosting");
    CONSTANT(b, boosting, COLUMNS), CONSTANT(b, boosting, FIRST), CONSTANT(b, boosting, FEWEST);
    CONSTANT(b, boosting, BINS);
    nb::class_<Booster>(b, "Booster")
        .def("__init__", &make_booster)
        .def("copy", [](const Booster& trees) { return Booster(trees); },
             nb::sig("def copy(self) -> Booster"))
        .def("arrays", [](Booster& trees) {
            return nb::make_tuple(copied(trees.rows()), copied(trees.targets().p, {trees.size()}),
                                  copied(trees.nodes()), trees.since());
        }, nb::sig("def arrays(self) -> tuple[Matrix, Vector, Matrix, float]"))
        .def("look", [](Booster& trees, Strided x) { return trees.look(Copied(x).row()); })
        .def("learn", [](Booster& trees, Strided x, double target) { trees.learn(Copied(x).row(), target); })
        .def("replay", [](Booster& trees, Block xs, Row targets, Row said) {
            for (Size t = 0; t < xs.rows; ++t) {
                said[t] = trees.look(xs[t]);
                trees.learn(xs[t], targets[t]);
            }
        }, nb::call_guard<nb::gil_scoped_release>());
}

void bind_forest_rounds(nb::module_& r) {
    nb::class_<TreeRounds<Forest>, Rounds>(r, "ForestRounds").def(nb::init<Reader&, nb::object>());
    nb::class_<TreeRounds<Counts>, Rounds>(r, "CountRounds").def(nb::init<Reader&, nb::object>());
}

}  // namespace noregret
