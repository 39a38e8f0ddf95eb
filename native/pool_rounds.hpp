// The rounds of a pool whose members are learners of ours or names of forecasts, and of Auto.
//
// A round that is refused, and one that only asks, leaves `cells` and `book` as they were: the
// forecast is made in a copy, which takes their place when everything has been checked.
#pragma once

#include "grid.hpp"
#include "pool.hpp"
#include "renewal.hpp"

namespace noregret {

// Weights: from what the experts say to what the pool says and learns.
class Weights {
  public:
    // Whoever gives the pool other arrays makes new rounds.
    Weights(nanobind::object pool, bool binary, double largest)
        : cells_(pool.attr("cells")), book_(pool.attr("book")), binary_(binary), largest_(largest),
          pool_(array<Block>(cells_, "cells")), sums_(array<Block>(book_, "book")),
          room_(scratch(pool_.rows * pool_.cols)), said_(scratch(pool_.cols)),
          heard_(said_), lanes_(aggregating::lanes_for(pool_)) {}

    Size size() const { return pool_.cols; }
    Row said() { return {said_.data(), pool_.cols}; }
    bool likelihood() const { return sums_(mixing::GAME, 0) == mixing::LIKELIHOOD; }

    // The forecast from `said`; NaN where nobody can make one, or an expert is beyond the limit.
    // What was forecast from the same words in the same round is kept.
    double forecast() {
        std::size_t bytes = said_.size() * sizeof(double);
        if (sums_(mixing::ROUNDS, 0) == round_ && !std::memcmp(said_.data(), heard_.data(), bytes))
            return g_;
        round_ = NaN;
        for (double g : said_)
            if (std::fabs(g) > largest_) return NaN;
        std::memcpy(room_.data(), pool_.p, room_.size() * sizeof(double));
        std::memcpy(trial()[mixing::SAID].p, said_.data(), bytes);
        std::memcpy(heard_.data(), said_.data(), bytes);
        g_ = mixing::wake_and_forecast(trial(), sums_, &awake_, lanes_.data());
        round_ = sums_(mixing::ROUNDS, 0);
        return g_;
    }

    void forget() { round_ = NaN; }

    bool takes(double y) const {
        return std::fabs(y) <= largest_ && (!binary_ || y == 0.0 || y == 1.0);
    }

    // The losses of a likelihood game; whether anybody gave what happened a chance.
    Row costs() { return trial()[mixing::COST]; }
    bool possible() { return mixing::leader(trial(), 1.0) >= 0; }

    // Learn the round that was just forecast.
    void settle(double y) {
        std::memcpy(pool_.p, room_.data(), room_.size() * sizeof(double));
        mixing::settle(pool_, sums_, y, g_, pool_.cols - awake_, lanes_.data());
    }

  private:
    Block trial() { return {room_.data(), pool_.rows, pool_.cols}; }

    nanobind::object cells_, book_;
    bool binary_;
    double largest_;
    Block pool_, sums_;
    std::vector<double> room_, said_, heard_, lanes_;
    double g_ = NaN, round_ = NaN;  // the forecast from heard_, and how many rounds went before it
    Size awake_ = 0;
};

// A pool of learners of ours: all of them look, all are asked, then all learn.
class PoolRounds : public Rounds {
  public:
    // `models` have a `_state` with rounds of its own, `fast`; those in `locked` need their lock.
    PoolRounds(nanobind::object pool, bool binary, double largest, nanobind::list models,
               nanobind::list locks)
        : weights_(pool, binary, largest) {
        for (nanobind::handle model : models) {
            states_.emplace_back(nanobind::borrow(model), "_state");
            kept_.push_back(states_.back().held().attr("fast"));
            members_.push_back(nanobind::cast<Rounds*>(kept_.back()));
        }
        for (nanobind::handle lock : locks) locks_.emplace_back(nanobind::borrow(lock));
        if (Size(members_.size()) != weights_.size()) throw nanobind::value_error("members");
    }

    double look(PyObject* x) override {
        for (const Watch& state : states_)
            if (!state.holds()) return NaN;
        for (const Gate& lock : locks_)
            if (!lock.open()) return NaN;
        for (std::size_t j = 0; j < members_.size(); ++j) {
            double g = members_[j]->look(x);
            if (g != g) return NaN;
            if (weights_.likelihood() && std::isnan(members_[j]->log_loss(0.0))) return NaN;
            weights_.said()[Size(j)] = g;
        }
        return weights_.forecast();
    }

    bool takes(double y) override {
        if (!weights_.takes(y)) return false;
        for (Rounds* member : members_)
            if (!member->takes(y)) return false;
        if (!weights_.likelihood()) return true;
        for (std::size_t j = 0; j < members_.size(); ++j) {
            double loss = members_[j]->log_loss(y);
            if (loss != loss || loss == -INF) return false;
            weights_.costs()[Size(j)] = loss;
        }
        return weights_.possible();
    }

    void settle(double y) override {
        weights_.settle(y);
        for (Rounds* member : members_) member->settle(y);
    }

  private:
    Weights weights_;
    std::vector<Watch> states_;
    std::vector<nanobind::object> kept_;
    std::vector<Rounds*> members_;
    std::vector<Gate> locks_;
};

// A pool of forecasts that come in x: by name, or all of them in a row.
class NamedRounds : public Rounds {
  public:
    NamedRounds(nanobind::object pool, bool binary, double largest, nanobind::dict places)
        : weights_(pool, binary, largest), names_(places), row_(weights_.size()) {
        if (Size(nanobind::len(places)) != weights_.size()) throw nanobind::value_error("names");
    }

    double look(PyObject* x) override {
        Strided row;
        if (weights_.likelihood()) return NaN;
        if (!(PyDict_CheckExact(x) ? names_ : row_).read(x, row)) return NaN;
        for (Size j = 0; j < row.n; ++j) weights_.said()[j] = row[j];
        return weights_.forecast();
    }

    bool takes(double y) override { return weights_.takes(y); }
    void settle(double y) override { weights_.settle(y); }

  private:
    Weights weights_;
    Reader names_, row_;
};

// Auto on features in known units: every core, then the pool.
class AutoRounds : public Rounds {
  public:
    AutoRounds(Reader& reader, nanobind::object scale, double constant, nanobind::object fixed,
               nanobind::object fixed_work, nanobind::object moving, nanobind::object moving_work,
               nanobind::object ledgers, nanobind::object clips, nanobind::object seen,
               nanobind::object pool, double largest)
        : held_(reader, scale, fixed, fixed_work, moving, moving_work, ledgers, clips, seen),
          weights_(pool, false, largest), scale_(array<Row>(scale, "scale")),
          seen_(array<Row>(seen, "seen")), constant_(constant),
          fixed_(array<Cube>(fixed, "fixed")), fixed_work_(array<Cube>(fixed_work, "fixed_work")),
          moving_(array<Cube>(moving, "moving")),
          moving_work_(array<Cube>(moving_work, "moving_work")),
          ledgers_(array<Cube>(ledgers, "ledgers")), clips_(array<Cube>(clips, "clips")),
          x_(scratch(scale_.n + 1)) {
        if (weights_.size() != 2 * (fixed_.depth + moving_.depth))
            throw nanobind::value_error("experts");
    }

    // What a forecast has just looked at is looked at no more.
    double look(PyObject* given) override {
        if (!measured(given)) return NaN;
        return looked({x_.data(), Size(x_.size())}) ? weights_.forecast() : said();
    }

    // Features that are not 0 for the first time get their unit.
    double look_row(Row row) override {
        if (row.n != scale_.n) return NaN;
        x_[0] = constant_;
        for (Size k = 0; k < row.n; ++k) {
            if (scale_[k] == 0.0) scale_[k] = std::fabs(row[k]);
            x_[std::size_t(k) + 1] = scale_[k] > 0.0 ? row[k] / scale_[k] : row[k];
        }
        return said();
    }

    void forget() override { g_ = NaN, weights_.forget(); }

    bool takes(double y) override { return weights_.takes(y); }

    void settle(double y) override {
        weights_.settle(y);
        grid::absorb(fixed_, fixed_work_, moving_, moving_work_, ledgers_, clips_, seen_, y);
        g_ = NaN;
    }

  private:
    // What all cores and then the pool say of x_.
    double said() {
        Row x{x_.data(), Size(x_.size())};
        g_ = NaN;
        if (grid::look(fixed_, fixed_work_, moving_, moving_work_, x, seen_, weights_.said()) ==
            layout::OK)
            g_ = weights_.forecast();
        return g_;
    }

    // x in its units, behind the constant feature; false where Python must look at it.
    bool measured(PyObject* given) {
        Strided row;
        if (!held_.reader.read(given, row)) return false;
        x_[0] = constant_;
        for (Size k = 0; k < row.n; ++k) {
            double value = row[k], unit = scale_[k];
            if (!(std::fabs(value) <= layout::EXACT_INTEGER)) return false;  // NaN too
            if (unit == 0.0 && value != 0.0) return false;                   // it gets its unit now
            x_[std::size_t(k) + 1] = unit > 0.0 ? value / unit : value;
        }
        return true;
    }

    // Whether g_ was made by these rounds from a look at this x that every core still has: they
    // look one after the other, so that the first and the last speak for all.
    bool looked(Row x) const {
        if (g_ != g_) return false;
        bool still = fixed_.depth > 0, walks = moving_.depth > 0;
        Block first = (still ? fixed_work_ : moving_work_)[0];
        Block last = walks ? moving_work_[moving_.depth - 1] : fixed_work_[fixed_.depth - 1];
        return fresh(first, x) && fresh(last, x);
    }
    static bool fresh(Block work, Row x) {
        bool same = work(layout::AT, layout::FRESH) == 1.0;
        for (Size k = 0; k < x.n && same; ++k) same = work(layout::X, k) == x[k];
        return same;
    }

    Held held_;
    Weights weights_;
    Row scale_, seen_;
    double constant_;
    Cube fixed_, fixed_work_, moving_, moving_work_, ledgers_, clips_;
    std::vector<double> x_;
    double g_ = NaN;
};

}  // namespace noregret
