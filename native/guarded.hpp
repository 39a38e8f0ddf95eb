// A pool of rules behind the Aggregating Algorithm, docs/theory.md section 23.2.
//
// The outermost pool (mixing.hpp) has N + 1 experts: the N that were given and, last, what the pool of
// rules makes of them.  What is proved of the outermost one holds whatever that last expert says.  A
// range that is learned is one of y less the median of the forecasts awake: the centre is known before y,
// and no single expert can move it far.
//
// k outcomes of a round share all weights.  With the rate eta = 2/(k W^2) for their added losses,
// Hoelder's inequality says
//
//     -(1/eta) ln sum_j w_j exp(-eta sum_i l_ji) >= sum_i -(1/(k eta)) ln sum_j w_j exp(-k eta l_ji)   (23.5)
//
// and each term on the right is at least what the substitution at the rate k eta = 2/W^2 costs.
#pragma once

#include <algorithm>

#include "pool.hpp"
#include "rule_pool.hpp"

namespace noregret::guarded {

using namespace mixing;

class Guarded {
  public:
    Guarded(Block pool, Block book, double* memory, Size outcomes)
        : rules(memory, pool.cols - 1, outcomes), pool_(pool), book_(book),
          lanes_(aggregating::lanes_for(pool)), own_(scratch(outcomes)), centre_(scratch(outcomes)) {}

    rule_pool::Rules rules;

    // The forecast from what the experts say, N x k (NaN: asleep); false: all sleep.
    bool forecast(Block said, Row g) {
        if (!listen(said)) return false;
        for (Size i = 0; i < rules.k; ++i) {
            put(i);
            g[i] = rules.k == 1 ? wake_and_forecast(pool_, book_, &awake_, lanes_.data(), centre_[0])
                                : one_of_several(i);
        }
        return true;
    }

    // Forecast, then learn; the loss, or NaN where all sleep.
    double learn(Block said, Row y, Row g) {
        if (!listen(said)) return NaN;
        double loss = rules.k == 1 ? one(y[0], g[0]) : several(y, g);
        rules.learn(said, own(), y);
        return loss;
    }

    // The experts' weights in the forecast just made, the rules' part shared out among them: they add
    // up to 1, some may be negative.
    void weights(Block said, Row to) {
        Size N = rules.N;
        auto outer = scratch(N + 1), each = scratch(N);
        listen(said);
        put(0);
        wake(pool_);
        shares(pool_, book_, {outer.data(), N + 1});
        rules.weights(to, {each.data(), N});
        for (Size j = 0; j < N; ++j) to[j] = outer[std::size_t(N)] * to[j] + outer[std::size_t(j)];
    }

  private:
    Row own() { return {own_.data(), rules.k}; }

    // The rules speak, and the centre is known; 0 where the range was given.
    bool listen(Block said) {
        if (!rules.forecast(said, own())) return false;
        for (Size i = 0; i < rules.k && book_(WIDTH, 1) != 0.0; ++i) centre_[std::size_t(i)] = median(i);
        return true;
    }
    double median(Size i) {
        sorted_.clear();
        for (Size j = 0; j < rules.N; ++j)
            if (rules.awake[j] > 0.0) sorted_.push_back(rules.words(j, i));
        auto middle = sorted_.begin() + Size(sorted_.size() / 2);
        std::nth_element(sorted_.begin(), middle, sorted_.end());
        if (sorted_.size() % 2 == 1) return *middle;
        return 0.5 * *middle + 0.5 * *std::max_element(sorted_.begin(), middle);
    }

    // Outcome i is spoken of.
    void put(Size i) {
        for (Size j = 0; j < rules.N; ++j)
            pool_(SAID, j) = rules.awake[j] > 0.0 ? rules.words(j, i) : NaN;
        pool_(SAID, rules.N) = own_[std::size_t(i)];
    }
    double one_of_several(Size i) {
        awake_ = wake(pool_);
        return careful_forecast(pool_, book_, centre_[std::size_t(i)], double(rules.k));
    }

    double one(double y, double& g) {
        double c = centre_[0], loss;
        put(0);
        Block said{pool_[SAID].p, 1, pool_.cols};
        if (aggregating::playable(book_) &&
            aggregating::rounds(pool_, book_, said, {&y, 1}, {&g, 1}, {&loss, 1}, 0, c, lanes_.data()))
            return loss;
        g = wake_and_forecast(pool_, book_, &awake_, lanes_.data(), c);
        return settle(pool_, book_, y, g, pool_.cols - awake_, lanes_.data(), c);
    }

    double several(Row y, Row g) {
        double loss = 0.0, room = 0.0, low = INF, high = -INF, far = 0.0;
        bool inside = true;
        for (Size i = 0; i < y.n; ++i) {
            put(i);
            g[i] = one_of_several(i);
            loss += (y[i] - g[i]) * (y[i] - g[i]);
            room += rounded(y[i], g[i]);
            double c = centre_[std::size_t(i)];
            inside = inside && prepared(book_, y[i], c);
            low = smaller(y[i] - c, low), high = larger(y[i] - c, high), far = larger(std::fabs(c), far);
        }
        for (Size j = 0; j < rules.N; ++j) pool_(COST, j) = adaptive::square_loss(rules.words[j], y);
        pool_(COST, rules.N) = adaptive::square_loss(own(), y);
        double mix = absorb(pool_, book_, pool_.cols - awake_);
        book_(REACH, 0) = larger(book_(REACH, 0), pay(pool_, mix));
        post(book_, inside, room, loss, mix);
        if (book_(RATE, 1) > 0.0) share(pool_, book_);
        widen(pool_, book_, low, high, far);
        book_(ROUNDS, 0) += 1.0;
        return loss;
    }

    Block pool_, book_;
    std::vector<double> lanes_, own_, centre_, sorted_;
    Size awake_ = 0;
};

// Every row: forecast, then learn; -1, or the first row where all sleep.  `weights` has rows where
// they are wanted.
inline Size replay(Block pool, Block book, Row memory, Cube said, Block ys, Block forecasts, Row losses,
                   Block weights) {
    Guarded guarded(pool, book, memory.p, ys.cols);
    for (Size t = 0; t < said.depth; ++t) {
        if (weights.rows > 0 && guarded.forecast(said[t], forecasts[t]))
            guarded.weights(said[t], weights[t]);
        losses[t] = guarded.learn(said[t], ys[t], forecasts[t]);
        if (losses[t] != losses[t]) return t;
    }
    return -1;
}

}  // namespace noregret::guarded
