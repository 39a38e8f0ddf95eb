// The rounds of learners of ours, as objects that hold references to the arrays of a state.
#include "bind.hpp"
#include "margin.hpp"
#include "one_by_one.hpp"
#include "rounds.hpp"
#include "sparse.hpp"

namespace nb = nanobind;

namespace noregret {

// A Gaussian learner of one outcome.
class GaussianRounds final : public Rounds {
  public:
    GaussianRounds(Reader& reader, nb::object factor, nb::object work, nb::object ledger,
                   bool alone)
        : alone_(alone), held_(reader, factor, work, ledger),
          factor_(array<Block>(factor, "factor")), work_(array<Block>(work, "work")),
          ledger_(array<Block>(ledger, "ledger")) {}

    double look(PyObject* x) override {
        Row row;
        return held_.reader.view(x, row) ? look_row(row) : NaN;
    }

    double look_row(Row x) override { return rounds::predict(factor_, work_, x); }
    void forget() override { work_(layout::AT, layout::FRESH) = 0.0; }

    bool takes(double y) override {
        return alone_ && std::fabs(y) <= layout::LARGEST_OUTCOME;  // NaN is not
    }

    void settle(double y) override {
        work_(layout::Y, 0) = y;
        rounds::measure_and_settle(factor_, work_, ledger_);
    }

    double log_loss(double y) override {
        Row at = work_[layout::AT];
        if (at[layout::RULE] != layout::BAYES) return NaN;
        double var = at[layout::LEVEL] * (at[layout::ROOT] * at[layout::ROOT]);
        return rules::normal_loss(var, work_(layout::MEAN, 0), y);
    }

    bool learn_pair(PyObject* x, PyObject* y) override {  // as above, without a forecast
        Row row;
        double value;
        return alone_ && outcome(y, value) && held_.reader.view(x, row) &&
               rounds::learn(factor_, work_, ledger_, row, value) == layout::OK;
    }

  private:
    bool alone_;  // a round needs nothing from Python before or after it
    Held held_;
    Block factor_, work_, ledger_;
};

// A binary learner without a history (margin.hpp), of labels 0 and 1.
class MarginRounds final : public Rounds {
  public:
    MarginRounds(Reader& reader, int kind, int family, double bound, nb::object factor,
                 nb::object work, nb::object book, nb::object scatter)
        : held_(reader, factor, work, book, scatter), kind_(kind), family_(family), bound_(bound),
          factor_(array<Block>(factor, "factor")), work_(array<Block>(work, "work")),
          book_(array<Block>(book, "book")), scatter_(array<Block>(scatter, "scatter")) {}

    double look(PyObject* x) override {
        Row row;
        if (!held_.reader.view(x, row)) return NaN;
        return margin::predict(kind_, family_, factor_, work_, row, layout::EXACT_INTEGER);
    }

    double look_row(Row x) override {  // a fleet has read x already
        return margin::predict(kind_, family_, factor_, work_, x, layout::LARGEST_FEATURE);
    }
    void forget() override { work_(layout::AT, layout::FRESH) = 0.0; }

    bool outcome(PyObject* y, double& value) override {
        return read_truth(y, value) || read_number(y, value);
    }

    bool learn_pair(PyObject* x, PyObject* y) override {  // as always, without a forecast
        Row row;
        double value;
        if (!outcome(y, value) || !held_.reader.view(x, row) ||
            margin::admit_and_look(factor_, work_, row, layout::EXACT_INTEGER) != layout::OK ||
            !takes(value))
            return false;
        settle(value);
        return true;
    }

    bool takes(double y) override {
        if (y != 0.0 && y != 1.0) return false;
        step_ = margin::judge(kind_, family_, bound_, work_, 2.0 * y - 1.0);
        return step_.fits;
    }

    void settle(double y) override {
        margin::settle(step_, factor_, work_, book_, scatter_, 2.0 * y - 1.0);
    }

    double log_loss(double y) override {
        return margin::cost(kind_, family_, (2.0 * y - 1.0) * work_(layout::MEAN, 0),
                            work_(layout::AT, layout::ROOT));
    }

  private:
    Held held_;
    int kind_, family_;
    double bound_;
    Block factor_, work_, book_, scatter_;
    margin::Step step_{};
};

// OSLOG with one pass per round; a round that needs NumPy's eigenvectors needs a closer look.
class SparseRounds final : public Rounds {
  public:
    SparseRounds(Reader& reader, nb::object block, nb::object book)
        : held_(reader, block, book), block_(array<Block>(block, "block")),
          book_(array<Block>(book, "book")) {}

    double look(PyObject* x) override {
        return held_.reader.read(x, row_) ? sparse::predict(block_, row_) : NaN;
    }

    bool takes(double y) override { return sparse::attempt(block_, book_, row_, y, decline); }

    void settle(double y) override { sparse::settle(block_, book_, y); }

  private:
    static bool decline(Block, Block, Row, double, double) { return false; }

    Held held_;
    Block block_, book_;
    Row row_{};
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
    using O = nb::object;
    nb::class_<Rounds>(r, "Rounds")
        .def("predict", &Rounds::predict, nb::arg().none(), PREDICT)
        .def("learn", &Rounds::learn, nb::arg().none(), nb::arg().none(), LEARN);
    nb::class_<GaussianRounds, Rounds>(r, "GaussianRounds")
        .def(nb::init<Reader&, O, O, O, bool>());
    nb::class_<MarginRounds, Rounds>(r, "MarginRounds")
        .def(nb::init<Reader&, int, int, double, O, O, O, O>());
    nb::class_<SparseRounds, Rounds>(r, "SparseRounds").def(nb::init<Reader&, O, O>());
    bind_pool_rounds(r);
    bind_net_rounds(r);
    bind_forest_rounds(r);
    bind_tracked_rounds(r);
}

}  // namespace noregret
