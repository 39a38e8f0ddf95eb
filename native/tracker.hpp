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

#include "lanes.hpp"

namespace noregret::tracker {

constexpr Size TRACKERS = 8, LIVES = 4, LONG = 500, SHORT = 100;
constexpr double ETA = 0.02, EARLY = 1500.0, CALM = 100.0;
constexpr double LARGEST = 0x1p511;   // error
constexpr double FARTHEST = 0x1p500;  // error, in units of those before
constexpr double LEAST = 0x1p-1022;   // unit, whose inverse must be finite
constexpr double NOTHING = 0x1p-1000;  // a smaller error, in units of the spread, counts as 0
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

template <int B>
using Eight = lanes::Eight<B>;
using lanes::Two;

// A row of `track`, of level i of those that begin at `at`.
template <int B>
INLINE Eight<B> row(const double* at, int i, int which) {
    return Eight<B>::at(at + (i * TRACK_ROWS + which) * TRACKERS);
}
template <int B>
INLINE void put(double* at, int i, int which, const Eight<B>& x) {
    x.put(at + (i * TRACK_ROWS + which) * TRACKERS);
}

// What a level has one number of is written for V: a number, or two of them for two levels abreast.
template <class V>
constexpr int LEVELS = sizeof(V) / sizeof(double);
INLINE double nth(double v, int) { return v; }
INLINE double nth(Two v, int i) { return v[i]; }
INLINE double gathered(const double* v, double) { return v[0]; }
INLINE Two gathered(const double* v, Two) { return Two{v[0], v[1]}; }
template <class V>
INLINE V where(V a, V b, V yes, V no) {  // a > b
    return a > b ? yes : no;
}
template <class V>
INLINE bool any(V a, V b) {  // a > b
    bool found = false;
    UNROLLED for (int i = 0; i < LEVELS<V>; ++i) found |= nth(a, i) > nth(b, i);
    return found;
}
// Sums of eight, one per level.
INLINE double joined(const Two* x, double) { return x[0][0] + x[0][1]; }
INLINE Two joined(const Two* x, Two) { return Two{x[0][0], x[1][0]} + Two{x[0][1], x[1][1]}; }

// What all levels share in a round.
struct Now {
    double n, size, root, early, per;  // rounds, unit, sqrt(d), 1 + EARLY/(n + CALM), 1/(unit sqrt(d))
};
INLINE Now now(Block scale, double root) {
    double n = scale(COUNT, LIVES - 1), size = scale(SIZE, LIVES - 1);
    Two shares = Two{EARLY, 1.0} / Two{n + CALM, size * root};  // a division of two takes no longer
    return {n, size, root, 1.0 + shares[0], shares[1]};
}

// Whether a round can be learned: its error fits, also in units of the errors before.
INLINE bool admits(Now now, double e) {
    double far = std::fabs(e);
    double unit = now.size * now.root;
    return far <= LARGEST && (now.size == 0.0 || (unit >= LEAST && far <= FARTHEST * unit));
}

// c_k sqrt(d) and w_k sqrt(d): four trackers about means, four about 0.
template <int B>
struct Scales {
    Eight<B> centre, width;
};
template <int B>
INLINE Scales<B> scales(const Now& now, Block scale) {
    const double *c = scale[MEAN].p, *a = scale[APART].p, *w = scale[SIZE].p;
    return {Eight<B>::of(c[0], c[1], c[2], c[3], 0.0, 0.0, 0.0, 0.0) * now.root,
            Eight<B>::of(a[0], a[1], a[2], a[3], w[1], w[2], w[3], w[3]) * now.root};
}

// (1) to (3); infinite while no error is known.
template <int B, class V>
INLINE void look(const Now& now, const Scales<B>& scales, double* at, V* book) {
    if (!(now.size > 0.0)) {
        book[OWN] = book[MIX] = book[END] = V{} + INF;
        return;
    }
    Two parts[LEVELS<V>];
    UNROLLED for (int i = 0; i < LEVELS<V>; ++i) {
        Eight<B> q = nth(book[SIDE], i) * scales.centre + row<B>(at, i, THETA) * scales.width;
        put(at, i, SAID, q);
        parts[i] = sums(row<B>(at, i, WEIGHT) * q);
    }
    book[MIX] = joined(parts, V{});
    book[OWN] = book[END] = book[MIX] + book[LAST] * (now.size * now.early * now.root);
}

// (2): MLpol.  With the slope l' of the loss at P and r_k = l' (P - Q_k), sum_k p_k r_k = 0; so
// sum_k (R_k)+^2/D_k grows by no more than sum_k r_k^2/D_k, D_k of the round before: PRICE.
// D_k = sum r_k^2 + peak, so it is positive for all once it is for one; before,
// weights are even.
template <int B, class V>
INLINE void merge(double* at, V* book, V slope) {
    constexpr int N = LEVELS<V>;
    Eight<B> r[N], square[N];
    Two prices[N];
    double peaks[N];
    UNROLLED for (int i = 0; i < N; ++i) {
        r[i] = nth(slope, i) * (nth(book[MIX], i) - row<B>(at, i, SAID));
        square[i] = r[i] * r[i];
        peaks[i] = largest(square[i]);
    }
    V zero{}, held = book[PEAK], peak = gathered(peaks, zero);
    if (any(peak, held)) {  // rare, so that nobody waits for it
        book[PEAK] = where(peak, held, peak, held);
        UNROLLED for (int i = 0; i < N; ++i) {
            double before = nth(held, i);
            if (!(peaks[i] > before)) continue;
            Eight<B> D = row<B>(at, i, WORTH) + (peaks[i] - before);
            put(at, i, WORTH, D);
            if (before == 0.0) put(at, i, INVERSE, 1.0 / (D + square[i]));
        }
    }
    Eight<B> w[N];
    Two parts[N];
    UNROLLED for (int i = 0; i < N; ++i) {
        prices[i] = parts[i] = Two{}, w[i] = Eight<B>::all(0.0);
        if (!(nth(book[PEAK], i) > 0.0)) continue;  // no regret yet: weights stay even
        Eight<B> D = row<B>(at, i, WORTH) + square[i], inverse = 1.0 / D;
        Eight<B> R = row<B>(at, i, REGRET) + r[i];
        w[i] = larger(R, Eight<B>::all(0.0)) * inverse;
        prices[i] = sums(square[i] * row<B>(at, i, INVERSE));
        put(at, i, WORTH, D);
        put(at, i, INVERSE, inverse);
        put(at, i, REGRET, R);
        parts[i] = sums(w[i]);
    }
    V sum = joined(parts, zero), part = where(sum, zero, 1.0 / sum, zero);
    V even = where(sum, zero, zero, zero + 1.0 / TRACKERS);
    UNROLLED for (int i = 0; i < N; ++i)
        if (nth(book[PEAK], i) > 0.0) put(at, i, WEIGHT, w[i] * nth(part, i) + nth(even, i));
    book[PRICE] += joined(prices, zero);
}

// Learn an outcome after a look at its round; whether the ends that were issued missed it.
template <int B, class V>
INLINE V learn_level(const Now& now, double* at, V* book, double y, double g, V end) {
    V zero{}, one = zero + 1.0, alpha = book[ALPHA], side = book[SIDE];
    V s = side * (y - g), issued = side * (end - g), err = where(side * y, side * end, one, zero);
    if (now.size > 0.0) {
        double per = now.per;
        V mix = book[MIX], hit = 1.0 - alpha, low = -alpha, seen = alpha * now.n, fall = zero;
        const double* steps[] = {STEP, STEP};
        Eight<16> early[LEVELS<V>];
        if (any(zero + SETTLED, seen)) {
            fall = where(zero + SETTLED, seen, 1.0 / (1.0 + seen), zero);
            UNROLLED for (int i = 0; i < LEVELS<V>; ++i) {
                early[i] = larger(Eight<16>::at(STEP), Eight<16>::all(nth(fall, i)));
                steps[i] = reinterpret_cast<const double*>(&early[i]);
            }
        }
        V start = book[START], apart = 0.25 + 0.2 * where(start, zero, start, -start), x = s * per;
        V slope = where(s, mix, hit, low), least = zero + STEP[STEADY];
        V step = where(least, fall, least, fall);
        double said[2], theta[2];
        UNROLLED for (int i = 0; i < LEVELS<V>; ++i) {
            double yes = nth(hit, i), no = nth(low, i);
            Eight<B> away = nth(s, i) - row<B>(at, i, SAID), miss = above(away, 0.0, yes, no);
            Eight<B> gap = nth(x, i) - (nth(start, i) + Eight<B>::at(PLACE_OF) * nth(apart, i));
            put(at, i, PAID, row<B>(at, i, PAID) + miss * away * per);
            put(at, i, FIXED, row<B>(at, i, FIXED) + above(gap, 0.0, yes, no) * gap);
            put(at, i, THETA, row<B>(at, i, THETA) + Eight<B>::at(steps[i]) * miss);
            said[i] = at[(i * TRACK_ROWS + SAID) * TRACKERS + STEADY];
            theta[i] = at[(i * TRACK_ROWS + THETA) * TRACKERS + STEADY];
        }
        V steady = where(s, gathered(said, zero), hit, low), now_at = gathered(theta, zero);
        book[LOSS] += where(zero + INF, issued, (err - alpha) * (s - issued) * per, zero);
        book[MERGED] += slope * (s - mix) * per;
        V far = where(s, mix, s - mix, mix - s) * per;  // a record is rare, and so is the division
        if (any(far, book[REACH] * now.early))
            book[REACH] = where(far, book[REACH] * now.early, far / now.early, book[REACH]);
        book[PUSH] += now.early * (err - alpha) * (err - alpha);
        book[STEPS] += step * steady * steady;
        merge<B>(at, book, -slope * per);
        book[LOW] = where(book[LOW], now_at, now_at, book[LOW]);
        book[HIGH] = where(now_at, book[HIGH], now_at, book[HIGH]);
    }
    book[MISSES] += err;
    book[LAST] += ETA * (err - alpha);  // (3)
    return err;
}

// The running means take the error in, each with the weight 1/n of its n = 1 + keep n.
INLINE void measure(Block scale, double z) {
    if (std::fabs(z) < NOTHING) z = 0.0;
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

// (1) to (3) for every level, then the ends in order, outwards from the median: no end lies inside
// the one before.
template <int B>
INLINE void look_at_all(const Now& now, Block scale, Cube track, Block book) {
    Size L = book.rows, middle = 0;
    Scales<B> shared = scales<B>(now, scale);
    for (Size l = 0; l < L; ++l) {
        look<B>(now, shared, track[l].p, book[l].p);
        middle += book(l, SIDE) < 0.0;
    }
    for (Size l = middle + 1; l < L; ++l) book(l, END) = larger(book(l, END), book(l - 1, END));
    for (Size l = (middle < L ? middle : L - 1) - 1; l >= 0; --l)
        book(l, END) = larger(book(l, END), -book(l + 1, SIDE) * book(l + 1, END));
}

// Learn an outcome y after a look at its round.  `ends` are those issued, as outcomes, one per
// level, or none: those of now.  Row c of `ring` is for the levels c and L - 1 - c.
template <int B>
INLINE void settle(const Now& now, Block scale, Cube track, Block book, Block ring, double y, double g,
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
        at[END] = learn_level<B>(now, track[l].p, at.p, y, g, end);  // from here on: a miss or none
    }
    for (Size c = 0; c < ring.rows; ++c) remember(ring[c], book(c, END) + book(L - 1 - c, END));
    measure(scale, (y - g) / now.root);
}

// Two levels abreast, one below the median and one above it: what `look_at_all` and `settle` do.
struct Pair {
    Two book[BOOK_COLUMNS];

    static INLINE bool is(Block book) {
        return book.rows == 2 && book(0, SIDE) < 0.0 && book(1, SIDE) > 0.0;
    }
    INLINE explicit Pair(Block from) {
        for (int c = 0; c < BOOK_COLUMNS; ++c) book[c] = Two{from(0, c), from(1, c)};
    }
    INLINE void put(Block to) const {
        for (int c = 0; c < BOOK_COLUMNS; ++c) to(0, c) = book[c][0], to(1, c) = book[c][1];
    }
    template <int B>
    INLINE Two round(const Now& now, Block scale, Cube track, Block ring, double y, double g) {
        look<B>(now, scales<B>(now, scale), track.p, book);
        Two end = book[END];
        if (-end[1] > end[0]) {  // never inside out
            book[END] = end = Two{-end[1], end[1]};
            book[CROSSED] += Two{1.0, 0.0};
        }
        Two ends = g + book[SIDE] * end, open = ends - ends;
        if (!(open[0] + open[1] == 0.0)) {  // NaN: an end is infinite
            for (int i = 0; i < 2; ++i) book[OPEN][i] += std::fabs(ends[i]) == INF ? 1.0 : 0.0;
        }
        Two err = learn_level<B>(now, track.p, book, y, g, ends);
        book[END] = err;
        if (ring.rows) remember(ring[0], err[0] + err[1]);
        measure(scale, (y - g) / now.root);
        return ends;
    }
};

inline bool fits(Block scale, double e, double root) { return admits(now(scale, root), e); }

// The ends about a forecast, as outcomes, one per level.
inline void issue(Block scale, Cube track, Block book, double g, double root, Row ends) {
    look_at_all<16>(now(scale, root), scale, track, book);
    for (Size l = 0; l < book.rows; ++l) ends[l] = outcome(book[l], g);
}

// Learn an outcome; false, and nothing learned, where its error does not fit.
template <int B>
INLINE bool learn_in(Block scale, Cube track, Block book, Block ring, double y, double g, double root,
                     Row ends) {
    track.rows = TRACK_ROWS, track.cols = TRACKERS;  // known when it is compiled
    Now at = now(scale, root);
    if (!admits(at, y - g)) return false;
    look_at_all<B>(at, scale, track, book);
    settle<B>(at, scale, track, book, ring, y, g, ends);
    return true;
}
VECTORS(bool, learn,
        (Block scale, Cube track, Block book, Block ring, double y, double g, double root, Row ends),
        (scale, track, book, ring, y, g, root, ends))

// Issue, then learn, round after round: how many were learned before one did not fit.  Row l of
// `ends` is for level l.
template <int B>
INLINE Size replay_in(Block scale, Cube track, Block book, Block ring, Row ys, Row gs, Row roots,
                      Block ends) {
    scale.cols = LIVES, book.cols = BOOK_COLUMNS, ring.cols = RING;  // known when it is compiled
    track.rows = TRACK_ROWS, track.cols = TRACKERS;
    Size t = 0;
    if (Pair::is(book)) {
        Pair pair(book);
        for (; t < ys.n; ++t) {
            Now at = now(scale, roots[t]);
            if (!admits(at, ys[t] - gs[t])) break;
            Two said = pair.round<B>(at, scale, track, ring, ys[t], gs[t]);
            ends(0, t) = said[0], ends(1, t) = said[1];
        }
        pair.put(book);
        return t;
    }
    for (; t < ys.n; ++t) {
        Now at = now(scale, roots[t]);
        if (!admits(at, ys[t] - gs[t])) break;
        look_at_all<B>(at, scale, track, book);
        for (Size l = 0; l < book.rows; ++l) ends(l, t) = outcome(book[l], gs[t]);
        settle<B>(at, scale, track, book, ring, ys[t], gs[t], {nullptr, 0});
    }
    return t;
}
VECTORS(Size, replay,
        (Block scale, Cube track, Block book, Block ring, Row ys, Row gs, Row roots, Block ends),
        (scale, track, book, ring, ys, gs, roots, ends))

}  // namespace noregret::tracker
