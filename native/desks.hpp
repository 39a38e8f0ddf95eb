// Many learners of any kind whose states have one size, one per slot.
//
// Each thread has a desk: one state, as Python has made it, and its compiled rounds.  A round lays the
// numbers of a slot over the desk's arrays, learns there, and gathers them again; so it is the round of
// a learner by itself, bit for bit.  What a slot does not keep is scratch, or the same in all states.
#pragma once

#include "fleet.hpp"
#include "one_by_one.hpp"

namespace noregret::fleet {

// `length` numbers at `at` of the slot stand at `to` of an array of the state.
struct Piece {
    Size at, array, to, length;
};

class Desks : public Store {
  public:
    struct State {
        Rounds* rounds;
        std::vector<double*> arrays;
    };

    std::vector<double> fresh;  // the slot of a learner that has learned nothing
    std::vector<Piece> pieces;
    std::vector<State> states;  // one per thread

    void clear(Size s) const { std::memcpy(slot(s), fresh.data(), std::size_t(wide) * sizeof(double)); }

    // A round of every row, or a forecast, and where `ends` has columns the ends about it.  See in_threads
    // for what it gives back; a row fails that the rounds would not take.
    Size run(int what, Whole where, Block xs, Row ys, Row forecasts, Block ends, double now) const {
        return in_threads(*this, where, Size(states.size()), [&](Size thread) {
            const State& desk = states[std::size_t(thread)];
            return [&, this](const Size* rows, Size count) {
                for (Size k = 0; k < count; ++k) {
                    Size t = rows[k];
                    double* held = where[t] < 0 ? nullptr : slot(where[t]);
                    lay(desk, held ? held : fresh.data());
                    double g = forecasts[t] = desk.rounds->look_row(xs[t]);
                    if (g != g) return k;
                    if (ends.cols) desk.rounds->issue(ends[t]);
                    if (what == PREDICT) continue;
                    if (!desk.rounds->takes(ys[t])) return k;
                    desk.rounds->settle(ys[t]);
                    gather(desk, held);
                    held[wide - 1] = now;
                }
                return count;
            };
        });
    }

  private:
    void lay(const State& desk, const double* slot) const {
        for (const Piece& p : pieces) copy(desk.arrays[std::size_t(p.array)] + p.to, slot + p.at, p.length);
        desk.rounds->forget();
    }

    void gather(const State& desk, double* slot) const {
        for (const Piece& p : pieces) copy(slot + p.at, desk.arrays[std::size_t(p.array)] + p.to, p.length);
    }
};

}  // namespace noregret::fleet
