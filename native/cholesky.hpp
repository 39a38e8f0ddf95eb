// Small dense triangles in place: U'U = A by rows, and solving with it.
#pragma once

#include "pieces.hpp"

namespace noregret::cholesky {

// The upper triangle of the first k rows and columns becomes U; false where a pivot is not a
// positive number.  ln det goes to `log_det`, if it is asked for.  What stands below the diagonal
// is lost: rows begin with a whole piece.
MULTIVERSIONED inline bool factor(const Block& A, Size k, double* log_det = nullptr) {
    if (log_det) *log_det = 0.0;
    Size lead = pieces::lead(k);
    for (Size r = 0; r < k; ++r) {
        double* row = A[r].p;
        double pivot = row[r];
        if (!(0.0 < pivot && pivot < INF)) return false;
        if (log_det) *log_det += std::log(pivot);
        double shrunk = 1.0 / std::sqrt(pivot);
        pieces::scale(row, shrunk, r, k, lead);
        for (Size q = r + 1; q < k; ++q) pieces::eliminate(A[q].p, row, row[q], q, k, lead);
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
