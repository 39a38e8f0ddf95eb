// Binary learners without a history: a Gaussian state [R z] and one scalar problem per round.
//
// A look at x gives the mean mu and the variance q of w'x.  Each rule finds a point, a slope and a
// curvature c there; then the row sqrt(c) x with target sqrt(c) (point - slope/c) goes into [R z]:
//
//     ADF       c, g from the mean and variance of w'x given the label         (moment matching)
//     LAPLACE   the mode of w'x given the label, curvature there               (online Newton)
//     AIOLI     point = mu - q tanh(point/2), c = l''/(1 + C)                  (Jezequel et al. 2020)
#pragma once

#include "account.hpp"
#include "families.hpp"
#include "primal.hpp"
#include "vectors.hpp"

namespace noregret::margin {

using families::bend;
using families::Bent;
using families::HALF_LOG_2PI;
using families::LOGISTIC;
using families::PROBIT;

enum : int { ADF = 0, LAPLACE = 1, AIOLI = 2 };

constexpr double SLIGHT = 1e-30;  // of c q, which is what a round adds in its direction
constexpr double DROP = 40.0;     // the part of a density below e^-40 of its peak is left out

// ln of the logistic density at L times Phi((mu - L)/s).
inline double profile(double L, double mu, double s) {
    double e = std::exp(-std::fabs(L));
    return -std::fabs(L) - 2.0 * std::log1p(e) - bend(PROBIT, (mu - L) / s).loss;
}

// How far from its peak the profile has dropped by DROP, at least.
inline double edge(double peak, double top, double mu, double s, double side) {
    double reach = 1.0;
    while (profile(peak + side * reach, mu, s) > top - DROP && reach < 1e300) reach *= 2.0;
    double low = 0.5 * reach;
    for (int k = 0; k < 6; ++k) {
        double middle = 0.5 * (low + reach);
        (profile(peak + side * middle, mu, s) > top - DROP ? low : reach) = middle;
    }
    return reach;
}

// The last question and its answer: a forecast and the round that follows ask the same.
template <class Answer>
struct Last {
    double a = NaN, b = NaN;
    Answer answer{};

    template <class Find>
    const Answer& or_else(double first, double second, Find find) {
        if (a != first || b != second) answer = find(first, second), a = first, b = second;
        return answer;
    }
};

// ln Z, Z'/Z and -(ln Z)''.
struct Smoothed {
    double log_z, rise, bent;
};

constexpr double WIDEST = 16.0;   // the s that `narrow` is for
constexpr double REACH = 9.0;     // how far from the peak it looks, in units of s
constexpr Size MOST = 2 * Size(REACH * WIDEST / 0.53 + 1.0) + 1;  // points, at most

// For Z = E sigma(a), a ~ N(mu, s^2), mu <= 0.
//
// The trapezoidal rule over u = (a - mu)/s about the peak; the poles of sigma, pi/s away from the
// real line, ask for a spacing below 0.53/s, and then the error is below 1e-13.
MULTIVERSIONED inline Smoothed narrow(double mu, double s) {
    double peak = 0.0;
    for (int k = 0; k < 12; ++k) {  // u = s sigma(-a)
        Bent b = bend(LOGISTIC, mu + s * peak);
        double next = peak - (peak + s * b.slope) / (1.0 + s * s * b.curve);
        next = smaller(larger(next, 0.0), s);
        if (next == peak) break;  // the steps to come would change nothing
        peak = next;
    }
    double h = smaller(0.6, 0.53 / s);
    Size half = Size(std::ceil(REACH / h)), points = 2 * half + 1;
    double top = -0.5 * peak * peak + mu + s * peak;
    double e = std::exp(mu + s * (peak - double(half) * h)), ratio = std::exp(s * h);
    double weights[MOST + 7], odds[MOST + 7];  // the normal density; exp(a)
    for (Size k = 0; k < points; ++k) {
        double u = peak + double(k - half) * h;
        weights[k] = -0.5 * u * u + mu + s * u;
    }
    vectors::exponentials({weights, points}, top);
    for (Size k = 0; k < points; ++k, e *= ratio) odds[k] = e;
    for (Size k = points; k % 8 != 0; ++k) weights[k] = odds[k] = 0.0;
    double total[8] = {}, yes[8] = {}, no[8] = {}, squares[8] = {};  // running sums, as in `dot`
    for (Size k = 0; k < points; k += 8)
        for (int q = 0; q < 8; ++q) {
            double chance = 1.0 / (1.0 + odds[k + q]), weight = weights[k + q] * chance;
            total[q] += weight;
            no[q] += weight * chance;  // of 1 - sigma
            chance *= odds[k + q];
            yes[q] += weight * chance;  // of sigma
            squares[q] += weight * chance * chance;
        }
    double sum = vectors::total({total, 8}), mean = vectors::total({yes, 8}) / sum;
    double spread = 2.0 * vectors::total({squares, 8}) / sum;
    double bent = mean - spread + mean * mean;  // E sigma(1 - sigma) - Var sigma
    return {top + std::log(sum * h) - HALF_LOG_2PI, vectors::total({no, 8}) / sum, bent};
}

// The same where s is large.
//
// sigma is the distribution function of a logistic variable L, so Z = E Phi((mu - L)/s), an
// integral over L that is as smooth as L's density.  With s beyond all measure it is Phi(mu/s).
inline Smoothed wide(double mu, double s) {
    if (s > 1e10 && -mu <= 1e-9 * s * s) {
        Bent b = bend(PROBIT, mu / s);
        return {-b.loss, -b.slope / s, b.curve / (s * s)};
    }
    double low = mu - 100.0 - 2.0 * s, high = 0.0;
    for (int k = 0; k < 200; ++k) {  // the peak: -tanh(L/2) falls, the hazard rises
        double L = 0.5 * (low + high);
        bool rising = -std::tanh(0.5 * L) + bend(PROBIT, (mu - L) / s).slope / s > 0.0;
        (rising ? low : high) = L;
        if (high - low <= 1e-3) break;
    }
    double peak = 0.5 * (low + high), top = profile(peak, mu, s);
    double start = peak - edge(peak, top, mu, s, -1.0), end = peak + edge(peak, top, mu, s, 1.0);
    Size parts = Size(smaller(larger((end - start) / 0.5, 40.0), 600.0));
    double h = (end - start) / double(parts);
    double total = 0.0, first = 0.0, square = 0.0, second = 0.0;
    for (Size k = 0; k <= parts; ++k) {
        double L = start + double(k) * h;
        Bent b = bend(PROBIT, (mu - L) / s);
        double fall = std::fabs(L);
        double weight = std::exp(-fall - 2.0 * std::log1p(std::exp(-fall)) - b.loss - top);
        total += weight;
        first -= weight * b.slope;
        square += weight * b.slope * b.slope;
        second += weight * b.curve;
    }
    double mean = first / total, bent = second / total - (square / total - mean * mean);
    return {top + std::log(total * h), mean / s, bent / (s * s)};
}

// -ln E sigma(a) for a ~ N(mu, q), and its first two derivatives in mu.
//
// Where the probability is above 1/2 it is 1 - Z with Z that of the other label, so that neither
// end is lost.
inline Bent smooth_logistic(double mu, double q) {
    double s = std::sqrt(q);
    if (s < 1e-10) return bend(LOGISTIC, mu);
    static thread_local Last<Smoothed> last;
    Smoothed z = last.or_else(-std::fabs(mu), s, [](double mu, double s) {
        return s <= WIDEST ? narrow(mu, s) : wide(mu, s);
    });
    if (mu <= 0.0) return {-z.log_z, -z.rise, z.bent};
    double Z = std::exp(z.log_z), odds = Z / (1.0 - Z);
    return {-std::log1p(-Z), -odds * z.rise,
            odds * (z.rise * z.rise - z.bent + odds * z.rise * z.rise)};
}

// -ln E P(a) for a ~ N(mu, q), and its first two derivatives in mu.
inline Bent smooth(int family, double mu, double q) {
    if (family == LOGISTIC) return smooth_logistic(mu, q);
    double d = std::sqrt(1.0 + q);
    Bent b = bend(PROBIT, mu / d);
    return {b.loss, b.slope / d, b.curve / (d * d)};
}

// The root of an increasing function in [low, high] from a, by Newton's steps, halved where they
// leave the interval; `gap(a)` is its value and the derivative.
template <class Gap>
inline double increasing_root(Gap gap, double a, double low, double high) {
    for (int k = 0; k < 200; ++k) {
        auto [value, rate] = gap(a);
        if (value > 0.0)
            high = smaller(high, a);
        else
            low = larger(low, a);
        double next = a - value / rate, tiny = 1e-15 * (1.0 + std::fabs(a));
        bool found = std::fabs(next - a) <= tiny;  // then halving would leave the root again
        if (!found && !(low < next && next < high)) next = 0.5 * (low + high);
        if (std::fabs(next - a) <= tiny) return smaller(larger(next, low), high);
        a = next;
    }
    return a;
}

struct Slope {
    double value, rate;
};

// The a with (a - mu)/q + l'(a) = 0: the mode of N(a; mu, q) P(a).
inline double proximal(int family, double mu, double q) {
    if (q == 0.0) return mu;
    auto gap = [=](double a) {
        Bent b = bend(family, a);
        return Slope{(a - mu) + q * b.slope, 1.0 + q * b.curve};
    };
    return increasing_root(gap, mu, mu, mu - q * bend(family, mu).slope);
}

// The a with a + q tanh(a/2) = mu; it has the sign of mu.
inline double improper(double mu, double q) {
    static thread_local Last<double> last;
    double size = last.or_else(std::fabs(mu), q, [](double mu, double q) {
        auto gap = [=](double a) {
            double t = std::tanh(0.5 * a);
            return Slope{a + q * t - mu, 1.0 + 0.5 * q * (1.0 - t * t)};
        };
        return increasing_root(gap, mu / (1.0 + 0.5 * q), 0.0, mu);
    });
    return std::copysign(size, mu);
}

// Admit x, no feature of which is larger than `ceiling`, and look at it.
INLINE int admit_and_look(const Block& factor, const Block& work, Row x, double ceiling) {
    using namespace layout;
    if (work(AT, CEILING) != ceiling) work(AT, CEILING) = ceiling, work(AT, FRESH) = 0.0;
    int status = admit(work, x, factor.rows);
    if (status == OK && work(AT, FRESH) == 0.0) status = primal::look(factor, work);
    return status;
}

// What the label costs towards which mu points: -ln of its probability.
inline double cost(int kind, int family, double mu, double root) {
    double q = larger(root * root - 1.0, 0.0);
    if (kind == AIOLI) return bend(family, improper(mu, q)).loss;
    if (kind == LAPLACE) return bend(family, mu).loss;
    return smooth(family, mu, q).loss;
}

// What the label of this sign would cost at x; NaN when x is refused.
inline double price_of(int kind, int family, Block factor, Block work, Row x, double ceiling,
                       double sign) {
    using namespace layout;
    if (admit_and_look(factor, work, x, ceiling) != OK) return NaN;
    return cost(kind, family, sign * work(MEAN, 0), work(AT, ROOT));
}

// The probability of label 1 at x; NaN when x is refused.
inline double predict(int kind, int family, Block factor, Block work, Row x, double ceiling) {
    return std::exp(-price_of(kind, family, factor, work, x, ceiling, 1.0));
}

// What a label asks for at the x that was looked at.
struct Step {
    double loss, target, curve, q, price;  // the row sqrt(c) x has the target sqrt(c) `target`
    bool fits;
};

// The point, the slope and the curvature for the label of this sign; `bound` is AIOLI's C.
inline Step judge(int kind, int family, double bound, const Block& work, double sign) {
    using namespace layout;
    double mu = sign * work(MEAN, 0), root = work(AT, ROOT);
    double q = larger(root * root - 1.0, 0.0), slight = SLIGHT / larger(q, SLIGHT);
    double price = 0.0, point = mu, c;
    Bent b;
    if (kind == AIOLI) {
        point = improper(mu, q);
        b = bend(family, point);
        c = larger(b.curve / (1.0 + bound), slight);
        double p = 1.0 + b.slope;  // probability given to what happened
        price = 0.5 * (p * p * (q / (1.0 + c * q)) - (2.0 * p - 1.0) * (2.0 * p - 1.0) * q);
    } else if (kind == LAPLACE) {
        double paid = bend(family, mu).loss;
        point = proximal(family, mu, q);
        b = bend(family, point);
        b.loss = paid;
        c = larger(b.curve, slight);
    } else {
        b = smooth(family, mu, q);
        double left = 1.0 - b.curve * q;  // what remains of the variance of w'x
        c = larger(b.curve / larger(left, 1e-15), slight);  // 1/(1/curve - q)
        b.slope *= 1.0 + c * q;  // the gain of the rotation is c/(1 + c q)
    }
    double target = sign * (point - b.slope / c);
    return {b.loss, target, c, q, price, std::isfinite(b.loss + std::sqrt(c) * target)};
}

// Book the round that was looked at, and fold sqrt(c) x into [R z].
inline void settle(const Step& step, const Block& factor, const Block& work, const Block& book,
                   const Block& scatter, double sign) {
    using namespace layout;
    Size n = factor.rows;
    Row x = work[X].first(n), v = work[V];
    account::note(book, scatter, x, step.loss, sign);
    double thin = std::sqrt(step.curve);
    for (Size k = 0; k < n; ++k) x[k] *= thin, v[k] *= thin;
    primal::grow(work, n);
    work(Y, 0) = thin * step.target;
    primal::absorb(factor, work);
    ledger::add(book, account::PRICE, step.price);
    ledger::add(book, account::LOGDET, std::log1p(step.curve * step.q));
}

// Learn and book that x had the label of this sign; its log loss, or NaN: nothing is learned.
inline double learn(int kind, int family, double bound, const Block& factor, const Block& work,
                    const Block& book, const Block& scatter, Row x, double ceiling, double sign) {
    if (admit_and_look(factor, work, x, ceiling) != layout::OK) return NaN;
    Step step = judge(kind, family, bound, work, sign);
    if (!step.fits) return NaN;
    settle(step, factor, work, book, scatter, sign);
    return step.loss;
}

// Every row: forecast, then learn; -1, or the first row refused.
inline Size replay(int kind, int family, double bound, Block factor, Block work, Block book,
                   Block scatter, Block xs, Row signs, Row probabilities, Row losses) {
    for (Size t = 0; t < xs.rows; ++t) {
        double loss = learn(kind, family, bound, factor, work, book, scatter, xs[t],
                            layout::LARGEST_FEATURE, signs[t]);
        if (loss != loss) return t;
        losses[t] = loss;
        probabilities[t] = signs[t] > 0.0 ? std::exp(-loss) : -std::expm1(-loss);
    }
    return -1;
}

}  // namespace noregret::margin
