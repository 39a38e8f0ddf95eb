// Many rounds of fixed experts: rows of data go down the triangle [R z] four rows of R at a time.
//
// A row of data that stands at a panel of R needs what the row before it has left there, and no
// more of it.  So each follows one panel behind the one before, and none waits for another.  Every
// number comes from the operations of primal.hpp in their order: the same bits as round by round.
#pragma once

#include "primal.hpp"

namespace noregret::cascade {

using panels::SIDE;
using pieces::Four;
using pieces::four;

constexpr Size LANES = 4;  // rows of data on their way
constexpr Size LINE = 8;   // numbers in a cache line, which no piece then crosses

INLINE Size whole(Size n) { return (n + SIDE - 1) / SIDE * SIDE; }

// [R z] in room of its own: R moved right and down to end with a whole panel, z filled up to whole
// pieces.  The rows before R have 1 on the diagonal and meet u = 0, so that nothing changes there.
struct Triangle {
    Size n, m, tall, pad, width;
    std::vector<double> room;
    Block R, us, means;

    Triangle(const Block& factor)
        : n(factor.rows), m(factor.cols - n), tall(whole(n)), pad(tall - n), width(tall + whole(m)),
          room(scratch((tall + LANES) * width + LANES * (width - tall) + LINE)) {
        auto offset = reinterpret_cast<std::uintptr_t>(room.data()) / sizeof(double) % LINE;
        R = {room.data() + (LINE - offset), tall, width};
        us = {R[tall].p, LANES, width};
        means = {us[LANES].p, LANES, width - tall};
        for (Size i = 0; i < n; ++i)
            for (Size k = i; k < n + m; ++k) R(pad + i, pad + k) = factor(i, k);
        for (Size i = 0; i < pad; ++i) R(i, i) = 1.0;
    }

    void put_back(const Block& factor) const {
        for (Size i = 0; i < n; ++i)
            for (Size k = i; k < n + m; ++k) factor(i, k) = R(pad + i, pad + k);
    }
};

// A row of data on its way: where it is, what it carries, and how it turns the rows of its panel.
struct Lane {
    Size t, at;  // which row of the data, and the first row of its panel
    double square, beta, shrunk;
    double *u, *mean;
    double v[SIDE], keep[SIDE], take[SIDE];
    bool plain;  // all four rows turn, by these
};

// beta_i and the rotations of a panel; not where some v is 0, or squares are too large to be
// trusted.  All lanes do this before the first one rotates, so that their roots overlap.
INLINE void turn(const Triangle& T, Lane& lane) {
    Size i = lane.at, before = i ? 0 : T.pad;
    panels::Solved<> solved({T.R[i].p, T.width}, four(lane.u + i), lane.square, i);
    Four v = solved.v, square = solved.square;
    lane.plain = panels::full(v, before) && square[3] < SAFE * SAFE;
    if (!lane.plain) return;
    lane.square = square[3];
    Four grown = panels::roots(square), now = 1.0 / grown;
    panels::Turns turns(v, grown, now, lane.beta, lane.shrunk);
    four(lane.v) = turns.v, four(lane.keep) = turns.keep, four(lane.take) = turns.take;
    lane.beta = grown[3], lane.shrunk = now[3];
}

// One row of R after another, where a panel is not plain.
__attribute__((noinline)) inline void rotate_rows(const Triangle& T, Lane& lane) {
    for (Size i = lane.at; i < lane.at + SIDE; ++i) {
        double *row = T.R[i].p, v = lane.u[i] * (1.0 / row[i]);
        lane.square += v * v;
        if (v == 0.0) {
            lane.u[i] = 0.0;  // as in primal::absorb
            continue;
        }
        double grown = lengthened(lane.square, lane.beta, v), now = 1.0 / grown;
        for (Size k = 0; k < T.m; ++k) lane.mean[k] += v * row[T.tall + k];
        pieces::rotate(row, lane.u, lane.beta * now, v * lane.shrunk * now, v, i, T.width, 0);
        lane.beta = grown, lane.shrunk = now;
    }
}

INLINE void rotate(const Triangle& T, Lane& lane) {
    if (!lane.plain) return rotate_rows(T, lane);
    panels::Rows<> rows(T.R[lane.at].p, T.width);
    for (Size k = T.tall; k < T.width; k += SIDE)
        for (Size j = 0; j < SIDE; ++j)
            four(lane.mean + k - T.tall) += lane.v[j] * four(rows.p[j] + k);
    panels::Turns turns(four(lane.v), four(lane.keep), four(lane.take));
    panels::rotate(rows, lane.u, turns, lane.at);
    panels::rotate_right(rows, lane.u, turns, lane.at + SIDE, T.width);
}

// Look at and absorb every row; -1, or the first row that overflows.
//
// fit (2,) is the running sum of (e/sqrt(d))^2 with its compensation.
MULTIVERSIONED inline Size stream(Block factor, Block work, Block xs, Block ys, Block mean,
                                  Row root, Row fit) {
    Triangle T(factor);
    Size n = T.n, m = T.m, period = T.tall > LANES * SIDE ? T.tall : LANES * SIDE;
    Lane lanes[LANES];
    auto enter = [&](Lane& lane, Size t) {
        lane.t = t, lane.at = 0;
        lane.square = lane.beta = lane.shrunk = 1.0;
        if (t >= xs.rows) return;
        for (Size k = 0; k < n; ++k) lane.u[T.pad + k] = xs(t, k);
        for (Size k = 0; k < m; k += SIDE) {
            auto y = [&](Size q) INLINED { return k + q < m ? ys(t, k + q) : 0.0; };
            four(lane.u + T.tall + k) = Four{y(0), y(1), y(2), y(3)};  // whole: it is read as such
            four(lane.mean + k) = Four{};
        }
    };
    for (Size b = 0; b < LANES; ++b) {
        lanes[b].u = T.us[b].p, lanes[b].mean = T.means[b].p;
        enter(lanes[b], b);
        lanes[b].at = -SIDE * b;
    }
    for (Size done = 0; done < xs.rows;) {
        auto moves = [&](const Lane& lane) INLINED {
            return 0 <= lane.at && lane.at < T.tall && lane.t < xs.rows;
        };
        for (Lane& lane : lanes)
            if (moves(lane)) turn(T, lane);
        for (Lane& lane : lanes) {
            if (moves(lane)) rotate(T, lane);
            if ((lane.at += SIDE) < period) continue;
            if (lane.t < xs.rows) {  // a row of data has arrived
                double left = 0.0;
                if (!std::isfinite(lane.beta)) return lane.t;
                root[lane.t] = lane.beta;
                for (Size k = 0; k < m; ++k) {
                    if (!std::isfinite(mean(lane.t, k) = lane.mean[k])) return lane.t;
                    double e = lane.u[T.tall + k] / lane.beta;
                    left += e * e;
                }
                primal::accumulate(fit, left);
                ++done;
            }
            enter(lane, lane.t + LANES);
        }
    }
    T.put_back(factor);
    work(layout::AT, layout::FRESH) = 0.0;
    return -1;
}

}  // namespace noregret::cascade
