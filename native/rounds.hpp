// One round: the only file where core, rule and ledger meet.
//
// A factor that is wider than tall is [R z] of fixed experts, one that is taller than wide is
// [T; w] of drifting ones.  Every check comes before the first write to `factor` or `ledger`, so
// that a round that is refused leaves both as they were.
#pragma once

#include "audit.hpp"
#include "columns.hpp"
#include "drift.hpp"
#include "fading.hpp"
#include "primal.hpp"
#include "rules.hpp"
#include "small.hpp"
#include "student.hpp"

namespace noregret::rounds {

using namespace layout;

// N is how many features there are, where that is known and small; else 0.
template <Size N = 0>
INLINE int look(const Block& factor, const Block& work) {
    if constexpr (N > 0) return small::look<N>(factor, work);
    return factor.rows < factor.cols ? primal::look(factor, work) : drift::look(factor, work);
}

// Admit x and look at it; the look stays in work[MEAN] and work[AT, ROOT].
template <Size N = 0>
INLINE int admit_and_look(const Block& factor, const Block& work, Row x) {
    Size n = factor.rows < factor.cols ? factor.rows : factor.cols;
    int status = admit<N>(work, x, n);
    if (status == OK && work(AT, FRESH) == 0.0) status = look<N>(factor, work);
    return status;
}

// The forecast of the first outcome; NaN when x is refused, why in work[AT, STATUS].
MULTIVERSIONED inline double predict(const Block& factor, const Block& work, const Row& x) {
    return small::known(factor, work, [&](const Block& factor, const Block& work, auto N) INLINED {
        int status = admit_and_look<N>(factor, work, x);
        work(AT, STATUS) = status;
        return status == OK ? rules::forecast(work, 0) : NaN;
    });
}

// Look at x; means and root spread go to the caller's own `seen`.
inline int look_at(const Block& factor, const Block& work, Row x, Row seen) {
    int status = admit_and_look(factor, work, x);
    if (status == OK) {
        for (Size k = 0; k < seen.n - 1; ++k) seen[k] = work(MEAN, k);
        seen[seen.n - 1] = work(AT, ROOT);
    }
    return status;
}

// Book the round that lies in `work`, `seen` by the probe; return what the rule paid.
INLINE double book(const Block& ledger, const Block& work, double fit, double seen) {
    Row at = work[AT];
    int rule = int(at[RULE]);
    double level = at[LEVEL], root = at[ROOT], paid = 0.0, square = 0.0;
    for (Size k = 0; k < ledger.rows - OUTCOMES; ++k) {
        double mean = work(MEAN, k), y = work(Y, k);
        double e = y - rules::forecast(work, k);
        square += e * e;
        paid += rule == BAYES ? rules::log_loss(level, mean, root, y) : e * e;
    }
    if (rule == STUDENT) paid = student::log_loss(ledger, work);
    ledger::post(ledger, work, paid, square, fit, seen);
    return paid;
}

// The ledger of one outcome, where the sizes are known.
template <Size N>
INLINE Block alike(const Block& ledger) {
    return N > 0 ? Block{ledger.p, OUTCOMES + 1, 2} : Block{ledger.p, ledger.rows, 2};
}

// Absorb the round that was looked at, book what it cost, drift on to the next round.
template <Size N = 0>
INLINE void settle(const Block& factor, const Block& work, const Block& ledger) {
    if (factor.rows < factor.cols) {
        double seen = probed(work[X].first(factor.rows)), fit;
        audit::before_round(factor, work, ledger, seen);
        if constexpr (N > 0)
            fit = small::absorb<N>(factor, work);
        else
            fit = primal::absorb(factor, work);
        book(ledger, work, fit, seen);
        if (work(AT, FADE) != 0.0) fading::fade(factor, work);
    } else {
        double seen = probed(work[X].first(factor.cols));
        book(ledger, work, drift::absorb(factor, work), seen);
        drift::diffuse(factor, work, work(AT, DRIFT));
    }
}

// The same for an x whose size has not been taken yet.
MULTIVERSIONED inline void measure_and_settle(const Block& factor, const Block& work,
                                              const Block& ledger) {
    small::known(factor, work, [&](const Block& factor, const Block& work, auto N) INLINED {
        measure(work, factor.rows < factor.cols ? factor.rows : factor.cols);
        settle<N>(factor, work, alike<N>(ledger));
    });
}

// Look at x, absorb y, book what it cost, drift on to the next round.
//
// Of several outcomes, the caller has put those after the first into work[Y].
MULTIVERSIONED inline int learn(const Block& factor, const Block& work, const Block& ledger, const Row& x,
                                double y) {
    return small::known(factor, work, [&](const Block& factor, const Block& work, auto N) INLINED {
        work(Y, 0) = y;
        bool fixed = factor.rows < factor.cols;
        Size n = fixed ? factor.rows : factor.cols, m = fixed ? factor.cols - n : factor.rows - n;
        for (Size k = 0; k < m; ++k)
            if (!(std::fabs(work(Y, k)) <= LARGEST_OUTCOME)) return int(OUTCOME);  // NaN too
        int status = admit_and_look<N>(factor, work, x);
        if (status != OK) return status;
        measure(work, n);
        settle<N>(factor, work, alike<N>(ledger));
        return int(OK);
    });
}

// Learn any number of outcomes, in one step for other threads.
inline int learn_any(const Block& factor, const Block& work, const Block& ledger, Row x, Row ys) {
    for (Size k = 0; k < ys.n; ++k) work(Y, k) = ys[k];
    return learn(factor, work, ledger, x, ys[0]);
}

// Book the rounds that a core has replayed; fill in forecasts and losses.
//
// The fit comes from the core for all rounds together and is booked apart.
MULTIVERSIONED inline void book_rows(const Block& ledger, const Block& work, Block xs, Block ys,
                                     Block means, Row roots, Block forecasts, Row losses) {
    Size n = xs.cols, m = ys.cols;
    auto measure = [&](Size start, Size count, double* widest, double* length,
                       double* seen) INLINED {
        Block any{nullptr, n, n + m};
        small::known(any, work, [&](const Block& shape, const Block&, auto) INLINED {
            for (Size t = 0; t < count; ++t) {
                Row x{xs.p + (start + t) * shape.rows, shape.rows};
                widest[t] = peak(x), length[t] = norm(x, widest[t]), seen[t] = probed(x);
            }
        });
    };
    if (columns::fits(ledger, work)) {
        columns::book(ledger, work, ys.p, means.p, roots.p, ys.rows, forecasts.p, losses.p,
                      measure);
    } else {
        for (Size t = 0; t < ys.rows; ++t) {
            double seen;
            measure(t, 1, &work(AT, PEAK), &work(AT, NORM), &seen);
            work(AT, ROOT) = roots[t];
            for (Size k = 0; k < m; ++k) {
                work(MEAN, k) = means(t, k);
                work(Y, k) = ys(t, k);
                forecasts(t, k) = rules::forecast(work, k);
            }
            losses[t] = book(ledger, work, 0.0, seen);
        }
    }
    work(AT, FRESH) = 0.0;
}

// Look at every row and learn nothing; -1, or the first row that overflows.
inline Size look_rows(const Block& factor, const Block& work, Block xs, Block means, Row roots) {
    for (Size t = 0; t < xs.rows; ++t) {
        for (Size k = 0; k < xs.cols; ++k) work(X, k) = xs(t, k);
        if (look(factor, work) != OK) return t;
        for (Size k = 0; k < means.cols; ++k) means(t, k) = work(MEAN, k);
        roots[t] = work(AT, ROOT);
    }
    return -1;
}

}  // namespace noregret::rounds
