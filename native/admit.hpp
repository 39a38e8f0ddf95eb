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

// |x|_inf, in eight running maxima: the same in any order.  NaN does not count.
INLINE double peak(Row x) {
    double s[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    Size k = 0;
    for (; k + 8 <= x.n; k += 8)
        for (int q = 0; q < 8; ++q) s[q] = larger(std::fabs(x.p[k + q]), s[q]);
    for (; k < x.n; ++k) s[0] = larger(std::fabs(x.p[k]), s[0]);
    return larger(larger(larger(s[0], s[4]), larger(s[2], s[6])),
                  larger(larger(s[1], s[5]), larger(s[3], s[7])));
}

// |x|_2, given peak = |x|_inf.
INLINE double norm(Row x, double peak) {
    if (1.0 / SAFE < peak && peak < SAFE) return std::sqrt(dot(x, x));
    if (peak == 0.0) return 0.0;
    double total = 0.0;
    for (Size k = 0; k < x.n; ++k) total += (x[k] / peak) * (x[k] / peak);
    return peak * std::sqrt(total);
}

// The bits of a number; of numbers >= 0 the larger one has the larger bits, and NaN the largest.
INLINE std::uint64_t bits(double value) {
    std::uint64_t found;
    std::memcpy(&found, &value, sizeof found);
    return found;
}

// Put x into work[X], behind the constant feature if any; keep a look that is already there.
// N is how many features there are with it, where that is known; else 0.  The caller's memory is
// read once: what was checked is what is learned, whoever writes to it meanwhile.
template <Size N = 0>
INLINE int admit(const Block& work, Row x, Size n) {
    using namespace layout;
    Row at = work[AT];
    if (at[CLOSED] == 1.0) return BUSY;
    Size offset = Size(at[OFFSET]);
    if (x.n + offset != n) return WIDTH;
    double* row = work[X].p + offset;
    std::uint64_t largest = 0, other = 0;
    auto take = [&](Size k) INLINED {
        double value = x[k];
        std::uint64_t size = bits(value) << 1;
        largest = size > largest ? size : largest;
        other |= bits(value) ^ bits(row[k]);
        return value;
    };
    if (N > 0 && offset == 0) {
        double taken[N + 1];  // not written at once, since the rotations read it as vectors
        for (Size k = 0; k < N; ++k) taken[k] = take(k);
        if (other)
            for (Size k = 0; k < N; ++k) row[k] = taken[k];
    } else {
        for (Size k = 0; k < x.n; ++k) row[k] = take(k);
        if (offset) row[-1] = 1.0;
    }
    if (other) at[FRESH] = 0.0;
    return largest > bits(at[CEILING]) << 1 ? LIMIT : OK;  // NaN is larger than all
}

// Measure the x that was admitted, for the ledger.
INLINE void measure(const Block& work, Size n) {
    using namespace layout;
    Row x = work[X].first(n);
    work(AT, PEAK) = peak(x);
    work(AT, NORM) = norm(x, work(AT, PEAK));
}

}  // namespace noregret
