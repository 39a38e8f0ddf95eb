// The mode of F(w) = a|w|^2/2 + sum_s l(s x'w), and its curvature there: damped Newton steps.
//
// `rows` holds s x, so that a margin is rows[i]'w.
#pragma once

#include "cholesky.hpp"
#include "families.hpp"

namespace noregret::newton {

using families::bend;
using families::Bent;

constexpr double STEPS = 200.0;  // at most

// F at w, its gradient and its second derivative.
MULTIVERSIONED inline double expand(int family, Block rows, double a, Row w, Block curve,
                                    Row slope) {
    Size n = w.n;
    double total = 0.5 * a * dot(w, w);
    for (Size j = 0; j < n; ++j) slope[j] = a * w[j];
    std::memset(curve.p, 0, std::size_t(n * n) * sizeof(double));
    for (Size i = 0; i < rows.rows; ++i) {
        const double* __restrict row = rows[i].p;
        Bent b = bend(family, dot(row, w.p, n));
        total += b.loss;
        for (Size j = 0; j < n; ++j) slope[j] += b.slope * row[j];
        for (Size j = 0; j < n; ++j) {
            double *__restrict line = curve[j].p, share = b.curve * row[j];
            for (Size k = j; k < n; ++k) line[k] += share * row[k];
        }
    }
    for (Size j = 0; j < n; ++j) {
        curve(j, j) += a;
        for (Size k = 0; k < j; ++k) curve(j, k) = curve(k, j);
    }
    return total;
}

struct Found {
    double F, log_det, gradient, steps;
};

// Move w to the mode; F there, ln det of the curvature, |gradient|, steps made.
//
// A step that raises F is halved until it does not.  Once a step promises less than rounding
// takes, one more is made and that is that.  In any case min F >= F - |gradient|^2/(2a).
// `curve` ends as the factor U of the curvature; `work` has two rows of scratch.
inline Found mode(int family, Block rows, double a, Row w, Block curve, Block work) {
    Size n = w.n;
    Row step = work[0], before = work[1];
    double made = 0.0, held = INF, rate = 1.0;
    bool last = false;
    while (true) {
        double F = expand(family, rows, a, w, curve, step);
        if (held < F && !last && rate > 1e-15) {  // too far: halfway back
            rate *= 0.5;
            for (Size j = 0; j < n; ++j) w[j] = 0.5 * (w[j] + before[j]);
            continue;
        }
        double size = std::sqrt(dot(step, step));
        for (Size j = 0; j < n; ++j) before[j] = step[j];
        double log_det;
        bool solved = cholesky::factor(curve, n, &log_det);
        if (solved) cholesky::solve(curve, step, n);
        double decrement = solved ? dot(before, step) : NaN;
        if (!solved) log_det = NaN;
        if (last || !(decrement > 0.0) || made >= STEPS) return {F, log_det, size, made};
        last = decrement <= 1e-14 * (1.0 + std::fabs(F)), held = F, rate = 1.0;
        for (Size j = 0; j < n; ++j) {
            before[j] = w[j];
            w[j] -= step[j];
        }
        made += 1.0;
    }
}

}  // namespace noregret::newton
