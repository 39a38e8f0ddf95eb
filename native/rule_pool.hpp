// A pool of rules: several ways to merge the same experts, merged in turn; docs/theory.md section 23.
//
// Four rules say what they make of the experts' forecasts: exponential weights at the rate of their
// own error with a small and a large share (adaptive.hpp), MLpol (regrets.hpp), and stacking around
// MLpol (stacking.hpp).  Their forecasts are merged by (23.1) once more.  What comes out is one more
// expert of an outermost pool: guarded.hpp has the round, and the proof is the outermost one's alone.
//
// All that it knows is one array, `layout` says what lies where.
#pragma once

#include <array>

#include "regrets.hpp"
#include "stacking.hpp"

namespace noregret::rule_pool {

enum : int { STEADY = 0, AGILE = 1, MLPOL = 2, STACK = 3, RULES = 4 };

constexpr double SHARES[2] = {1e-4, 1e-2}, POWER = 0.5;       // of STEADY and AGILE
constexpr double MERGER_SHARE = 1e-3, MERGER_POWER = 0.25;  // of the pool of all

// The parts of the array.
enum : int {
    STEADY_CELLS = 0,
    AGILE_CELLS = 1,
    REGRET_CELLS = 2,
    FACTOR = 3,
    WORK = 4,
    MERGER_CELLS = 5,
    REGRET_BOOK = 6,
    SCALARS = 7,  // a row each: STEADY's, AGILE's, the stack's, the merger's
    WORDS = 8,    // the experts' forecasts of the round, N x k; of those asleep, some other's
    AWAKE = 9,    // 1 or 0
    SPOKEN = 10,  // what the rules say, RULES x k
    ROOM = 11,    // of the round: slopes, and what each expert lost
    PLAYING = 12,  // by rule, 1 or 0
    PARTS = 13,
};

struct Part {
    Size at, rows, cols;
};

inline std::array<Part, PARTS> layout(Size N, Size k) {
    std::array<Part, PARTS> parts{{
        {0, adaptive::CELL_ROWS, N},
        {0, adaptive::CELL_ROWS, N},
        {0, regrets::CELL_ROWS, N},
        {0, N + 1, N},
        {0, stacking::depth(N), stacking::width(N)},
        {0, adaptive::CELL_ROWS, RULES},
        {0, regrets::BOOK_ROWS, 2},
        {0, 4, adaptive::SCALARS},
        {0, N, k},
        {0, 1, N},
        {0, RULES, k},
        {0, 1, N + k},
        {0, 1, RULES},
    }};
    for (std::size_t i = 1; i < PARTS; ++i)
        parts[i].at = parts[i - 1].at + parts[i - 1].rows * parts[i - 1].cols;
    return parts;
}

// How many numbers the array has, all 0 at first.
inline Size size(Size N, Size k) {
    Part last = layout(N, k)[PARTS - 1];
    return last.at + last.rows * last.cols;
}

struct Rules {
    Size N, k;
    adaptive::Weights steady, agile, merger;
    Block cells, book;  // MLpol's
    stacking::Stack stack;
    Block words, spoken;
    Row awake, room, playing;

    Rules(double* memory, Size experts, Size outcomes) : N(experts), k(outcomes) {
        auto parts = layout(N, k);
        auto block = [&](int part) {
            Part p = parts[std::size_t(part)];
            return Block{memory + p.at, p.rows, p.cols};
        };
        Block scalars = block(SCALARS);
        steady = {block(STEADY_CELLS), scalars[0]};
        agile = {block(AGILE_CELLS), scalars[1]};
        stack = {block(FACTOR), block(WORK), scalars[2]};
        merger = {block(MERGER_CELLS), scalars[3]};
        cells = block(REGRET_CELLS), book = block(REGRET_BOOK);
        words = block(WORDS), spoken = block(SPOKEN);
        awake = block(AWAKE)[0], room = block(ROOM)[0], playing = block(PLAYING)[0];
    }

    // Prior weights of the experts and of the rules, each adding up to 1; 0: a rule left out.
    void start(Row prior, Row rules) const {
        steady.start(prior, SHARES[0], POWER);
        agile.start(prior, SHARES[1], POWER);
        for (Size j = 0; j < N; ++j) cells(regrets::PRIOR, j) = prior[j];
        book(regrets::GAME, 0) = regrets::MLPOL, book(regrets::GAME, 1) = regrets::SQUARE;
        stack.start();
        merger.start(rules, MERGER_SHARE, MERGER_POWER);
        for (int rule = 0; rule < RULES; ++rule) playing[rule] = rules[rule] > 0.0;
    }

    INLINE bool plays(int rule) const { return playing[rule] > 0.0; }
    INLINE bool gradient() const { return plays(MLPOL) || plays(STACK); }

    // What the rules, merged, make of the experts' forecasts, N x k (NaN: asleep); false: all sleep.
    bool forecast(Block said, Row g) const {
        Size some = -1;
        for (Size j = 0; j < N; ++j) {
            bool asleep = regrets::asleep(said[j]);
            awake[j] = asleep ? 0.0 : 1.0;
            if (!asleep && some < 0) some = j;
        }
        if (some < 0) return false;
        for (Size j = 0; j < N; ++j)
            for (Size i = 0; i < k; ++i) words(j, i) = said(awake[j] > 0.0 ? j : some, i);
        if (plays(STEADY)) steady.forecast(words, awake, spoken[STEADY]);
        if (plays(AGILE)) agile.forecast(words, awake, spoken[AGILE]);
        if (gradient()) regrets::forecast(cells, book, said, spoken[MLPOL]);
        if (plays(STACK)) stack.forecast(words, awake, spoken[MLPOL], spoken[STACK]);
        merger.forecast(spoken, playing, g);
        return true;
    }

    // Learn that g, which `forecast` made of the same forecasts, met y; false, and MLpol has not
    // learned, where a slope times a difference does not fit in float64.
    bool learn(Block said, Row g, Row y) const {
        bool fits = true;
        if (plays(STEADY)) steady.learn(words, awake, spoken[STEADY], y);
        if (plays(AGILE)) agile.learn(words, awake, spoken[AGILE], y);
        if (plays(STACK)) stack.learn(words, awake, spoken[MLPOL], y);
        if (gradient()) {
            Row slopes = room.first(k), costs = room.from(k);
            double loss = regrets::learn(cells, book, said, y, spoken[MLPOL], slopes, costs);
            fits = loss == loss;
        }
        merger.learn(spoken, playing, g, y);
        return fits;
    }

    // The experts' weights in the forecast last made: they add up to 1, some may be negative.
    void weights(Row to, Row each) const {
        for (Size j = 0; j < N; ++j) to[j] = 0.0;
        for (int rule = 0; rule < RULES; ++rule) {
            if (!plays(rule)) continue;
            if (rule == MLPOL || rule == STACK) {
                for (Size j = 0; j < N; ++j) each[j] = cells(regrets::WEIGHT, j);
                if (rule == STACK) stack.weights(awake, cells[regrets::WEIGHT], each);
            } else {
                Row w = (rule == STEADY ? steady : agile).cells[adaptive::WEIGHT];
                double total = 0.0;
                for (Size j = 0; j < N; ++j) total += each[j] = w[j] * awake[j];
                for (Size j = 0; j < N; ++j) each[j] /= total;
            }
            double part = merger.cells(adaptive::WEIGHT, rule);
            for (Size j = 0; j < N; ++j) to[j] += part * each[j];
        }
    }
};

}  // namespace noregret::rule_pool
