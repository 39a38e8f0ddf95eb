// The hint h that AAR forecasts around, known before y: the middle of LOW and HIGH in `work`.
//
//     AROUND     LOW = HIGH = the number that was given
//     LAST       LOW = HIGH = the outcome of the round before
//     MIDRANGE   LOW and HIGH are the least and the largest outcome so far
//
// Before the first outcome LAST and MIDRANGE have nothing to go by, and h = 0.
#pragma once

#include "layout.hpp"

namespace noregret::hint {

using namespace layout;

// The hint for outcome k; where LOW = HIGH it is that number to the last bit.
INLINE double of(const Block& work, Size k) {
    return work(LOW, k) + 0.5 * (work(HIGH, k) - work(LOW, k));
}

// Take in the m outcomes that lie in `work`; `first` says that none came before.
INLINE void learn(const Block& work, Size m, bool first) {
    int rule = int(work(AT, RULE));
    if (rule <= AROUND) return;
    bool alone = first || rule == LAST;
    for (Size k = 0; k < m; ++k) {
        double y = work(Y, k);
        work(LOW, k) = alone ? y : smaller(work(LOW, k), y);
        work(HIGH, k) = alone ? y : larger(work(HIGH, k), y);
    }
}

}  // namespace noregret::hint
