// The best sequence of experts in hindsight, with at most K changes: dynamic programming.
//
//     total(k, j) <- min(total(k, j), min_i total(k - 1, i)) + loss_j
//
// after every round, total(k, j) being the least loss so far of a sequence that ends in j after at
// most k changes.
#pragma once

#include "vectors.hpp"

namespace noregret::sequence {

// The path, one expert per round, and its loss.
inline double best(Block losses, Size K, Row path) {
    Size T = losses.rows, N = losses.cols;
    std::vector<double> room(std::size_t((K + 1) * N), INF);
    Block total{room.data(), K + 1, N};
    std::vector<Size> origin(std::size_t(T * (K + 1)));
    std::vector<unsigned char> turned(std::size_t(T * (K + 1) * N), 0);
    for (Size j = 0; j < N; ++j) total(0, j) = losses(0, j);
    for (Size t = 1; t < T; ++t) {
        for (Size k = K; k > 0; --k) {  // downwards: row k - 1 is still that of the round before
            double came = vectors::smallest(total[k - 1]);
            origin[std::size_t(t * (K + 1) + k)] = vectors::place(total[k - 1], came);
            unsigned char* turns = turned.data() + (t * (K + 1) + k) * N;
            for (Size j = 0; j < N; ++j) {
                turns[j] = came < total(k, j);
                total(k, j) = turns[j] ? came : total(k, j);
            }
        }
        for (Size k = 0; k <= K; ++k)
            for (Size j = 0; j < N; ++j) total(k, j) += losses(t, j);
    }
    double least = vectors::smallest({total.p, (K + 1) * N});
    Size end = vectors::place({total.p, (K + 1) * N}, least), k = end / N, j = end % N;
    for (Size t = T - 1; t >= 0; --t) {
        path[t] = double(j);
        if (!turned[std::size_t((t * (K + 1) + k) * N + j)]) continue;
        j = origin[std::size_t(t * (K + 1) + k)];
        --k;
    }
    return least;
}

}  // namespace noregret::sequence
