// What Auto's groups of experts see of a round: features in running units, the past of y.
//
// Feature j has a row of `features`, what is known of it; `outcomes` is what is known of y.  A row of
// x is taken in before it is looked at, its outcome after.  In standard units a feature is
//
//     z = (x - mean so far)/(deviation so far)
//
// where both count an x beyond BEYOND quartile ranges of the last WINDOW's median as that median, from
// round EARLY on; until round SETTLED all rounds are counted anew each time, so that a wild first value does not
// set the units of the rows after it.  In robust units it is 1.35 (x - median)/(quartile range).  All
// are cut at CUT.  A group's columns are rows of its plan (kind, j, a, l, b); `fill` makes them.
#pragma once

#include "vectors.hpp"

namespace noregret::views {

constexpr Size WINDOW = 128, MOST_VALUES = 32, EARLY = 4, SETTLED = 16, NEAR = 100;
constexpr double CUT = 8.0, BEYOND = 20.0, OUTLIER = 15.0;
constexpr Size LAGS[] = {1, 2, 3, 5, 7, 12, 24, 48, 52, 96, 144, 168, 336};
constexpr double FADES[] = {0.5, 0.2, 0.05};
constexpr Size DELAYS = Size(sizeof LAGS / sizeof *LAGS), MEANS = Size(sizeof FADES / sizeof *FADES);
constexpr Size PAST = DELAYS + MEANS, FARTHEST = LAGS[DELAYS - 1];

// A row of `features`.
enum : int {
    SHIFT = 0,   // a point near the data, about which the sums are taken
    TOTAL = 1,
    SQUARE = 2,
    KINDS = 3,   // how many values, all whole numbers; -1: others, or more than MOST_VALUES
    VALUES = 4,  // in the order in which they came
    RING = VALUES + int(MOST_VALUES),  // the last WINDOW
    SORTED = RING + int(WINDOW),
    FEATURE = SORTED + int(WINDOW),
};
// Entries of `outcomes`; sums are of outcomes less FIRST, cut as the twins learn them.
enum : int { ROUNDS = 0, FIRST = 1, SUM = 2, SQUARES = 3, RUN = 4, FADED = 5, PASTS = 8, OUTCOMES = 8 + 336 };
static_assert(FADED + MEANS == PASTS && PASTS + FARTHEST == OUTCOMES, "the layout of outcomes");

// Kinds of columns: AT, z_j, r_j, (z_j - AT)+, the past, [x_j = AT], [x_j = AT and x_AND = ALSO], and
// AT cos(2 pi (phase + frequencies' z)) of row j of the waves.
enum : int { ONE = 0, STANDARD = 1, ROBUST = 2, HINGE = 3, BEFORE = 4, IS = 5, BOTH = 6, WAVE = 7 };
enum : int { KIND = 0, OF = 1, AT = 2, AND = 3, ALSO = 4, PLAN = 5 };

INLINE double cut(double z) { return larger(-CUT, smaller(CUT, z)); }

// (x - mean)/deviation from sums about `shift`; 0 where nothing varies, or does not fit in float64.
INLINE double standard(double x, double shift, double total, double square, double count) {
    double mean = total / count, second = square / count, spread = second - mean * mean;
    return spread > 1e-14 * second ? cut((x - shift - mean) / std::sqrt(spread)) : 0.0;
}

// Feature f of round t is x: its standard and robust units.
inline void take(Row f, Size t, double x, double& z, double& r) {
    double *ring = f.p + RING, *sorted = f.p + SORTED, &slot = ring[t % WINDOW];
    Size held = std::min(t, WINDOW), place = 0;
    if (held == WINDOW) {  // the oldest leaves
        place = std::lower_bound(sorted, sorted + held, slot) - sorted;
        std::memmove(sorted + place, sorted + place + 1, std::size_t(held - 1 - place) * sizeof(double));
        --held;
    }
    place = std::upper_bound(sorted, sorted + held, x) - sorted;
    std::memmove(sorted + place + 1, sorted + place, std::size_t(held - place) * sizeof(double));
    sorted[place] = slot = x;
    Size last = held++;
    double middle = sorted[last / 2], range = sorted[3 * last / 4] - sorted[last / 4];
    double far = t + 1 >= EARLY && range > 0.0 ? BEYOND * range : INF;
    auto near = [&](double v) { return std::fabs(v - middle) <= far ? v : middle; };
    if (t == 0) f[SHIFT] = x;
    if (EARLY <= t + 1 && t + 1 <= SETTLED) {
        f[SHIFT] = middle, f[TOTAL] = f[SQUARE] = 0.0;
        for (Size i = 0; i <= t; ++i) {
            double apart = near(ring[i]) - middle;
            f[TOTAL] += apart, f[SQUARE] += apart * apart;
        }
    } else {
        double apart = near(x) - f[SHIFT];
        f[TOTAL] += apart, f[SQUARE] += apart * apart;
    }
    z = standard(x, f[SHIFT], f[TOTAL], f[SQUARE], double(t + 1));
    r = range > 0.0 && range < INF ? cut(1.35 * (x - middle) / range) : z;
    double *values = f.p + VALUES, *end = values + Size(f[KINDS]);
    if (f[KINDS] < 0.0 || std::find(values, end, x) != end) return;
    if (x != std::floor(x) || std::fabs(x) > 1e15 || f[KINDS] == double(MOST_VALUES)) f[KINDS] = -1.0;
    else *end = x, f[KINDS] += 1.0;
}

// Outcome `lag` rounds before the one to come; of rounds before the first, the mean.
INLINE double earlier(Row o, Size lag) {
    Size t = Size(o[ROUNDS]);
    if (lag > t) return o[FIRST] + o[SUM] / larger(double(t), 1.0);
    return o[PASTS + (t - lag) % FARTHEST];
}

// The past as it is, `naive` (PAST + 1, the mean last), and in standard units of y, `past` (PAST).
inline void recall(Row o, double* naive, double* past) {
    double t = o[ROUNDS], n = larger(t, 1.0);
    for (Size k = 0; k < DELAYS; ++k) naive[k] = t > 0.0 ? earlier(o, LAGS[k]) : 0.0;
    for (Size k = 0; k < MEANS; ++k) naive[DELAYS + k] = o[FADED + k];
    naive[PAST] = t > 0.0 ? o[FIRST] + o[SUM] / n : 0.0;
    for (Size k = 0; k < PAST; ++k)
        past[k] = t > 0.0 ? standard(naive[k], o[FIRST], o[SUM], o[SQUARES], n) : 0.0;
}

// y as the twins learn it: at most OUTLIER mean deviations from the median of the last NEAR outcomes,
// twice as far after each that was farther.
inline double tamed(Row o, double y) {
    Size t = Size(o[ROUNDS]), n = std::min(t, NEAR);
    if (n < 10) return y;
    double last[NEAR], apart;
    for (Size k = 0; k < n; ++k) last[k] = earlier(o, k + 1);
    double middle = vectors::median({last, n}, apart), reach = OUTLIER * apart * std::ldexp(1.0, int(o[RUN]));
    if (!(reach > 0.0) || std::fabs(y - middle) <= reach) return y;
    return y > middle ? middle + reach : middle - reach;
}

// Take in y; return what the twins learn.
inline double learn(Row o, double y) {
    Size t = Size(o[ROUNDS]);
    double soft = tamed(o, y), apart;
    o[RUN] = soft == y ? 0.0 : smaller(o[RUN] + 1.0, 1000.0);
    if (t == 0) o[FIRST] = y;
    apart = soft - o[FIRST];
    o[SUM] += apart, o[SQUARES] += apart * apart;
    for (Size k = 0; k < MEANS; ++k) o[FADED + k] = t == 0 ? y : o[FADED + k] + FADES[k] * (y - o[FADED + k]);
    o[PASTS + t % FARTHEST] = y;
    o[ROUNDS] += 1.0;
    return soft;
}

// Row by row what the groups see: z and r (n columns), past, naive; with outcomes also what twins
// learn.  Without outcomes there is one row, and `outcomes` stays.
inline void observe(Block features, Row outcomes, Block xs, Row ys, Block z, Block r, Block past, Block naive,
                    Row soft) {
    for (Size t = 0; t < xs.rows; ++t) {
        Size round = Size(outcomes[ROUNDS]);
        for (Size j = 0; j < xs.cols; ++j) take(features[j], round, xs(t, j), z(t, j), r(t, j));
        recall(outcomes, naive[t].p, past[t].p);
        if (ys.n > 0) soft[t] = learn(outcomes, ys[t]);
    }
}

// cos(2 pi u), by the series of a sine to 1e-9: the same bits everywhere.
INLINE double wave(double u) {
    double h = 3.141592653589793 * (u - std::floor(u + 0.5)), q = h * h;
    double s = h * (1.0 - q / 6.0 * (1.0 - q / 20.0 * (1.0 - q / 42.0 * (1.0 - q / 72.0 *
                   (1.0 - q / 110.0 * (1.0 - q / 156.0 * (1.0 - q / 210.0)))))));
    return 1.0 - 2.0 * s * s;
}

// The columns of a plan.  Row i of `waves` has a phase and a frequency for each feature.
inline void fill(Block plan, Block waves, Block xs, Block z, Block r, Block past, Block rows) {
    for (Size t = 0; t < rows.rows; ++t) {
        const double *x = xs[t].p, *of = z[t].p;
        for (Size c = 0; c < plan.rows; ++c) {
            Row p = plan[c];
            Size j = Size(p[OF]);
            double& v = rows(t, c);
            switch (int(p[KIND])) {
                case ONE: v = p[AT]; break;
                case STANDARD: v = of[j]; break;
                case ROBUST: v = r(t, j); break;
                case HINGE: v = larger(of[j] - p[AT], 0.0); break;
                case BEFORE: v = past(t, j); break;
                case IS: v = x[j] == p[AT] ? 1.0 : 0.0; break;
                case BOTH: v = x[j] == p[AT] && x[Size(p[AND])] == p[ALSO] ? 1.0 : 0.0; break;
                default: v = p[AT] * wave(waves(j, 0) + dot(waves[j].p + 1, of, z.cols));
            }
        }
    }
}

}  // namespace noregret::views
