// The mode of F(w) = a|w|^2/2 + sum_s l(s x'w), and its curvature there: damped Newton steps.
//
// `rows` holds s x, so that a margin is rows[i]'w.
#pragma once

#include "cholesky.hpp"
#include "families.hpp"

#include <algorithm>

namespace noregret::newton {

using families::bend;
using families::Bent;

constexpr double STEPS = 200.0;  // at most

constexpr Size TOGETHER = 8;  // rows whose products are added while a piece of the sum is at hand

// How long the rows of `kept` are for n features: whole pieces, and room for one number more.
INLINE Size width(Size n) { return n + 4 - n % 4; }

// F at w, its gradient and its second derivative.
//
// `kept` (n + 1, width(n)) holds the sums: the second derivative without a, the gradient, and behind
// it F.  They go on where they stand at this w for the first `known` rows, and are begun where
// that is < 0: sums go row by row, so that the bits are the same.
MULTIVERSIONED inline double expand(int family, Block rows, double a, Row w, Block curve,
                                    Row slope, Block kept, Size known) {
    using pieces::four;
    Size n = w.n, width = kept.cols;
    auto room = scratch((TOGETHER + 1) * width);  // 0 right of column n
    Block some{room.data(), TOGETHER, width};
    Row weights{some[TOGETHER].p, width};
    std::memcpy(weights.p, w.p, std::size_t(n) * sizeof(double));
    double share[TOGETHER];
    auto add = [&](Size to, Size from) INLINED {  // share[i] some[i] for all i, from a column on
        for (Size k = from; k < width; k += 4) {
            Four sum = four(&kept(to, k));
            for (Size i = 0; i < TOGETHER; ++i) sum += share[i] * four(&some(i, k));
            four(&kept(to, k)) = sum;
        }
    };
    if (known < 0) {
        std::memset(kept.p, 0, std::size_t(kept.rows * width) * sizeof(double));
        for (Size j = 0; j < n; ++j) kept(n, j) = a * w[j];
        kept(n, n) = 0.5 * a * dot(w, w);
    }
    double total = kept(n, n);
    for (Size start = known < 0 ? 0 : known; start < rows.rows; start += TOGETHER) {
        double curves[TOGETHER];
        Size count = std::min(TOGETHER, rows.rows - start);
        for (Size i = 0; i < count; ++i)
            std::memcpy(some[i].p, rows[start + i].p, std::size_t(n) * sizeof(double));
        for (Size i = 0; i < TOGETHER; ++i) {
            share[i] = curves[i] = 0.0;  // of a row beyond the last
            if (i >= count) continue;
            Bent b = bend(family, dot(some[i].p, weights.p, width));
            total += b.loss, share[i] = b.slope, curves[i] = b.curve;
        }
        add(n, 0);  // the gradient
        for (Size j = 0; j < n; ++j) {
            for (Size i = 0; i < TOGETHER; ++i) share[i] = curves[i] * some(i, j);
            add(j, j - j % 4);
        }
    }
    kept(n, n) = total;
    for (Size j = 0; j < n; ++j) {
        slope[j] = kept(n, j);
        for (Size k = j; k < n; ++k) curve(j, k) = curve(k, j) = kept(j, k) + (j == k ? a : 0.0);
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
// `curve` ends as the factor U of the curvature, `kept` as the sums at the mode; `work` has two rows
// of scratch.
inline Found mode(int family, Block rows, double a, Row w, Block curve, Block work, Block kept,
                  Size known) {
    Size n = w.n;
    Row step = work[0], before = work[1];
    double made = 0.0, held = INF, rate = 1.0;
    bool last = false;
    while (true) {
        double F = expand(family, rows, a, w, curve, step, kept, known);
        known = -1;
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
