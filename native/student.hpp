// Noise of unknown variance: the log loss of Student's distribution, from the sums of the ledger.
//
// With W = sum e^2/d of the rounds before, nu = m k of them informative, a round of m outcomes with
// w = |e|^2/d has the density (docs/theory.md, section 19)
//
//     G((nu + m)/2)/G(nu/2)  W^(nu/2)  (pi d)^(-m/2)  (W + w)^(-(nu + m)/2)
//
// The first round with e != 0 sets the unit and is not charged, nor are those before it: what they
// leave behind is in the second column of three rows that need no compensation.
#pragma once

#include "layout.hpp"

namespace noregret::student {

using namespace layout;

constexpr double LOG_PI = 1.1447298858494002;

// ln G(x + 1/2) - ln G(x): Stirling's series from 12 up, the recursion of G below.
INLINE double half_step(double x) {
    double lower = 0.0;
    for (; x < 12.0; x += 1.0) lower += std::log1p(0.5 / x);
    double r = 1.0 / x, r2 = r * r;
    double series = 31.0 / 18432 - 691.0 / 180224 * r2;
    series = 1.0 / 640 - r2 * (17.0 / 14336 - r2 * series);
    return 0.5 * std::log(x) - r * (0.125 - r2 * (1.0 / 192 - r2 * series)) - lower;
}

// Where the first informative round, its e^2/d and the log-determinant up to it are kept.
INLINE double& first(Block ledger) { return ledger(WIDEST, 1); }
INLINE double& first_weighted(Block ledger) { return ledger(LONGEST, 1); }
INLINE double& first_log_det(Block ledger) { return ledger(OUTCOMES, 1); }

// What the round in `work` costs, before it is booked.
INLINE double log_loss(Block ledger, Block work) {
    Size m = ledger.rows - OUTCOMES;
    double root = work(AT, ROOT), log_root = std::log(root), w = 0.0;
    for (Size k = 0; k < m; ++k) {
        double e = (work(Y, k) - work(MEAN, k)) / root;
        w += e * e;
    }
    double W = ledger(WEIGHTED, 0) + ledger(WEIGHTED, 1);
    if (W == 0.0) {
        if (w > 0.0) {
            first(ledger) = ledger(ROUNDS, 0) + 1.0;
            first_weighted(ledger) = w;
            first_log_det(ledger) = ledger(LOGDET, 0) + ledger(LOGDET, 1) + 2.0 * log_root;
        }
        return 0.0;
    }
    double nu = double(m) * (ledger(ROUNDS, 0) - first(ledger) + 1.0), gamma = 0.0;
    for (Size k = 0; k < m; ++k) gamma += half_step(0.5 * (nu + double(k)));
    return 0.5 * (nu * std::log1p(w / W) + double(m) * (LOG_PI + std::log(W + w))) +
           double(m) * log_root - gamma;
}

}  // namespace noregret::student
