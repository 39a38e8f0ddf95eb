// Auto's groups one row at a time: all look, the team merges them, the pool stands guard; then all learn.
//
// What a replay does with many rows, in the same order and to the same bits.  A look writes nothing but
// scratch: features are taken in, and teams forecast, in copies that take the place of the arrays when
// the round is learned.  Rounds after which Python looks for new columns, and first values that set a
// unit, are declined.
#pragma once

#include "boosting.hpp"
#include "forest.hpp"
#include "leaders.hpp"
#include "pool_rounds.hpp"
#include "team.hpp"
#include "views.hpp"

namespace noregret {

// Cores that share their columns, in the arrays of a CoreGrid; see grid.hpp.
struct Cores {
    explicit Cores(nanobind::tuple a)
        : fixed(array<Cube>(a[0], "fixed")), fixed_work(array<Cube>(a[1], "fixed_work")),
          moving(array<Cube>(a[2], "moving")), moving_work(array<Cube>(a[3], "moving_work")),
          ledgers(array<Cube>(a[4], "ledgers")), clips(array<Cube>(a[5], "clips")),
          seen(array<Row>(a[6], "seen")) {}

    Cube fixed, fixed_work, moving, moving_work, ledgers, clips;
    Row seen;

    Size experts() const { return 2 * (fixed.depth + moving.depth); }
    bool look(Row x, Row said) const {
        return grid::look(fixed, fixed_work, moving, moving_work, x, seen, said) == layout::OK;
    }
    void absorb(double y) const {
        grid::absorb(fixed, fixed_work, moving, moving_work, ledgers, clips, seen, y);
    }
};

// A team that forecasts in a copy of its memory.
class TrialTeam {
  public:
    TrialTeam(nanobind::object memory, nanobind::object sizes)
        : memory_(array<Row>(memory, "memory")), room_(scratch(memory_.n)),
          team_(room_.data(), array<Row>(sizes, "sizes")), said_(scratch(team_.N)) {
        if (team_.size() != memory_.n) throw nanobind::value_error("memory");
    }

    Row said() { return {said_.data(), team_.N}; }
    Row words() { return team_.words; }  // by group, after a forecast
    double near() const { return near_; }

    double forecast() {
        std::memcpy(room_.data(), memory_.p, room_.size() * sizeof(double));
        g_ = team_.forecast(said());
        near_ = std::sqrt(team_.merger.at[adaptive::ERROR]);
        return g_;
    }
    void learn(double y) {
        team_.learn(said(), g_, y);
        std::memcpy(memory_.p, room_.data(), room_.size() * sizeof(double));
    }

  private:
    Row memory_;
    std::vector<double> room_;
    team::Team team_;
    std::vector<double> said_;
    double g_ = NaN, near_ = NaN;
};

class EnsembleRounds : public Rounds {
  public:
    // `groups` has (plan, whether outliers are cut, how many experts, arrays or None: asleep), `boosted`
    // (trees, which of the past they see if they learn changes); `span` is
    // (lo, hi) where the range is given; `limits` (budget, how far trees learn, how far they speak,
    // the largest outcome, the round before the next plan).
    EnsembleRounds(Reader& reader, nanobind::object scale, double constant, nanobind::tuple linear,
                   nanobind::object features, nanobind::object outcomes, nanobind::list groups,
                   nanobind::list boosted, nanobind::object waves, nanobind::tuple team, nanobind::tuple last, nanobind::object tree,
                   nanobind::object pool, nanobind::tuple guard, nanobind::object span,
                   nanobind::tuple limits)
        : held_(reader, scale, linear, features, outcomes, groups, boosted, waves, team, last, tree, guard),
          weights_(pool, false, nanobind::cast<double>(limits[3])), book_(pool.attr("book")),
          sums_(array<Block>(book_, "book")), scale_(array<Row>(scale, "scale")), constant_(constant),
          linear_(linear), features_(array<Block>(features, "features")),
          outcomes_(array<Row>(outcomes, "outcomes")), waves_(array<Block>(waves, "waves")),
          team_(team[0], team[1]), last_(last[0], last[1]),
          forest_(tree.is_none() ? nullptr : nanobind::cast<mondrian::Forest*>(tree)),
          account_(array<Row>(guard[0], "account")), over_(array<Row>(guard[1], "over")),
          paid_(array<Block>(guard[2], "paid")), budget_(nanobind::cast<double>(limits[0])),
          far_(nanobind::cast<double>(limits[1])), wide_(nanobind::cast<double>(limits[2])),
          plans_(nanobind::cast<double>(limits[4])), given_(!span.is_none()), n_(scale_.n),
          x_(scratch(n_)), row_(scratch(n_ + 1)), taken_(scratch(features_.rows * features_.cols)),
          z_(scratch(n_)), r_(scratch(n_)), past_(scratch(views::PAST)), naive_(scratch(views::PAST + 1)) {
        if (given_) {
            nanobind::tuple ends = nanobind::cast<nanobind::tuple>(span);
            low_ = nanobind::cast<double>(ends[0]), high_ = nanobind::cast<double>(ends[1]);
        }
        Size experts = linear_.experts() + views::PAST + 1, widest = n_ + 1, most = linear_.experts();
        for (nanobind::handle one : groups) {
            nanobind::tuple g = nanobind::cast<nanobind::tuple>(one);
            Group group{array<Block>(g[0], "plan"), nanobind::cast<bool>(g[1]), nanobind::cast<Size>(g[2]), {}};
            if (!g[3].is_none()) group.cores.emplace_back(nanobind::cast<nanobind::tuple>(g[3]));
            experts += group.experts, widest = std::max(widest, group.plan.rows);
            most = std::max(most, 2 * group.experts);
            groups_.push_back(std::move(group));
        }
        for (nanobind::handle one : boosted) {
            nanobind::tuple b = nanobind::cast<nanobind::tuple>(one);
            Boosted trees{*nanobind::cast<boosting::Booster*>(b[0]), {}, {}, 0.0};
            for (nanobind::handle k : nanobind::cast<nanobind::tuple>(b[1]))
                trees.earlier.push_back(nanobind::cast<std::size_t>(k));
            trees.row = scratch(n_ + (trees.earlier.empty() ? 0 : 1 + Size(trees.earlier.size())));
            if (trees.booster.features() != Size(trees.row.size())) throw nanobind::value_error("boosted");
            experts += 1, boosted_.push_back(std::move(trees));
        }
        columns_ = scratch(widest), spoken_ = scratch(most);
        bool fits = features_.rows == n_ && features_.cols == views::FEATURE && outcomes_.n == views::OUTCOMES &&
                    team_.said().n == experts && last_.said().n == 2 &&
                    weights_.size() == linear_.experts() + team_.words().n + 1;
        if (!fits) throw nanobind::value_error("groups");
    }

    double look(PyObject* given) override {
        if (!read(given)) return NaN;
        if (!looked()) {
            g_ = NaN;
            if (!heard()) return NaN;
        }
        return g_;
    }

    // Plans are Python's.
    bool takes(double y) override { return weights_.takes(y) && outcomes_[views::ROUNDS] != plans_; }

    void settle(double y) override {
        double quick = weights_.said()[weights_.size() - 1], issued, loss;
        weights_.settle(y);
        Row met{&y, 1}, one{&issued, 1};
        leaders::guard({&quick, 1}, {&safe_, 1}, met, {&lo_, 1}, {&hi_, 1}, budget_, 0, account_, over_, one);
        leaders::pay(one, met, paid_, {&loss, 1});
        team_.learn(y);
        if (forest_) {
            last_.learn(y);
            double most = far_ * team_.near();
            forest_->look({x_.data(), n_});
            forest_->settle(smaller(larger(y - merged_, -most), most));
        }
        std::memcpy(features_.p, taken_.data(), taken_.size() * sizeof(double));
        double soft = views::learn(outcomes_, y);
        linear_.absorb(y);
        for (Group& group : groups_)
            for (Cores& cores : group.cores) cores.absorb((group.twin ? soft : y) - outcomes_[views::FIRST]);
        for (Boosted& trees : boosted_) trees.booster.learn(trees.columns(), y - trees.origin);
        g_ = NaN;
    }

  private:
    struct Group {
        Block plan;
        bool twin;
        Size experts;
        std::vector<Cores> cores;  // one; none: asleep
    };

    struct Boosted {
        boosting::Booster& booster;
        std::vector<std::size_t> earlier;  // places in `naive_`; none: they learn outcomes, not changes
        std::vector<double> row;           // of the last look
        double origin;

        Row columns() { return {row.data(), Size(row.size())}; }
    };

    // x, also in its units behind the constant feature; false where Python must look at it.
    bool read(PyObject* given) {
        Strided row;
        if (!held_.reader.read(given, row)) return false;
        row_[0] = constant_;
        for (Size k = 0; k < n_; ++k) {
            double value = row[k], unit = scale_[k];
            if (!(std::fabs(value) <= layout::EXACT_INTEGER)) return false;  // NaN too
            if (unit == 0.0 && value != 0.0) return false;                   // it gets its unit now
            x_[std::size_t(k)] = value;
            row_[std::size_t(k) + 1] = unit > 0.0 ? value / unit : value;
        }
        return true;
    }

    // Whether g_ was made of this x, and the cores still look at it: the linear ones look first, and the
    // last of them speaks for all.
    bool looked() const {
        if (g_ != g_ || std::memcmp(x_.data(), at_.data(), x_.size() * sizeof(double)) != 0) return false;
        bool walks = linear_.moving.depth > 0;
        Block last = (walks ? linear_.moving_work : linear_.fixed_work)[
            (walks ? linear_.moving.depth : linear_.fixed.depth) - 1];
        bool same = last(layout::AT, layout::FRESH) == 1.0;
        for (Size k = 0; k <= n_ && same; ++k) same = last(layout::X, k) == row_[std::size_t(k)];
        return same;
    }

    // Everybody speaks; false where a look does not fit in float64.
    bool heard() {
        Size t = Size(outcomes_[views::ROUNDS]), L = linear_.experts();
        Row said = team_.said(), outer = weights_.said();
        std::memcpy(taken_.data(), features_.p, taken_.size() * sizeof(double));
        Block taken{taken_.data(), features_.rows, features_.cols};
        for (Size j = 0; j < n_; ++j)
            views::take(taken[j], t, x_[std::size_t(j)], z_[std::size_t(j)], r_[std::size_t(j)]);
        views::recall(outcomes_, naive_.data(), past_.data());
        if (!linear_.look({row_.data(), n_ + 1}, said.first(L))) return false;
        std::memcpy(said.p + L, naive_.data(), naive_.size() * sizeof(double));
        Size place = L + Size(naive_.size());
        for (Group& group : groups_) {
            if (!speaks(group, said.from(place).first(group.experts))) return false;
            place += group.experts;
        }
        for (Boosted& trees : boosted_) said[place++] = speaks(trees);
        double final = merged_ = team_.forecast();
        if (forest_) {
            double off = forest_->look({x_.data(), n_}), most = wide_ * team_.near();
            if (off != off) return false;
            last_.said()[0] = merged_;
            last_.said()[1] = merged_ + smaller(larger(off, -most), most);
            final = last_.forecast();
        }
        std::memcpy(outer.p, said.p, std::size_t(L) * sizeof(double));
        std::memcpy(outer.p + L, team_.words().p, std::size_t(team_.words().n) * sizeof(double));
        outer[outer.n - 1] = final;
        safe_ = weights_.forecast();
        if (safe_ != safe_) return false;
        bool begun = sums_(mixing::ROUNDS, 0) > 0.0;
        lo_ = given_ ? low_ : begun ? sums_(mixing::SEEN, 0) : 0.0;
        hi_ = given_ ? high_ : begun ? sums_(mixing::SEEN, 1) : 0.0;
        double none = NaN;
        leaders::guard({&final, 1}, {&safe_, 1}, {&none, 1}, {&lo_, 1}, {&hi_, 1}, budget_, 0, account_, over_,
                       {&g_, 1});
        at_ = x_;
        return true;
    }

    bool speaks(Group& group, Row to) {
        if (group.cores.empty()) {
            for (Size j = 0; j < to.n; ++j) to[j] = NaN;
            return true;
        }
        Block row{columns_.data(), 1, group.plan.rows};
        views::fill(group.plan, waves_, {x_.data(), 1, n_}, {z_.data(), 1, n_}, {r_.data(), 1, n_},
                    {past_.data(), 1, views::PAST}, row);
        if (!group.cores[0].look(row[0], {spoken_.data(), 2 * group.experts})) return false;
        double first = outcomes_[views::ROUNDS] > 0.0 ? outcomes_[views::FIRST] : 0.0;
        for (Size j = 0; j < to.n; ++j) to[j] = first + spoken_[std::size_t(2 * j)];
        return true;
    }

    double speaks(Boosted& trees) {
        double* to = trees.row.data();
        trees.origin = 0.0;
        if (!trees.earlier.empty()) trees.origin = *to++ = naive_[0];
        for (std::size_t k : trees.earlier) *to++ = naive_[k] - naive_[0];
        std::memcpy(to, x_.data(), x_.size() * sizeof(double));
        return trees.origin + trees.booster.look(trees.columns());
    }

    Held held_;
    Weights weights_;
    nanobind::object book_;
    Block sums_;
    Row scale_;
    double constant_;
    Cores linear_;
    Block features_;
    Row outcomes_;
    Block waves_;
    TrialTeam team_, last_;
    mondrian::Forest* forest_;
    Row account_, over_;
    Block paid_;
    double budget_, far_, wide_, plans_;
    bool given_;
    Size n_;
    std::vector<double> x_, row_, taken_, z_, r_, past_, naive_, columns_, spoken_, at_;
    std::vector<Group> groups_;
    std::vector<Boosted> boosted_;
    double low_ = 0.0, high_ = 0.0, lo_ = 0.0, hi_ = 0.0, merged_ = NaN, safe_ = NaN, g_ = NaN;
};

}  // namespace noregret
