// A pool of experts: weights in the log domain, mixed forecasts, and what a round costs.
//
// Expert j's weight is p_j exp(-eta u_j), p_j its prior and u_j its *excess*: its loss less that of
// the pool's mixture, in units of loss.  The weights add up to 1.  A round with losses l_j has
//
//     mix = -(1/eta) ln sum_j weight_j exp(-eta l_j),      u_j <- u_j + l_j - mix
//
// and the mixes add up to -(1/eta) ln sum_j p_j exp(-eta L_j).  When eta falls because the range of
// outcomes grew, the excesses stay: by Jensen, sum_j p_j exp(-eta u_j) <= 1 for the smaller eta, so
// normalising again only lowers them.  An expert that sleeps is charged the mix: its excess stays.
//
// Fixed Share moves a share s of all weight to the prior after each round,
// exp(-eta u_j) <- (1 - s) exp(-eta u_j) + s.  TRACK is the cheapest sequence of experts that ends
// in j, with what the theorem charges for it: (1/eta) ln(1/(1 - s + s p_j)) to stay,
// (1/eta) ln(1/(s p_i)) to leave i.  A share may fall: s_t = 1/(t + 1) after round t, where to stay
// is charged (1/eta) ln((t + 1)/t), so that ln T is all that staying ever costs.  docs/theory.md
// derives all of it.  A round may have a centre c that is known before its outcome: the range is then
// one of y - c, and everything else stays as it is.  Plain rounds have a shorter way,
// aggregating.hpp; pool.hpp says who takes which.
#pragma once

#include "ledger.hpp"
#include "vectors.hpp"

namespace noregret::mixing {

using vectors::exponentials;
using vectors::largest;
using vectors::place;
using vectors::smallest;

// Rows of `pool`, one column per expert.
enum : int {
    PRIOR = 0,   // ln p_j
    EXCESS = 1,  // u_j
    PAID = 2,    // loss so far, the pool's mix where j slept; next row: what rounding took from it
    TRACK = 4,   // the cheapest sequence that ends in j, price included
    COURSE = 5,  // the loss of that sequence alone
    TURNS = 6,   // how often it changed expert
    SAID = 7,    // forecasts of the round; NaN: asleep
    COST = 8,    // losses of the round
    MASS = 9,    // weights of the round, in units of the largest
    STAY = 10,   // ln(1 - s + s p_j); -1 where the share falls
    AWAKE = 11,  // ln p_j of those awake in the round, -infinity of the others
    POOL_ROWS = 12,
};

// Rows of `book`, two entries each.
enum : int {
    LOSS = 0,      // what the pool paid, compensated
    MIX = 1,       // sum of the mixes, compensated
    OVER = 2,      // by how much rounds outside the range cost more than their mix, compensated
    WORST = 3,     // largest (loss - mix) of a round inside the range in units of its size; the round
    SEEN = 4,      // smallest and largest outcome, less the centre of its round
    RANGE = 5,     // the outcomes that the next forecast is prepared for, less its centre
    WIDTH = 6,     // hi - lo that eta is made for, and whether it is learned
    RATE = 7,      // eta, and the share; FALLING: 1/(t + 1)
    ROUNDS = 8,    // how many, and how many of them outside the range
    GAME = 9,      // SUBSTITUTED, AVERAGED or LIKELIHOOD; and how much eta is of 1/width^2
    BEST = 10,     // the best sequence, price included; and its loss alone
    CHANGES = 11,  // how often it changed expert; and the first round outside the range
    REACH = 12,    // largest loss of any expert in a round; and what staying costs in units of STAY
    BOOK_ROWS = 13,
};

enum : int {
    SUBSTITUTED = 0,  // square loss, Aggregating Algorithm
    AVERAGED = 1,     // square loss, weighted mean
    LIKELIHOOD = 2,   // log loss: the mixture's loss is the mix itself
};

constexpr double FALLING = 1.0;    // in place of a share: s_t = 1/(t + 1) after round t
constexpr double NARROW = 1e-100;  // a narrower range is one point: 1/width^2 must fit in float64
constexpr double FINE = 0x1p-26;   // the least width in units of the centre

// Before all else in a round: tell who sleeps (SAID is NaN) and return how many are awake.
INLINE Size wake(Block pool) {
    Row said = pool[SAID], prior = pool[PRIOR], awake = pool[AWAKE];
    Size N = 0;
    for (Size j = 0; j < said.n; ++j) {
        bool speaks = said[j] == said[j];
        awake[j] = speaks ? prior[j] : -INF;
        said[j] = speaks ? said[j] : 0.0;
        N += speaks;
    }
    return N;
}

// Who of those awake has the least excess, this round's loss included where charged; or -1.
//
// An expert whose loss was infinite has no weight left and does not count.
INLINE Size leader(Block pool, double charged) {
    Row excess = pool[EXCESS], cost = pool[COST], awake = pool[AWAKE], mass = pool[MASS];
    for (Size j = 0; j < mass.n; ++j) {
        double held = charged == 0.0 ? excess[j] : excess[j] + charged * cost[j];
        mass[j] = awake[j] > -INF ? held : INF;
    }
    double least = smallest(mass);
    return least < INF ? place(mass, least) : -1;
}

// ln sum of p_j exp(-eta (u_j + l_j - u_r - l_r)) over those awake; l if charged.
//
// MASS keeps each exponential in units of the largest.
INLINE double log_sum(Block pool, double eta, Size r, double charged) {
    Row excess = pool[EXCESS], cost = pool[COST], awake = pool[AWAKE], mass = pool[MASS];
    double u0 = excess[r], l0 = cost[r];
    if (charged == 0.0)
        for (Size j = 0; j < mass.n; ++j) mass[j] = awake[j] - eta * (excess[j] - u0);
    else
        for (Size j = 0; j < mass.n; ++j)
            mass[j] = awake[j] - eta * ((excess[j] - u0) + charged * (cost[j] - l0));
    double top = largest(mass);
    return top + std::log(exponentials(mass, top));
}

// The weighted mean of those awake, about the leader's forecast, so that agreement is exact.
INLINE double average(Block pool, Block book) {
    double eta = book(RATE, 0);
    Row said = pool[SAID], mass = pool[MASS];
    Size r = leader(pool, 0.0);
    if (r < 0) return NaN;
    log_sum(pool, eta < INF ? eta : 0.0, r, 0.0);
    double off = 0.0, weight = 0.0;
    for (Size j = 0; j < mass.n; ++j) {
        weight += mass[j];
        off += mass[j] * (said[j] - said[r]);
    }
    return said[r] + off / weight;
}

// The forecast g with (y - g)^2 <= mix for every y in [lo, hi] (Vovk 1990, 2001).
//
// With g0 = said_r, d_j = said_j - g0 and E(y) = ln sum_j weight_j exp(eta d_j (2(y - g0) - d_j)),
// g = g0 + (E(hi) - E(lo))/(2 eta (hi - lo)): where all agree, g is what they say.  Of k outcomes with
// the same weights, each is forecast at the rate k eta (docs/theory.md (23.5)).
INLINE double substitute(Block pool, Block book, double c, double k) {
    Size N = pool.cols;
    double eta = book(RATE, 0), rate = k * eta, lo = book(RANGE, 0), hi = book(RANGE, 1);
    Row excess = pool[EXCESS], said = pool[SAID], awake = pool[AWAKE];
    Row low = pool[COST], high = pool[MASS];
    double middle = 0.5 * lo + 0.5 * hi;
    for (Size j = 0; j < N; ++j) {
        double off = middle - (said[j] - c), merit = excess[j] / k + off * off;
        high[j] = awake[j] > -INF ? merit : INF;
    }
    double best = smallest(high);
    if (!(best < INF)) return INF;
    Size r = place(high, best);  // the expert that matters most, so that nothing large cancels
    double g0 = said[r], p0 = awake[r], u0 = excess[r];
    for (Size j = 0; j < N; ++j) {  // d (2(y - g0) - d) = d ((lo + hi) - (g0 + said_j)) +- d (hi - lo)
        double d = said[j] - g0;
        double weight = (awake[j] - p0) - eta * (excess[j] - u0);
        double base = weight + rate * (d * ((lo + hi) - ((g0 - c) + (said[j] - c))));
        double tilt = rate * (d * (hi - lo));
        high[j] = base + tilt;
        low[j] = base - tilt;
    }
    double top = largest(high), bottom = largest(low);
    double above = exponentials(high, top), below = exponentials(low, bottom);
    double lean = (top - bottom) + (std::log(above) - std::log(below));
    return g0 + lean / (2.0 * rate * (hi - lo));
}

// The pool's forecast, after `wake`; NaN where nobody awake has any weight.
INLINE double careful_forecast(Block pool, Block book, double c, double k = 1.0) {
    double eta = book(RATE, 0);
    if (book(GAME, 0) != SUBSTITUTED || (book(ROUNDS, 0) == 0.0 && eta == INF))
        return average(pool, book);
    if (eta < INF) {
        double g = substitute(pool, book, c, k);
        return std::fabs(g) < INF ? g : NaN;
    }
    Size r = leader(pool, 0.0);
    if (r < 0) return NaN;
    double agreed = pool(SAID, r);  // the range is one point: that, unless all agree on another
    for (Size j = 0; j < pool.cols; ++j)
        if (pool(AWAKE, j) > -INF && pool(SAID, j) != pool(SAID, r)) agreed = c + book(RANGE, 0);
    return agreed;
}

// Move the excesses by the round's losses; return the mix.
INLINE double absorb(Block pool, Block book, Size asleep) {
    double eta = book(RATE, 0);
    Row excess = pool[EXCESS], cost = pool[COST], awake = pool[AWAKE];
    Size r = leader(pool, 1.0);
    double before = 0.0, left = 0.0;
    if (asleep > 0 || eta == INF) {  // weights are relative to those awake
        Size r0 = leader(pool, 0.0);
        before = excess[r0];
        if (eta < INF) left = -log_sum(pool, eta, r0, 0.0) / eta;
    }
    if (eta < INF) left += log_sum(pool, eta, r, 1.0) / eta;  // else all weight is with the least
    double u0 = excess[r], l0 = cost[r];
    for (Size j = 0; j < excess.n; ++j) {
        double moved = (excess[j] - u0) + (cost[j] - l0) + (before + left);
        excess[j] = awake[j] > -INF ? moved : excess[j];
    }
    return (u0 - before) + l0 - left;
}

// What staying after this round is charged, in units of STAY/eta.
INLINE double stay_units(Block book) {
    return book(RATE, 1) == FALLING ? std::log1p(1.0 / (book(ROUNDS, 0) + 1.0)) : 1.0;
}

// Fixed Share, and the best sequence of experts with its price.
INLINE void share(Block pool, Block book) {
    Size N = pool.cols;
    double eta = book(RATE, 0), units = stay_units(book);
    double s = book(RATE, 1) == FALLING ? 1.0 / (book(ROUNDS, 0) + 2.0) : book(RATE, 1);
    Row prior = pool[PRIOR], excess = pool[EXCESS], track = pool[TRACK], cost = pool[COST];
    Row mass = pool[MASS], course = pool[COURSE], turns = pool[TURNS], staying = pool[STAY];
    for (Size j = 0; j < N; ++j) {
        track[j] += cost[j];
        course[j] += cost[j];
        mass[j] = track[j] - prior[j] / eta;
    }
    double best = smallest(mass);
    Size r = place(mass, best);
    book(BEST, 0) = best, book(BEST, 1) = course[r], book(CHANGES, 0) = turns[r];
    book(REACH, 1) += units / eta;
    double arrive = best - std::log(s) / eta, behind = course[r], changes = turns[r] + 1.0;
    for (Size j = 0; j < N; ++j) {
        double stay = track[j] - staying[j] * units / eta;
        bool moves = arrive < stay;
        track[j] = moves ? arrive : stay;
        course[j] = moves ? behind : course[j];
        turns[j] = moves ? changes : turns[j];
    }
    if (eta == INF) {
        for (Size j = 0; j < N; ++j) excess[j] = 0.0;
        return;
    }
    for (Size j = 0; j < N; ++j) mass[j] = -eta * excess[j];
    exponentials(mass, 0.0);
    for (Size j = 0; j < N; ++j) excess[j] = -std::log((1.0 - s) * mass[j] + s) / eta;
}

// Make the weights of all experts, asleep or not, add up to 1 at a new eta.
inline void normalise(Block pool, double eta) {
    double top = -INF, total = 0.0;
    Row prior = pool[PRIOR], excess = pool[EXCESS];
    for (Size j = 0; j < pool.cols; ++j) top = larger(top, prior[j] - eta * excess[j]);
    for (Size j = 0; j < pool.cols; ++j) total += std::exp(prior[j] - eta * excess[j] - top);
    for (Size j = 0; j < pool.cols; ++j) excess[j] += (top + std::log(total)) / eta;
}

// Learn the range: the outcomes of a round less their centre, from `low` to `high`, as wide as 2^k times
// the first width, and no narrower than what rounding of forecasts as large as the centre needs.
INLINE void widen(Block pool, Block book, double low, double high, double centre) {
    bool first = book(ROUNDS, 0) == 0.0;
    double least = FINE * std::fabs(centre);
    double lo = first ? low : smaller(low, book(SEEN, 0));
    double hi = first ? high : larger(high, book(SEEN, 1));
    book(SEEN, 0) = lo, book(SEEN, 1) = hi;
    if (book(WIDTH, 1) == 0.0) return;
    double width = book(WIDTH, 0);
    if (width == 0.0 && hi - lo >= NARROW) width = larger(hi - lo, least);
    while (width < larger(hi - lo, least) && width > 0.0) width *= 2.0;
    double middle = 0.5 * lo + 0.5 * hi;
    book(RANGE, 0) = smaller(lo, middle - 0.5 * width);
    book(RANGE, 1) = larger(hi, middle + 0.5 * width);
    if (width != book(WIDTH, 0)) {
        double before = book(RATE, 0);
        book(WIDTH, 0) = width;
        book(RATE, 0) = book(GAME, 1) / (width * width);
        if (book(RATE, 1) > 0.0)  // the round that widened is charged at the new eta
            book(REACH, 1) += stay_units(book) * (1.0 / book(RATE, 0) - 1.0 / before);
        normalise(pool, book(RATE, 0));
    }
}

// Add the round's losses up, those who slept pay the mix; return the largest of the others.
INLINE double pay(Block pool, double mix) {
    Row cost = pool[COST], awake = pool[AWAKE], paid = pool[PAID], lost = pool[PAID + 1];
    double most = 0.0;
    for (Size j = 0; j < cost.n; ++j) most = larger(awake[j] > -INF ? cost[j] : 0.0, most);
    for (Size j = 0; j < cost.n; ++j) {
        double l = awake[j] > -INF ? cost[j] : mix;
        cost[j] = l;
        double held = paid[j] + l, added = held - paid[j];
        double slip = (paid[j] - (held - added)) + (l - added);
        lost[j] += held < INF ? slip : 0.0;  // of an infinite sum nothing is kept
        paid[j] = held;
    }
    return most;
}

// Whether y is one that the forecast was prepared for.
INLINE bool prepared(Block book, double y, double c) {
    return book(GAME, 0) == LIKELIHOOD ||
           (book(RANGE, 0) <= y - c && y - c <= book(RANGE, 1) && book(RATE, 0) < INF);
}
// What rounding of g may cost.
INLINE double rounded(double y, double g) {
    return 4.5e-16 * std::fabs(y - g) * larger(std::fabs(y), std::fabs(g));
}

// Book what the pool's forecast cost, and the mix.
INLINE void post(Block book, bool inside, double rounded, double loss, double mix) {
    if (inside) {
        double size = larger(larger(loss, std::fabs(mix)), 1.0 / book(RATE, 0));
        double worst = (loss - mix - rounded) / size;
        if (worst > book(WORST, 0) || book(WORST, 1) == 0.0)
            book(WORST, 0) = worst, book(WORST, 1) = book(ROUNDS, 0) + 1.0;
    } else {
        ledger::add(book, OVER, larger(loss - mix, 0.0));
        book(ROUNDS, 1) += 1.0;
        if (book(CHANGES, 1) == 0.0) book(CHANGES, 1) = book(ROUNDS, 0) + 1.0;
    }
    ledger::add(book, LOSS, loss);
    ledger::add(book, MIX, mix);
}

// Learn that the forecast g, made from SAID, met y; return what it cost.
//
// Of a likelihood game the caller has put the losses into COST.
MULTIVERSIONED inline double careful_settle(Block pool, Block book, double y, double g, Size asleep,
                                            double c) {
    bool likelihood = book(GAME, 0) == LIKELIHOOD;
    if (!likelihood) {
        Row said = pool[SAID], cost = pool[COST];
        for (Size j = 0; j < said.n; ++j) cost[j] = (y - said[j]) * (y - said[j]);
    }
    double mix = absorb(pool, book, asleep);
    double loss = likelihood ? mix : (y - g) * (y - g);
    book(REACH, 0) = larger(book(REACH, 0), pay(pool, mix));
    post(book, prepared(book, y, c), rounded(y, g), loss, mix);
    if (book(RATE, 1) > 0.0) share(pool, book);
    widen(pool, book, y - c, y - c, c);
    book(ROUNDS, 0) += 1.0;
    return loss;
}

}  // namespace noregret::mixing
