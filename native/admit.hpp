// Admit x: check it, copy it into the work array, measure it.
#pragma once

#include "layout.hpp"

namespace noregret {

constexpr double SAFE = 0x1p500;  // squares of numbers up to here overflow neither alone nor in a sum

// beta_i = sqrt(1 + v_1^2 + ... + v_i^2), given the sum, beta_{i-1} and v_i.  The sum is what the
// next step waits for, not the root; where it is too large to be trusted, hypot squares nothing.
INLINE double lengthened(double square, double beta, double v) {
    return square < SAFE * SAFE ? std::sqrt(square) : std::hypot(beta, v);
}

// sqrt(1 + |v|^2), in the same steps.
INLINE double length(Row v) {
    double square = 1.0, beta = 1.0;
    for (Size k = 0; k < v.n; ++k) square += v[k] * v[k];
    if (square < SAFE * SAFE) return std::sqrt(square);
    square = 1.0;
    for (Size k = 0; k < v.n; ++k) {
        square += v[k] * v[k];
        beta = lengthened(square, beta, v[k]);
    }
    return beta;
}

constexpr Mask MAGNITUDE = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};  // all bits but the sign

// |x|_inf, in four running maxima where they are worth it: the same in any order.  NaN does not count.
INLINE double peak(Row x) {
    Four most = {};
    double rest = 0.0;
    Size k = 0;
    for (; x.n >= 8 && k + 4 <= x.n; k += 4) {
        Four size = reinterpret_cast<Four>(bits(four(x.p + k)) & MAGNITUDE);
        most = size > most ? size : most;
    }
    for (; k < x.n; ++k) rest = larger(std::fabs(x.p[k]), rest);
    return larger(larger(larger(most[0], most[2]), larger(most[1], most[3])), rest);
}

// |x|_2, given peak = |x|_inf.
INLINE double norm(Row x, double peak) {
    if (1.0 / SAFE < peak && peak < SAFE) return std::sqrt(dot(x, x));
    if (peak == 0.0) return 0.0;
    double total = 0.0;
    for (Size k = 0; k < x.n; ++k) total += (x[k] / peak) * (x[k] / peak);
    return peak * std::sqrt(total);
}

INLINE std::int64_t bits(double value) {
    std::int64_t found;
    std::memcpy(&found, &value, sizeof found);
    return found;
}

// Whether two vectors are the same, to the last bit.
INLINE bool same(Row a, const double* b) {
    Mask differ = {};
    Size k = 0;
    for (; k + 4 <= a.n; k += 4) differ |= bits(four(a.p + k)) ^ bits(four(b + k));
    std::int64_t rest = joined(differ);
    for (; k < a.n; ++k) rest |= bits(a.p[k]) ^ bits(b[k]);
    return rest == 0;
}

// Copy x and return whether all of it is within `ceiling`, and no NaN: sizes are compared as whole
// numbers, of which NaN has the largest.  The caller's memory is read once: what was checked is what
// is learned, whoever writes to it meanwhile.
INLINE bool copied_within(Row x, double* to, double ceiling) {
    std::int64_t most = bits(ceiling), rest = 0;
    Mask beyond = {};  // below 0 where x is
    Size k = 0;
    for (; k + 4 <= x.n; k += 4) {
        Four value = four(x.p + k);
        beyond |= most - (bits(value) & MAGNITUDE);
        four(to + k) = value;
    }
    for (; k < x.n; ++k) {
        double value = x.p[k];
        rest |= most - (bits(value) & INT64_MAX);
        to[k] = value;
    }
    return (joined(beyond) | rest) >= 0;
}

// Put x into work[X], behind the constant feature if any; a look at the same x is kept: that x
// was within the ceiling.  N is how many features there are with it, where that is known; else 0.
template <Size N = 0>
INLINE int admit(const Block& work, Row x, Size n) {
    using namespace layout;
    Row at = work[AT];
    if (at[CLOSED] == 1.0) return BUSY;
    Size offset = Size(at[OFFSET]);
    if (x.n + offset != n) return WIDTH;
    double* row = work[X].p + offset;
    auto take = [&](Row x) INLINED {
        if (at[FRESH] == 1.0 && same(x, row)) return int(OK);
        at[FRESH] = 0.0;
        return copied_within(x, row, at[CEILING]) ? int(OK) : int(LIMIT);
    };
    if (N > 0 && offset == 0) return take({x.p, N});
    if (offset) row[-1] = 1.0;
    return take(x);
}

// Measure the x that was admitted, for the ledger.
INLINE void measure(const Block& work, Size n) {
    using namespace layout;
    Row x = work[X].first(n);
    work(AT, PEAK) = peak(x);
    work(AT, NORM) = norm(x, work(AT, PEAK));
}

}  // namespace noregret
