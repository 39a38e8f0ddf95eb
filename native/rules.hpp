// (mean, root spread) -> forecast and loss; the compiled twin of noregret.gaussian.rules.
#pragma once

#include "hint.hpp"

namespace noregret::rules {

constexpr double TWO_PI = 6.283185307179586;

// The point forecast of a rule without a hint; `level` is where the clipped rule clips.
INLINE double plain(int rule, double level, double mean, double root) {
    if (rule == layout::AAR) return mean / root / root;
    if (rule == layout::CLIPPED) return smaller(larger(mean, -level), level);
    return mean;
}

// The point forecast of outcome k, after a look.
INLINE double forecast(const Block& work, Size k) {
    const double* at = work[layout::AT].p;
    int rule = int(at[layout::RULE]);
    double mean = work(layout::MEAN, k), root = at[layout::ROOT];
    if (rule < layout::AROUND) return plain(rule, at[layout::LEVEL], mean, root);
    double h = hint::of(work, k);
    return h + (mean - h) / root / root;
}

// Log loss of the Bayesian rule; the others pay the square loss of their forecast.
INLINE double log_loss(double noise_var, double mean, double root, double y) {
    double e = (y - mean) / root;
    return 0.5 * std::log(TWO_PI * noise_var) + std::log(root) + 0.5 * e * e / noise_var;
}

// -ln of a normal density, as noregret.types.Normal has it.
INLINE double normal_loss(double var, double mean, double y) {
    double deviation = std::sqrt(var), e = (y - mean) / deviation;
    return 0.5 * (e * e) + (0.5 * std::log(TWO_PI) + std::log(deviation));
}

}  // namespace noregret::rules
