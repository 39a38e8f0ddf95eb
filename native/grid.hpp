// Many linear cores that share their input: a stack of fixed ones, a stack of drifting ones.
//
// Core c speaks twice, as two experts: ridge clipped to the outcomes seen, then AAR.  `seen` is
// (smallest outcome, largest outcome, rounds).  `clips` has three compensated sums per core:
// what the clipped forecasts paid, (hi - lo)^2 (1 - 1/d) with the range then seen, and by how much
// rounds beyond that range cost more than this and e^2/d.
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
MULTIVERSIONED inline int look(Cube fixed, Cube fixed_work, Cube moving, Cube moving_work, Row x,
                               Row seen, Row said) {
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

// Book what the clipped forecast of a look may cost more than e^2/d.
INLINE void charge(Block work, Block clip, Row seen, double y) {
    double mean = work(MEAN, 0), shrunk = 1.0 / work(AT, ROOT);
    double g = smaller(larger(mean, seen[0]), seen[1]), e = (y - mean) * shrunk;
    double width = seen[1] - seen[0], price = width * width * (1.0 - shrunk * shrunk);
    ledger::add(clip, 0, (y - g) * (y - g));
    ledger::add(clip, 1, price);
    if (y < seen[0] || y > seen[1])
        ledger::add(clip, 2, larger((y - g) * (y - g) - e * e - price, 0.0));
}

// Every core learns y at the x that it looked at last, and books AAR's round and the clipped one.
MULTIVERSIONED inline void absorb(Cube fixed, Cube fixed_work, Cube moving, Cube moving_work,
                                  Cube ledgers, Cube clips, Row seen, double y) {
    Size C = fixed.depth;
    for (Size c = 0; c < C; ++c) charge(fixed_work[c], clips[c], seen, y);
    for (Size c = 0; c < moving.depth; ++c) charge(moving_work[c], clips[C + c], seen, y);
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
                   Cube clips, Row seen, Block xs, Row ys, Block said) {
    for (Size t = 0; t < xs.rows; ++t) {
        if (look(fixed, fixed_work, moving, moving_work, xs[t], seen, said[t]) != OK) return t;
        absorb(fixed, fixed_work, moving, moving_work, ledgers, clips, seen, ys[t]);
    }
    return -1;
}

// Row by row where outcomes come late: the last rows of xs are looked at, one for each row of said;
// after each, the cores learn the row delay - 1 before it, if it has an outcome (NaN: none).  -1, or
// the first row that overflows.
inline Size late(Cube fixed, Cube fixed_work, Cube moving, Cube moving_work, Cube ledgers,
                 Cube clips, Row seen, Block xs, Row ys, Size delay, Block said, Row scratch) {
    Size first = xs.rows - said.rows;
    for (Size t = 0; t < said.rows; ++t) {
        Size past = first + t - delay + 1;
        if (look(fixed, fixed_work, moving, moving_work, xs[first + t], seen, said[t]) != OK)
            return first + t;
        if (past < 0 || std::isnan(ys[past])) continue;
        if (delay > 1 && look(fixed, fixed_work, moving, moving_work, xs[past], seen, scratch) != OK)
            return past;
        absorb(fixed, fixed_work, moving, moving_work, ledgers, clips, seen, ys[past]);
    }
    return -1;
}

}  // namespace noregret::grid
