// Losses of a margin z = s w'x, s = +-1: l(z) = -ln P(s | x, w), its slope and its curvature.
//
// A new family is one branch here, a number, and a line in noregret.glm.families.
#pragma once

#include "arrays.hpp"

namespace noregret::families {

enum : int {
    LOGISTIC = 0,  // P = 1/(1 + exp(-z)),       0 < l'' <= 1/4
    PROBIT = 1,    // P = Phi(z),                0 < l'' < 1
};

constexpr double HALF_LOG_2PI = 0.9189385332046727;
constexpr double SQRT2 = 1.4142135623730951;

struct Bent {
    double loss, slope, curve;
};

// l(z), l'(z), l''(z).
INLINE Bent bend(int family, double z) {
    if (family == LOGISTIC) {
        double e = std::exp(-std::fabs(z)), small = e / (1.0 + e);  // sigma(-|z|)
        return {std::log1p(e) + larger(-z, 0.0), z > 0.0 ? -small : small - 1.0,
                small * (1.0 - small)};
    }
    if (z < -35.0) {  // Phi(z) = phi(z)/(-z) (1 - shy), an asymptotic series
        double r = 1.0 / (z * z);
        double shy = r * (1.0 - 3.0 * r * (1.0 - 5.0 * r * (1.0 - 7.0 * r * (1.0 - 9.0 * r))));
        double hazard = -z / (1.0 - shy);  // phi/Phi
        return {0.5 * z * z + HALF_LOG_2PI + std::log(hazard), -hazard,
                hazard * (-z * shy / (1.0 - shy))};
    }
    double loss = z > 0.0 ? -std::log1p(-0.5 * std::erfc(z / SQRT2))
                          : -std::log(0.5 * std::erfc(-z / SQRT2));
    double hazard = std::exp(loss - 0.5 * z * z - HALF_LOG_2PI);
    return {loss, -hazard, hazard * (hazard + z)};
}

}  // namespace noregret::families
