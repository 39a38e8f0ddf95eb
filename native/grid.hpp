// Many linear cores that share their input: a stack of fixed ones, a stack of drifting ones.
//
// Core c speaks twice, as two experts: ridge clipped to the outcomes seen, then AAR.  `seen` is
// (smallest outcome, largest outcome, rounds).
#pragma once

#include "rounds.hpp"

namespace noregret::grid {

using namespace layout;

// Whether every entry is a number of at most this size.
inline bool within(Strided x, double limit) {
    for (Size j = 0; j < x.n; ++j)
        if (!(std::fabs(x[j]) <= limit)) return false;  // NaN too
    return true;
}

// A constant, then each feature in its unit; a unit of 0 is not known and counts as 1.
inline void measure(StridedBlock xs, Row scale, double constant, Block rows) {
    for (Size t = 0; t < xs.rows; ++t) {
        rows(t, 0) = constant;
        for (Size j = 0; j < xs.cols; ++j)
            rows(t, 1 + j) = scale[j] > 0.0 ? xs[t][j] / scale[j] : xs[t][j];
    }
}

// Put x where a core looks for it.
INLINE void place(Block work, Row x, double peak, double size) {
    for (Size k = 0; k < x.n; ++k) work(X, k) = x[k];
    work(AT, PEAK) = peak;
    work(AT, NORM) = size;
}

// What the two rules make of a look.
INLINE void speak(Block work, Row seen, Row said, Size c) {
    double mean = work(MEAN, 0), root = work(AT, ROOT);
    said[2 * c] = smaller(larger(mean, seen[0]), seen[1]);
    said[2 * c + 1] = mean / root / root;
}

// Every core looks at x and says two forecasts; OK, or OVERFLOWS if one does not fit.
inline int look(Cube fixed, Cube fixed_work, Cube moving, Cube moving_work, Row x, Row seen,
                Row said) {
    double peak = 0.0;
    for (Size k = 0; k < x.n; ++k) peak = larger(peak, std::fabs(x[k]));
    double size = norm(x, peak);
    Size C = fixed.depth;
    for (Size c = 0; c < C; ++c) {
        place(fixed_work[c], x, peak, size);
        if (primal::look(fixed[c], fixed_work[c]) != OK) return OVERFLOWS;
        speak(fixed_work[c], seen, said, c);
    }
    for (Size c = 0; c < moving.depth; ++c) {
        place(moving_work[c], x, peak, size);
        if (drift::look(moving[c], moving_work[c]) != OK) return OVERFLOWS;
        speak(moving_work[c], seen, said, C + c);
    }
    return OK;
}

// Every core learns y at the x that it looked at last, and books AAR's round.
inline void absorb(Cube fixed, Cube fixed_work, Cube moving, Cube moving_work, Cube ledgers,
                   Row seen, double y) {
    Size C = fixed.depth;
    for (Size c = 0; c < C; ++c) {
        fixed_work[c](Y, 0) = y;
        rounds::settle(fixed[c], fixed_work[c], ledgers[c]);
    }
    for (Size c = 0; c < moving.depth; ++c) {
        moving_work[c](Y, 0) = y;
        rounds::settle(moving[c], moving_work[c], ledgers[C + c]);
    }
    seen[0] = seen[2] == 0.0 ? y : smaller(seen[0], y);
    seen[1] = seen[2] == 0.0 ? y : larger(seen[1], y);
    seen[2] += 1.0;
}

// Look and absorb row by row; -1, or the first row that overflows.
inline Size replay(Cube fixed, Cube fixed_work, Cube moving, Cube moving_work, Cube ledgers,
                   Row seen, Block xs, Row ys, Block said) {
    for (Size t = 0; t < xs.rows; ++t) {
        if (look(fixed, fixed_work, moving, moving_work, xs[t], seen, said[t]) != OK) return t;
        absorb(fixed, fixed_work, moving, moving_work, ledgers, seen, ys[t]);
    }
    return -1;
}

}  // namespace noregret::grid
