// The running columns of one stream: compensated sums (Neumaier) and maxima.
#pragma once

#include "hint.hpp"
#include "probe.hpp"

namespace noregret::ledger {

using namespace layout;

// Add a term to a running sum and what rounding took from it to the compensation.
INLINE void add(const Block& book, Size row, double term) {
    double held = book(row, 0), total = held + term;
    book(row, 0) = total;
    double lost = std::fabs(held) >= std::fabs(term) ? (held - total) + term : (term - total) + held;
    book(row, 1) = std::isfinite(total) ? book(row, 1) + lost : 0.0;
}

// The same without a branch (Knuth); a sum that overflows becomes NaN, which is not known.
INLINE void tally(const Block& book, Size row, double term) {
    double held = book(row, 0), total = held + term, added = total - held;
    book(row, 0) = total;
    book(row, 1) += (held - (total - added)) + (term - added);
}

// What was booked of the state counts less from now on, as the state does: with R and z times
// sqrt(gam), |Rr|^2 and (Rr)'z are gam times what they were, and |z|^2 loses (1 - gam)|z|^2.
INLINE void fade(const Block& ledger, double gam) {
    for (int row : {PROBE, CROSS})
        for (int part : {0, 1}) ledger(row, part) *= gam;
    ledger(MARK, 1) *= gam;
    double left = (ledger(ENERGY, 0) - ledger(WEIGHTED, 0) - ledger(JOINT, 0)) +
                  (ledger(ENERGY, 1) - ledger(WEIGHTED, 1) - ledger(JOINT, 1));
    add(ledger, JOINT, (1.0 - gam) * left);
}

// Book one round: what was paid, and what the look at x and the outcomes say.
//
// `seen` is r'x for the probe r, see probe.hpp.
INLINE void post(const Block& ledger, const Block& work, double loss, double square,
                 double fit, double seen) {
    Row at = work[AT], mean = work[MEAN], y = work[Y];
    double beta = at[ROOT], shrunk = 1.0 / beta, leverage = 1.0 - shrunk * shrunk;
    double weighted = 0.0, charge = 0.0, relief = 0.0, energy = 0.0, cross = 0.0;
    bool hinted = at[RULE] >= AROUND, opens = at[RULE] > AROUND && ledger(ROUNDS, 0) == 0.0;
    Size outcomes = ledger.rows - OUTCOMES;
    for (Size k = 0; k < outcomes; ++k) {
        double h = hinted ? hint::of(work, k) : 0.0, off = y[k] - h;
        double e = (y[k] - mean[k]) * shrunk, m = (mean[k] - h) * shrunk;
        weighted += e * e;
        energy += y[k] * y[k];
        cross += PROBES[std::size_t(k % PROBED)] * y[k];
        charge += leverage * (off * off);
        relief += leverage * (m * m);  // (d - 1) ((m - h)/d)^2
        if (!opens) ledger(OUTCOMES + k, 0) = larger(ledger(OUTCOMES + k, 0), std::fabs(off));
    }
    if (opens) ledger(LIGHT, 1) = charge;
    if (hinted) hint::learn(work, outcomes, opens);
    // In the order of the rows, for vectors; many rounds at once have their fit booked together.
    const double terms[] = {loss,     square, fit,    weighted, 2.0 * std::log(beta),
                            leverage, charge, relief, at[NORM] * at[NORM]};
    static_assert(LOSS == 0 && FIT == 2 && LOGDET == 4 && RELIEF == 7 && NORMS == 8);
    for (Size row = 0; row <= NORMS; ++row) add(ledger, row, terms[row]);
    tally(ledger, ENERGY, energy);
    tally(ledger, PROBE, seen * seen);
    tally(ledger, CROSS, seen * cross);
    ledger(WIDEST, 0) = larger(ledger(WIDEST, 0), at[PEAK]);
    ledger(LONGEST, 0) = larger(ledger(LONGEST, 0), at[NORM]);
    ledger(ROUNDS, 0) += 1.0;
    if (at[FADE] != 0.0) fade(ledger, at[FADE]);
}

}  // namespace noregret::ledger
