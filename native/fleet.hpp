// Many Gaussian learners of one plan, one per slot: each round is that of rounds.hpp, bit for bit.
//
// The state of a learner is [factor | ledger | ROOTED, PASSED].  Most of it never differs from a new
// learner's: half of a triangle is 0, a learner that was not merged has no JOINT.  So a slot keeps
// only the runs of numbers that can differ, and a round lays them out over a copy of a new state,
// learns, and gathers them again.  Where two places always hold the same (LOSS and SQUARE of a rule
// that pays the square loss), both are runs from one place of the slot.
//
// Four rows of different keys that follow each other in a call are learned abreast, see abreast.hpp.
//
// Learners of other kinds have their own rounds and arrays, see desks.hpp.
//
// Threads share the slots by 64s; all rounds of a key are those of one thread, in their order.
#pragma once

#include <atomic>
#include <thread>
#include <vector>

#include "abreast.hpp"

namespace noregret::fleet {

using namespace layout;

constexpr Size BLOCK = 1024;     // slots whose numbers lie together
constexpr Size ALONE = 2048;     // so few rows are not worth a second thread
constexpr Size AHEAD = 16;       // rows whose slots are asked for before their turn
enum : int { PREDICT = 0, LEARN = 1 };

// `length` numbers at `at` of the slot stand at `to` of the state.
struct Run {
    Size at, to, length;
};

// Runs are short: a call of memcpy would take longer than the copy.
INLINE void copy(double* to, const double* from, Size n) {
    auto* source = const_cast<double*>(from);
    Size k = 0;
    for (; k + 4 <= n; k += 4) pieces::four(to + k) = pieces::four(source + k);
    switch (n - k) {
        case 3: to[k + 2] = from[k + 2]; [[fallthrough]];
        case 2: to[k + 1] = from[k + 1]; [[fallthrough]];
        case 1: to[k] = from[k];
    }
}

struct Plan {
    Size n;  // features, the constant one included
    bool drifts;
    int rule;
    double level, drift, prior_var;
    Size offset;
};

// One learner laid out, and scratch.
class Desk {
  public:
    Desk(const Plan& plan, const std::vector<double>& fresh)
        : fresh_(fresh), state_(fresh), room_(scratch((ROWS + plan.n) * width(plan))) {
        Size n = plan.n;
        factor = plan.drifts ? Block{state_.data(), n + 1, n} : Block{state_.data(), n, n + 1};
        ledger = {state_.data() + n * (n + 1), OUTCOMES + 1, 2};
        last_ = state_.data() + n * (n + 1) + 2 * (OUTCOMES + 1);
        work = {room_.data(), ROWS + n, width(plan)};
        Row at = work[AT];
        at[OFFSET] = double(plan.offset), at[RULE] = plan.rule, at[LEVEL] = plan.level;
        at[CEILING] = LARGEST_FEATURE, at[DRIFT] = plan.drift;
    }
    Desk(const Desk&) = delete;  // blocks point into its own arrays

    void lay(const double* slot, const std::vector<Run>& runs) {
        if (slot)
            for (const Run& r : runs)
                copy(state_.data() + r.to, slot + r.at, r.length);
        else
            state_ = fresh_;
        Row at = work[AT];
        at[FRESH] = 0.0, at[ROOTED] = last_[0], at[PASSED] = last_[1];
    }

    void gather(double* slot, const std::vector<Run>& runs) {
        last_[0] = work(AT, ROOTED), last_[1] = work(AT, PASSED);
        for (const Run& r : runs) copy(slot + r.at, state_.data() + r.to, r.length);
    }

    Block factor, ledger, work;

  private:
    static Size width(const Plan& plan) { return plan.n + 1 > SCALARS ? plan.n + 1 : Size(SCALARS); }
    const std::vector<double>& fresh_;
    std::vector<double> state_, room_;
    double* last_;
};

// Where slots lie, whatever is in them.
struct Store {
    Size wide;  // numbers per slot; the last is when it learned, by the fleet's clock
    std::vector<double*> blocks;

    double* slot(Size s) const { return blocks[std::size_t(s / BLOCK)] + (s % BLOCK) * wide; }
};

// The rows of one thread, each asked for before its turn.
class Queue {
  public:
    Queue(const Store& all, Whole where, Size mine, Size threads)
        : all_(all), where_(where), mine_(mine), threads_(threads) {
        for (Size k = 0; k < AHEAD; ++k) draw();
    }

    // The next rows, up to four, of different keys; how many.
    Size take(Size* rows) {
        Size count = 0;
        for (; count < abreast::LANES && taken_ < drawn_; ++count) {
            Size t = held_[taken_ % AHEAD];
            for (Size k = 0; k < count; ++k)
                if (where_[rows[k]] == where_[t]) return count;
            rows[count] = t;
            ++taken_;
            draw();
        }
        return count;
    }

  private:
    void draw() {
        while (next_ < where_.n && threads_ > 1 && shared(where_[next_]) != mine_) ++next_;
        if (next_ == where_.n) return;
        held_[drawn_++ % AHEAD] = next_;
        std::int64_t s = where_[next_++];
        if (s < 0) return;
        const char* p = reinterpret_cast<const char*>(all_.slot(s));
        for (Size k = 0; k < all_.wide * Size(sizeof(double)); k += 64) __builtin_prefetch(p + k, 1);
    }
    Size shared(std::int64_t slot) const { return Size(slot >= 0 ? (slot >> 6) % threads_ : 0); }

    const Store& all_;
    Whole where_;
    Size mine_, threads_, next_ = 0, drawn_ = 0, taken_ = 0, held_[AHEAD];
};

// Every row, shared out to threads: `worker(k)` makes what thread k works with, which takes some
// rows of different keys at a time and says how many it could do.
//
// -1, or the first row that could not be done: rows before it, of other keys also after it, are.
template <class Worker>
Size in_threads(const Store& all, Whole where, Size threads, Worker worker) {
    if (where.n < ALONE) threads = 1;
    std::atomic<Size> failed{where.n};
    auto work = [&](Size mine) {
        auto one = worker(mine);
        Queue queue(all, where, mine, threads);
        Size rows[abreast::LANES];
        while (Size count = queue.take(rows)) {
            if (rows[0] > failed.load(std::memory_order_relaxed)) return;
            Size done = one(rows, count);
            if (done == count) continue;
            Size t = rows[done], before = failed.load();
            while (t < before && !failed.compare_exchange_weak(before, t)) {}
            return;
        }
    };
    std::vector<std::thread> others;
    for (Size k = 1; k < threads; ++k) others.emplace_back(work, k);
    work(0);
    for (std::thread& other : others) other.join();
    return failed < where.n ? failed.load() : -1;
}

// Slots of Gaussian learners.
class Slots : public Store {
  public:
    Plan plan;
    std::vector<double> fresh;  // the state of a learner that has learned nothing
    std::vector<Run> runs;

    // Make a slot that of a new learner.
    void clear(Size s) const {
        for (const Run& r : runs) copy(slot(s) + r.at, fresh.data() + r.to, r.length);
    }

    // A round of every row, or a forecast; `beyond` is the length of what is new in a row, if anything.
    // What it gives back: see in_threads.  A row fails that does not fit in float64.
    Size run(int what, Whole where, Block xs, Row ys, Row beyond, Row forecasts, double now,
             Size threads) const {
        return in_threads(*this, where, threads, [&](Size) {
            return [&, desk = Desk(plan, fresh), four = bench()](const Size* rows, Size count) mutable {
                if (count == abreast::LANES && four.n && !beyond.n &&
                    together(four, what, where, rows, xs, ys, forecasts, now))
                    return count;
                for (Size k = 0; k < count; ++k) {
                    Size t = rows[k];
                    if (!one(desk, what, where[t], xs[t], what == LEARN ? ys[t] : 0.0,
                             beyond.n ? beyond[t] : 0.0, now, forecasts[t]))
                        return k;
                }
                return count;
            };
        });
    }

  private:
    // A bench for this plan; without features, if its rounds do not go abreast.
    abreast::Bench bench() const {
        abreast::Bench b{};
        Size n = plan.n;
        if (plan.rule > BAYES || n >= abreast::MOST) return b;
        for (Size& place : b.places) place = -1;
        for (const Run& r : runs)
            for (Size k = 0, to = r.to - n * (n + 1); k < r.length; ++k, ++to) {
                if (to < 0 && k == 0) b.starts.push_back(r.at);  // a row of the factor
                if (to >= 0 && to < 2 * (OUTCOMES + 1)) b.places[to] = r.at + k;
                if (to == 2 * (OUTCOMES + 1)) b.rooted = r.at + k;
            }
        b.n = n, b.wide = wide, b.offset = plan.offset, b.drifts = plan.drifts, b.drift = plan.drift;
        b.rule = plan.rule, b.level = plan.level;
        if (b.rule == BAYES) b.unit = 0.5 * std::log(rules::TWO_PI * plan.level);
        b.held = scratch(abreast::LANES * wide);
        for (std::vector<double>* room : {&b.x, &b.u, &b.v, &b.grown, &b.shrunk})
            *room = scratch(abreast::LANES * (n + 1));
        return b;
    }

    bool together(abreast::Bench& four, int what, Whole where, const Size* rows, Block xs, Row ys, Row forecasts,
                  double now) const {
        double *slots[abreast::LANES], *x[abreast::LANES], y[abreast::LANES], said[abreast::LANES];
        for (Size q = 0; q < abreast::LANES; ++q) {
            if (where[rows[q]] < 0) return false;
            slots[q] = slot(where[rows[q]]), x[q] = xs[rows[q]].p;
            if (what == LEARN) y[q] = ys[rows[q]];
        }
        if (!abreast::round(four, slots, x, what == LEARN ? y : nullptr, now, said)) return false;
        for (Size q = 0; q < abreast::LANES; ++q) forecasts[rows[q]] = said[q];
        return true;
    }

    bool one(Desk& desk, int what, std::int64_t s, Row x, double y, double beyond, double now,
             double& forecast) const {
        double* held = s < 0 ? nullptr : slot(s);
        desk.lay(held, runs);
        forecast = rounds::predict(desk.factor, desk.work, x);
        if (forecast != forecast) return false;
        Row at = desk.work[AT];
        if (beyond > 0.0) {
            at[ROOT] = std::hypot(at[ROOT], beyond * std::sqrt(plan.prior_var + plan.drift * at[PASSED]));
            if (!std::isfinite(at[ROOT])) return false;
            forecast = rules::forecast(desk.work, 0);
        }
        if (what == PREDICT) return true;
        desk.work(Y, 0) = y;
        rounds::measure_and_settle(desk.factor, desk.work, desk.ledger);
        desk.gather(held, runs);
        held[wide - 1] = now;
        return true;
    }
};

}  // namespace noregret::fleet
