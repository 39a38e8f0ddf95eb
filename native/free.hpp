// AAR without a prior (Gaillard, Gerchinovitz, Huard and Stoltz 2019): QR-RLS that starts at R = 0.
//
// `factor` (n, n + 1) holds [R z], R upper triangular with R'R = sum xx'; a row whose pivot is 0 has
// not been used and is 0.  Row by row, as in primal.hpp, v_i = u_i/R_ii and u <- u - v_i row_i; a u
// that has an entry left where the pivot is 0 is a direction that no round had: d is infinite, and
// u/beta becomes that row.  Otherwise d = 1 + |v|^2 and e/sqrt(d) is left of y.
//
// An entry counts as left if it is above SMALL of the terms that it is the difference of: no unit of
// any feature matters.
#pragma once

#include "ledger.hpp"

namespace noregret::free_of_prior {

constexpr double SMALL = 0x1p-40;

struct Look {
    double mean, shrink;  // m and 1/d, which is 0 in a new direction
    Size found;           // the row of a new direction; -1: none
};

// Look at x; v and u (n + 1) are filled, `sizes` (n) is scratch.
inline Look look(Block factor, Row x, Row v, Row u, Row sizes) {
    Size n = factor.rows;
    for (Size j = 0; j < n; ++j) u[j] = x[j], sizes[j] = std::fabs(x[j]), v[j] = 0.0;
    u[n] = 0.0;
    double square = 1.0;
    for (Size i = 0; i < n; ++i) {
        double left = u[i];
        if (!(std::fabs(left) > SMALL * sizes[i])) {
            u[i] = 0.0;
            continue;
        }
        Row row = factor[i];
        if (row[i] == 0.0) return {0.0, 0.0, i};
        double vi = v[i] = left / row[i];
        square += vi * vi;
        for (Size j = i; j <= n; ++j) {
            u[j] -= vi * row[j];
            if (j < n) sizes[j] += std::fabs(vi * row[j]);
        }
        u[i] = 0.0;
    }
    return {0.0 - u[n], 1.0 / square, -1};
}

// Rotate [x | y] into [R z], given the look; e^2/d, which is 0 in a new direction.
inline double absorb(Block factor, Row x, double y, Row v, Row u, Look seen) {
    Size n = factor.rows;
    for (Size j = 0; j < n; ++j) u[j] = x[j];
    u[n] = y;
    double square = 1.0;
    for (Size i = 0; i < (seen.found < 0 ? n : seen.found); ++i) {
        if (v[i] == 0.0) {
            u[i] = 0.0;  // too small to count
            continue;
        }
        double before = std::sqrt(square), after = std::sqrt(square += v[i] * v[i]);
        Row row = factor[i];
        for (Size j = i; j <= n; ++j) {
            double r = row[j], a = u[j];
            row[j] = (before * r + v[i] / before * a) / after;
            u[j] = a - v[i] * r;
        }
        u[i] = 0.0;
    }
    double beta = std::sqrt(square);
    if (seen.found < 0) return (u[n] / beta) * (u[n] / beta);
    for (Size j = seen.found; j <= n; ++j) factor(seen.found, j) = u[j] / beta;
    return 0.0;
}

// Rows of `book`, two entries each; sums are compensated.
enum : int {
    LOSS = 0,
    FIT = 1,     // sum e^2/d = min_w sum (y - w'x)^2
    SHARE = 2,   // H = sum (1 - 1/d)
    CHARGE = 3,  // sum (y - h)^2 (1 - 1/d)
    RELIEF = 4,  // sum (d - 1) (g - h)^2 = sum (m - h)^2 (1 - 1/d)/d
    ENERGY = 5,  // sum y^2
    ENDS = 6,    // of which the hint is the middle, see hint.hpp
    WIDEST = 7,  // largest |y - h|; how many rounds found a new direction
    ROUNDS = 8,
    BOOK_ROWS = 9,
};

// Room for a look at n features.
inline std::vector<double> room(Size n) { return scratch(3 * n + 1); }

struct Round {
    Row v, u, sizes;
    Look seen;
    double hint, forecast;

    // Look at x; whether everything fits in float64.
    bool look_at(Block factor, Block book, Row x, std::vector<double>& work) {
        Size n = factor.rows;
        v = {work.data(), n}, u = {v.p + n, n + 1}, sizes = {u.p + n + 1, n};
        for (Size j = 0; j < n; ++j)
            if (!(std::fabs(x[j]) <= layout::LARGEST_FEATURE)) return false;  // NaN too
        seen = look(factor, x, v, u, sizes);
        hint = book(ENDS, 0) + 0.5 * (book(ENDS, 1) - book(ENDS, 0));
        forecast = hint + (seen.mean - hint) * seen.shrink;
        return std::isfinite(forecast) && (seen.found >= 0 || seen.shrink > 0.0);
    }
};

// The forecast at x; NaN where it does not fit.
inline double predict(Block factor, Block book, Row x) {
    std::vector<double> work = room(factor.rows);
    Round round;
    return round.look_at(factor, book, x, work) ? round.forecast : NaN;
}

// Forecast and learn every row; -1, or the first row that does not fit.  `rule` is one of AAR's.
inline Size replay(int rule, Block factor, Block book, StridedBlock xs, Strided ys, Row forecasts,
                   Row losses) {
    std::vector<double> work = room(factor.rows);
    for (Size t = 0; t < xs.rows; ++t) {
        Copied x(xs[t]);
        Round round;
        double y = ys[t];
        if (!(std::fabs(y) <= layout::LARGEST_OUTCOME) || !round.look_at(factor, book, x.row(), work))
            return t;
        double shrink = round.seen.shrink, off = y - round.hint, gap = y - round.forecast;
        double apart = round.seen.mean - round.hint;
        forecasts[t] = round.forecast, losses[t] = gap * gap;
        ledger::add(book, FIT, absorb(factor, x.row(), y, round.v, round.u, round.seen));
        ledger::add(book, LOSS, gap * gap);
        ledger::add(book, SHARE, 1.0 - shrink);
        ledger::add(book, CHARGE, off * off * (1.0 - shrink));
        ledger::add(book, RELIEF, apart * apart * (1.0 - shrink) * shrink);
        ledger::add(book, ENERGY, y * y);
        book(WIDEST, 0) = larger(book(WIDEST, 0), std::fabs(off));
        book(WIDEST, 1) += round.seen.found >= 0;
        if (rule > layout::AROUND) {
            bool alone = book(ROUNDS, 0) == 0.0 || rule == layout::LAST;
            book(ENDS, 0) = alone ? y : smaller(book(ENDS, 0), y);
            book(ENDS, 1) = alone ? y : larger(book(ENDS, 1), y);
        }
        book(ROUNDS, 0) += 1.0;
    }
    return -1;
}

}  // namespace noregret::free_of_prior
