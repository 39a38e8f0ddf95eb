// Quantiles of forecast errors, tracked on any data: trackers, their merge, and a tracker last.
//
// A round has an error e = y - g and a root spread sqrt(d) of the learner's own, 1 where it has
// none.  Each level tau looks at errors from its side: s = e from the median up, s = -e below it.
// Its end Q is missed when s > Q, and misses should come at the rate alpha = min(tau, 1 - tau).
//
//     trackers   Q_k = (side c_k + th_k w_k) sqrt(d),     th_k += step (1{s > Q_k} - alpha)     (1)
//     merge      P = sum_k p_k Q_k,  p_k ~ (R_k)+ / D_k   (MLpol on pinball loss, see merge)    (2)
//     last       Q = P + r u,        r += ETA (1{s > Q} - alpha)                                (3)
//
// c_k is 0 or a running mean of e/sqrt(d), w_k the mean distance from it, over half-lives of 1, 4
// and 16 rounds and for ever.  u = unit sqrt(d) (1 + EARLY/(n + CALM)), unit the mean |e|/sqrt(d) of
// n rounds: early steps of (3) are large by their unit, so that ETA stays what it is and
//
//     misses - alpha T = (r - r_1)/ETA                                                          (4)
//
// on any data whatever.  Losses are added up in units of `unit sqrt(d)`.
#pragma once

#include "arrays.hpp"

namespace noregret::tracker {

constexpr Size TRACKERS = 8, LIVES = 4, LONG = 500, SHORT = 100;
constexpr double ETA = 0.02, EARLY = 1500.0, CALM = 100.0;
constexpr double LARGEST = 0x1p511;   // error
constexpr double FARTHEST = 0x1p500;  // error, in units of those before
constexpr double KEEP[LIVES] = {0.5, 0.8408964152537145, 0.9576032806985737, 1.0};  // 2^(-1/h)
constexpr double STEP[TRACKERS] = {0.05, 0.05, 0.05, 0.01, 0.05, 0.05, 0.01, 0.2};
constexpr double SETTLED = 99.0;  // 1/(1 + SETTLED) is the smallest of them
constexpr double PLACE_OF[TRACKERS] = {-3, -2, -1, 0, 1, 2, 3, 4};  // of the constants, see FIXED
constexpr Size STEADY = 6;  // the tracker of a constant, in small steps

// Rows of `scale`, one column per half-life: means that fade, and what they count as rounds.
enum : int { MEAN = 0, SIZE = 1, APART = 2, COUNT = 3, SCALE_ROWS = 4 };

// Rows of `track`, one block per level, one column per tracker.
enum : int {
    THETA = 0,    // th_k
    REGRET = 1,   // R_k
    WORTH = 2,    // D_k
    INVERSE = 3,  // 1/D_k, 0 before the first
    WEIGHT = 4,   // p_k
    PAID = 5,     // pinball loss of tracker k
    FIXED = 6,    // pinball loss of START + (k - 3) (0.25 + 0.2 |START|), a constant
    SAID = 7,     // scratch: Q_k of the round
    TRACK_ROWS = 8,
};

// Columns of `book`, one row per level.
enum : int {
    LEVEL = 0,     // tau
    ALPHA = 1,     // min(tau, 1 - tau)
    SIDE = 2,      // 1 from the median up, else -1
    START = 3,     // th_k before the first round
    LAST = 4,      // r
    MISSES = 5,    // how many
    LOSS = 6,      // pinball loss of Q
    MERGED = 7,    // that of P
    PRICE = 8,     // sum over rounds and trackers of r_k^2/D_k, see merge
    PEAK = 9,      // largest r_k^2
    PUSH = 10,     // sum of (1 + EARLY/(n + CALM)) (err - alpha)^2
    STEPS = 11,    // sum of step (err - alpha)^2 of the STEADY tracker
    LOW = 12,      // its smallest and its largest th
    HIGH = 13,
    REACH = 14,    // largest |s - P|/u
    NESTED = 15,   // rounds in which an inner end moved this one out
    CROSSED = 16,  // rounds in which the end across the median did
    LATE = 17,     // rounds whose end was issued before the last round was learned
    OPEN = 18,     // rounds whose end was infinite
    OWN = 19,      // scratch: Q of (3), P of (2), and Q as put in order, all seen from SIDE
    MIX = 20,
    END = 21,
    BOOK_COLUMNS = 22,
};

// Entries of a row of `ring`, one row per coverage: most misses in a window, misses in the window
// that ends now, where the next miss goes, and the last LONG misses.
enum : int { MOST_SHORT = 0, MOST_LONG = 1, NOW_SHORT = 2, NOW_LONG = 3, PLACE = 4, BITS = 5 };
constexpr Size RING = BITS + LONG;

// A short loop that stays one until vectors are made of it.
#if defined(__GNUC__) && !defined(__clang__)
#define VECTOR(k, n) _Pragma("GCC unroll 1") for (int k = 0; k < n; ++k)
#else
#define VECTOR(k, n) for (int k = 0; k < n; ++k)
#endif
using Eight = double[TRACKERS];
INLINE double sum(const Eight& x) {
    double four[4], two[2];
    VECTOR(k, 4) four[k] = x[k] + x[k + 4];
    VECTOR(k, 2) two[k] = four[k] + four[k + 2];
    return two[0] + two[1];
}
INLINE double top(const Eight& x) {
    double four[4], two[2];
    VECTOR(k, 4) four[k] = larger(x[k], x[k + 4]);
    VECTOR(k, 2) two[k] = larger(four[k], four[k + 2]);
    return larger(two[0], two[1]);
}

// What all levels share in a round.
struct Now {
    double n, size, root, early, per;  // rounds, unit, sqrt(d), 1 + EARLY/(n + CALM), 1/(unit sqrt(d))
};
INLINE Now now(Block scale, double root) {
    double n = scale(COUNT, LIVES - 1), size = scale(SIZE, LIVES - 1);
    return {n, size, root, 1.0 + EARLY / (n + CALM), 1.0 / (size * root)};
}

// Whether a round can be learned: its error fits, also in units of the errors before.
INLINE bool admits(Now now, double e) {
    double far = std::fabs(e);
    return far <= LARGEST && (now.size == 0.0 || far <= FARTHEST * now.size * now.root);
}

// (1) to (3) for every level, then the ends in order; all infinite while no error is known.
INLINE void look(Now now, Block scale, Cube track, Block book) {
    Size L = book.rows, middle = 0;
    if (!(now.size > 0.0)) {
        for (Size l = 0; l < L; ++l) book(l, OWN) = book(l, MIX) = book(l, END) = INF;
        return;
    }
    // c_k and w_k: four trackers about means, four about 0
    const double *c = scale[MEAN].p, *a = scale[APART].p, *w = scale[SIZE].p, d = now.root;
    Eight centre = {c[0] * d, c[1] * d, c[2] * d, c[3] * d, 0.0, 0.0, 0.0, 0.0}, part;
    Eight width = {a[0] * d, a[1] * d, a[2] * d, a[3] * d, w[1] * d, w[2] * d, w[3] * d, w[3] * d};
    double u = now.size * now.early * d;
    for (Size l = 0; l < L; ++l) {
        Block at = track[l];
        double side = book(l, SIDE);
        VECTOR(k, 8) {
            double q = side * centre[k] + at(THETA, k) * width[k];
            part[k] = at(WEIGHT, k) * q;
            at(SAID, k) = q;
        }
        double mix = sum(part);
        book(l, MIX) = mix;
        book(l, OWN) = book(l, END) = mix + book(l, LAST) * u;
        middle += side < 0.0;
    }
    // Outwards from the median: no end lies inside the one before.
    for (Size l = middle + 1; l < L; ++l) book(l, END) = larger(book(l, END), book(l - 1, END));
    for (Size l = (middle < L ? middle : L - 1) - 1; l >= 0; --l)
        book(l, END) = larger(book(l, END), -book(l + 1, SIDE) * book(l + 1, END));
}

// (2): MLpol.  With the slope l' of the loss at P and r_k = l' (P - Q_k), sum_k p_k r_k = 0; so
// sum_k (R_k)+^2/D_k grows by no more than sum_k r_k^2/D_k, D_k of the round before: PRICE.
// D_k = sum r_k^2 + peak, so it is positive for all once it is for one.
INLINE void merge(Block at, Row book, double slope) {
    Eight r, square, w, price;
    double mix = book[MIX], held = book[PEAK];
    VECTOR(k, 8) {
        r[k] = slope * (mix - at(SAID, k));
        square[k] = r[k] * r[k];
    }
    double peak = top(square);
    if (peak > held) {  // rare, so that nobody waits for it
        VECTOR(k, 8) at(WORTH, k) += peak - held;
        if (held == 0.0) VECTOR(k, 8) at(INVERSE, k) = 1.0 / (at(WORTH, k) + square[k]);
        book[PEAK] = peak;
    } else if (held == 0.0) {
        return;
    }
    VECTOR(k, 8) {
        double D = at(WORTH, k) + square[k], inverse = 1.0 / D;
        double R = at(REGRET, k) + r[k];
        price[k] = square[k] * at(INVERSE, k);
        w[k] = larger(R, 0.0) * inverse;
        at(WORTH, k) = D;
        at(INVERSE, k) = inverse;
        at(REGRET, k) = R;
    }
    double total = sum(w), part = total > 0.0 ? 1.0 / total : 0.0;
    double even = total > 0.0 ? 0.0 : 1.0 / TRACKERS;
    VECTOR(k, 8) at(WEIGHT, k) = w[k] * part + even;
    book[PRICE] += sum(price);
}

// One level learns an error after a look at its round; whether the end that was issued missed it.
INLINE double learn_level(Now now, Block at, Row book, double y, double g, double end) {
    double alpha = book[ALPHA], side = book[SIDE], s = side * (y - g), issued = side * (end - g);
    double err = (side > 0.0 ? y > end : y < end) ? 1.0 : 0.0;
    if (now.size > 0.0) {
        double mix = book[MIX], per = now.per, hit = 1.0 - alpha, seen = alpha * now.n;
        double fall = seen < SETTLED ? 1.0 / (1.0 + seen) : 0.0;
        double start = book[START], apart = 0.25 + 0.2 * std::fabs(start), x = s * per;
        double slope = s > mix ? hit : -alpha, step = larger(STEP[STEADY], fall);
        double steady = s > at(SAID, STEADY) ? hit : -alpha;
        VECTOR(k, 8) {
            double away = s - at(SAID, k), miss = away > 0.0 ? hit : -alpha;
            double gap = x - (start + PLACE_OF[k] * apart);
            at(PAID, k) += miss * away * per;
            at(FIXED, k) += (gap > 0.0 ? hit : -alpha) * gap;
            at(THETA, k) += larger(STEP[k], fall) * miss;
        }
        if (issued < INF) book[LOSS] += (err - alpha) * (s - issued) * per;
        book[MERGED] += slope * (s - mix) * per;
        double far = std::fabs(s - mix) * per;  // a new record is rare, and so is the division
        if (far > book[REACH] * now.early) book[REACH] = far / now.early;
        book[PUSH] += now.early * (err - alpha) * (err - alpha);
        book[STEPS] += step * steady * steady;
        merge(at, book, -slope * per);
        double theta = at(THETA, STEADY);
        book[LOW] = smaller(book[LOW], theta);
        book[HIGH] = larger(book[HIGH], theta);
    }
    book[MISSES] += err;
    book[LAST] += ETA * (err - alpha);  // (3)
    return err;
}

// The running means take the error in, each with the weight 1/n of its n = 1 + keep n.
INLINE void measure(Block scale, double z) {
    double gain[LIVES], apart[LIVES], size = std::fabs(z);
    for (Size h = 0; h < LIVES; ++h) scale(COUNT, h) = KEEP[h] * scale(COUNT, h) + 1.0;
    for (Size h = 0; h < LIVES; ++h) gain[h] = 1.0 / scale(COUNT, h);
    for (Size h = 0; h < LIVES; ++h) apart[h] = z - scale(MEAN, h);
    for (Size h = 0; h < LIVES; ++h) scale(MEAN, h) += gain[h] * apart[h];
    for (Size h = 0; h < LIVES; ++h) scale(SIZE, h) += gain[h] * (size - scale(SIZE, h));
    for (Size h = 0; h < LIVES; ++h) scale(APART, h) += gain[h] * (std::fabs(apart[h]) - scale(APART, h));
}

// A miss or none goes into the windows of a coverage.
INLINE void remember(Row ring, double miss) {
    Size at = Size(ring[PLACE]), back = at < SHORT ? at + LONG - SHORT : at - SHORT;
    double* bits = &ring[BITS];  // 0 before the first rounds
    ring[NOW_SHORT] += miss - bits[back];
    ring[NOW_LONG] += miss - bits[at];
    bits[at] = miss;
    ring[PLACE] = double(at + 1 < LONG ? at + 1 : 0);
    ring[MOST_SHORT] = larger(ring[MOST_SHORT], ring[NOW_SHORT]);
    ring[MOST_LONG] = larger(ring[MOST_LONG], ring[NOW_LONG]);
}

// The end of a level as an outcome.
INLINE double outcome(Row book, double g) { return g + book[SIDE] * book[END]; }

// Learn an outcome y after a look at its round.  `ends` are those issued, as outcomes, one per
// level, or none: those of now.  Row c of `ring` is for the levels c and L - 1 - c.
INLINE void settle(Now now, Block scale, Cube track, Block book, Block ring, double y, double g,
                   Row ends) {
    Size L = book.rows, middle = 0;
    for (Size l = 0; l < L; ++l) middle += book(l, SIDE) < 0.0;
    for (Size l = 0; l < L; ++l) {
        Row at = book[l];
        double here = outcome(at, g), end = ends.n ? ends[l] : here;
        if (std::fabs(end) == INF) at[OPEN] += 1.0;
        if (ends.n && end != here) {
            at[LATE] += 1.0;
        } else if (at[END] != at[OWN]) {
            at[l == middle - 1 ? CROSSED : NESTED] += 1.0;
        }
        at[END] = learn_level(now, track[l], at, y, g, end);  // from here on: whether it missed
    }
    for (Size c = 0; c < ring.rows; ++c) remember(ring[c], book(c, END) + book(L - 1 - c, END));
    measure(scale, (y - g) / now.root);
}

inline bool fits(Block scale, double e, double root) { return admits(now(scale, root), e); }

// The ends about a forecast, as outcomes, one per level.
inline void issue(Block scale, Cube track, Block book, double g, double root, Row ends) {
    look(now(scale, root), scale, track, book);
    for (Size l = 0; l < book.rows; ++l) ends[l] = outcome(book[l], g);
}

// Learn an outcome; false, and nothing learned, where its error does not fit.
MULTIVERSIONED inline bool learn(Block scale, Cube track, Block book, Block ring, double y, double g,
                                 double root, Row ends) {
    track.rows = TRACK_ROWS, track.cols = TRACKERS;  // known when it is compiled
    Now at = now(scale, root);
    if (!admits(at, y - g)) return false;
    look(at, scale, track, book);
    settle(at, scale, track, book, ring, y, g, ends);
    return true;
}

// Issue, then learn, round after round: how many were learned before one did not fit.  Row l of
// `ends` is for level l.
MULTIVERSIONED inline Size replay(Block scale, Cube track, Block book, Block ring, Row ys, Row gs,
                                  Row roots, Block ends) {
    scale.cols = LIVES, book.cols = BOOK_COLUMNS, ring.cols = RING;  // known when it is compiled
    track.rows = TRACK_ROWS, track.cols = TRACKERS;
    for (Size t = 0; t < ys.n; ++t) {
        Now at = now(scale, roots[t]);
        if (!admits(at, ys[t] - gs[t])) return t;
        look(at, scale, track, book);
        for (Size l = 0; l < book.rows; ++l) ends(l, t) = outcome(book[l], gs[t]);
        settle(at, scale, track, book, ring, ys[t], gs[t], {nullptr, 0});
    }
    return ys.n;
}

}  // namespace noregret::tracker
