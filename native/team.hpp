// Groups of experts, merged: within each group, then the groups by several rules, then the rules.
//
// A group's forecast is that of exponential weights at the rate of their own error (adaptive.hpp) over
// its experts.  The groups' forecasts meet in the same weights with a small and a large share (STEADY,
// AGILE), in MLpol (regrets.hpp) and in stacks around it (stacking.hpp), and these rules once more in
// such weights.  Errors count from the second round on, and the first rounds' soon fade:
//
//     decay_t = min(0.995, 1 - 1/(2 + t/4))                                                       (24.1)
//
// A group that says NaN sleeps.  MLpol and stacks learn y no farther than FAR and CUT of MLpol's own
// errors off, and a stack says nothing beyond the outcomes seen and what the groups say.
// Nothing is proved of all this: a pool around it carries the proof, see docs/theory.md section 24.
#pragma once

#include "regrets.hpp"
#include "stacking.hpp"

namespace noregret::team {

enum : int { STEADY = 0, AGILE = 1, MLPOL = 2, STACKS = 3 };

constexpr double SHARES[2] = {1e-4, 1e-2}, POWER = 0.5;
constexpr double MERGER_SHARE = 1e-3, MERGER_POWER = 0.25;
constexpr Size HEIGHT = 3;  // stacks
constexpr Size RULES = STACKS + HEIGHT;
constexpr double PRECISIONS[HEIGHT] = {1.0, 10.0, 100.0}, STEPS[HEIGHT] = {0.0, 1e-4, 1e-3};
constexpr double CUT = 5.0, FAR = 10.0;

// (24.1), for round t counted from 0.
INLINE double decay(double t) { return smaller(adaptive::DECAY, 1.0 - 1.0 / (2.0 + 0.25 * (t + 1.0))); }

class Team {
  public:
    // `sizes`: how many experts each group has.  Without memory, only `size` counts.
    Team(double* memory, Row sizes) : G(sizes.n), N(0), start_(memory), at_(memory) {
        for (Size g = 0; g < G; ++g) N += Size(sizes[g]);
        head = row(3);
        for (Size g = 0; g < G; ++g) {
            Block cells = block(adaptive::CELL_ROWS, Size(sizes[g]));
            groups.push_back({cells, row(adaptive::SCALARS)});
        }
        for (auto* rule : {&steady, &agile}) {
            rule->cells = block(adaptive::CELL_ROWS, G);
            rule->at = row(adaptive::SCALARS);
        }
        regret = block(regrets::CELL_ROWS, G), book = block(regrets::BOOK_ROWS, 2);
        for (Size s = 0; s < HEIGHT; ++s) {
            stacking::Stack stack{block(G + 1, G), block(stacking::depth(G), stacking::width(G)),
                                  row(stacking::SCALARS)};
            stack.step = STEPS[s], stack.bound = CUT;
            stacks.push_back(stack);
        }
        merger.cells = block(adaptive::CELL_ROWS, RULES), merger.at = row(adaptive::SCALARS);
        words = row(G), awake = row(G), spoken = row(RULES), room = row(1 + G);
        ones_.assign(std::size_t(N + RULES), 1.0);
        filled_ = scratch(G);
    }

    Size G, N;
    Row head;  // rounds; the least and the largest outcome
    std::vector<adaptive::Weights> groups;
    adaptive::Weights steady, agile, merger;
    Block regret, book;
    std::vector<stacking::Stack> stacks;
    Row words, awake, spoken, room;  // of the round: the groups' forecasts (NaN: asleep), the rules'

    Size size() const { return at_ - start_; }

    void start() {
        auto even = [](const adaptive::Weights& w, double share, double power) {
            std::vector<double> prior(std::size_t(w.cells.cols), 1.0 / double(w.cells.cols));
            w.start({prior.data(), w.cells.cols}, share, power);
        };
        for (auto& group : groups) even(group, SHARES[0], POWER);
        even(steady, SHARES[0], POWER), even(agile, SHARES[1], POWER);
        even(merger, MERGER_SHARE, MERGER_POWER);
        for (Size g = 0; g < G; ++g) regret(regrets::PRIOR, g) = 1.0 / double(G);
        book(regrets::GAME, 0) = regrets::MLPOL, book(regrets::GAME, 1) = regrets::SQUARE;
        for (Size s = 0; s < HEIGHT; ++s) stacks[std::size_t(s)].start(PRECISIONS[s]);
    }

    // The forecast from what the experts say, group after group; the first group is awake.
    double forecast(Row said) {
        Size first = 0;
        for (Size g = 0; g < G; ++g) {
            auto& group = groups[std::size_t(g)];
            Block mine{said.p + first, group.cells.cols, 1};
            first += group.cells.cols;
            awake[g] = mine(0, 0) == mine(0, 0) ? 1.0 : 0.0;
            words[g] = NaN;
            if (awake[g] > 0.0) group.forecast(mine, ones(group.cells.cols), words.from(g).first(1));
            filled_[std::size_t(g)] = awake[g] > 0.0 ? words[g] : words[0];
        }
        Block all = filled();
        steady.forecast(all, awake, spoken.from(STEADY).first(1));
        agile.forecast(all, awake, spoken.from(AGILE).first(1));
        Row centre = spoken.from(MLPOL).first(1);
        regrets::forecast(regret, book, {words.p, G, 1}, centre);
        Row heard{filled_.data(), G};
        double low = smaller(head[1], vectors::smallest(heard)), high = larger(head[2], vectors::largest(heard));
        for (Size s = 0; s < HEIGHT; ++s) {
            double& g = spoken[STACKS + s];
            stacks[std::size_t(s)].forecast(all, awake, centre, {&g, 1});
            if (head[0] > 0.0) g = larger(low, smaller(high, g));
        }
        double g;
        merger.forecast({spoken.p, RULES, 1}, ones(RULES), {&g, 1});
        return g;
    }

    // Learn that g, which `forecast` made of the same forecasts, met y.
    void learn(Row said, double g, double y) {
        double t = head[0], fade = decay(t);
        Row met{&y, 1};
        if (t > 0.0) {
            Size first = 0;
            for (Size k = 0; k < G; ++k) {
                auto& group = groups[std::size_t(k)];
                Block mine{said.p + first, group.cells.cols, 1};
                first += group.cells.cols;
                if (awake[k] > 0.0)
                    group.learn(mine, ones(group.cells.cols), words.from(k).first(1), met, fade);
            }
            steady.learn(filled(), awake, spoken.from(STEADY).first(1), met, fade);
            agile.learn(filled(), awake, spoken.from(AGILE).first(1), met, fade);
            merger.learn({spoken.p, RULES, 1}, ones(RULES), {&g, 1}, met, fade);
            Row centre = spoken.from(MLPOL).first(1);
            double s = std::sqrt(stacks[0].at[stacking::ERROR]), reach = s > 0.0 ? FAR * s : INF;
            for (auto& stack : stacks) stack.learn(filled(), awake, centre, met, fade);
            double near = larger(centre[0] - reach, smaller(centre[0] + reach, y));
            regrets::learn(regret, book, {words.p, G, 1}, {&near, 1}, centre, room.first(1), room.from(1));
        }
        head[1] = t > 0.0 ? smaller(head[1], y) : y;
        head[2] = t > 0.0 ? larger(head[2], y) : y;
        head[0] = t + 1.0;
    }

    // The groups' weights in the forecast just made: they add up to 1, by stacking some may be negative.
    void weights(Row to) {
        auto each = scratch(G);
        for (Size k = 0; k < G; ++k) to[k] = 0.0;
        for (Size rule = 0; rule < RULES; ++rule) {
            if (rule < MLPOL) {
                Row w = (rule == STEADY ? steady : agile).cells[adaptive::WEIGHT];
                double total = 0.0;
                for (Size k = 0; k < G; ++k) total += each[std::size_t(k)] = w[k] * awake[k];
                for (Size k = 0; k < G; ++k) each[std::size_t(k)] /= total;
            } else {
                for (Size k = 0; k < G; ++k) each[std::size_t(k)] = regret(regrets::WEIGHT, k);
                Row centre = regret[regrets::WEIGHT];
                if (rule > MLPOL) stacks[std::size_t(rule - STACKS)].weights(awake, centre, {each.data(), G});
            }
            for (Size k = 0; k < G; ++k) to[k] += merger.cells(adaptive::WEIGHT, rule) * each[std::size_t(k)];
        }
    }

  private:
    Block block(Size rows, Size cols) {
        Block found{at_, rows, cols};
        at_ += rows * cols;
        return found;
    }
    Row row(Size n) { return block(1, n)[0]; }
    Row ones(Size n) { return {ones_.data(), n}; }
    Block filled() { return {filled_.data(), G, 1}; }

    double *start_, *at_;
    std::vector<double> ones_, filled_;  // `filled_`: what sleeps says as the first group
};

// Every row: forecast, then learn.  `heard` gets the groups' forecasts, the team's, and the root of the
// team's mean square error before the row.
inline void replay(Row memory, Row sizes, Block said, Row ys, Block heard) {
    Team team(memory.p, sizes);
    for (Size t = 0; t < said.rows; ++t) {
        double g = team.forecast(said[t]);
        std::memcpy(heard[t].p, team.words.p, std::size_t(team.G) * sizeof(double));
        heard(t, team.G) = g;
        heard(t, team.G + 1) = std::sqrt(team.merger.at[adaptive::ERROR]);
        if (ys.n > 0) team.learn(said[t], g, ys[t]);
    }
}

}  // namespace noregret::team
