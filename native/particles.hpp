// A cloud of weighted particles for the posterior of a binary model.
#pragma once

#include "families.hpp"

namespace noregret::particles {

using families::bend;

// -ln of the weighted mean of P(row's label | w); weights are exp(logs) and add up to 1.
//
// Where the mean is above 1/2, what it lacks to 1 is added up instead: neither end is lost.
inline double price(int family, Block cloud, Row logs, Row row) {
    double least = INF, most = -INF, missing = 0.0;
    for (Size i = 0; i < cloud.rows; ++i) {
        double z = dot(cloud[i], row), loss = bend(family, z).loss - logs[i];
        least = smaller(loss, least);
        most = larger(loss, most);
        missing += std::exp(logs[i] - bend(family, -z).loss);
    }
    if (!(most < INF)) return NaN;
    if (missing < 0.5) return -std::log1p(-missing);
    double total = 0.0;
    for (Size i = 0; i < cloud.rows; ++i)
        total += std::exp(least - bend(family, dot(cloud[i], row)).loss + logs[i]);
    return larger(least - std::log(total), 0.0);
}

// Take a power of a round's likelihood into the weights; how many particles they are worth.
inline double weigh(int family, Block cloud, Row logs, Row row, double part) {
    double top = -INF, total = 0.0, square = 0.0;
    for (Size i = 0; i < cloud.rows; ++i) {
        logs[i] -= part * bend(family, dot(cloud[i], row)).loss;
        top = larger(top, logs[i]);
    }
    for (Size i = 0; i < cloud.rows; ++i) {
        double w = std::exp(logs[i] - top);
        total += w;
        square += w * w;
    }
    double shift = top + std::log(total);
    for (Size i = 0; i < cloud.rows; ++i) logs[i] -= shift;
    return total * total / square;
}

// The largest most/2^k that leaves the weights worth a fifth of the particles.
//
// From `least` on it is taken as it is: a cloud that is still too wide then loses particles.
inline double bearable(int family, Block cloud, Row logs, Row row, double most, double least) {
    auto tried = scratch(logs.n);
    double part = most;
    while (part > least) {
        std::memcpy(tried.data(), logs.p, std::size_t(logs.n) * sizeof(double));
        double worth = weigh(family, cloud, {tried.data(), logs.n}, row, part);
        if (worth >= 0.2 * double(cloud.rows)) break;
        part *= 0.5;
    }
    return part;
}

// -F(w), the log posterior up to a constant; the last row counts for `part` of a row.
inline double height(int family, Block rows, double a, double part, Row w) {
    double total = -0.5 * a * dot(w, w);
    Size last = rows.rows - 1;
    for (Size i = 0; i < last; ++i) total -= bend(family, dot(rows[i], w)).loss;
    return total - part * bend(family, dot(rows[last], w)).loss;
}

// Metropolis steps, one per row of `luck`: w + root' noise, accepted by luck; how many were.
//
// `noise` has a block of as many rows as the cloud for each step.
inline Size move(int family, Block rows, double a, double part, Block cloud, Block root,
                 Block noise, Block luck) {
    Size N = cloud.rows, n = cloud.cols, accepted = 0;
    auto space = scratch(n);
    Row trial{space.data(), n};
    for (Size i = 0; i < N; ++i) {
        double here = height(family, rows, a, part, cloud[i]);
        for (Size k = 0; k < luck.rows; ++k) {
            Row z = noise[k * N + i];
            for (Size j = 0; j < n; ++j) trial[j] = cloud(i, j);
            for (Size r = 0; r < n; ++r)
                for (Size j = 0; j < n; ++j) trial[j] += z[r] * root(r, j);
            double there = height(family, rows, a, part, trial);
            if (std::log(luck(k, i)) < there - here) {
                here = there;
                ++accepted;
                for (Size j = 0; j < n; ++j) cloud(i, j) = trial[j];
            }
        }
    }
    return accepted;
}

// The log posterior, up to a constant, at every node.
inline void heights(int family, Block rows, double a, Block nodes, Row found) {
    for (Size i = 0; i < nodes.rows; ++i) found[i] = height(family, rows, a, 1.0, nodes[i]);
}

}  // namespace noregret::particles
