// Exponential weights at the rate of the pool's own error, docs/theory.md section 23.1.
//
// With v the running mean of the pool's square errors (DECAY; a term counts at most CUT v) and
// l_j the square loss of expert j,
//
//     g   = sum_j w_j f_j,      w_j ~ w_j exp(-min(c/(2v) (l_j - min_i l_i), MOST))              (23.1)
//     w_j <- (1 - s) w_j + s p_j                                            (Fixed Share)
//
// For c = 1 that is Bayes' rule for normal errors of variance v.  No weight is ever below s p_j, and
// no round takes more than MOST nats from one, so that weights need no logarithms.  Those asleep
// keep their weight.  Nothing is proved of it: rule_pool.hpp has it behind the Aggregating Algorithm.
#pragma once

#include "vectors.hpp"

namespace noregret::adaptive {

constexpr double DECAY = 0.995, CUT = 25.0, MOST = 30.0;

// Rows of `cells`, one column per expert.
enum : int { PRIOR = 0, WEIGHT = 1, MASS = 2, COST = 3, CELL_ROWS = 4 };
// Entries of `at`: v, the rounds that it speaks of, s and c.
enum : int { ERROR = 0, COUNT = 1, SHARE = 2, POWER = 3, SCALARS = 4 };

// at[0], at[1]: a running mean of squares and how many it speaks of, with one square more.
INLINE void follow(Row at, double square, double decay = DECAY) {
    double v = at[ERROR], n = decay * at[COUNT];
    if (v > 0.0) square = smaller(square, CUT * v);
    at[ERROR] = (n * v + square) / (n + 1.0);
    at[COUNT] = n + 1.0;
}

INLINE double square_loss(Row f, Row y) {
    double sum = 0.0;
    for (Size i = 0; i < y.n; ++i) sum += (y[i] - f[i]) * (y[i] - f[i]);
    return sum;
}

struct Weights {
    Block cells;
    Row at;

    void start(Row prior, double share, double power) const {
        for (Size j = 0; j < cells.cols; ++j) cells(PRIOR, j) = cells(WEIGHT, j) = prior[j];
        at[SHARE] = share, at[POWER] = power;
    }

    // The weighted mean of those awake (1 or 0; some are), about the heaviest's forecast.
    //
    // `said` is N x k, k outcomes a round; of those asleep it holds any finite number.
    MULTIVERSIONED void forecast(Block said, Row awake, Row g) const {
        Row w = cells[WEIGHT], mass = cells[MASS];
        for (Size j = 0; j < w.n; ++j) mass[j] = w[j] * awake[j];
        Size lead = vectors::place(mass, vectors::largest(mass));
        double total = vectors::total(mass);
        for (Size i = 0; i < g.n; ++i) {
            double base = said(lead, i), sums[8] = {0, 0, 0, 0, 0, 0, 0, 0};
            Size j = 0;
            for (; j + 8 <= w.n; j += 8)
                for (int q = 0; q < 8; ++q) sums[q] += mass[j + q] * (said(j + q, i) - base);
            for (int q = 0; j < w.n; ++j, ++q) sums[q] += mass[j] * (said(j, i) - base);
            g[i] = base + vectors::total({sums, 8}) / total;
        }
    }

    // Learn that g, made from the same forecasts, met y.
    MULTIVERSIONED void learn(Block said, Row awake, Row g, Row y, double decay = DECAY) const {
        follow(at, square_loss(g, y), decay);
        double v = at[ERROR], s = at[SHARE], c = at[POWER];
        if (!(v > 0.0)) return;  // never wrong so far
        Row w = cells[WEIGHT], prior = cells[PRIOR], mass = cells[MASS], cost = cells[COST];
        if (y.n == 1) {
            double only = y[0];
            const double* f = said.p;
            for (Size j = 0; j < w.n; ++j) cost[j] = (only - f[j]) * (only - f[j]);
        } else {
            for (Size j = 0; j < w.n; ++j) cost[j] = square_loss(said[j], y);
        }
        for (Size j = 0; j < w.n; ++j) mass[j] = awake[j] > 0.0 ? cost[j] : INF;
        double least = vectors::smallest(mass);
        for (Size j = 0; j < w.n; ++j) mass[j] = -smaller((mass[j] - least) * c / (2.0 * v), MOST);
        vectors::exponentials(mass, 0.0);
        for (Size j = 0; j < w.n; ++j) cost[j] = w[j] * awake[j], mass[j] *= cost[j];
        double scale = vectors::total(cost) / vectors::total(mass);
        for (Size j = 0; j < w.n; ++j)
            w[j] = (1.0 - s) * (awake[j] > 0.0 ? mass[j] * scale : w[j]) + s * prior[j];
    }
};

}  // namespace noregret::adaptive
