// Triangles: factors, solving with them, reflections.  Small ones here; noregret/triangles.py takes large ones apart
// and lets NumPy's own BLAS multiply the pieces.
#pragma once

#include "pieces.hpp"
#include "vectors.hpp"

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

constexpr Size CHUNK = 16;  // columns that stay in registers

using pieces::Four;
INLINE Four four(const double* p) { return *reinterpret_cast<const Four*>(p); }

// to[k] -= sum of share(j) * rows[j][k] over j in turn, as `subtract` for each j in turn would.
template <class Share>
INLINE void subtract_all(double* to, const double* rows, Size down, Size count, Share share) {
    Four a = four(to), b = four(to + 4), c = four(to + 8), d = four(to + 12);
    for (Size j = 0; j < count; ++j, rows += down) {
        double s = share(j);
        a -= s * four(rows), b -= s * four(rows + 4), c -= s * four(rows + 8), d -= s * four(rows + 12);
    }
    pieces::four(to) = a, pieces::four(to + 4) = b, pieces::four(to + 8) = c, pieces::four(to + 12) = d;
}

// take(c, a'row_c) for rows first to last - 1, with the bits of `dot`.  Four at a time, where n is a multiple of 8:
// their sums do not wait for each other.
template <class Take>
INLINE void dots_with(const double* a, Block rows, Size first, Size last, Size n, Take take) {
    Size c = first;
    for (; n % 8 == 0 && c + 4 <= last; c += 4) {
        const double *p = rows[c].p, *q = rows[c + 1].p, *r = rows[c + 2].p, *s = rows[c + 3].p;
        const Four none = {0.0, 0.0, 0.0, 0.0};
        Four p0 = none, q0 = none, r0 = none, s0 = none, p4 = none, q4 = none, r4 = none, s4 = none;
        for (Size k = 0; k < n; k += 8) {
            Four x = four(a + k), y = four(a + k + 4);
            p0 += x * four(p + k), q0 += x * four(q + k), r0 += x * four(r + k), s0 += x * four(s + k);
            p4 += y * four(p + k + 4), q4 += y * four(q + k + 4);
            r4 += y * four(r + k + 4), s4 += y * four(s + k + 4);
        }
        take(c, total(p0, p4)), take(c + 1, total(q0, q4)), take(c + 2, total(r0, r4)), take(c + 3, total(s0, s4));
    }
    for (; c < last; ++c) take(c, dot(a, rows[c].p, n));
}

// B <- L^-1 B, from the first row down.
MULTIVERSIONED inline void solve_lower(StridedBlock L, Block B) {
    for (Size i = 0; i < L.rows; ++i) {
        auto share = [&](Size j) INLINED { return entry(L, i, j); };
        double pivot = entry(L, i, i), *row = B[i].p;
        Size c = 0;
        for (; c + CHUNK <= B.cols; c += CHUNK) subtract_all(row + c, B.p + c, B.cols, i, share);
        for (Size j = 0; j < i; ++j) subtract(row + c, B[j].p + c, share(j), B.cols - c);
        for (c = 0; c < B.cols; ++c) row[c] /= pivot;
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
    for (Size j = 0; j < n; ++j) {
        double *row = A[j].p, pivot = row[j] - dot(row, row, j);
        if (!(0.0 < pivot && pivot < INF)) return j;
        row[j] = pivot = std::sqrt(pivot);
        dots_with(row, A, j + 1, n, j, [&](Size i, double known) INLINED { A(i, j) = (A(i, j) - known) / pivot; });
        for (Size i = j + 1; i < n; ++i) row[i] = 0.0;
    }
    return -1;
}

// A QR factorisation of [R; X] with R an upper triangle of k rows, and X given by its columns, which are the rows of C:
// Q = I - V T V' with V = [I; C'].  In place: R, the reflectors in C, and the triangle T.
MULTIVERSIONED inline void reflect(Block R, Block C, Block T) {
    Size k = R.rows, n = C.cols;
    for (Size j = 0; j < k; ++j) {
        double *v = C[j].p, first = R(j, j);
        double largest = larger(std::fabs(first), larger(vectors::largest(C[j]), -vectors::smallest(C[j])));
        if (!(largest > 0.0)) {  // nothing to reflect
            for (Size i = 0; i <= j; ++i) T(i, j) = 0.0;
            continue;
        }
        for (Size i = 0; i < n; ++i) v[i] /= largest;  // squares neither overflow nor vanish
        double scaled = first / largest, norm = std::sqrt(scaled * scaled + dot(v, v, n));
        double last = scaled > 0.0 ? -norm : norm, tau = (last - scaled) / last;
        for (Size i = 0; i < n; ++i) v[i] /= scaled - last;
        R(j, j) = last * largest;
        dots_with(v, C, j + 1, k, n, [&](Size c, double along) INLINED {
            double share = tau * (R(j, c) + along);
            R(j, c) -= share;
            subtract(C[c].p, v, share, n);
        });
        // T <- [T, -tau T V'v; 0, tau]
        dots_with(v, C, 0, j, n, [&](Size i, double along) INLINED { T(i, j) = along; });
        for (Size i = 0; i < j; ++i) {  // entries further down are still V'v
            double sum = 0.0;
            for (Size q = i; q < j; ++q) sum += T(i, q) * T(q, j);
            T(i, j) = -tau * sum;
        }
        T(j, j) = tau;
    }
}

}  // namespace noregret::triangles
