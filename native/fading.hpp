// Fixed experts whose past fades: after each round [R z] <- sqrt(gam) [R z], gam = work[AT, FADE].
//
// A is then gam A, with R'R = A as before, so that a round counts gam^k times k rounds later, and
// the prior aI no more than a round of its age.  The triangle stays one: n^2/2 flops, no n^3.
//
// A pivot stays above FAINT: a feature that was not seen for very long finds a prior of FAINT^2
// rather than none.  An expert is charged at most FAINT/sqrt(gam) squared times |w|^2 for it.
#pragma once

#include "primal.hpp"

namespace noregret::fading {

using namespace layout;

constexpr double FAINT = 0x1p-500;

MULTIVERSIONED inline void fade(const Block& factor, const Block& work) {
    double root = std::sqrt(work(AT, FADE));
    for (Size i = 0; i < factor.rows; ++i) {
        double* row = factor[i].p;
        if (std::fabs(row[i] * root) >= FAINT) row[i] *= root;
        for (Size k = i + 1; k < factor.cols; ++k) row[k] *= root;
    }
    work(AT, FRESH) = 0.0;
    work(AT, PASSED) += 1.0;
}

// Every row, as in primal::each_row.
inline Size stream(Block factor, Block work, Block xs, Block ys, Block mean, Row root, Row fit) {
    return primal::each_row(
        work, xs, ys, mean, root, fit, [&] { return primal::look(factor, work); },
        [&] { return primal::absorb(factor, work); }, [&](Size) { fade(factor, work); });
}

}  // namespace noregret::fading
