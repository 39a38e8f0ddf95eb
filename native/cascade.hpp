// Many rounds of fixed experts: four rows of data go down the triangle [R z] together.
//
// A row of data that stands at row i of R needs what the row before it has left there, and no more
// of it.  So each follows `lag` rows of R behind the one before, none waits for another, and four
// roots or quotients are taken at once.  Every number comes from the operations of primal.hpp in
// their order: the same bits as round by round.
#pragma once

#include "primal.hpp"

namespace noregret::cascade {

using pieces::Four;
using pieces::four;

constexpr Size LANES = 4;
constexpr Size LINE = 8;  // numbers in a cache line, which no piece then crosses
constexpr double NOTHING = 0.0, ONE = 1.0;

// Where the four rows of data are on their way, and what they carry.
struct Front {
    double v[LANES], square[LANES], beta[LANES], shrunk[LANES];
    double keep[LANES], take[LANES];

    void enter(Size b) { square[b] = beta[b] = shrunk[b] = 1.0; }

    // beta_i where squares are too large to be trusted; seldom.
    __attribute__((noinline)) void lengthen(double* grown) {
        for (Size b = 0; b < LANES; ++b)
            grown[b] = v[b] == 0.0 ? beta[b] : lengthened(square[b], beta[b], v[b]);
    }

    // v_i = u_i/R_ii, beta_i, and the rotation of row i; a lane without a row of R has u = 0.
    INLINE void turn(const double* const* u, const double* const* diagonal) {
        four(v) = Four{*u[0], *u[1], *u[2], *u[3]} *
                  (1.0 / Four{*diagonal[0], *diagonal[1], *diagonal[2], *diagonal[3]});
        four(square) += four(v) * four(v);
        double grown[LANES];
        for (Size b = 0; b < LANES; ++b) grown[b] = std::sqrt(square[b]);
        bool safe = true;
        for (Size b = 0; b < LANES; ++b) safe = safe && square[b] < SAFE * SAFE;
        if (!safe) lengthen(grown);
        Four before = four(shrunk), now = 1.0 / four(grown);
        four(keep) = four(beta) * now;
        four(take) = four(v) * before * now;
        four(beta) = four(grown), four(shrunk) = now;
    }
};

// Look at and absorb every row; -1, or the first row that overflows.
//
// fit (2,) is the running sum of (e/sqrt(d))^2 with its compensation.
MULTIVERSIONED inline Size stream(Block factor, Block work, Block xs, Block ys, Block mean,
                                  Row root, Row fit) {
    Size T = xs.rows, n = xs.cols, m = ys.cols;
    // [R z] in room of its own, columns moved right to end with a whole piece
    Size pad = (4 - (n + m) % 4) % 4, width = pad + n + m;
    auto room = scratch((n + LANES + 1) * width + LINE);
    auto offset = reinterpret_cast<std::uintptr_t>(room.data()) / sizeof(double) % LINE;
    Block R{room.data() + (LINE - offset), n, width}, us{R[n].p, LANES, width};
    for (Size i = 0; i < n; ++i)
        for (Size k = i; k < n + m; ++k) R(i, pad + k) = factor(i, k);

    Size lag = n >= 2 * LANES ? 2 : 1, period = n > LANES * lag ? n : LANES * lag;
    Size at[LANES], t[LANES];  // the row of R that a lane has reached, and its row of data
    Front front;
    auto enter = [&](Size b, Size row) {
        t[b] = row, at[b] = 0;
        front.enter(b);
        if (row >= T) return;
        double* u = us[b].p + pad;
        for (Size k = 0; k < n; ++k) u[k] = xs(row, k);
        for (Size k = 0; k < m; ++k) u[n + k] = ys(row, k), mean(row, k) = 0.0;
    };
    for (Size b = 0; b < LANES; ++b) enter(b, b), at[b] = -lag * b;
    for (Size done = 0; done < T;) {
        const double *u[LANES], *diagonal[LANES];
        for (Size b = 0; b < LANES; ++b) {
            bool moves = 0 <= at[b] && at[b] < n && t[b] < T;
            u[b] = moves ? &us(b, pad + at[b]) : &NOTHING;
            diagonal[b] = moves ? &R(at[b], pad + at[b]) : &ONE;
        }
        front.turn(u, diagonal);
        for (Size b = 0; b < LANES; ++b) {
            double v = front.v[b];
            if (v == 0.0) continue;
            double* row = R[at[b]].p;
            for (Size k = 0; k < m; ++k) mean(t[b], k) += v * row[pad + n + k];
            pieces::rotate<true>(row, us[b].p, front.keep[b], front.take[b], v, pad + at[b], width, 0);
        }
        for (Size b = 0; b < LANES; ++b) {
            if (++at[b] < period) continue;
            if (t[b] < T) {  // a row of data has arrived
                double beta = front.beta[b], left = 0.0;
                if (!std::isfinite(beta)) return t[b];
                root[t[b]] = beta;
                for (Size k = 0; k < m; ++k) {
                    if (!std::isfinite(mean(t[b], k))) return t[b];
                    double e = us(b, pad + n + k) / beta;
                    left += e * e;
                }
                primal::accumulate(fit, left);
                ++done;
            }
            enter(b, t[b] + LANES);
        }
    }
    for (Size i = 0; i < n; ++i)
        for (Size k = 0; k < n + m; ++k) factor(i, k) = R(i, pad + k);
    work(layout::AT, layout::FRESH) = 0.0;
    return -1;
}

}  // namespace noregret::cascade
