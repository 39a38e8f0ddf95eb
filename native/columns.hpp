// Book many rounds at once: each term of the ledger for some rounds, then all sums side by side.
//
// Only rounds of one outcome whose rule needs nothing of the rounds before: no hint, no Student, no
// fading.  The terms are those of ledger::post, and so are the sums, to the last bit.
#pragma once

#include "ledger.hpp"
#include "rules.hpp"

namespace noregret::columns {

using namespace layout;

constexpr Size LENGTH = 64;  // of a column
typedef double Column[LENGTH];

INLINE bool fits(const Block& ledger, const Block& work) {
    return ledger.rows == OUTCOMES + 1 && work(AT, RULE) < STUDENT && work(AT, FADE) == 0.0;
}

// Forecasts and losses of `count` rounds, as rules::forecast and rounds::book have them.
INLINE void judge(int rule, double level, const double* y, const double* mean, const double* root,
                  Size count, double* __restrict forecast, double* __restrict square,
                  double* __restrict loss) {
    for (Size t = 0; t < count; ++t) forecast[t] = rules::plain(rule, level, mean[t], root[t]);
    for (Size t = 0; t < count; ++t) {
        double e = y[t] - forecast[t];
        square[t] = loss[t] = e * e;
    }
    if (rule == BAYES)
        for (Size t = 0; t < count; ++t) loss[t] = rules::log_loss(level, mean[t], root[t], y[t]);
}

// Book T rounds; measure(start, count, peak, norm, seen) tells |x|_inf, |x|_2 and r'x of some.
template <class Measure>
INLINE void book(const Block& ledger, const Block& work, const double* ys, const double* means,
                 const double* roots, Size T, double* forecasts, double* losses,
                 const Measure& measure) {
    ledger::Page page(ledger);
    double widest = ledger(WIDEST, 0), longest = ledger(LONGEST, 0), largest = ledger(OUTCOMES, 0);
    Column peak, norm, seen, square, weighted, logdet, leverage, charge, relief;
    for (Size start = 0; start < T; start += LENGTH) {
        Size count = T - start < LENGTH ? T - start : LENGTH;
        const double *y = ys + start, *mean = means + start, *root = roots + start;
        double* loss = losses + start;
        measure(start, count, peak, norm, seen);
        judge(int(work(AT, RULE)), work(AT, LEVEL), y, mean, root, count, forecasts + start, square,
              loss);
        for (Size t = 0; t < count; ++t) logdet[t] = 2.0 * std::log(root[t]);
        for (Size t = 0; t < count; ++t) {
            double shrunk = 1.0 / root[t], e = (y[t] - mean[t]) * shrunk, m = mean[t] * shrunk;
            weighted[t] = e * e;
            leverage[t] = 1.0 - shrunk * shrunk;
            charge[t] = leverage[t] * (y[t] * y[t]);
            relief[t] = leverage[t] * (m * m);
        }
        for (Size t = 0; t < count; ++t) {
            page.pay(loss[t], square[t], 0.0, weighted[t]);
            page.charge(logdet[t], leverage[t], charge[t], relief[t]);
            page.measure(norm[t], y[t] * y[t], seen[t], PROBES[0] * y[t]);
            widest = larger(widest, peak[t]);
            longest = larger(longest, norm[t]);
            largest = larger(largest, std::fabs(y[t]));
        }
    }
    page.put_back();
    ledger(WIDEST, 0) = widest, ledger(LONGEST, 0) = longest, ledger(OUTCOMES, 0) = largest;
    ledger(ROUNDS, 0) += double(T);
}

}  // namespace noregret::columns
