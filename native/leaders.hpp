// Forecasts of experts merged where outcomes come late: weights at the rate of the best expert's own
// error, and the guard that lets such a heuristic carry the Aggregating Algorithm's guarantee.
#pragma once

#include <algorithm>
#include <cmath>

#include "arrays.hpp"
#include "ledger.hpp"

namespace noregret::leaders {

constexpr double SURE = 20.0;  // rounds before large losses are cut
constexpr double CUT = 25.0;   // times the best expert's mean loss

// What the weights w_j ~ exp(-c n/2 (D_j/D* - 1)) make of the experts' forecasts, where D_j is the
// discounted loss of expert j, D* the least of them and n the discounted number of rounds: the
// posterior of normal errors with the variance D*/n, to the power c.  An expert that never erred
// takes all the weight.
inline double mixed(Row D, double n, double c, Row said) {
    double best = INFINITY;
    for (Size j = 0; j < D.n; ++j) best = std::min(best, D[j]);
    double total = 0.0, mean = 0.0;
    for (Size j = 0; j < D.n; ++j) {
        double w = D[j] == best ? 1.0 : best > 0.0 ? std::exp(-0.5 * c * n * (D[j] / best - 1.0)) : 0.0;
        total += w;
        mean += w * said[j];
    }
    return mean / total;
}

// The last rows of `said` are merged, one for each row of `out`; after each, the outcome of the row
// delay - 1 before it is learned, if there is one (NaN: none).  Column g of `out` has the discount
// and the power of row g of `rates`, and counts[g], D[g] for its state.
inline void late(Block said, Row y, Size delay, Block rates, Row counts, Block D, Block out) {
    Size first = said.rows - out.rows, K = said.cols;
    for (Size t = 0; t < out.rows; ++t) {
        for (Size g = 0; g < rates.rows; ++g)
            out(t, g) = mixed(D[g], counts[g], rates(g, 1), said[first + t]);
        Size past = first + t - delay + 1;
        if (past < 0 || std::isnan(y[past])) continue;
        for (Size g = 0; g < rates.rows; ++g) {
            double cut = INFINITY;
            if (counts[g] >= SURE) {
                cut = D(g, 0);
                for (Size j = 1; j < K; ++j) cut = std::min(cut, D(g, j));
                cut = cut > 0.0 ? CUT * cut / counts[g] : INFINITY;
            }
            for (Size j = 0; j < K; ++j) {
                double e = y[past] - said(past, j);
                D(g, j) = rates(g, 0) * D(g, j) + std::min(e * e, cut);
            }
            counts[g] = rates(g, 0) * counts[g] + 1.0;
        }
    }
}

// Issue `quick`, unless it might lose so much more than `safe` that the account of its copy would
// exceed its budget: then `safe`.  With y in [lo, hi] the most that it can lose more is
// |q - s| max(|q + s - 2 lo|, |q + s - 2 hi|); what it loses beyond, as y is outside, is in over[0].
// The copies take turns: row t belongs to accounts[(slot + t) % copies].
inline void guard(Row quick, Row safe, Row y, Row lo, Row hi, double budget, Size slot, Row accounts,
                  Row over, Row issued) {
    Size copies = accounts.n;
    for (Size t = 0; t < quick.n; ++t) {
        double &account = accounts[(slot + t) % copies], q = quick[t], s = safe[t];
        double apart = std::fabs(q - s), sum = q + s, width = hi[t] - lo[t];
        double worst = apart * std::max(std::fabs(sum - 2.0 * lo[t]), std::fabs(sum - 2.0 * hi[t]));
        bool follow = account + worst <= budget * width * width || apart == 0.0;
        issued[t] = follow ? q : s;
        if (std::isnan(y[t]) || !follow) continue;
        double excess = (y[t] - q) * (y[t] - q) - (y[t] - s) * (y[t] - s);
        double paid = std::min(excess, worst);
        account += paid;
        over[0] += excess - paid;
        over[1] += 1.0;
    }
}

// What the forecasts issued cost, by row, and all of it added to row 0 of `sum`, compensated.
inline void pay(Row issued, Row y, Block sum, Row losses) {
    for (Size t = 0; t < y.n; ++t) {
        losses[t] = (y[t] - issued[t]) * (y[t] - issued[t]);
        ledger::add(sum, 0, losses[t]);
    }
}

}  // namespace noregret::leaders
