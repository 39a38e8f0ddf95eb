// Fixed experts: QR-RLS in information form, by rows.
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

namespace noregret::primal {

using namespace layout;

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

// Solve R'v = x by forward substitution, row by row; mean = v'z, root = sqrt(1 + |v|^2).
MULTIVERSIONED inline int look(Block factor, Block work) {
    Size n = factor.rows, m = factor.cols - n;
    Row v = work[V], mean = work[MEAN], at = work[AT], u = work[U], x = work[X];
    at[FRESH] = 0.0;
    for (Size k = 0; k < n; ++k) u[k] = x[k];
    for (Size k = 0; k < m; ++k) mean[k] = 0.0;
    for (Size i = 0; i < n; ++i) {
        const double* row = factor[i].p;
        double vi = u[i] * (1.0 / row[i]);  // the division does not wait for the rows above
        v[i] = vi;
        if (vi == 0.0) continue;
        eliminate(u.p + i, row + i, vi, n - i);
        for (Size k = 0; k < m; ++k) mean[k] += vi * row[n + k];
    }
    double beta = length(v.first(n));
    for (Size k = 0; k < m; ++k)
        if (!std::isfinite(mean[k])) return OVERFLOWS;
    if (!std::isfinite(beta)) return OVERFLOWS;
    at[ROOT] = beta;
    at[FRESH] = 1.0;
    return OK;
}

// Rotate [x | y] into [R z], given the look at x; return the sum of (e/sqrt(d))^2.
MULTIVERSIONED inline double absorb(Block factor, Block work) {
    Size n = factor.rows, m = factor.cols - n;
    Row v = work[V], u = work[U], x = work[X], y = work[Y];
    for (Size k = 0; k < n; ++k) u[k] = x[k];
    for (Size k = 0; k < m; ++k) u[n + k] = y[k];
    double square = 1.0, beta = 1.0, before = 1.0;  // before is 1/beta
    for (Size i = 0; i < n; ++i) {
        double vi = v[i];
        if (vi == 0.0) continue;
        square += vi * vi;
        double grown = lengthened(square, beta, vi), shrunk = 1.0 / grown;
        rotate(factor[i].p + i, u.p + i, beta * shrunk, vi * before * shrunk, vi, n + m - i);
        beta = grown, before = shrunk;
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

// Look at and absorb every row, one pass per row; -1, or the first row that overflows.
//
// The same operations in the same order as `look` then `absorb`, so the same bits.  fit (2,) is the
// running sum of (e/sqrt(d))^2 with its compensation.
MULTIVERSIONED inline Size stream(Block factor, Block work, Block xs, Block ys, Block mean,
                                  Row root, Row fit) {
    Size T = xs.rows, n = xs.cols, m = ys.cols;
    Row u = work[U];
    for (Size t = 0; t < T; ++t) {
        Row said = mean[t];
        for (Size k = 0; k < n; ++k) u[k] = xs(t, k);
        for (Size k = 0; k < m; ++k) u[n + k] = ys(t, k), said[k] = 0.0;
        double square = 1.0, beta = 1.0, before = 1.0;
        for (Size i = 0; i < n; ++i) {
            double* row = factor[i].p;
            double vi = u[i] * (1.0 / row[i]);
            if (vi == 0.0) continue;
            for (Size k = 0; k < m; ++k) said[k] += vi * row[n + k];
            square += vi * vi;
            double grown = lengthened(square, beta, vi), shrunk = 1.0 / grown;
            rotate(row + i, u.p + i, beta * shrunk, vi * before * shrunk, vi, n + m - i);
            beta = grown, before = shrunk;
        }
        if (!std::isfinite(beta)) return t;
        root[t] = beta;
        double left = 0.0;
        for (Size k = 0; k < m; ++k) {
            if (!std::isfinite(said[k])) return t;
            left += (u[n + k] / beta) * (u[n + k] / beta);
        }
        accumulate(fit, left);
    }
    work(AT, FRESH) = 0.0;
    return -1;
}

}  // namespace noregret::primal
