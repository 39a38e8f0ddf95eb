// Fixed experts of few features and one outcome: primal.hpp with every loop written out.
//
// There a round is some dozen numbers, and loops that are ready for any size cost more than they do.
// The steps are those of primal.hpp, in the same order for every number: the same bits.
#pragma once

#include <type_traits>

#include "cascade.hpp"

namespace noregret::small {

using namespace layout;

constexpr Size MOST = 8;  // features: beyond, panels.hpp is better

// f(FROM), ..., f(TO - 1), where each number is a constant.
template <Size FROM, Size TO, class Function>
INLINE void each(const Function& f) {
    if constexpr (FROM < TO) {
        f(std::integral_constant<Size, FROM>{});
        each<FROM + 1, TO>(f);
    }
}

// f(factor, work), of which the compiler knows the sizes if they are small.
template <Size N = 1, class Function>
INLINE auto known(const Block& factor, const Block& work, const Function& f) {
    if constexpr (N > MOST) {
        return f(factor, work, std::integral_constant<Size, 0>{});
    } else {
        if (factor.rows == N && factor.cols == N + 1 && work.cols == SCALARS)
            return f(Block{factor.p, N, N + 1}, Block{work.p, work.rows, SCALARS},
                     std::integral_constant<Size, N>{});
        return known<N + 1>(factor, work, f);
    }
}

// primal::look.
template <Size N>
INLINE int look(const Block& factor, const Block& work) {
    double u[N + 1], grown[N];
    Row at = work[AT];
    at[FRESH] = 0.0;
    each<0, N>([&](auto k) INLINED { u[k] = work(X, k); });
    u[N] = 0.0;
    double square = 1.0;
    each<0, N>([&](auto i) INLINED {
        const double* row = factor.p + i * (N + 1);
        double vi = u[i] * (1.0 / row[i]);
        work(V, i) = vi;
        grown[i] = square += vi * vi;
        u[i + 1] -= vi * row[i + 1];
        if (vi != 0.0) each<i + 2, N + 1>([&](auto k) INLINED { u[k] -= vi * row[k]; });
    });
    if (square < SAFE * SAFE) {
        each<0, N>([&](auto i) INLINED { work(GROWN, i) = grown[i] = std::sqrt(grown[i]); });
        each<0, N>([&](auto i) INLINED { work(SHRUNK, i) = 1.0 / grown[i]; });
    } else {
        primal::lengthen(work, N);
    }
    double beta = work(GROWN, N - 1);
    double mean = work(MEAN, 0) = 0.0 - u[N];
    if (!std::isfinite(mean) || !std::isfinite(beta)) return OVERFLOWS;
    at[ROOT] = beta;
    at[FRESH] = 1.0;
    return OK;
}

// primal::absorb.
template <Size N>
INLINE double absorb(const Block& factor, const Block& work) {
    double u[N + 1];
    Row v = work[V], grown = work[GROWN], shrunk = work[SHRUNK];
    each<0, N>([&](auto k) INLINED { u[k] = work(X, k); });
    u[N] = work(Y, 0);
    double beta = 1.0, before = 1.0;
    each<0, N>([&](auto i) INLINED {
        double vi = v[i], keep = beta * shrunk[i], take = vi * before * shrunk[i];
        if (vi == 0.0) return;
        double* row = factor.p + i * (N + 1);
        each<i, N + 1>([&](auto k) INLINED {
            double r = row[k];
            row[k] = keep * r + take * u[k];
            u[k] -= vi * r;
        });
        beta = grown[i], before = shrunk[i];
    });
    work(AT, FRESH) = 0.0;
    return (u[N] / beta) * (u[N] / beta);
}

// cascade::stream: so few steps wait for one another less than for their turn in a cascade.
MULTIVERSIONED inline Size stream(Block factor, Block work, Block xs, Block ys, Block mean,
                                  Row root, Row fit) {
    return known(factor, work, [&](const Block& factor, const Block& work, auto N) INLINED {
        if constexpr (N > 0)
            return primal::each_row(
                work, Block{xs.p, xs.rows, N}, Block{ys.p, ys.rows, 1}, mean, root, fit,
                [&]() INLINED { return look<N>(factor, work); },
                [&]() INLINED { return absorb<N>(factor, work); }, [](Size) INLINED {});
        else
            return cascade::stream(factor, work, xs, ys, mean, root, fit);
    });
}

}  // namespace noregret::small
