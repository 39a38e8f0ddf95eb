// A pool's rounds: plain ones the short way (aggregating.hpp), all others the careful one
// (mixing.hpp).
#pragma once

#include "aggregating.hpp"

namespace noregret::mixing {

// The pool's forecast from pool[SAID], NaN where nobody awake has any weight; `room` is for lanes, c
// the centre.
MULTIVERSIONED inline double careful_forecast_after(Block pool, Block book, Size* awake, double c) {
    *awake = wake(pool);
    return careful_forecast(pool, book, c);
}
inline double wake_and_forecast(Block pool, Block book, Size* awake, double* room, double c = 0.0) {
    if (aggregating::playable(book)) {
        double g = aggregating::forecast(pool, book, pool[SAID], c, room);
        if (std::fabs(g) < INF) {
            *awake = pool.cols;
            std::memcpy(pool[AWAKE].p, pool[PRIOR].p, std::size_t(pool.cols) * sizeof(double));
            return g;
        }
    }
    return careful_forecast_after(pool, book, awake, c);
}

// Learn that the forecast g, made from SAID, met y; return what it cost.
//
// Of a likelihood game the caller has put the losses into COST.
inline double settle(Block pool, Block book, double y, double g, Size asleep, double* room,
                     double c = 0.0) {
    if (asleep == 0 && aggregating::playable(book)) {
        Block said{pool[SAID].p, 1, pool.cols};
        double again, loss;
        if (aggregating::rounds(pool, book, said, {&y, 1}, {&again, 1}, {&loss, 1}, 0, c, room))
            return loss;
    }
    return careful_settle(pool, book, y, g, asleep, c);
}

// The weights of those awake, adding up to 1; before the first range is known, the prior's.
inline void shares(Block pool, Block book, Row weights) {
    double eta = book(RATE, 0);
    log_sum(pool, eta < INF ? eta : 0.0, leader(pool, 0.0), 0.0);
    double total = 0.0;
    for (Size j = 0; j < weights.n; ++j) total += pool(MASS, j);
    for (Size j = 0; j < weights.n; ++j) weights[j] = pool(MASS, j) / total;
}

// Every row: forecast, then learn; -1, or the first row that nobody with weight can forecast.
//
// T more than that is a row where every expert gave what happened no chance.  `costs` has rows
// for a likelihood game, `weights` where they are wanted.
inline Size replay(Block pool, Block book, Block said, Block costs, Row y, Row forecasts,
                   Row losses, Block weights) {
    Size T = said.rows, N = said.cols;
    auto room = aggregating::lanes_for(pool);
    for (Size t = 0; t < T; ++t) {
        if (weights.rows == 0 && aggregating::playable(book))
            t = aggregating::rounds(pool, book, said, y, forecasts, losses, t, 0.0, room.data());
        if (t == T) break;
        std::memcpy(pool[SAID].p, said[t].p, std::size_t(N) * sizeof(double));
        Size awake;
        double g = wake_and_forecast(pool, book, &awake, room.data());
        if (g != g) return t;
        forecasts[t] = g;
        if (weights.rows > 0) shares(pool, book, weights[t]);
        if (costs.rows > 0) {
            std::memcpy(pool[COST].p, costs[t].p, std::size_t(N) * sizeof(double));
            if (leader(pool, 1.0) < 0) return T + t;
        }
        losses[t] = settle(pool, book, y[t], g, N - awake, room.data());
    }
    return -1;
}

// Forecast from every row and learn nothing.
inline void survey(Block pool, Block book, Block said, Row forecasts) {
    auto room = aggregating::lanes_for(pool);
    for (Size t = 0; t < said.rows; ++t) {
        std::memcpy(pool[SAID].p, said[t].p, std::size_t(said.cols) * sizeof(double));
        Size awake;
        forecasts[t] = wake_and_forecast(pool, book, &awake, room.data());
    }
}

// Whether any of them is beyond the limit; NaN is not.
MULTIVERSIONED inline bool any_beyond(const double* p, Size n, double limit) {
    double peak[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    Size k = 0;
    for (; k + 8 <= n; k += 8)
        for (int q = 0; q < 8; ++q) peak[q] = larger(std::fabs(p[k + q]), peak[q]);
    for (; k < n; ++k) peak[0] = larger(std::fabs(p[k]), peak[0]);
    for (int q = 1; q < 8; ++q) peak[0] = larger(peak[q], peak[0]);
    return peak[0] > limit;
}

// The place t N + j of a forecast beyond the limit in the first such row, or -1; NaN sleeps.
inline Size beyond(Block said, double limit) {
    if (!any_beyond(said.p, said.rows * said.cols, limit)) return -1;
    for (Size t = 0; t < said.rows; ++t) {
        Size where = -1;
        for (Size j = 0; j < said.cols; ++j)
            if (std::fabs(said(t, j)) > limit) where = t * said.cols + j;
        if (where >= 0) return where;
    }
    return -1;
}

}  // namespace noregret::mixing
