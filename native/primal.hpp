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

// beta_i and 1/beta_i where squares are too large to be trusted; seldom.
__attribute__((noinline)) inline void lengthen(const Block& work, Size n) {
    double square = 1.0, beta = 1.0;
    for (Size i = 0; i < n; ++i) {
        double vi = work(V, i);
        square += vi * vi;
        if (vi != 0.0) beta = lengthened(square, beta, vi);
        work(GROWN, i) = beta, work(SHRUNK, i) = 1.0 / beta;
    }
}

// beta_i and 1/beta_i of the v in `work`.
INLINE void grow(const Block& work, Size n) {
    Row grown = work[GROWN], shrunk = work[SHRUNK];
    double square = 1.0;
    for (Size i = 0; i < n; ++i) grown[i] = square += work(V, i) * work(V, i);
    if (!(square < SAFE * SAFE)) return lengthen(work, n);
    for (Size i = 0; i < n; ++i) grown[i] = std::sqrt(grown[i]);
    for (Size i = 0; i < n; ++i) shrunk[i] = 1.0 / grown[i];
}

// u <- [x | given], where `given` has m entries, or is nullptr for zeros.
template <Size M>
INLINE void fill(double* u, const double* x, Size n, const double* given, Size m) {
    Size k = 0;
    for (; k + 4 <= n; k += 4) four(u + k) = four(x + k);
    for (; k < n; ++k) u[k] = x[k];
    for (k = 0; k < (M ? M : m); ++k) u[n + k] = given ? given[k] : 0.0;
}

// Solve R'v = x by forward substitution, by panels; mean = v'z, root = sqrt(1 + |v|^2).  M is how
// many outcomes there are, where that is known; else 0.
template <Size M>
INLINE int look_at(const Block& factor, const Block& work) {
    Size n = factor.rows, m = M ? M : factor.cols - n, width = n + m, lead = pieces::lead(width);
    double *v = work[V].p, *mean = work[MEAN].p, *at = work[AT].p, *u = work[U].p;
    double *grown = work[GROWN].p, *shrunk = work[SHRUNK].p;
    at[FRESH] = 0.0;
    fill<M>(u, work[X].p, n, nullptr, m);  // the substitution takes v'z from the zeros
    if (panels::narrow(n, width)) {
        for (Size i = 0; i < n; ++i) {
            double *row = factor[i].p, vi = u[i] * (1.0 / row[i]);
            v[i] = vi;
            if (vi != 0.0) pieces::eliminate(u, row, vi, i, width, lead);
        }
        grow(work, n);
    } else {
        double square = 1.0;
        Four corner = four(u);  // of u: what the next rows wait for
        panels::each(n, width, [&](Size i, Size right, auto ROWS) INLINED {
            panels::Rows<ROWS> rows(factor.p + i * width, width);
            panels::Solved<ROWS> solved(rows, corner, square, i);
            Four roots = panels::roots(solved.square);  // beside the substitution, which takes longer
            four(v + i) = solved.v, four(grown + i) = roots;  // beyond n: not used
            four(shrunk + i) = 1.0 / roots;
            bool empty = solved.square[3] == square && panels::empty(solved.v);
            square = solved.square[3];
            if (ROWS < SIDE && right - i == SIDE) four(u + i) = solved.left;  // z is in it
            if (right == width) return;
            corner = four(u + right);
            if (empty) return;
            four(u + right) = corner = panels::eliminated(rows, u, solved.v, right);
            for (Size k = right + SIDE; k < width; k += SIDE)
                four(u + k) = panels::eliminated(rows, u, solved.v, k);
        });
        if (!(square < SAFE * SAFE)) lengthen(work, n);
    }
    double beta = n > 0 ? grown[n - 1] : 1.0;
    for (Size k = 0; k < m; ++k) mean[k] = 0.0 - u[n + k];
    for (Size k = 0; k < m; ++k)
        if (!std::isfinite(mean[k])) return OVERFLOWS;
    if (!std::isfinite(beta)) return OVERFLOWS;
    at[ROOT] = beta;
    at[FRESH] = 1.0;
    return OK;
}

MULTIVERSIONED inline int look(const Block& factor, const Block& work) {
    return factor.cols == factor.rows + 1 ? look_at<1>(factor, work) : look_at<0>(factor, work);
}

// Rotate [x | y] into [R z], given the look at x; return the sum of (e/sqrt(d))^2.
template <Size M>
INLINE double rotate_in(const Block& factor, const Block& work) {
    Size n = factor.rows, m = M ? M : factor.cols - n, width = n + m, lead = pieces::lead(width);
    double *v = work[V].p, *u = work[U].p, *grown = work[GROWN].p, *shrunk = work[SHRUNK].p;
    fill<M>(u, work[X].p, n, work[Y].p, m);
    double beta = 1.0, before = 1.0;  // beta_{i-1} and its inverse
    auto by_row = [&](Size i) INLINED {
        double vi = v[i], keep = beta * shrunk[i], take = vi * before * shrunk[i];
        if (vi == 0.0) {
            u[i] = 0.0;  // it may not be, if v is too small for a number
            return;
        }
        pieces::rotate(factor.p + i * width, u, keep, take, vi, i, width, lead);
        beta = grown[i], before = shrunk[i];
    };
    if (panels::narrow(n, width)) {
        for (Size i = 0; i < n; ++i) by_row(i);
    } else {
        panels::each(n, width, [&](Size i, Size right, auto ROWS) INLINED {
            if (!panels::full<ROWS>(four(v + i))) {
                for (Size j = 0; j < ROWS; ++j) by_row(i + j);
                return;
            }
            panels::Turns turns(four(v + i), four(grown + i), four(shrunk + i), beta, before);
            panels::Rows<ROWS> rows(factor.p + i * width, width);
            if (right - i == SIDE)
                panels::rotate(rows, u, turns, i);
            else
                panels::rotate_first(rows, u, turns);
            panels::rotate_right(rows, u, turns, right, width);
            beta = grown[i + ROWS - 1], before = shrunk[i + ROWS - 1];
        });
    }
    work(AT, FRESH) = 0.0;
    double left = 0.0;
    for (Size k = 0; k < m; ++k) left += (u[n + k] / beta) * (u[n + k] / beta);
    return left;
}

MULTIVERSIONED inline double absorb(const Block& factor, const Block& work) {
    return factor.cols == factor.rows + 1 ? rotate_in<1>(factor, work) : rotate_in<0>(factor, work);
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
