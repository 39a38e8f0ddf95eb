// Does the state of fixed experts say what was booked?  docs/theory.md, section 18.
//
// Rotations keep the length of every column of [R z], and rounding changes it by at most GAMMA/2
// per rotation, so that with |R e_j| the length of column j and V what was left of y
//
//     |z|^2 + V  = sum |y|^2             to  gamma sum |y|^2
//     |Rr|^2     = a|r|^2 + sum (r'x)^2  to  gamma |Rr| sum_j |r_j| |R e_j|
//     (Rr)'z     = sum (r'x)(r'y)        to  gamma sqrt(sum |y|^2) sum_j |r_j| |R e_j|
//
// with gamma = GAMMA (T + n).  Looks and rotations take the same steps in another order:
//
//     sum e^2/d  = what the rotations left   to  2 sqrt(V) delta + delta^2
#pragma once

#include "ledger.hpp"

namespace noregret::audit {

using namespace layout;

enum : int { OUTCOME_CHECK = 0, PROBE_CHECK = 1, CROSS_CHECK = 2, LOOK_CHECK = 3, CHECKS = 4 };

constexpr double EPS = 0x1p-52;
constexpr double GAMMA = 16.0 * EPS;
constexpr double LEAST = 0x1p-1022;  // what underflow may take from a term
constexpr double DROWNS = 0x1p20;    // a state is audited before sums grow by more than this

INLINE double sum(const Block& ledger, int row) { return ledger(row, 0) + ledger(row, 1); }

// Discrepancy and allowance of each check; NaN where a sum is not known or does not fit.
// `loose` is the error of a look that blocks of rows may add, see cores/blocks.py.
MULTIVERSIONED inline void fixed(Block factor, Block ledger, double loose, Block found) {
    Size n = factor.rows, m = factor.cols - n;
    double T = ledger(ROUNDS, 0) + double(n) * (2.0 * ledger(ROUNDS, 1) - 1.0);  // merges rotate too
    double gamma = GAMMA * T, tiny = LEAST * (T + 1.0);
    auto length = scratch(n + m);
    double image = 0.0, cross = 0.0, z2 = 0.0;
    for (Size i = 0; i < n; ++i) {
        const double* row = factor[i].p;
        double at = 0.0, y = 0.0;
        for (Size j = i; j < n; ++j) {
            at += row[j] * PROBES[std::size_t(j % PROBED)];
            length[std::size_t(j)] += row[j] * row[j];
        }
        for (Size k = 0; k < m; ++k) {
            y += row[n + k] * PROBES[std::size_t(k % PROBED)];
            z2 += row[n + k] * row[n + k];
        }
        image += at * at;
        cross += at * y;
    }
    double columns = 0.0;
    for (Size j = 0; j < n; ++j) columns += std::fabs(PROBES[std::size_t(j % PROBED)]) * std::sqrt(length[std::size_t(j)]);
    double energy = sum(ledger, ENERGY), fit = sum(ledger, FIT), weighted = sum(ledger, WEIGHTED);
    double best = fit + sum(ledger, JOINT), delta = (4.0 * EPS * double(n + 1) + loose) *
        std::sqrt(energy * (1.0 + sum(ledger, LEVERAGE)));
    double reach = 0.0;
    for (Size k = 0; k < m; ++k) reach += std::fabs(PROBES[std::size_t(k % PROBED)]);
    found(OUTCOME_CHECK, 0) = std::fabs(z2 + best - energy);
    found(OUTCOME_CHECK, 1) = gamma * energy + tiny;
    found(PROBE_CHECK, 0) = std::fabs(image - sum(ledger, PROBE));
    found(PROBE_CHECK, 1) = gamma * std::sqrt(image) * columns + tiny;
    found(CROSS_CHECK, 0) = std::fabs(cross - sum(ledger, CROSS));
    found(CROSS_CHECK, 1) = gamma * reach * std::sqrt(energy + tiny) * columns + tiny;
    found(LOOK_CHECK, 0) = std::fabs(weighted - fit);
    found(LOOK_CHECK, 1) = 2.0 * std::sqrt(fit) * delta + delta * delta + 8.0 * EPS * fit + tiny;
}

// Audit, and keep a discrepancy that is larger than allowed, in units of what is.
inline void check(Block factor, Block ledger, double loose) {
    double room[2 * CHECKS];
    Block found{room, CHECKS, 2};
    fixed(factor, ledger, loose, found);
    for (Size i = 0; i < CHECKS; ++i) {
        double ratio = found(i, 0) / found(i, 1);
        if (ratio > 1.0 && ratio > ledger(WORST, 0))
            ledger(WORST, 0) = ratio, ledger(WORST, 1) = ledger(ROUNDS, 0);
    }
}

// Whether sums grow so much that what was wrong before would drown in rounding.
INLINE bool drowns(const Block& ledger, double energy, double probe) {
    return energy > DROWNS * ledger(MARK, 0) || probe > DROWNS * ledger(MARK, 1);
}

// Before the round that lies in `work`: audit if it drowns what came before.
INLINE void before_round(const Block& factor, const Block& work, const Block& ledger, double seen) {
    double energy = sum(ledger, ENERGY), probe = sum(ledger, PROBE) + seen * seen;
    for (Size k = 0; k < factor.cols - factor.rows; ++k) energy += work(Y, k) * work(Y, k);
    if (!drowns(ledger, energy, probe)) return;
    check(factor, ledger, 0.0);
    ledger(MARK, 0) = energy, ledger(MARK, 1) = probe;
}

// The same before many rounds: the state as it is now, and the marks that they will leave.
MULTIVERSIONED inline void before_rows(Block factor, Block ledger, double loose, Block xs, Block ys) {
    double room[4] = {ledger(ENERGY, 0), ledger(ENERGY, 1), ledger(PROBE, 0), ledger(PROBE, 1)};
    Block held{room, 2, 2};
    bool audited = false;
    for (Size t = 0; t < xs.rows; ++t) {
        double seen = probed(xs[t]), terms = 0.0;
        double energy = sum(held, 0), probe = sum(held, 1) + seen * seen;
        for (Size k = 0; k < ys.cols; ++k) energy += ys(t, k) * ys(t, k), terms += ys(t, k) * ys(t, k);
        if (drowns(ledger, energy, probe)) {
            if (!audited) check(factor, ledger, loose);
            audited = true;
            ledger(MARK, 0) = energy, ledger(MARK, 1) = probe;
        }
        ledger::tally(held, 0, terms);
        ledger::tally(held, 1, seen * seen);
    }
}

}  // namespace noregret::audit
