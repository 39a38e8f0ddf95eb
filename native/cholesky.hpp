// Small dense triangles in place: U'U = A by rows, and solving with it.
#pragma once

#include "arrays.hpp"

namespace noregret::cholesky {

// The upper triangle of the first k rows and columns becomes U; false where a pivot is not a
// positive number.  ln det goes to `log_det`, if it is asked for.
MULTIVERSIONED inline bool factor(const Block& A, Size k, double* log_det = nullptr) {
    if (log_det) *log_det = 0.0;
    for (Size r = 0; r < k; ++r) {
        double* __restrict row = A[r].p;
        double pivot = row[r];
        if (!(0.0 < pivot && pivot < INF)) return false;
        if (log_det) *log_det += std::log(pivot);
        double shrunk = 1.0 / std::sqrt(pivot);
        for (Size c = r; c < k; ++c) row[c] *= shrunk;
        for (Size q = r + 1; q < k; ++q) {
            double *__restrict below = A[q].p, share = row[q];
            for (Size c = q; c < k; ++c) below[c] -= share * row[c];
        }
    }
    return true;
}

// side <- (U'U)^-1 side.
MULTIVERSIONED inline void solve(Block U, Row side, Size k) {
    for (Size r = 0; r < k; ++r) {
        const double* __restrict row = U[r].p;
        double* __restrict rest = side.p;
        rest[r] /= row[r];
        double share = rest[r];
        for (Size c = r + 1; c < k; ++c) rest[c] -= share * row[c];
    }
    for (Size r = k - 1; r >= 0; --r) {
        const double* row = U[r].p;
        side[r] = (side[r] - dot(row + r + 1, side.p + r + 1, k - r - 1)) / row[r];
    }
}

}  // namespace noregret::cholesky
