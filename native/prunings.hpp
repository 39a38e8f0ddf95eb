// All prunings of one tree under one prior, mixed by the Aggregating Algorithm in one pass up a path.
//
// A node lives from its parent's time (its birth) to its own, at which it splits; a leaf's time is
// infinite.  A pruning stops at some nodes and goes on below the others, and its prior weight is the
// product of
//
//     P(go on below v) = exp(-lam (time_v - birth_v)),     P(stop at v) = 1 - that; 1 at a leaf.
//
// With L_v the loss of node v in the rounds that passed through it, the evidence of all prunings
// below v is exp(-eta M_v), where M_v = L_v at a leaf and else
//
//     exp(-eta M_v) = P(stop) exp(-eta L_v) + P(go on) exp(-eta (M_left + M_right)).
//
// A node keeps gain_v = L_v - M_left - M_right: all that its weights need, and no large number
// cancels in it.  While the range of outcomes is one point eta is infinite, and sums are minima.
#pragma once

#include "mondrian.hpp"

namespace noregret::prunings {

// ln P(go on) and ln P(stop) of a node that lives for so long, lam times.
INLINE double log_go(double life) { return -life; }
INLINE double log_stop(double life) { return std::log(-std::expm1(-life)); }

// ln(exp(a) + exp(b)).
INLINE double log_add(double a, double b) {
    return larger(a, b) + std::log1p(std::exp(-std::fabs(a - b)));
}

// -(1/eta) ln(exp(stop - eta lost) + exp(go - eta below)): of two logarithms of weights.
INLINE double evidence(double eta, double stop, double go, double lost, double below) {
    double least = smaller(lost, below);
    if (eta == INF) return least;
    return least - log_add(stop - eta * (lost - least), go - eta * (below - least)) / eta;
}

// M_v, from L_v and what the two children have.
INLINE double potential(double eta, double life, double lost, double below) {
    return evidence(eta, log_stop(life), log_go(life), lost, below);
}

// The gain of a node that is put above v, which then lives for so long, lam times: L_v - M_v.
INLINE double lifted(double eta, double life, double gain) {
    return -potential(eta, life, 0.0, -gain);
}

// The weights of stopping and of going on after the rounds so far, as logarithms; they add up to 1.
struct Posterior {
    double eta = INF, gain = 0.0, stop = 0.0, go = 0.0;

    Posterior() = default;
    Posterior(double eta, double life, double gain) : eta(eta), gain(gain) {
        double odds = log_go(life) - log_stop(life) + (eta < INF ? eta * gain : 0.0);
        double least = -std::log1p(std::exp(-std::fabs(odds)));  // of the likelier one
        stop = odds > 0.0 ? least - odds : least;
        go = odds > 0.0 ? least : least + odds;
    }

    // The mix of a round at a node that loses so much itself, and so much below.  While eta is
    // infinite all outcomes are one point and so are all forecasts: nobody has gained anything.
    double mix(double lost, double below) const { return evidence(eta, stop, go, lost, below); }
};

// The weights at place i of a path, of the node that is to be put there if there is one.
inline Posterior posterior(Block nodes, const mondrian::Walk& walk, Size i, double eta, double lam) {
    using namespace mondrian;
    Row node = nodes[walk.path[std::size_t(i)]];
    double time = node[TIME], gain = node[GAIN];
    if (walk.splits && i == walk.length() - 1) {
        gain = node[LEFT] == 0.0 ? 0.0 : lifted(eta, lam * (time - walk.time), gain);
        time = walk.time;
    } else if (node[LEFT] == 0.0) {
        return {};
    }
    return {eta, lam * (time - node[BIRTH]), gain};
}

// What the prunings below a node come to, by the nodes' own sums.
struct Reckoned {
    double potential;  // M_v = -(1/eta) ln of their evidence
    double price;      // min over prunings of loss + (1/eta) ln 1/p
    double course;     // the loss of that pruning alone
    double linear;     // the same with FIT + CHARGE in place of each node's loss
    double fit;        // of that one, FIT alone

    void add(const Reckoned& r) {
        potential += r.potential, price += r.price, course += r.course;
        linear += r.linear, fit += r.fit;
    }
};

// One node's share of that.
struct Lost {
    double paid, fit, linear;
};

// By recursion; no tree is deeper than mondrian::DEEPEST.  `lost(node)`: of what kind its learner is.
template <class Losses>
inline Reckoned reckoned(Block nodes, Size v, double eta, double lam, Losses lost) {
    using namespace mondrian;
    Row node = nodes[v];
    auto [paid, fit, linear] = lost(node);
    if (node[LEFT] == 0.0) return {paid, paid, paid, linear, fit};
    Reckoned here = reckoned(nodes, Size(node[LEFT]), eta, lam, lost);
    here.add(reckoned(nodes, Size(node[RIGHT]), eta, lam, lost));
    double life = lam * (node[TIME] - node[BIRTH]);
    double stop = -log_stop(life) / eta, go = -log_go(life) / eta;
    here.potential = potential(eta, life, paid, here.potential);
    here.price += go, here.linear += go;
    if (paid + stop < here.price) here.price = paid + stop, here.course = paid;
    if (linear + stop < here.linear) here.linear = linear + stop, here.fit = fit;
    return here;
}

// The gains anew at another eta; M_v.
inline double regained(Block nodes, Size v, double eta, double lam) {
    using namespace mondrian;
    Row node = nodes[v];
    double paid = node[PAID] + node[PAID + 1];
    if (node[LEFT] == 0.0) return paid;
    double below = regained(nodes, Size(node[LEFT]), eta, lam) + regained(nodes, Size(node[RIGHT]), eta, lam);
    node[GAIN] = paid - below;
    return potential(eta, lam * (node[TIME] - node[BIRTH]), paid, below);
}

}  // namespace noregret::prunings
