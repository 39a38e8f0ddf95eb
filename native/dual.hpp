// Loops over packed triangles: row i of L lies at i(i+1)/2, i + 1 numbers long.
#pragma once

#include "arrays.hpp"

namespace noregret::dual {

// The lower triangle of K becomes I + S_min(i,j) K_ij; priors are S_1, S_2, ...
inline void extend_in_time(Block K, Row priors) {
    for (Size i = 0; i < K.rows; ++i) {
        for (Size j = 0; j <= i; ++j) K(i, j) *= priors[j];  // j <= i, and S grows
        K(i, i) += 1.0;
    }
}

// The largest (K_ij^2 - p_i q_j)/((p_i + a)(q_j + a)), or 0: what no kernel has, p and q its k(x, x).
// Only of the lower triangle, where that is all that is read of K.
MULTIVERSIONED inline double beyond(Block K, Row rows, Row columns, double a, bool lower) {
    double most[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    for (Size i = 0; i < K.rows; ++i) {
        const double *__restrict k = K[i].p, *__restrict q = columns.p;
        double p = rows[i], above = p + a;
        auto excess = [&](Size j) INLINED { return (k[j] * k[j] - p * q[j]) / (above * (q[j] + a)); };
        Size j = 0, end = lower ? i + 1 : K.cols;
        for (; j + 8 <= end; j += 8)
            for (Size b = 0; b < 8; ++b) most[b] = larger(excess(j + b), most[b]);
        for (; j < end; ++j) most[0] = larger(excess(j), most[0]);
    }
    for (Size b = 1; b < 8; ++b) most[0] = larger(most[0], most[b]);
    return most[0];
}

// to <- L z.
MULTIVERSIONED inline void multiply(Row packed, Block z, Block to) {
    const double* row = packed.p;
    for (Size i = 0; i < z.rows; row += ++i)
        for (Size k = 0; k < z.cols; ++k) {
            if (z.cols == 1) {
                to(i, k) = dot(row, z.p, i + 1);
                continue;
            }
            double sum = 0.0;
            for (Size j = 0; j <= i; ++j) sum += row[j] * z(j, k);
            to(i, k) = sum;
        }
}

// Append the rows [earlier, L] behind the t rows that are there, t the width of `earlier`.
inline void pack(Row packed, Block earlier, Block L) {
    Size t = earlier.cols, at = t * (t + 1) / 2;
    for (Size i = 0; i < L.rows; ++i) {
        double* row = packed.p + at;
        std::memcpy(row, earlier[i].p, std::size_t(t) * sizeof(double));
        std::memcpy(row + t, L[i].p, std::size_t(i + 1) * sizeof(double));
        at += t + i + 1;
    }
}

// L as a full triangle, 0 above.
inline void unpack(Row packed, Block L) {
    const double* row = packed.p;
    for (Size i = 0; i < L.rows; row += ++i) {
        std::memcpy(L[i].p, row, std::size_t(i + 1) * sizeof(double));
        for (Size j = i + 1; j < L.cols; ++j) L(i, j) = 0.0;
    }
}

// side <- L^-1 side.
MULTIVERSIONED inline void solve(Row packed, Row side) {
    const double* row = packed.p;
    for (Size i = 0; i < side.n; row += ++i) side[i] = (side[i] - dot(row, side.p, i)) / row[i];
}

// Delete row and column 0 of L (t rows): rotate l21 into L22, and z_1 into z_2 alike.
//
// Row i of the new L overwrites row i of the old, whose own numbers have been read by then.
inline void drop_first(Row packed, Block z, Size t) {
    Size size = t - 1;
    auto cosine = scratch(size), sine = scratch(size);
    for (Size i = 0; i < size; ++i) {
        const double* old = packed.p + (i + 1) * (i + 2) / 2;
        double* fresh = packed.p + i * (i + 1) / 2;
        double v = old[0];  // l21
        for (Size k = 0; k < i; ++k) {
            double entry = old[1 + k];
            fresh[k] = cosine[k] * entry + sine[k] * v;
            v = cosine[k] * v - sine[k] * entry;
        }
        double diagonal = old[1 + i], root = std::hypot(diagonal, v);
        cosine[i] = diagonal / root, sine[i] = v / root;
        fresh[i] = root;
    }
    for (Size k = 0; k < z.cols; ++k) {
        double carried = z(0, k);
        for (Size i = 0; i < size; ++i) {
            double entry = z(i + 1, k);
            z(i, k) = cosine[i] * entry + sine[i] * carried;
            carried = cosine[i] * carried - sine[i] * entry;
        }
    }
}

}  // namespace noregret::dual
