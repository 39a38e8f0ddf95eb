// Whole rows in steps that the compiler turns into vectors: exp with its sum, and a search.
//
// exp: x = k ln 2 + r with |r| <= ln(2)/2; exp(r) by its series to r^13 (4e-18 of it is left out)
// and 2^k by writing k into the exponent's bits.  Right to 1 ulp, three times as fast as calling exp.
#pragma once

#include <algorithm>

#include "arrays.hpp"

namespace noregret::vectors {

constexpr double LOG2E = 1.4426950408889634;
constexpr double LN2_HIGH = 0x1.62e42fee00000p-1;  // 32 bits: times k it is exact
constexpr double LN2_LOW = 0x1.a39ef35793c76p-33;
constexpr double SHIFT = 0x1.8p52;  // added to k, it leaves k in the low bits
constexpr double LOWEST = -708.0;   // below, exp counts as 0
constexpr double C2 = 1.0 / 2, C3 = 1.0 / 6, C4 = 1.0 / 24, C5 = 1.0 / 120, C6 = 1.0 / 720;
constexpr double C7 = 1.0 / 5040, C8 = 1.0 / 40320, C9 = 1.0 / 362880, C10 = 1.0 / 3628800;
constexpr double C11 = 1.0 / 39916800, C12 = 1.0 / 479001600, C13 = 1.0 / 6227020800;

// 2^k, from SHIFT + k: the low bits moved to where the exponent stands.
INLINE double power(double shifted) {
    std::uint64_t bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 1023) << 52;
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

// The sum, in eight running sums.
INLINE double total(Row x) {
    double s[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    Size k = 0;
    for (; k + 8 <= x.n; k += 8)
        for (int q = 0; q < 8; ++q) s[q] += x.p[k + q];
    for (int q = 0; k < x.n; ++k, ++q) s[q] += x.p[k];
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

// The largest and the smallest entry, in eight running ones; no entry is NaN.
INLINE double largest(Row x) {
    double s[8] = {-INF, -INF, -INF, -INF, -INF, -INF, -INF, -INF};
    Size k = 0;
    for (; k + 8 <= x.n; k += 8)
        for (int q = 0; q < 8; ++q) s[q] = larger(x.p[k + q], s[q]);
    for (int q = 0; k < x.n; ++k, ++q) s[q] = larger(x.p[k], s[q]);
    for (int q = 1; q < 8; ++q) s[0] = larger(s[q], s[0]);
    return s[0];
}
INLINE double smallest(Row x) {
    double s[8] = {INF, INF, INF, INF, INF, INF, INF, INF};
    Size k = 0;
    for (; k + 8 <= x.n; k += 8)
        for (int q = 0; q < 8; ++q) s[q] = smaller(x.p[k + q], s[q]);
    for (int q = 0; k < x.n; ++k, ++q) s[q] = smaller(x.p[k], s[q]);
    for (int q = 1; q < 8; ++q) s[0] = smaller(s[q], s[0]);
    return s[0];
}

// The median of numbers, which come to stand in another order, and their mean distance from it.
inline double median(Row x, double& apart) {
    std::nth_element(x.p, x.p + x.n / 2, x.p + x.n);
    double middle = x[x.n / 2], sum = 0.0;
    for (Size k = 0; k < x.n; ++k) sum += std::fabs(x[k] - middle);
    apart = sum / double(x.n);
    return middle;
}

// x <- exp(x - top), for x - top <= 700; return the sum.
INLINE double exponentials(Row x, double top) {
    double* __restrict p = x.p;
    for (Size i = 0; i < x.n; ++i) {
        double xi = p[i] - top;
        double shifted = larger(xi, LOWEST) * LOG2E + SHIFT;
        double k = shifted - SHIFT;
        double r = (xi - k * LN2_HIGH) - k * LN2_LOW;
        double r2 = r * r;  // the series in pairs (Estrin): short chains, so that rows overlap
        double r4 = r2 * r2;
        double low = (1.0 + r) + r2 * (C2 + r * C3);
        double middle = (C4 + r * C5) + r2 * (C6 + r * C7);
        double high = (C8 + r * C9) + r2 * (C10 + r * C11) + r4 * (C12 + r * C13);
        double value = (low + r4 * (middle + r4 * high)) * power(shifted);
        p[i] = xi >= LOWEST ? value : 0.0;
    }
    return total(x);
}

// Where the value stands first; -1 if nowhere.
INLINE Size place(Row x, double value) {
    for (Size i = 0; i < x.n; ++i)
        if (x[i] == value) return i;
    return -1;
}

}  // namespace noregret::vectors
