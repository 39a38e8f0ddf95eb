// Stacking: ridge on how far each expert is from a centre, docs/theory.md section 23.1.
//
// With b the forecast of another rule (MLpol) and s^2 the running mean of its square errors,
//
//     g = b + s w'z,    z_j = (f_j - b)/s,    target (y - b)/s                                   (23.2)
//
// where w is the ridge of precision a whose weights take steps of variance q after each round (the
// Kalman filter of drift.hpp): N experts' weights add up to 1 and may be negative.  The first SPEAKS
// rounds it says b.  O(N^2) a round; N^3 where experts are so far off that the covariance would
// lose digits.  Nothing is proved of it: rule_pool.hpp has it behind the Aggregating Algorithm.
#pragma once

#include "adaptive.hpp"
#include "drift.hpp"

namespace noregret::stacking {

constexpr double PRECISION = 10.0, STEP = 1e-4, SPEAKS = 100.0;
constexpr double FARTHEST = 1e150;  // squares of what is said must fit in float64

// Entries of `at`: s^2, the rounds that it speaks of, and the rounds that were learned.
enum : int { ERROR = adaptive::ERROR, COUNT = adaptive::COUNT, ROUNDS = 2, SCALARS = 3 };

INLINE Size width(Size N) { return N + 1 > layout::SCALARS ? N + 1 : Size(layout::SCALARS); }
INLINE Size depth(Size N) { return layout::ROWS + N; }

struct Stack {
    Block factor;  // N + 1 rows of N: a lower triangle of the covariance, then w
    Block work;    // depth(N) rows of width(N), all 0 at first
    Row at;
    double step = STEP, bound = INF;  // q; how far z, targets and forecasts go, in units of s

    void start(double precision = PRECISION) const {
        for (Size j = 0; j < factor.cols; ++j) factor(j, j) = 1.0 / precision;
    }

    bool speaks() const { return at[ROUNDS] >= SPEAKS && at[ERROR] > 0.0; }

    double within(double z) const {
        return bound < INF ? larger(-bound, smaller(bound, z)) : z;
    }

    // w'z of outcome i; NaN where it does not fit in float64.
    double look(Block said, Row awake, Row centre, Size i) const {
        double s = std::sqrt(at[ERROR]);
        for (Size j = 0; j < factor.cols; ++j)
            work(layout::X, j) = awake[j] > 0.0 ? within((said(j, i) - centre[i]) / s) : 0.0;
        return drift::look(factor, work) == layout::OK ? work(layout::MEAN, 0) : NaN;
    }

    // What it says: `said` is N x k, as in adaptive.hpp.
    void forecast(Block said, Row awake, Row centre, Row g) const {
        for (Size i = 0; i < g.n; ++i) {
            double z = speaks() ? look(said, awake, centre, i) : NaN;
            double apart = z == z ? std::sqrt(at[ERROR]) * within(z) : NaN;
            g[i] = std::fabs(centre[i] + apart) <= FARTHEST ? centre[i] + apart : centre[i];
        }
    }

    // Learn that outcomes y followed these forecasts.
    void learn(Block said, Row awake, Row centre, Row y, double decay = adaptive::DECAY) const {
        double s = std::sqrt(at[ERROR]);
        for (Size i = 0; i < y.n && s > 0.0; ++i) {
            bool same = y.n == 1 && speaks() && work(layout::AT, layout::FRESH) == 1.0;
            double mean = same ? work(layout::MEAN, 0) : look(said, awake, centre, i);
            double target = within((y[i] - centre[i]) / s);
            if (!(std::fabs(mean) < INF && std::fabs(target) < layout::LARGEST_OUTCOME)) continue;
            work(layout::Y, 0) = target;
            drift::absorb(factor, work);
        }
        drift::diffuse(factor, work, step);
        adaptive::follow(at, adaptive::square_loss(centre, y), decay);
        at[ROUNDS] += 1.0;
    }

    // The experts' weights, from those of the centre; they add up to 1.
    void weights(Row awake, Row centre, Row to) const {
        Size N = factor.cols;
        double all = 0.0;
        for (Size j = 0; j < N && speaks(); ++j) all += awake[j] * factor(N, j);
        for (Size j = 0; j < N; ++j)
            to[j] = centre[j] * (1.0 - all) + (speaks() ? awake[j] * factor(N, j) : 0.0);
    }
};

}  // namespace noregret::stacking
