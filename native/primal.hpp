// Fixed experts: QR-RLS in information form, by rows, four of them at a time (panels.hpp).
//
// `factor` (n, n + m) holds [R z]: R upper triangular with R'R = A = aI + sum xx', z = R^-T b with
// one column per outcome.  With v = R^-T x and beta_i^2 = 1 + v_1^2 + ... + v_i^2, the n rotations
// that fold [x | y] into [R z] act on row i as
//
//     row_i <- row_i beta_{i-1}/beta_i + u v_i/(beta_{i-1} beta_i),     u <- u - v_i row_i(old)
//
// so that no feature is ever squared, each row takes one pass, and what is left of y is e, of
// which e/beta_n = e/sqrt(d) is the new entry below z.
#pragma once

#include "admit.hpp"
#include "panels.hpp"

namespace noregret::primal {

using namespace layout;
using panels::SIDE;
using pieces::four;

// u <- u - v row: one row of the forward substitution.
INLINE void eliminate(double* __restrict u, const double* __restrict row, double v, Size n) {
    for (Size k = 0; k < n; ++k) u[k] -= v * row[k];
}

// The rotation of one row, as above.
INLINE void rotate(double* __restrict row, double* __restrict u, double keep, double take, double v,
                   Size n) {
    for (Size k = 0; k < n; ++k) {
        double r = row[k], a = u[k];
        row[k] = keep * r + take * a;
        u[k] = a - v * r;
    }
}

// Solve R'v = x by forward substitution, by panels; mean = v'z, root = sqrt(1 + |v|^2).
MULTIVERSIONED inline int look(const Block& factor, const Block& work) {
    Size n = factor.rows, m = factor.cols - n, lead = pieces::lead(n + m);
    Row v = work[V], mean = work[MEAN], at = work[AT], u = work[U], x = work[X];
    at[FRESH] = 0.0;
    for (Size k = 0; k < n; ++k) u[k] = x[k];
    for (Size k = 0; k < m; ++k) u[n + k] = 0.0;  // the substitution takes v'z from it
    double square = 1.0;
    if (panels::narrow(n, n + m)) {
        for (Size i = 0; i < n; ++i) {
            double *row = factor[i].p, vi = u[i] * (1.0 / row[i]);
            v[i] = vi;
            work(GROWN, i) = square += vi * vi;
            if (vi != 0.0) pieces::eliminate(u.p, row, vi, i, n + m, lead);
        }
    } else {
        Four corner = four(u.p);  // of u: what the next rows wait for
        panels::each(n, n + m, [&](Size i, Size right, auto ROWS) INLINED {
            panels::Rows<ROWS> rows(factor[i].p, n + m);
            panels::Solved<ROWS> solved(rows, corner, square, i);
            four(&v[i]) = solved.v, four(&work(GROWN, i)) = solved.square;  // beyond n: not read
            square = solved.square[3];
            if (ROWS < SIDE && right - i == SIDE) four(&u[i]) = solved.left;  // z is in it
            if (right == n + m) return;
            corner = four(&u[right]);
            if (panels::empty(solved.v)) return;
            four(&u[right]) = corner = panels::eliminated(rows, u.p, solved.v, right);
            for (Size k = right + SIDE; k < n + m; k += SIDE)
                four(&u[k]) = panels::eliminated(rows, u.p, solved.v, k);
        });
    }
    double beta = square < SAFE * SAFE ? std::sqrt(square) : length(v.first(n));
    for (Size k = 0; k < m; ++k) mean[k] = 0.0 - u[n + k];
    for (Size k = 0; k < m; ++k)
        if (!std::isfinite(mean[k])) return OVERFLOWS;
    if (!std::isfinite(beta)) return OVERFLOWS;
    at[ROOT] = beta;
    at[FRESH] = 1.0;
    return OK;
}

// work[GROWN] <- 1 + v_1^2 + ... + v_i^2, for a v that has changed since the look.
INLINE void add_squares(const Block& work, Size n) {
    double square = 1.0;
    for (Size i = 0; i < n; ++i) work(GROWN, i) = square += work(V, i) * work(V, i);
}

// beta_i where squares are too large to be trusted; seldom.
__attribute__((noinline)) inline void lengthen(Row v, Row grown) {
    double beta = 1.0;
    for (Size i = 0; i < v.n; ++i) {
        if (v[i] != 0.0) beta = lengthened(grown[i], beta, v[i]);
        grown[i] = beta;
    }
}

// Rotate [x | y] into [R z], given the look at x; return the sum of (e/sqrt(d))^2.
MULTIVERSIONED inline double absorb(const Block& factor, const Block& work) {
    Size n = factor.rows, m = factor.cols - n, lead = pieces::lead(n + m);
    Row v = work[V], u = work[U], x = work[X], y = work[Y];
    Row grown = work[GROWN], shrunk = work[SHRUNK];
    for (Size k = 0; k < n; ++k) u[k] = x[k];
    for (Size k = 0; k < m; ++k) u[n + k] = y[k];
    if (n > 0 && !(grown[n - 1] < SAFE * SAFE)) {
        lengthen(v.first(n), grown.first(n));
    } else {
        for (Size i = 0; i < n; ++i) grown[i] = std::sqrt(grown[i]);
    }
    for (Size i = 0; i < n; ++i) shrunk[i] = 1.0 / grown[i];
    double beta = 1.0, before = 1.0;  // beta_{i-1} and its inverse
    auto by_row = [&](Size i) INLINED {
        double vi = v[i], keep = beta * shrunk[i], take = vi * before * shrunk[i];
        if (vi == 0.0) {
            u[i] = 0.0;  // it may not be, if v is too small for a number
            return;
        }
        pieces::rotate(factor[i].p, u.p, keep, take, vi, i, n + m, lead);
        beta = grown[i], before = shrunk[i];
    };
    if (panels::narrow(n, n + m)) {
        for (Size i = 0; i < n; ++i) by_row(i);
    } else {
        panels::each(n, n + m, [&](Size i, Size right, auto ROWS) INLINED {
            if (!panels::full<ROWS>(four(&v[i]))) {
                for (Size j = 0; j < ROWS; ++j) by_row(i + j);
                return;
            }
            panels::Turns turns(four(&v[i]), four(&grown[i]), four(&shrunk[i]), beta, before);
            panels::Rows<ROWS> rows(factor[i].p, n + m);
            if (right - i == SIDE)
                panels::rotate(rows, u.p, turns, i);
            else
                panels::rotate_first(rows, u.p, turns);
            panels::rotate_right(rows, u.p, turns, right, n + m);
            beta = grown[i + ROWS - 1], before = shrunk[i + ROWS - 1];
        });
    }
    work(AT, FRESH) = 0.0;
    double left = 0.0;
    for (Size k = 0; k < m; ++k) left += (u[n + k] / beta) * (u[n + k] / beta);
    return left;
}

// Take the row [x | 0] out of [R z], given the look at x; return the sum of m^2/(1 - |v|^2).
//
// The rotations of `absorb` with x^2 -> -x^2: alpha_i^2 = 1 - v_1^2 - ... - v_i^2.  Only for a row
// whose removal leaves at least half of A in every direction, alpha^2 >= 1/2: then it is as
// accurate as adding one.
inline double remove(Block factor, Block work) {
    Size n = factor.rows, m = factor.cols - n;
    Row v = work[V], u = work[U], x = work[X];
    for (Size k = 0; k < n; ++k) u[k] = x[k];
    for (Size k = 0; k < m; ++k) u[n + k] = 0.0;
    double square = 1.0;
    for (Size i = 0; i < n; ++i) {
        double vi = v[i];
        if (vi == 0.0) continue;
        double alpha = std::sqrt(square);
        square -= vi * vi;
        double shrunk = std::sqrt(square);
        rotate(factor[i].p + i, u.p + i, alpha / shrunk, -(vi / shrunk / alpha), vi, n + m - i);
    }
    work(AT, FRESH) = 0.0;
    double left = 0.0;
    for (Size k = 0; k < m; ++k) left += u[n + k] * u[n + k] / square;
    return left;
}

// A running sum of terms >= 0 and what rounding took from it (Neumaier).
INLINE void accumulate(Row sum, double term) {
    double held = sum[0], total = held + term;
    if (std::isfinite(total))
        sum[1] += held >= term ? (held - total) + term : (term - total) + held;
    sum[0] = total;
}

// Look, absorb, and what follows a round, for every row; -1, or the first row that overflows.
//
// fit (2,) is the running sum of e^2/d with its compensation.
template <class Look, class Absorb, class Follow>
INLINE Size each_row(Block work, Block xs, Block ys, Block mean, Row root, Row fit, Look look,
                     Absorb absorb, Follow follow) {
    for (Size t = 0; t < xs.rows; ++t) {
        for (Size k = 0; k < xs.cols; ++k) work(X, k) = xs(t, k);
        for (Size k = 0; k < ys.cols; ++k) work(Y, k) = ys(t, k);
        if (look() != OK) return t;
        for (Size k = 0; k < ys.cols; ++k) mean(t, k) = work(MEAN, k);
        root[t] = work(AT, ROOT);
        double left = absorb();
        follow(t);
        accumulate(fit, left);
    }
    return -1;
}

}  // namespace noregret::primal
