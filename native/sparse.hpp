// OSLOG, one pass: w <- D^1/2 (aI + D^1/2 M D^1/2)^-1 D^1/2 b with D = diag(max(|w|, floor)).
//
// The same as a D^-1 w + M w = b.  Coordinates whose d_i M_ii exceeds LIVE a are solved for by a
// Cholesky factor; for the others that equation is its own remedy, w_i = d_i (b_i - (M w)_i)/a, a
// contraction by LIVE.  Three rounds of both leave LIVE^2 of the answer and less, so tiny weights
// stay exact and can grow back; none is ever dropped.  The cost follows the k live weights:
// k^3/3 + 6 n (n - k) flops.
//
// `state` has one row per quantity, `gram` is M = sum xx', full.
#pragma once

#include "cholesky.hpp"
#include "ledger.hpp"

namespace noregret::sparse {

// Rows of `state`.
enum : int {
    MOMENT = 0,   // b = sum yx
    WEIGHTS = 1,  // w
    SCALES = 2,   // the d that w was found with
    NEW = 3,      // scratch: the weights to come
    ROOTS = 4,    // scratch: sqrt(d) of the live ones
    LIST = 5,     // scratch: which coordinates are live
    SIDE = 6,     // scratch: right-hand sides
    IDLE = 7,     // a row of 0: no new data
    KEPT = 8,     // scratch: the d before a round
    STATE_ROWS = 9,
};

// Rows of `book`, two entries each.
enum : int {
    LOSS = 0,          // square loss of the forecasts, compensated
    SQUARE = 1,        // sum y^2, compensated
    LARGEST_SEEN = 2,  // largest |y|; and how many rounds
    SETTINGS = 3,      // a; and the floor
    PASSES = 4,        // how many are wanted; and the most that a round took
    BOOK_ROWS = 5,
};

constexpr double LARGEST = 1e140;  // of features and outcomes: products then add up within float64
constexpr double LIVE = 1e-8;
constexpr double SETTLED = 1e-9;   // how nearly the lasso's conditions must hold, in units of a
constexpr double PATIENCE = 1000;  // passes per round, where their number is not given
constexpr Size TURN = 50;          // then coordinate descent and passes take turns
constexpr Size SWEEPS = 100000;    // of both together

// The same pass where a is lost beside D^1/2 M D^1/2: along the axes that data have moved.
// It needs eigenvectors, which NumPy has: see module.cpp.
using Rescue = bool (*)(Block gram, Block state, Row x, double y, double a);

// U with U'U = aI + D^1/2 (M + xx') D^1/2 on the live coordinates; how many, or -1.
MULTIVERSIONED inline Size factor(Block gram, Block state, Block root, Row x, double a) {
    Size n = gram.rows, k = 0;
    Row scales = state[SCALES], roots = state[ROOTS], live = state[LIST];
    for (Size i = 0; i < n; ++i)
        if (scales[i] * (gram(i, i) + x[i] * x[i]) > LIVE * a) {
            live[k] = double(i), roots[k] = std::sqrt(scales[i]);
            ++k;
        }
    for (Size r = 0; r < k; ++r) {
        Size i = Size(live[r]);
        double *row = root[r].p, *source = gram[i].p, scale = roots[r], xi = x[i];
        if (k == n) {
            Size j = r, lead = pieces::lead(n);
            for (; j < lead; ++j) row[j] = scale * roots[j] * (source[j] + xi * x[j]);
            for (j = pieces::piece(j, lead); j < n; j += 4)
                pieces::four(row + j) = scale * pieces::four(roots.p + j) *
                                        (pieces::four(source + j) + xi * pieces::four(x.p + j));
        } else
            for (Size c = r; c < k; ++c) {
                Size j = Size(live[c]);
                row[c] = scale * roots[c] * (source[j] + xi * x[j]);
            }
        row[r] += a;
    }
    return cholesky::factor(root, k) ? k : -1;
}

// NEW <- the weights after one pass with M + xx' and b + yx; false where they do not fit.
MULTIVERSIONED inline bool step(Block gram, Block state, Block root, Row x, double y, double a,
                                Rescue rescue) {
    Size n = gram.rows;
    Row moment = state[MOMENT], scales = state[SCALES], fresh = state[NEW];
    Row roots = state[ROOTS], live = state[LIST], side = state[SIDE];
    Size k = factor(gram, state, root, x, a);
    if (k < 0) return rescue(gram, state, x, y, a);
    for (Size i = 0; i < n; ++i) fresh[i] = 0.0;
    double taken = 0.0;  // x'w of those not live
    for (int turn = 0; turn < 3; ++turn) {
        for (Size r = 0; r < k; ++r) fresh[Size(live[r])] = 0.0;
        for (Size r = 0; r < k; ++r) {
            Size i = Size(live[r]);
            double rest = moment[i] + y * x[i];
            if (turn > 0) rest -= dot(gram[i], fresh) + x[i] * taken;
            side[r] = roots[r] * rest;
        }
        cholesky::solve(root, side, k);
        for (Size r = 0; r < k; ++r) fresh[Size(live[r])] = roots[r] * side[r];
        if (k == n) break;
        double along = dot(x, fresh);
        for (Size i = 0, c = 0; i < n; ++i) {
            if (c < k && live[c] == double(i)) {
                ++c;
            } else if (scales[i] > 0.0) {
                double rest = moment[i] + y * x[i] - dot(gram[i], fresh) - x[i] * along;
                along -= x[i] * fresh[i];
                taken -= x[i] * fresh[i];
                fresh[i] = scales[i] * (rest / a);
                along += x[i] * fresh[i];
                taken += x[i] * fresh[i];
            }
        }
    }
    bool fits = true;
    for (Size i = 0; i < n; ++i) fits = fits && std::isfinite(fresh[i]);
    return fits;
}

// d <- max(|w|, floor).
INLINE void rescale(Block state, double floor) {
    for (Size i = 0; i < state.cols; ++i)
        state(SCALES, i) = larger(std::fabs(state(WEIGHTS, i)), floor);
}

// M += xx', b += yx, d <- max(|w|, floor), w <- NEW.
MULTIVERSIONED inline void commit(Block gram, Block state, Row x, double y, double floor) {
    Size n = gram.rows;
    rescale(state, floor);
    for (Size i = 0; i < n; ++i) {
        state(WEIGHTS, i) = state(NEW, i);
        state(MOMENT, i) += y * x[i];
        if (x[i] != 0.0) pieces::eliminate(gram[i].p, x.p, -x[i], 0, n, pieces::lead(n));
    }
}

// How far w is from the lasso's conditions for |y - Xw|^2 + 2a|w|_1, in units of a.
//
// b - Mw must be a sign(w_i) where w_i counts, and at most a in size elsewhere.
inline double unrest(Block gram, Block state, double a) {
    Row w = state[WEIGHTS];
    double worst = 0.0;
    for (Size i = 0; i < gram.rows; ++i) {
        double pull = (state(MOMENT, i) - dot(gram[i], w)) / a;
        bool counts = std::fabs(w[i]) * gram(i, i) > LIVE * a;
        worst = larger(worst, counts ? std::fabs(pull - std::copysign(1.0, w[i]))
                                     : std::fabs(pull) - 1.0);
    }
    return worst;
}

// Give weights that count for nothing, but should not, what they would be alone.
inline void revive(Block gram, Block state, double a) {
    Row w = state[WEIGHTS];
    for (Size i = 0; i < gram.rows; ++i)
        if (std::fabs(w[i]) * gram(i, i) <= LIVE * a) {
            double pull = state(MOMENT, i) - dot(gram[i], w);
            if (std::fabs(pull) > (1.0 + SETTLED) * a)
                w[i] = (pull - std::copysign(a, pull)) / gram(i, i);
        }
}

// Coordinate descent to the same limit, where passes crawl: sweeps made.
//
// Ends when the lasso's conditions hold, or nothing moves any more.
inline Size sweep(Block gram, Block state, double a, Size most) {
    Row w = state[WEIGHTS];
    for (Size made = 0; made < most; ++made) {
        if (unrest(gram, state, a) <= SETTLED) return made;
        double moved = 0.0, largest = 0.0;
        for (Size i = 0; i < gram.rows; ++i) {
            double g = gram(i, i);
            if (g > 0.0) {
                double alone = state(MOMENT, i) - dot(gram[i], w) + g * w[i];
                double next = std::copysign(larger(std::fabs(alone) - a, 0.0), alone) / g;
                moved = larger(moved, std::fabs(next - w[i]));
                largest = larger(largest, std::fabs(next));
                w[i] = next;
            } else {
                w[i] = 0.0;
            }
        }
        if (moved <= 1e-15 * largest) return made + 1;
    }
    return most;
}

// More passes on what is known; how many there were with the first.
//
// Without a limit they go on until the lasso's conditions hold, and weights that died are let in
// again where the conditions ask for them; with a floor, until the weights rest.  What PATIENCE
// passes have not done, coordinate descent and passes by turns do.
inline Size refine(Block gram, Block state, Block root, double a, double floor, double passes,
                   Rescue rescue) {
    Size n = gram.rows, made = 1;
    bool endless = passes == INF;
    double limit = endless ? PATIENCE : passes;
    while (true) {
        while (double(made) < limit) {
            if (endless && floor == 0.0) {
                if (unrest(gram, state, a) <= SETTLED) return made;
                revive(gram, state, a);
            }
            rescale(state, floor);
            if (!step(gram, state, root, state[IDLE], 0.0, a, rescue)) return made;
            double moved = 0.0, largest = 0.0;
            for (Size i = 0; i < n; ++i) {
                moved = larger(moved, std::fabs(state(NEW, i) - state(WEIGHTS, i)));
                largest = larger(largest, std::fabs(state(NEW, i)));
                state(WEIGHTS, i) = state(NEW, i);
            }
            ++made;
            if (endless && floor > 0.0 && moved <= 1e-12 * largest) return made;
        }
        if (!endless || floor > 0.0) return made;
        Size swept = sweep(gram, state, a, TURN);
        made += swept;
        if (swept < TURN || made >= SWEEPS) return made;
        limit = double(made + TURN);
    }
}

// The first pass of a round, in NEW; false where it does not fit in float64.
//
// Nothing has changed but scratch.
inline bool attempt(Block gram, Block state, Block root, Row x, double y, double a, double floor,
                    Rescue rescue) {
    Size n = gram.rows;
    for (Size i = 0; i < n; ++i) state(KEPT, i) = state(SCALES, i);
    rescale(state, floor);
    bool fits = step(gram, state, root, x, y, a, rescue);
    for (Size i = 0; i < n; ++i) state(SCALES, i) = state(KEPT, i);
    return fits;
}

// One round; how many passes it took, or 0 where the first does not fit in float64.
inline Size learn(Block gram, Block state, Block root, Row x, double y, double a, double floor,
                  double passes, Rescue rescue) {
    if (!attempt(gram, state, root, x, y, a, floor, rescue)) return 0;
    commit(gram, state, x, y, floor);
    return refine(gram, state, root, a, floor, passes, rescue);
}

// What a learner keeps lies in one block of width n: `gram` (n rows), `root` (n rows, scratch),
// `state`, and a row for x.

// w'x; NaN where x does not fit.
template <class Vector>
INLINE double predict(const Block& block, Vector x) {
    Size n = block.cols;
    Row weights = block[2 * n + WEIGHTS];
    if (x.n != n) return NaN;
    double total = 0.0;
    for (Size i = 0; i < n; ++i) {
        if (!(std::fabs(x[i]) <= LARGEST)) return NaN;
        total += weights[i] * x[i];
    }
    return std::fabs(total) < INF ? total : NaN;
}

struct Parts {
    Block gram, root, state;
    Row x;
    INLINE explicit Parts(const Block& block)
        : gram{block.p, block.cols, block.cols}, root{gram[block.cols].p, block.cols, block.cols},
          state{root[block.cols].p, STATE_ROWS, block.cols}, x(block[2 * block.cols + STATE_ROWS]) {}
};

// The first pass of a round whose forecast is a number; false where it is refused.
template <class Vector>
INLINE bool attempt(const Block& block, const Block& book, Vector given, double y, Rescue rescue) {
    Parts p(block);
    double g = predict(block, given), loss = (y - g) * (y - g);
    if (!(loss < INF) || !(std::fabs(y) <= LARGEST)) return false;  // NaN too
    for (Size i = 0; i < block.cols; ++i) p.x[i] = given[i];
    return attempt(p.gram, p.state, p.root, p.x, y, book(SETTINGS, 0), book(SETTINGS, 1), rescue);
}

// Learn and book what was attempted; without a rescue, in one pass.
INLINE void settle(const Block& block, const Block& book, double y, Rescue rescue = nullptr) {
    Parts p(block);
    double g = predict(block, p.x), a = book(SETTINGS, 0), floor = book(SETTINGS, 1);
    commit(p.gram, p.state, p.x, y, floor);
    Size made = rescue ? refine(p.gram, p.state, p.root, a, floor, book(PASSES, 0), rescue) : 1;
    ledger::add(book, LOSS, (y - g) * (y - g));
    ledger::add(book, SQUARE, y * y);
    book(LARGEST_SEEN, 0) = larger(book(LARGEST_SEEN, 0), std::fabs(y));
    book(LARGEST_SEEN, 1) += 1.0;
    book(PASSES, 1) = larger(book(PASSES, 1), double(made));
}

// One round, booked; 1, or 0 where it is refused and nothing has changed but scratch.
template <class Vector>
INLINE int round(const Block& block, const Block& book, Vector x, double y, Rescue rescue) {
    if (!attempt(block, book, x, y, rescue)) return 0;
    settle(block, book, y, rescue);
    return 1;
}

// Every row: forecast, then learn; -1, or the first row refused.
//
// `path` gets the weights after each round if it has rows.
inline Size replay(Block block, Block book, Block xs, Row ys, Row forecasts, Block path,
                   Rescue rescue) {
    Size n = xs.cols;
    for (Size t = 0; t < xs.rows; ++t) {
        forecasts[t] = predict(block, xs[t]);
        if (round(block, book, xs[t], ys[t], rescue) == 0) return t;
        if (path.rows > 0)
            for (Size i = 0; i < n; ++i) path(t, i) = block(2 * n + WEIGHTS, i);
    }
    return -1;
}

}  // namespace noregret::sparse
