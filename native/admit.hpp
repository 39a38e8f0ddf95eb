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

// |x|_2, given peak = |x|_inf.
INLINE double norm(Row x, double peak) {
    if (peak == 0.0) return 0.0;
    double total = 0.0;
    if (1.0 / SAFE < peak && peak < SAFE) {
        for (Size k = 0; k < x.n; ++k) total += x[k] * x[k];
        return std::sqrt(total);
    }
    for (Size k = 0; k < x.n; ++k) total += (x[k] / peak) * (x[k] / peak);
    return peak * std::sqrt(total);
}

// Put x into work[X], behind the constant feature if any; keep a look that is already there.
template <class Vector>
INLINE int admit(Block work, Vector x, Size n) {
    using namespace layout;
    Row at = work[AT];
    if (at[CLOSED] == 1.0) return BUSY;
    Size offset = Size(at[OFFSET]);
    double ceiling = at[CEILING];
    if (x.n + offset != n) return WIDTH;
    Row row = work[X].first(n);
    if (at[FRESH] == 1.0 && at[PEAK] <= ceiling) {
        bool same = true;
        for (Size k = 0; k < x.n && same; ++k) same = row[offset + k] == x[k];
        if (same) return OK;
    }
    double peak = double(offset);
    for (Size k = 0; k < x.n; ++k) {
        double size = std::fabs(x[k]);
        if (!(size <= ceiling)) return LIMIT;  // NaN too
        peak = larger(peak, size);
    }
    at[FRESH] = 0.0;
    for (Size k = 0; k < offset; ++k) row[k] = 1.0;
    for (Size k = 0; k < x.n; ++k) row[offset + k] = x[k];
    at[PEAK] = peak;
    at[NORM] = norm(row, peak);
    return OK;
}

}  // namespace noregret
