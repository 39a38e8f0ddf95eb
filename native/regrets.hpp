// Pools for any convex loss by the gradient trick: MLpol and BOA, docs/theory.md section 22.
//
// With the slope l' of the loss at the pool's forecast g and r_k = l' (g - f_k), what expert k would
// have saved is at most r_k, so that regret to it is at most R_k = sum r_k.  Both rules weigh the
// experts awake so that sum_k p_k r_k = 0 makes a potential grow by no more than is booked:
//
//     MLpol  p_k ~ prior_k (R_k)+ / D_k,     D_k = sum r_k^2 + B,   B the largest r^2 so far
//            PRICE += sum_k prior_k r_k^2 / D_k of the round before                            (22.3)
//     BOA    p_k ~ prior_k eta_k exp(eta_k E_k),    1/eta_k^2 = 2.2 D_k,    D_k = sum r_k^2
//            E_k += r_k - eta_k r_k^2
//            PRICE += sum_k prior_k (exp(eta E) - exp(eta' E') (1 + eta' r))+, ' of the round before
//                                                                                              (22.6)
// R, E, D are kept in units of a power of two that no |r| exceeds, so that no square leaves float64.
#pragma once

#include "ledger.hpp"

namespace noregret::regrets {

using ledger::add;

// Rows of `cells`, one column per expert.
enum : int {
    PRIOR = 0,   // weights before the first round, adding up to 1
    REGRET = 1,  // R_k
    WORTH = 2,   // D_k
    EDGE = 3,    // E_k
    PAID = 4,    // loss so far, the pool's own where k slept; next row: what rounding took from it
    WEIGHT = 6,  // weights of the round, adding up to 1; 0: asleep
    NOW = 7,     // r_k of the round
    CELL_ROWS = 8,
};

// Rows of `book`, two entries each.
enum : int {
    LOSS = 0,    // what the pool paid, compensated
    PRICE = 1,   // what the potential may have grown by, compensated
    UNIT = 2,    // the unit of R and E, 0 before the first r other than 0; and B, in its square
    ROUNDS = 3,  // how many, and how many of them with a sleeper
    GAME = 4,    // MLPOL or BOA; and the loss
    LEVEL = 5,   // the level of PINBALL or the width of HUBER; and the sum of |r| of the largest
    BOOK_ROWS = 6,
};

enum : int { MLPOL = 0, BOA = 1 };
enum : int { SQUARE = 0, ABSOLUTE = 1, PINBALL = 2, HUBER = 3, GIVEN = 4 };

constexpr double STEP = 2.2;      // |eta r| <= 0.675 then, where exp(x - x^2) <= 1 + x
constexpr double FINEST = 1e-140;  // how much units may grow at once
constexpr double CLOSEST = 1e-6;  // D_k of BOA starts at no less, in units of the largest

INLINE double loss_of(int kind, double level, double g, double y) {
    double e = g - y, size = std::fabs(e);
    if (kind == SQUARE) return e * e;
    if (kind == ABSOLUTE) return size;
    if (kind == PINBALL) return e > 0.0 ? (1.0 - level) * e : -level * e;
    return size <= level ? 0.5 * e * e : level * (size - 0.5 * level);
}
INLINE double slope_of(int kind, double level, double g, double y) {
    double e = g - y;
    if (kind == SQUARE) return 2.0 * e;
    if (kind == HUBER) return larger(-level, smaller(level, e));
    if (e == 0.0) return 0.0;
    if (kind == ABSOLUTE) return e > 0.0 ? 1.0 : -1.0;
    return e > 0.0 ? 1.0 - level : -level;
}

INLINE double rate(double D) { return 1.0 / std::sqrt(STEP * D); }
INLINE bool asleep(Row words) {
    for (Size i = 0; i < words.n; ++i)
        if (words[i] != words[i]) return true;
    return false;
}

// Weights of those awake, adding up to 1; how many there are.  `said` is N x k, k outcomes a round.
INLINE Size weigh(Block cells, Block book, Block said) {
    Size N = cells.cols, awake = 0;
    Row w = cells[WEIGHT];
    bool known = book(UNIT, 0) > 0.0, boa = book(GAME, 0) == BOA;
    double top = -INF, total = 0.0;
    for (Size k = 0; k < N; ++k) {
        if (asleep(said[k])) {
            w[k] = -INF;
            continue;
        }
        ++awake;
        double D = cells(WORTH, k);
        if (boa && known)
            w[k] = std::log(cells(PRIOR, k)) + rate(D) * cells(EDGE, k) - 0.5 * std::log(D);
        else
            w[k] = known ? cells(PRIOR, k) * larger(cells(REGRET, k), 0.0) / D : 0.0;
        top = larger(top, w[k]);
    }
    for (Size k = 0; k < N; ++k) {
        if (w[k] == -INF) w[k] = 0.0;
        else if (boa && known) w[k] = std::exp(w[k] - top);
        else if (!(top > 0.0)) w[k] = cells(PRIOR, k);
        total += w[k];
    }
    for (Size k = 0; k < N; ++k) w[k] /= total;
    return awake;
}

// The weighted mean of those awake, about the heaviest's forecast: where all agree it is theirs.
inline Size forecast(Block cells, Block book, Block said, Row g) {
    Size N = cells.cols, awake = weigh(cells, book, said), lead = 0;
    for (Size k = 1; k < N; ++k)
        if (cells(WEIGHT, k) > cells(WEIGHT, lead)) lead = k;
    for (Size i = 0; i < g.n; ++i) {
        double off = 0.0;
        for (Size k = 0; k < N; ++k)
            if (cells(WEIGHT, k) > 0.0) off += cells(WEIGHT, k) * (said(k, i) - said(lead, i));
        g[i] = awake ? said(lead, i) + off : NaN;
    }
    return awake;
}

// Larger units, a power of two that `top` does not exceed.
INLINE void enlarge(Block cells, Block book, double top) {
    int power;
    std::frexp(top, &power);
    double unit = std::ldexp(1.0, power), by = book(UNIT, 0) / unit;
    if (0.0 < by && by < FINEST) add(book, PRICE, INF);  // what is left would be 0: no claim
    for (Size k = 0; k < cells.cols; ++k) {
        cells(REGRET, k) *= by, cells(EDGE, k) *= by;
        cells(WORTH, k) *= by * by;
    }
    book(UNIT, 0) = unit;
    book(UNIT, 1) *= by * by;
}

INLINE double mlpol(Block cells, Block book, double top) {
    double held = book(UNIT, 1), B = larger(held, top * top), price = 0.0;
    for (Size k = 0; k < cells.cols; ++k) {
        double r = cells(NOW, k), before = cells(WORTH, k);
        cells(REGRET, k) += r;
        cells(WORTH, k) += r * r + (B - held);
        price += cells(PRIOR, k) * (r * r / (held > 0.0 ? before : cells(WORTH, k)));
    }
    book(UNIT, 1) = B;
    return price;
}

INLINE double boa(Block cells, Block book, double top) {
    double held = book(UNIT, 1), B = larger(held, top * top), price = 0.0;
    for (Size k = 0; k < cells.cols; ++k) {
        double r = cells(NOW, k), before = cells(WORTH, k), grew = 1.0, D;
        if (held > 0.0) {
            double eta = rate(before);
            grew = std::exp(eta * cells(EDGE, k)) * (1.0 + eta * r);
            D = before + r * r;
        } else {
            D = r == 0.0 ? B : larger(r * r, CLOSEST * B);
        }
        if (r == 0.0 && held > 0.0) continue;
        double eta = rate(D);
        cells(WORTH, k) = D;
        cells(REGRET, k) += r;
        cells(EDGE, k) += r - eta * r * r;
        price += cells(PRIOR, k) * larger(std::exp(eta * cells(EDGE, k)) - grew, 0.0);
    }
    book(UNIT, 1) = B;
    return price;
}

// Learn a round after `forecast`: its slopes at g, its loss, and what each expert lost.
// False, and nothing learned, where an r is not finite.
inline bool settle(Block cells, Block book, Block said, Row g, Row slopes, double loss, Row costs) {
    Size N = cells.cols;
    double top = 0.0;
    bool gaps = false;
    for (Size k = 0; k < N; ++k) {
        double r = 0.0;
        bool sleeps = asleep(said[k]);
        for (Size i = 0; i < g.n && !sleeps; ++i) r += slopes[i] * (g[i] - said(k, i));
        if (!(std::fabs(r) <= 1e307)) return false;
        cells(NOW, k) = r;
        top = larger(top, std::fabs(r));
        gaps = gaps || sleeps;
    }
    if (top > 0.0) {
        if (top > book(UNIT, 0)) enlarge(cells, book, top);
        for (Size k = 0; k < N; ++k) cells(NOW, k) /= book(UNIT, 0);
        top /= book(UNIT, 0);
        add(book, PRICE, book(GAME, 0) == BOA ? boa(cells, book, top) : mlpol(cells, book, top));
        book(LEVEL, 1) += top * book(UNIT, 0);
    }
    for (Size k = 0; k < N; ++k) {
        double cost = asleep(said[k]) ? loss : costs[k], sum = cells(PAID, k) + cost;
        double part = sum - cells(PAID, k);
        if (sum < INF) cells(PAID + 1, k) += (cells(PAID, k) - (sum - part)) + (cost - part);
        cells(PAID, k) = sum;
    }
    add(book, LOSS, loss);
    book(ROUNDS, 0) += 1.0;
    book(ROUNDS, 1) += gaps;
    return true;
}

// Learn a round of a loss that is known here; its loss, or NaN where it does not fit.
inline double learn(Block cells, Block book, Block said, Row y, Row g, Row slopes, Row costs) {
    int kind = int(book(GAME, 1));
    double level = book(LEVEL, 0), loss = 0.0;
    for (Size i = 0; i < y.n; ++i) {
        slopes[i] = slope_of(kind, level, g[i], y[i]);
        loss += loss_of(kind, level, g[i], y[i]);
    }
    for (Size k = 0; k < cells.cols; ++k) {
        costs[k] = 0.0;
        for (Size i = 0; i < y.n; ++i) costs[k] += loss_of(kind, level, said(k, i), y[i]);
    }
    return settle(cells, book, said, g, slopes, loss, costs) ? loss : NaN;
}

// Every row: forecast, then learn; -1, the first row where all sleep, or T more than a row that
// does not fit.  `weights` has rows where they are wanted.
inline Size replay(Block cells, Block book, Cube said, Block ys, Block forecasts, Row losses,
                   Block weights) {
    auto slopes = scratch(ys.cols), costs = scratch(cells.cols);
    for (Size t = 0; t < said.depth; ++t) {
        if (!forecast(cells, book, said[t], forecasts[t])) return t;
        if (weights.rows > 0)
            std::memcpy(weights[t].p, cells[WEIGHT].p, std::size_t(cells.cols) * sizeof(double));
        losses[t] = learn(cells, book, said[t], ys[t], forecasts[t], {slopes.data(), ys.cols},
                          {costs.data(), cells.cols});
        if (losses[t] != losses[t]) return said.depth + t;
    }
    return -1;
}

}  // namespace noregret::regrets
