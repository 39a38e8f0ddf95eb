// The probe: one fixed vector r with no structure, whose sums are booked as rounds come.
//
// The state of fixed experts says of every w what it would have paid, |Rw - z|^2 + V; for w = r
// that can be checked against the sums, and a wrong entry of R or z shows almost surely.
#pragma once

#include <array>

#include "layout.hpp"

namespace noregret {

constexpr Size PROBED = 1024;  // r repeats itself after so many features

// r_k = 1/2 + the fractional part of k times the golden ratio, of alternating sign.
constexpr std::array<double, PROBED> make_probe() {
    std::array<double, PROBED> r{};
    double part = 0.0;
    for (Size k = 0; k < PROBED; ++k) {
        part += 0.6180339887498949;
        if (part >= 1.0) part -= 1.0;
        r[std::size_t(k)] = k % 2 ? -0.5 - part : 0.5 + part;
    }
    return r;
}
constexpr std::array<double, PROBED> PROBES = make_probe();

// r'x.
INLINE double probed(Row x) {
    if (x.n < 24) {  // too few for eight running sums
        Two sum = {0.0, 0.0};
        for (Size k = 0; k + 1 < x.n; k += 2) sum += two(x.p + k) * two(PROBES.data() + k);
        return sum[0] + sum[1] + (x.n % 2 ? x[x.n - 1] * PROBES[std::size_t(x.n - 1)] : 0.0);
    }
    double total = 0.0;
    for (Size k = 0; k < x.n; k += PROBED)
        total += dot(x.p + k, PROBES.data(), x.n - k < PROBED ? x.n - k : PROBED);
    return total;
}

}  // namespace noregret
