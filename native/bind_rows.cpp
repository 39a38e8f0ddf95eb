// Rounds one at a time: an object that has a state's arrays and reads whatever the caller holds.
//
// The arrays stay NumPy's, and the state's: these objects hold references.  Every call is one step
// for other threads, as it holds the interpreter lock and runs no Python.
#include "bind.hpp"
#include "continuum.hpp"
#include "grid.hpp"
#include "margin.hpp"
#include "mixing.hpp"
#include "rows.hpp"
#include "sparse.hpp"

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

// The rounds of a binary learner without a history (margin.hpp); labels are signs, +-1.
class MarginRounds {
  public:
    MarginRounds(Reader& reader, int kind, int family, double bound, double ceiling,
                 nb::object factor, nb::object work, nb::object book, nb::object scatter)
        : held_(reader, factor, work, book, scatter), kind_(kind), family_(family), bound_(bound),
          ceiling_(ceiling), factor_(array<Block>(factor, "factor")),
          work_(array<Block>(work, "work")), book_(array<Block>(book, "book")),
          scatter_(array<Block>(scatter, "scatter")) {}

    // The probability of label +1; None where a closer look is needed.
    nb::object predict(nb::handle x) {
        Strided row;
        if (!held_.reader.read(x.ptr(), row)) return nb::none();
        return number_or_none(margin::predict(kind_, family_, factor_, work_, row, ceiling_));
    }

    // Whether the round was learned.
    bool learn(nb::handle x, double sign) {
        Strided row;
        if (!held_.reader.read(x.ptr(), row)) return false;
        double loss = margin::learn(kind_, family_, bound_, factor_, work_, book_, scatter_, row,
                                    ceiling_, sign);
        return loss == loss;
    }

  private:
    Held held_;
    int kind_, family_;
    double bound_, ceiling_;
    Block factor_, work_, book_, scatter_;
};

// The rounds of OSLOG.
class SparseRounds {
  public:
    SparseRounds(Reader& reader, nb::object block, nb::object book)
        : held_(reader, block, book), block_(array<Block>(block, "block")),
          book_(array<Block>(book, "book")) {}

    nb::object predict(nb::handle x) {
        Strided row;
        if (!held_.reader.read(x.ptr(), row)) return nb::none();
        return number_or_none(sparse::predict(block_, row));
    }

    bool learn(nb::handle x, nb::handle y) {
        Strided row;
        double outcome;
        return read_number(y.ptr(), outcome) && held_.reader.read(x.ptr(), row) &&
               sparse::round(block_, book_, row, outcome, rescue) == 1;
    }

  private:
    Held held_;
    Block block_, book_;
};

// The rounds of a pool whose experts' forecasts come as a sequence of numbers, in their order.
class PoolRounds {
  public:
    PoolRounds(nb::object cells, nb::object book, double low, double high)
        : held_{cells, book}, cells_(array<Block>(cells, "cells")),
          book_(array<Block>(book, "book")), low_(low), high_(high),
          scratch_(scratch(cells_.rows * cells_.cols)) {}

    // The pool's forecast; None where a closer look is needed.  Nothing is changed.
    double forecast(Row said) {
        Block trial{scratch_.data(), cells_.rows, cells_.cols};
        std::memcpy(trial.p, cells_.p, scratch_.size() * sizeof(double));
        std::memcpy(trial[mixing::SAID].p, said.p, std::size_t(said.n) * sizeof(double));
        return mixing::wake_and_forecast(trial, book_, &awake_);
    }

    bool takes(double y) const { return low_ <= y && y <= high_; }

    // Learn the round that was just forecast.
    void settle(double y, double g) {
        std::memcpy(cells_.p, scratch_.data(), scratch_.size() * sizeof(double));
        mixing::settle(cells_, book_, y, g, cells_.cols - awake_);
    }

    Size size() const { return cells_.cols; }

  private:
    nb::object held_[2];
    Block cells_, book_;
    double low_, high_;  // outcomes that are surely taken
    std::vector<double> scratch_;
    Size awake_ = 0;
};

// The rounds of Auto on features in known units: every core, then the pool.
class AutoRounds {
  public:
    AutoRounds(Reader& reader, nb::object scale, double constant, nb::object fixed,
               nb::object fixed_work, nb::object moving, nb::object moving_work,
               nb::object ledgers, nb::object seen, PoolRounds& pool)
        : held_(reader, scale, fixed, fixed_work, moving, moving_work, ledgers, seen,
                nb::find(&pool)),
          scale_(array<Row>(scale, "scale")), seen_(array<Row>(seen, "seen")), constant_(constant),
          fixed_(array<Cube>(fixed, "fixed")), fixed_work_(array<Cube>(fixed_work, "fixed_work")),
          moving_(array<Cube>(moving, "moving")),
          moving_work_(array<Cube>(moving_work, "moving_work")),
          ledgers_(array<Cube>(ledgers, "ledgers")), pool_(pool),
          x_(scratch(scale_.n + 1)), said_(scratch(pool.size())) {}

    nb::object predict(nb::handle x) {
        return look(x) ? number_or_none(pool_.forecast(said())) : nb::none();
    }

    bool learn(nb::handle x, nb::handle y) {
        double outcome;
        if (!read_number(y.ptr(), outcome) || !pool_.takes(outcome) || !look(x)) return false;
        double g = pool_.forecast(said());
        if (g != g) return false;
        pool_.settle(outcome, g);
        grid::absorb(fixed_, fixed_work_, moving_, moving_work_, ledgers_, seen_, outcome);
        return true;
    }

  private:
    Row said() { return {said_.data(), Size(said_.size())}; }

    // Look at x in its units; what a forecast has just looked at is looked at no more.
    bool look(nb::handle given) {
        Strided row;
        if (!held_.reader.read(given.ptr(), row)) return false;
        x_[0] = constant_;
        for (Size k = 0; k < row.n; ++k) {
            if (!(std::fabs(row[k]) <= layout::EXACT_INTEGER)) return false;  // NaN too
            x_[std::size_t(k) + 1] = row[k] / scale_[k];
        }
        Row x{x_.data(), Size(x_.size())};
        if (!looked(x))
            return grid::look(fixed_, fixed_work_, moving_, moving_work_, x, seen_, said()) ==
                   layout::OK;
        for (Size c = 0; c < fixed_.depth; ++c) grid::speak(fixed_work_[c], seen_, said(), c);
        for (Size c = 0; c < moving_.depth; ++c)
            grid::speak(moving_work_[c], seen_, said(), fixed_.depth + c);
        return true;
    }

    // Whether the last core, and so every core, has a fresh look at this x.
    bool looked(Row x) const {
        Cube works = moving_.depth > 0 ? moving_work_ : fixed_work_;
        Block work = works[works.depth - 1];
        bool same = work(layout::AT, layout::FRESH) == 1.0;
        for (Size k = 0; k < x.n && same; ++k) same = work(layout::X, k) == x[k];
        return same;
    }

    Held held_;
    Row scale_, seen_;
    double constant_;
    Cube fixed_, fixed_work_, moving_, moving_work_, ledgers_;
    PoolRounds& pool_;
    std::vector<double> x_, said_;
};

// The rounds of K-LMS-NET for Gaussian widths.
class NetRounds {
  public:
    NetRounds(Reader& reader, nb::object points, nb::object coefs, nb::object facts,
              nb::object cells, nb::object finer, nb::object book, nb::object rates,
              nb::object levels, nb::object work, nb::object said, nb::object heard,
              nb::object lift, nb::object at)
        : held_(reader, points, coefs, facts, cells, finer, book, rates, levels, work, said, heard,
                lift, at),
          net_{array<Cube>(points, "points"), array<Cube>(coefs, "coefs"),
               array<Block>(facts, "facts"), array<Block>(cells, "cells"),
               array<Cube>(finer, "finer"), array<Block>(book, "book"),
               array<Block>(rates, "rates"), array<Whole>(levels, "levels"),
               array<Block>(work, "work"), array<Block>(said, "said"),
               array<Cube>(heard, "heard"), array<Cube>(lift, "lift"), array<Row>(at, "at")} {}

    nb::object predict(nb::handle x) {
        Strided row;
        if (!held_.reader.read(x.ptr(), row)) return nb::none();
        return number_or_none(continuum::predict(net_, row));
    }

    bool learn(nb::handle x, nb::handle y) {
        Strided row;
        double outcome;
        return read_number(y.ptr(), outcome) && held_.reader.read(x.ptr(), row) &&
               continuum::learn(net_, row, outcome) == continuum::OK;
    }

  private:
    Held held_;
    continuum::Net net_;
};

static const nb::sig PREDICT("def predict(self, x: object, /) -> float | None");
static const nb::sig LEARN("def learn(self, x: object, y: object, /) -> bool");
static const nb::sig LEARN_LABEL("def learn(self, x: object, sign: float, /) -> bool");

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
    using O = nb::object;
    nb::class_<MarginRounds>(r, "MarginRounds")
        .def(nb::init<Reader&, int, int, double, double, O, O, O, O>())
        .def("predict", &MarginRounds::predict, nb::arg().none(), PREDICT)
        .def("learn", &MarginRounds::learn, nb::arg().none(), nb::arg(), LEARN_LABEL);
    nb::class_<SparseRounds>(r, "SparseRounds")
        .def(nb::init<Reader&, O, O>())
        .def("predict", &SparseRounds::predict, nb::arg().none(), PREDICT)
        .def("learn", &SparseRounds::learn, nb::arg().none(), nb::arg().none(), LEARN);
    nb::class_<PoolRounds>(r, "PoolRounds")
        .def(nb::init<O, O, double, double>())
        .def("forecast", [](PoolRounds& self, Row said) { return self.forecast(said); })
        .def("learn", [](PoolRounds& self, Row said, double y) {
            double g = self.takes(y) ? self.forecast(said) : NaN;
            if (g == g) self.settle(y, g);
            return g == g;
        });
    nb::class_<AutoRounds>(r, "AutoRounds")
        .def(nb::init<Reader&, O, double, O, O, O, O, O, O, PoolRounds&>())
        .def("predict", &AutoRounds::predict, nb::arg().none(), PREDICT)
        .def("learn", &AutoRounds::learn, nb::arg().none(), nb::arg().none(), LEARN);
    nb::class_<NetRounds>(r, "NetRounds")
        .def(nb::init<Reader&, O, O, O, O, O, O, O, O, O, O, O, O, O>())
        .def("predict", &NetRounds::predict, nb::arg().none(), PREDICT)
        .def("learn", &NetRounds::learn, nb::arg().none(), nb::arg().none(), LEARN);
}

}  // namespace noregret
