// Triangles: factors, solving with them, reflections.  Small ones here; noregret/triangles.py takes large ones apart
// and lets NumPy's own BLAS multiply the pieces.
#pragma once

#include "arrays.hpp"

namespace noregret::triangles {

INLINE double entry(const StridedBlock& T, Size i, Size j) {
    double value;
    std::memcpy(&value, T.p + i * T.down + j * T.along, sizeof value);
    return value;
}

// to -= share * from
INLINE void subtract(double* __restrict to, const double* __restrict from, double share, Size n) {
    for (Size c = 0; c < n; ++c) to[c] -= share * from[c];
}

// B <- L^-1 B, from the first row down.
MULTIVERSIONED inline void solve_lower(StridedBlock L, Block B) {
    for (Size i = 0; i < L.rows; ++i) {
        for (Size j = 0; j < i; ++j) subtract(B[i].p, B[j].p, entry(L, i, j), B.cols);
        double pivot = entry(L, i, i);
        for (Size c = 0; c < B.cols; ++c) B(i, c) /= pivot;
    }
}

// B <- U^-1 B, from the last row up.
MULTIVERSIONED inline void solve_upper(StridedBlock U, Block B) {
    for (Size i = U.rows - 1; i >= 0; --i) {
        for (Size j = i + 1; j < U.rows; ++j) subtract(B[i].p, B[j].p, entry(U, i, j), B.cols);
        double pivot = entry(U, i, i);
        for (Size c = 0; c < B.cols; ++c) B(i, c) /= pivot;
    }
}

// The lower triangle of A becomes L, A = LL', and what is above it 0; -1, or the first pivot that is no positive number.
MULTIVERSIONED inline Size factor(Block A) {
    Size n = A.rows;
    for (Size i = 0; i < n; ++i) {
        double* row = A[i].p;
        for (Size j = 0; j < i; ++j) row[j] = (row[j] - dot(row, A[j].p, j)) / A(j, j);
        double pivot = row[i] - dot(row, row, i);
        if (!(0.0 < pivot && pivot < INF)) return i;
        row[i] = std::sqrt(pivot);
        for (Size j = i + 1; j < n; ++j) row[j] = 0.0;
    }
    return -1;
}

// A QR factorisation of [R; X] with R an upper triangle of k rows, and X given by its columns, which are the rows of C:
// Q = I - V T V' with V = [I; C'].  In place: R, the reflectors in C, and the triangle T.
MULTIVERSIONED inline void reflect(Block R, Block C, Block T) {
    Size k = R.rows, n = C.cols;
    for (Size j = 0; j < k; ++j) {
        double *v = C[j].p, first = R(j, j), largest = std::fabs(first);
        for (Size i = 0; i < n; ++i) largest = larger(std::fabs(v[i]), largest);
        if (!(largest > 0.0)) {  // nothing to reflect
            for (Size i = 0; i <= j; ++i) T(i, j) = 0.0;
            continue;
        }
        for (Size i = 0; i < n; ++i) v[i] /= largest;  // squares neither overflow nor vanish
        double scaled = first / largest, norm = std::sqrt(scaled * scaled + dot(v, v, n));
        double last = scaled > 0.0 ? -norm : norm, tau = (last - scaled) / last;
        for (Size i = 0; i < n; ++i) v[i] /= scaled - last;
        R(j, j) = last * largest;
        for (Size c = j + 1; c < k; ++c) {
            double share = tau * (R(j, c) + dot(v, C[c].p, n));
            R(j, c) -= share;
            subtract(C[c].p, v, share, n);
        }
        // T <- [T, -tau T V'v; 0, tau]
        for (Size i = 0; i < j; ++i) T(i, j) = dot(C[i].p, v, n);
        for (Size i = 0; i < j; ++i) {  // entries further down are still V'v
            double sum = 0.0;
            for (Size q = i; q < j; ++q) sum += T(i, q) * T(q, j);
            T(i, j) = -tau * sum;
        }
        T(j, j) = tau;
    }
}

}  // namespace noregret::triangles
