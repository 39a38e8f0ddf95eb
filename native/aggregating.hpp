// The Aggregating Algorithm's plain round: everybody speaks, within reach of a known range.
//
// All weights p_j exp(-eta u_j) add up to 1, so that none of their logarithms is above 0 and the
// largest is at least 1/N: no leader needs to be found.  With any forecast as g0, d_j = said_j - g0
// and l_j - l_0 = (y - said_j)^2 - (y - g0)^2,
//
//     E(w) = ln sum_j exp(ln p_j - eta u_j + eta d_j (2(w - g0) - d_j))
//     g    = g0 + (E(hi) - E(lo))/(2 eta (hi - lo))                                     (forecast)
//     mix  = l_0 - E(y)/eta,     u_j <- u_j + (l_j - l_0) + E(y)/eta                    (round)
//
// Where all agree, g is what they say, to the last bit.  g0 is what the first expert says: as long
// as no exponent that d_j makes exceeds FAR, what cancels costs at most FAR units in the last place
// of g's distance from g0.  A round beyond that, with a sleeper or outside the range takes the way
// of mixing.hpp, which finds a leader first.  Whether it does depends on the round alone, so that
// rounds one by one and many at once give the same bits.
//
// Rows are copied into lanes whose width is a multiple of eight: what is beyond N says g0, weighs
// nothing and is never copied back.
#pragma once

#include "lanes.hpp"
#include "mixing.hpp"

namespace noregret::aggregating {

using lanes::Eight;
using namespace mixing;

constexpr double FAR = 8.0;

// Rows of the lanes.
enum : int { LOG = 0, U = 1, HELD = 2, LOST = 3, WORDS = 4, LOSSES = 5, AFTER = 6, LANES = 7 };

INLINE Size padded(Size N) { return (N + 7) / 8 * 8; }
inline std::vector<double> lanes_for(Block pool) { return scratch(LANES * padded(pool.cols)); }

// Where the lanes come from and go to.
INLINE void fetch(Block pool, Block at) {
    for (int row : {LOG, U, HELD, LOST}) {
        const double* from = pool[row == LOG ? PRIOR : row == U ? EXCESS : PAID + (row - HELD)].p;
        for (Size j = 0; j < at.cols; ++j)
            at(row, j) = j < pool.cols ? from[j] : row == LOG ? -INF : 0.0;
    }
}
INLINE void hear(Block at, Row said) {
    double* to = at[WORDS].p;
    Size j = 0;
    for (; j + 8 <= said.n; j += 8) std::memcpy(to + j, said.p + j, 8 * sizeof(double));
    for (; j < at.cols; ++j) to[j] = said[j < said.n ? j : 0];
}
INLINE void bring(Block pool, Block at) {
    std::size_t bytes = std::size_t(pool.cols) * sizeof(double);
    std::memcpy(pool[EXCESS].p, at[U].p, bytes);
    std::memcpy(pool[PAID].p, at[HELD].p, bytes);
    std::memcpy(pool[PAID + 1].p, at[LOST].p, bytes);
    std::memcpy(pool[SAID].p, at[WORDS].p, bytes);
    std::memcpy(pool[COST].p, at[LOSSES].p, bytes);
    std::memcpy(pool[MASS].p, at[AFTER].p, bytes);
    std::memcpy(pool[AWAKE].p, pool[PRIOR].p, bytes);
}

INLINE bool playable(Block book) { return book(GAME, 0) == SUBSTITUTED && book(RATE, 0) < INF; }

// What a round comes to.
struct Round {
    double g;     // the forecast; NaN where the round is not plain
    double left;  // E(y)/eta, where y is known
    double reach; // the largest loss
};

// One pass over the lanes: the forecast and, where y is known, what everybody loses.
template <int B, bool learning>
INLINE Round pass(Block at, Block book, double y, double c) {
    double eta = book(RATE, 0), lo = book(RANGE, 0), hi = book(RANGE, 1);
    double g0 = at(WORDS, 0), l0 = (y - g0) * (y - g0), wide = hi - lo, ends = lo + hi;
    double off0 = g0 - c;
    Eight<B> above = Eight<B>::all(0.0), below = above, far = above, sum = above, reach = above;
    for (Size k = 0; k < at.cols; k += 8) {
        Eight<B> said = Eight<B>::at(at[WORDS].p + k);
        Eight<B> weight = Eight<B>::at(at[LOG].p + k) - eta * Eight<B>::at(at[U].p + k);
        Eight<B> d = said - g0;  // d (2(w - g0) - d) = d ((lo + hi) - (g0 + said)) +- d (hi - lo)
        Eight<B> base = eta * (d * (ends - (off0 + (said - c)))), tilt = eta * (d * wide);
        Eight<B> high = base + tilt, low = base - tilt;
        far = lanes::larger(far, lanes::larger(high * high, low * low));
        above = above + lanes::exponential(weight + high);
        below = below + lanes::exponential(weight + low);
        if (!learning) continue;
        Eight<B> off = y - said, loss = off * off;
        Eight<B> after = lanes::exponential(weight - eta * (loss - l0));
        sum = sum + after;
        reach = lanes::larger(loss, reach);
        loss.put(at[LOSSES].p + k), after.put(at[AFTER].p + k);
    }
    if (!(lanes::largest(far) <= FAR * FAR)) return {NaN, NaN, NaN};
    double lean = std::log(lanes::total(above) / lanes::total(below));  // NaN where one sleeps
    double left = learning ? std::log(lanes::total(sum)) / eta : NaN;
    return {g0 + lean / (2.0 * eta * wide), left, lanes::largest(reach)};
}

// Everybody pays.
template <int B>
INLINE void charge(Block at, double l0, double left) {
    for (Size k = 0; k < at.cols; k += 8) {
        Eight<B> loss = Eight<B>::at(at[LOSSES].p + k), held = Eight<B>::at(at[HELD].p + k);
        (Eight<B>::at(at[U].p + k) + ((loss - l0) + left)).put(at[U].p + k);
        Eight<B> grown = held + loss, added = grown - held;
        Eight<B> slip = (held - (grown - added)) + (loss - added);
        (Eight<B>::at(at[LOST].p + k) + lanes::where_below(grown, INF, slip)).put(at[LOST].p + k);
        grown.put(at[HELD].p + k);
    }
}

// The forecast from these words; NaN where the round is not plain.
template <int B>
INLINE double forecast_in(Block pool, Block book, Row said, double c, double* room) {
    Block at{room, LANES, padded(pool.cols)};
    fetch(pool, at);
    hear(at, said);
    return pass<B, false>(at, book, 0.0, c).g;
}
VECTORS(double, forecast, (Block pool, Block book, Row said, double c, double* room),
        (pool, book, said, c, room))

// Forecast and learn rows from t on, all of one centre, as long as they are plain; the first that is
// not, or T.
template <int B>
INLINE Size rounds_in(Block pool, Block book, Block said, Row ys, Row forecasts, Row losses, Size t,
                      double c, double* room) {
    Size before = t;
    bool shared = book(RATE, 1) > 0.0;
    Block at{room, LANES, padded(pool.cols)};
    fetch(pool, at);
    for (; t < said.rows; ++t) {
        double y = ys[t];
        if (!(book(RANGE, 0) <= y - c && y - c <= book(RANGE, 1))) break;
        hear(at, said[t]);
        Round round = pass<B, true>(at, book, y, c);
        double g = round.g, l0 = (y - at(WORDS, 0)) * (y - at(WORDS, 0));
        if (!(std::fabs(g) < INF)) break;  // NaN too
        charge<B>(at, l0, round.left);
        book(REACH, 0) = larger(book(REACH, 0), round.reach);
        double mix = l0 - round.left, loss = (y - g) * (y - g);
        forecasts[t] = g, losses[t] = loss;
        post(book, prepared(book, y, c), rounded(y, g), loss, mix);
        bool known = book(SEEN, 0) <= y - c && y - c <= book(SEEN, 1) && book(ROUNDS, 0) > 0.0;
        if (shared || !known) {
            bring(pool, at);
            if (shared) share(pool, book);
            widen(pool, book, y - c, y - c, c);
            fetch(pool, at);
        }
        book(ROUNDS, 0) += 1.0;
    }
    if (t > before && !shared) bring(pool, at);  // a row that is not plain brings its own words
    return t;
}
VECTORS(Size, rounds,
        (Block pool, Block book, Block said, Row ys, Row forecasts, Row losses, Size t, double c,
         double* room),
        (pool, book, said, ys, forecasts, losses, t, c, room))

}  // namespace noregret::aggregating
