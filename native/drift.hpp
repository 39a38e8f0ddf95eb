// Experts that change: the Kalman filter of a random walk, in two forms.
//
// `factor` (n + m, n) holds n rows of a lower triangle, then one row of weights per outcome.
//
// Covariance form, O(n^2) per round: the triangle is P itself, and
//
//     look  p = P x, d = 1 + x'p;   absorb  w += p e/d, P -= p p'/d;   diffuse  P += q I
//
// Each round loses about eps sum_j P_jj x_j^2, a number that no scaling of features changes.  While
// it is at most GAUGE this is harmless.  Beyond, the round is done in
//
// Root form, (2/3) n^3 flops per round: the triangle is T with P = T'T.  With f = T x and
// beta_i^2 = 1 + f_1^2 + ... + f_i^2, row i of T becomes (Carlson)
//
//     T_i <- T_i beta_{i-1}/beta_i - b f_i/(beta_{i-1} beta_i),      b <- b + T_i(old) f_i
//
// and b ends as P x.  Nothing is subtracted from P, so it stays positive and no condition number is
// squared.  P <- P + q I folds the square sqrt(q) I into T by Householder reflections, last column
// first; both triangles keep their zeros.
//
// Every RECHECK rounds the root form asks whether the covariance would do again.
#pragma once

#include "primal.hpp"

namespace noregret::drift {

using namespace layout;

constexpr double GAUGE = 1e3;  // times eps: 2e-13, the most that a round in covariance form may lose
constexpr double RECHECK = 32.0;

// u <- u + c v.
INLINE void add_multiple(double* __restrict u, const double* __restrict v, double c, Size n) {
    for (Size k = 0; k < n; ++k) u[k] += c * v[k];
}

// P <- T with P = T'T, in place, last row first.
INLINE void take_root(Block triangle, Size n) {
    for (Size i = n - 1; i >= 0; --i) {
        double* row = triangle[i].p;
        for (Size k = i + 1; k < n; ++k)
            primal::eliminate(row, triangle[k].p, triangle(k, i), i + 1);
        double root = std::sqrt(row[i]);
        for (Size j = 0; j <= i; ++j) row[j] /= root;
    }
}

// T <- P = T'T, in place, first row first.
INLINE void square(Block triangle, Size n) {
    for (Size i = 0; i < n; ++i) {
        double* row = triangle[i].p;
        double c = row[i];
        for (Size j = 0; j <= i; ++j) row[j] *= c;
        for (Size k = i + 1; k < n; ++k) add_multiple(row, triangle[k].p, triangle(k, i), i + 1);
    }
}

// mean = w'x, root = sqrt(1 + x'Px); V keeps P x in covariance form and T x in root form.
//
// Where the covariance will not do, its root is taken beside it, in the square of noise: a look
// changes no state.
MULTIVERSIONED inline int look(const Block& factor, const Block& work) {
    Size n = factor.cols, m = factor.rows - n;
    Row x = work[X].first(n), v = work[V].first(n), mean = work[MEAN], at = work[AT];
    at[FRESH] = 0.0;
    double beta = INF;
    if (at[ROOTED] == 0.0) {
        double gauge = 0.0;
        for (Size i = 0; i < n; ++i) gauge += factor(i, i) * x[i] * x[i];
        if (gauge <= GAUGE) {  // not so for NaN
            for (Size i = 0; i < n; ++i) {
                const double* row = factor[i].p;
                v[i] = dot(row, x.p, i) + row[i] * x[i];
                add_multiple(v.p, row, x[i], i);
            }
            beta = std::sqrt(1.0 + dot(x, v));
        } else {
            Block noise = work.below(ROWS);
            for (Size i = 0; i < n; ++i)
                for (Size k = 0; k <= i; ++k) noise(i, k) = factor(i, k);
            take_root(noise, n);
            for (Size i = 0; i < n; ++i) v[i] = dot(noise[i].p, x.p, i + 1);
            beta = length(v);
        }
        work(U, 0) = gauge;
    } else {
        for (Size i = 0; i < n; ++i) v[i] = dot(factor[i].p, x.p, i + 1);
        beta = length(v);
    }
    if (!std::isfinite(beta)) return OVERFLOWS;
    for (Size k = 0; k < m; ++k) {
        mean[k] = dot(factor[n + k].p, x.p, n);
        if (!std::isfinite(mean[k])) return OVERFLOWS;
    }
    at[ROOT] = beta;
    at[FRESH] = 1.0;
    return OK;
}

// Carlson's update of T for f = T x; b becomes P x.
INLINE void shrink(Block factor, Row f, Row b) {
    for (Size k = 0; k < b.n; ++k) b[k] = 0.0;
    double total = 1.0, beta = 1.0;
    for (Size i = 0; i < b.n; ++i) {
        double fi = f[i];
        if (fi == 0.0) continue;
        total += fi * fi;
        double grown = lengthened(total, beta, fi);
        double keep = beta / grown, take = fi / grown / beta;
        double *__restrict row = factor[i].p, *__restrict bi = b.p;
        for (Size k = 0; k <= i; ++k) {
            double r = row[k], p = bi[k];
            row[k] = keep * r - take * p;
            bi[k] = p + fi * r;
        }
        beta = grown;
    }
}

// Fold y in, given the look at x; return the sum of (e/sqrt(d))^2.
MULTIVERSIONED inline double absorb(const Block& factor, const Block& work) {
    Size n = factor.cols, m = factor.rows - n;
    Row v = work[V].first(n), mean = work[MEAN], y = work[Y], at = work[AT], px = v;
    double beta = at[ROOT];
    if (at[ROOTED] == 0.0 && work(U, 0) <= GAUGE) {
        for (Size i = 0; i < n; ++i)
            primal::eliminate(factor[i].p, v.p, v[i] / beta / beta, i + 1);
    } else {
        if (at[ROOTED] == 0.0) {  // the look has taken the root
            for (Size i = 0; i < n; ++i)
                for (Size k = 0; k <= i; ++k) factor(i, k) = work(ROWS + i, k);
            at[ROOTED] = 1.0;
        }
        px = work[U].first(n);
        shrink(factor, v, px);
    }
    double left = 0.0;
    for (Size k = 0; k < m; ++k) {
        double gain = (y[k] - mean[k]) / beta;
        left += gain * gain;
        add_multiple(factor[n + k].p, px.p, gain / beta, n);
    }
    at[FRESH] = 0.0;
    at[PASSED] += 1.0;
    if (at[ROOTED] == 1.0 && std::fmod(at[PASSED], RECHECK) == 0.0) {
        double gauge = 0.0;
        for (Size j = 0; j < n; ++j) {
            double column = 0.0;
            for (Size i = j; i < n; ++i) column += factor(i, j) * factor(i, j);
            gauge += column * work(X, j) * work(X, j);
        }
        if (gauge <= GAUGE / 4.0) {
            square(factor, n);
            at[ROOTED] = 0.0;
        }
    }
    return left;
}

// P <- P + q I.
MULTIVERSIONED inline void diffuse(const Block& factor, const Block& work, double q) {
    if (q == 0.0) return;
    Size n = factor.cols;
    work(AT, FRESH) = 0.0;
    if (work(AT, ROOTED) == 0.0) {
        for (Size i = 0; i < n; ++i) factor(i, i) += q;
        return;
    }
    Block noise = work.below(ROWS);
    double sigma = std::sqrt(q);
    for (Size r = 0; r < n; ++r) {
        for (Size k = 0; k < r; ++k) noise(r, k) = 0.0;
        noise(r, r) = sigma;
    }
    Row v = work[V], w = work[U];
    for (Size j = n - 1; j >= 0; --j) {
        double peak = 0.0;
        for (Size r = j; r < n; ++r) {  // column j of what is left of the noise
            v[r] = noise(r, j);
            peak = larger(peak, std::fabs(v[r]));
        }
        double size = norm({v.p + j, n - j}, peak);
        double diagonal = std::fabs(factor(j, j)), reach = std::hypot(diagonal, size);
        // Reflect (T_jj, noise) onto (reach, 0): I - 2 hh'/h'h with h = (h0, v / size)
        double h0 = -size / (diagonal + reach);
        if (factor(j, j) < 0.0) h0 = -h0;
        double scale = 2.0 / (1.0 + h0 * h0);
        double* row = factor[j].p;
        for (Size k = 0; k < j; ++k) w[k] = h0 * row[k];
        for (Size r = j; r < n; ++r) {
            v[r] /= size;
            add_multiple(w.p, noise[r].p, v[r], j);
        }
        for (Size k = 0; k < j; ++k) w[k] *= scale;
        primal::eliminate(row, w.p, h0, j);
        for (Size r = j; r < n; ++r) primal::eliminate(noise[r].p, w.p, v[r], j);
        factor(j, j) = std::copysign(reach, factor(j, j));
    }
}

// Every row, as in primal::each_row; drift[t] is 1/a of the round after row t.
inline Size stream(Block factor, Block work, Block xs, Block ys, Row drift, Block mean, Row root,
                   Row fit) {
    return primal::each_row(
        work, xs, ys, mean, root, fit, [&] { return look(factor, work); },
        [&] { return absorb(factor, work); }, [&](Size t) { diffuse(factor, work, drift[t]); });
}

}  // namespace noregret::drift
