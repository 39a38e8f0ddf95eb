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

// Four rows side by side: their sums and compensations, in the order 0, 2, 1, 3, which takes the
// fewest moves from and to pairs of (sum, compensation).
struct Sums {
    Four sum, lost;
    double* p[4];

    INLINE Sums(const Block& book, Size a, Size b, Size c, Size d)
        : p{&book(a, 0), &book(b, 0), &book(c, 0), &book(d, 0)} {
        Four low = {p[0][0], p[0][1], p[1][0], p[1][1]};
        Four high = {p[2][0], p[2][1], p[3][0], p[3][1]};
        sum = Four{low[0], high[0], low[2], high[2]}, lost = Four{low[1], high[1], low[3], high[3]};
    }

    // A term for each, as `add` does where `adds`, as `tally` does elsewhere: the same where a sum
    // is finite.
    INLINE void take(double a, double b, double c, double d, Mask adds) {
        Four term = {a, c, b, d}, total = sum + term, added = total - sum;
        lost += (sum - (total - added)) + (term - added);
        Mask finite = (total - total) == Four{};
        lost = reinterpret_cast<Four>(reinterpret_cast<Mask>(lost) & (finite | ~adds));
        sum = total;
    }

    INLINE void put_back() const {
        Four low = {sum[0], lost[0], sum[2], lost[2]}, high = {sum[1], lost[1], sum[3], lost[3]};
        p[0][0] = low[0], p[0][1] = low[1], p[1][0] = low[2], p[1][1] = low[3];
        p[2][0] = high[0], p[2][1] = high[1], p[3][0] = high[2], p[3][1] = high[3];
    }
};

// All running sums of the rounds, side by side.
struct Page {
    Sums paid, price, sizes;

    INLINE explicit Page(const Block& ledger)
        : paid(ledger, LOSS, SQUARE, FIT, WEIGHTED), price(ledger, LOGDET, LEVERAGE, CHARGE, RELIEF),
          sizes(ledger, NORMS, ENERGY, PROBE, CROSS) {}

    INLINE void pay(double loss, double square, double fit, double weighted) {
        paid.take(loss, square, fit, weighted, ALL);
    }
    INLINE void charge(double log_det, double leverage, double charged, double relief) {
        price.take(log_det, leverage, charged, relief, ALL);
    }
    // `seen` is r'x and `cross` s'y for the probes r and s.
    INLINE void measure(double norm, double energy, double seen, double cross) {
        sizes.take(norm * norm, energy, seen * seen, seen * cross, FIRST);
    }

    INLINE void put_back() const { paid.put_back(), price.put_back(), sizes.put_back(); }

  private:
    static constexpr Mask ALL = {-1, -1, -1, -1}, FIRST = {-1, 0, 0, 0};
};

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
    // Many rounds at once have their fit booked together.
    Page page(ledger);
    page.pay(loss, square, fit, weighted);
    page.charge(2.0 * std::log(beta), leverage, charge, relief);
    page.measure(at[NORM], energy, seen, cross);
    page.put_back();
    ledger(WIDEST, 0) = larger(ledger(WIDEST, 0), at[PEAK]);
    ledger(LONGEST, 0) = larger(ledger(LONGEST, 0), at[NORM]);
    ledger(ROUNDS, 0) += 1.0;
    if (at[FADE] != 0.0) fade(ledger, at[FADE]);
}

}  // namespace noregret::ledger
