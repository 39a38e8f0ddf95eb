// Layer one of K-LMS-NET: kernel LMS for many Gaussian widths at once.
//
//     p_j = sum_s coef_sj exp(-s0 alpha_j |x_s - x|^2)                                    (1)
//
// Patterns lie in tiles of 256, dimension by dimension, and their coefficients node by node, so
// that one tile stays in cache.  The nodes' steps alpha_j - alpha_{j-1} take few values, each a
// power of two of a unit: a pattern needs an exponential for every third of these values or so,
// squares for the others, and then one product per node.
#pragma once

#include "lanes.hpp"

namespace noregret::lms {

using lanes::Eight;

constexpr Size TILE = 256;
constexpr double TINY = 1e-290;      // a product below counts as 0: what follows would be denormal
constexpr double FARTHEST = -800.0;  // exponents below are all the same: exp is 0

// Rows of `work`, each TILE wide.
enum : int {
    DISTANCE = 0,
    POWER = 1,
    STEPS = 2,  // from here on: exp(-s0 step |x_s - x|^2), a row for each size of a step
};

// Columns of `facts`, one row per pattern.
enum : int {
    COUNT = 0,   // rounds with this pattern
    MEAN = 1,    // of their outcomes
    SPREAD = 2,  // sum of squares about that mean
    LAST = 3,    // the last round with this pattern
    FACTS = 4,
};

// |x_s - x|^2 for a tile of patterns; return the least.
INLINE double distances(Block points, Row x, Row out) {
    double* __restrict to = out.p;
    for (Size k = 0; k < TILE; ++k) to[k] = 0.0;
    for (Size i = 0; i < x.n; ++i) {
        const double* __restrict row = points[i].p;
        double xi = x[i];
        for (Size k = 0; k < TILE; ++k) to[k] += (row[k] - xi) * (row[k] - xi);
    }
    return vectors::smallest(out);
}

// Which pattern of a tile is x itself; -1 if none (a distance of 0 may have underflowed).
inline Size equal(Block points, Row x, Row distance) {
    for (Size k = 0; k < TILE; ++k)
        if (distance[k] == 0.0) {
            bool same = true;
            for (Size i = 0; i < x.n; ++i) same = same && points(i, k) == x[i];
            if (same) return k;
        }
    return -1;
}

// exp(-rate distance).
INLINE void decays(Row distance, double rate, Row out) {
    for (Size k = 0; k < TILE; ++k) out.p[k] = larger(-rate * distance.p[k], FARTHEST);
    vectors::exponentials(out, 0.0);
}

// The step of twice the size, or of four times.
INLINE void squares(Row half, double times, Row out) {
    const double* __restrict from = half.p;
    double* __restrict to = out.p;
    if (times == 1.0)
        for (Size k = 0; k < TILE; ++k) to[k] = from[k] * from[k];
    else
        for (Size k = 0; k < TILE; ++k) to[k] = (from[k] * from[k]) * (from[k] * from[k]);
}

// power <- power step; node j gets its product with the coefficients, for the next `run` nodes
// after equal steps, so that the powers stay in registers.
template <int B, int run>
INLINE void advance(Row power, Row step, Block coef, Size j, Row out) {
    Eight<B> sums[run];
    UNROLLED for (int i = 0; i < run; ++i) sums[i] = Eight<B>::all(0.0);
    for (Size k = 0; k < TILE; k += 8) {
        Eight<B> p = Eight<B>::at(power.p + k), e = Eight<B>::at(step.p + k);
        UNROLLED for (int i = 0; i < run; ++i) {
            p = p * e;
            if (i % 4 == 3 || run == 1) p = lanes::where_above(p, TINY);
            sums[i] = sums[i] + p * Eight<B>::at(coef[j + i].p + k);
        }
        p.put(power.p + k);
    }
    for (int i = 0; i < run; ++i) out[j + i] += lanes::total(sums[i]);
}

// (1) for every node; return which pattern x is, -1 if it is new.
//
// rates: for each kind of step its s0 step, and how often to square the one before it to get it.
// levels: of which kind the step to node j is.
template <int B>
INLINE Size outputs_in(Cube points, Cube coefs, Size size, Row x, Block rates, Whole levels,
                       Block work, Row out) {
    constexpr Size MOST = B == 64 ? 8 : 4;  // as many sums as there are registers for
    Size J = out.n, match = -1;
    Row distance = work[DISTANCE], power = work[POWER];
    for (Size j = 0; j < J; ++j) out[j] = 0.0;
    for (Size b = 0; b < (size + TILE - 1) / TILE; ++b) {
        if (distances(points[b], x, distance) == 0.0 && match < 0) {
            Size k = equal(points[b], x, distance);
            if (0 <= k && k < size - b * TILE) match = b * TILE + k;
        }
        for (Size q = 0; q < rates.rows; ++q) {
            if (rates(q, 1) == 0.0)
                decays(distance, rates(q, 0), work[STEPS + q]);
            else
                squares(work[STEPS + q - 1], rates(q, 1), work[STEPS + q]);
        }
        Block coef = coefs[b];
        for (Size k = 0; k < TILE; ++k) power[k] = 1.0;
        out[0] += vectors::total(coef[0]);  // alpha = 0
        for (Size j = 1; j < J;) {
            Row step = work[STEPS + levels[j]];
            Size run = 1;  // equal steps ahead
            while (run < MOST && j + run < J && levels[j + run] == levels[j]) ++run;
            if (run == 8)
                advance<B, 8>(power, step, coef, j, out);
            else if (run >= 4)
                advance<B, 4>(power, step, coef, j, out);
            else
                advance<B, 1>(power, step, coef, j, out);
            j += run == 8 ? 8 : run >= 4 ? 4 : 1;
        }
    }
    return match;
}
VECTORS(Size, outputs,
        (Cube points, Cube coefs, Size size, Row x, Block rates, Whole levels, Block work, Row out),
        (points, coefs, size, x, rates, levels, work, out))

// The outcomes of a pattern: how many, their mean, the squares about it (Welford).
inline void remember(Block facts, Size slot, double y) {
    Row fact = facts[slot];
    fact[COUNT] += 1.0;
    double off = y - fact[MEAN];
    fact[MEAN] += off / fact[COUNT];
    fact[SPREAD] += off * (y - fact[MEAN]);
}

// (3): eta (y - p_j) goes to the coefficients of x, in its slot; `known` if it is there.
inline void keep(Cube points, Cube coefs, Block facts, Size slot, bool known, Row x, Row out,
                 double y, double eta) {
    Size b = slot / TILE, k = slot % TILE;
    if (!known) {
        for (Size i = 0; i < x.n; ++i) points[b](i, k) = x[i];
        for (Size j = 0; j < out.n; ++j) coefs[b](j, k) = 0.0;
        for (Size i = 0; i < FACTS; ++i) facts(slot, i) = 0.0;
    }
    for (Size j = 0; j < out.n; ++j) coefs[b](j, k) += eta * (y - out[j]);  // unclipped
    remember(facts, slot, y);
}

// The pattern that was met longest ago.
inline Size oldest(Block facts, Size size) {
    Size slot = 0;
    for (Size s = 1; s < size; ++s)
        if (facts(s, LAST) < facts(slot, LAST)) slot = s;
    return slot;
}

// One node over many rounds: p_t += eta sum_{s<t} (y_s - p_s) k(x_s, x_t), in outs[0].
//
// outs[0] holds what patterns before these rounds say; outs[1] gets eta (y - p).
inline void follow(Block gram, Row ys, double eta, Block outs) {
    Row p = outs[0], steps = outs[1];
    for (Size t = 0; t < ys.n; ++t) {
        double added = 0.0;
        for (Size s = 0; s < t; ++s) added += steps[s] * gram(s, t);
        p[t] += added;
        steps[t] = eta * (ys[t] - p[t]);
    }
}

}  // namespace noregret::lms
