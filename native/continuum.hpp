// Layer two of K-LMS-NET: clipped outputs of many widths merged by exponential weights.
//
// `cells` has one row per quantity and one column per node: the prior in the log domain, and what
// the node has paid as a compensated sum.  `finer` is the same for the nodes of two audits, whose
// outputs are `lift` times those of the nodes.  `said`, `heard` (the audits') and `at` are scratch:
// the last look at x.  `book` has one row per sum.
#pragma once

#include "layout.hpp"
#include "ledger.hpp"
#include "lms.hpp"

namespace noregret::continuum {

using vectors::exponentials;

// Rows of `cells`.
enum : int {
    PRIOR = 0,  // ln w_j
    PAID = 1,   // (2 rows) sum of (y - clip(p_j))^2, and its compensation
    CELLS = 3,
};

// Rows of `said`.
enum : int {
    RAW = 0,  // p_j
    CLIPPED = 1,
    WEIGHT = 2,  // scratch
    LOGS = 3,    // scratch
    SAID = 4,
};

// Entries of `at`; then x.
enum : int {
    FRESH = 0,
    MATCH = 1,     // which pattern x is, -1 if it is new
    FORECAST = 2,  // of the last round learned
    AT = 3,
};

// Rows of `book`.
enum : int {
    RANGE = 0,     // lo, hi
    GAME = 1,      // c: what a nat costs; 1.0 if forecasts are substituted rather than averaged
    RATE = 2,      // eta; how many patterns are kept, 0 for all
    LOSS = 3,
    MIX = 4,       // sum of -c ln sum_j v_j exp(-loss_j/c)
    WORST = 5,     // largest (loss - mix)/c of a round, and which
    ERROR = 6,     // largest distance between forecast and each of the two audits
    COUNTS = 7,    // rounds, patterns kept
    BOX = 8,       // smallest and largest entry of any x
    PEAK = 9,      // largest k(x, x); patterns forgotten
    BUDGETS = 10,  // L-hat and H-hat, 0 where there are none
    BOOK = 11,
};

// What a round answers.
enum : int {
    OK = 0,
    OUTSIDE = 1,  // y is not in the range
    FULL = 2,     // no room for one more pattern
    WIDTH = 3,    // wrong number of features
    LIMIT = 4,    // some feature is not a number within 2^1000
};

// said[WEIGHT] <- weights up to a factor; return the log of their sum.  LOGS keeps the logs.
MULTIVERSIONED inline double weigh(Block cells, Block book, Block said) {
    Size J = cells.cols, best = 0;
    double c = book(GAME, 0);
    Row held = cells[PAID], slips = cells[PAID + 1], prior = cells[PRIOR];
    for (Size j = 1; j < J; ++j)
        if (held[j] + slips[j] < held[best] + slips[best]) best = j;
    Row logs = said[LOGS], weight = said[WEIGHT];
    double paid = held[best], rest = slips[best];
    for (Size j = 0; j < J; ++j) {
        double over = (held[j] - paid) + (slips[j] - rest);
        logs[j] = prior[j] - over / c;
    }
    double top = vectors::largest(logs);
    for (Size j = 0; j < J; ++j) {
        logs[j] -= top;
        weight[j] = larger(logs[j], -800.0);
    }
    return std::log(exponentials(weight, 0.0));
}

// -c ln sum_j v_j exp(-(y - clip(p_j))^2/c), given the log of the sum of the weights.
MULTIVERSIONED inline double mixed(Block book, Block said, double y, double total) {
    double c = book(GAME, 0);
    Row logs = said[LOGS], weight = said[WEIGHT], clipped = said[CLIPPED];
    for (Size j = 0; j < logs.n; ++j)
        weight[j] = logs[j] - (y - clipped[j]) * (y - clipped[j]) / c;
    double top = vectors::largest(weight);
    for (Size j = 0; j < logs.n; ++j) weight[j] = larger(weight[j] - top, -800.0);
    return -c * (std::log(exponentials(weight, 0.0)) + top - total);
}

// (2), or the Aggregating Algorithm's substitution, for the weights that `weigh` left.
inline double merged(Block book, Block said, double total) {
    double low = book(RANGE, 0), high = book(RANGE, 1);
    if (book(GAME, 1) == 1.0) {
        double low_mix = mixed(book, said, low, total), high_mix = mixed(book, said, high, total);
        return 0.5 * (low + high) + (low_mix - high_mix) / (2.0 * (high - low));
    }
    double above = 0.0, below = 0.0;
    for (Size j = 0; j < said.cols; ++j) {
        above += said(WEIGHT, j) * (said(CLIPPED, j) - low);
        below += said(WEIGHT, j);
    }
    return low + above / below;
}

// Layer one's outputs within the range.
inline void clip(Block book, Block said) {
    for (Size j = 0; j < said.cols; ++j)
        said(CLIPPED, j) = smaller(larger(said(RAW, j), book(RANGE, 0)), book(RANGE, 1));
}

// Every node pays (y - clip(p_j))^2.
inline void charge(Block cells, Block said, double y) {
    for (Size j = 0; j < cells.cols; ++j) {
        double held = cells(PAID, j), off = y - said(CLIPPED, j), term = off * off;
        double grown = held + term;
        cells(PAID, j) = grown;
        cells(PAID + 1, j) += held >= term ? (held - grown) + term : (term - grown) + held;
    }
}

// out = lift raw.
MULTIVERSIONED inline void product(Block lift, Row raw, Row out) {
    for (Size i = 0; i < out.n; ++i) out[i] = dot(lift[i].p, raw.p, raw.n);
}

// How far the forecast is from the audits', whose nodes then pay too.
inline void audit(Cube finer, Block book, Block said, Cube heard, Cube lift, double y, double g) {
    for (Size a = 0; a < finer.depth; ++a) {
        Block cells = finer[a], words = heard[a];
        product(lift[a], said[RAW], words[RAW]);
        clip(book, words);
        double off = std::fabs(merged(book, words, weigh(cells, book, words)) - g);
        charge(cells, words, y);
        book(ERROR, a) = larger(book(ERROR, a), off);
    }
}

// Forecast from said[RAW], then charge everybody for y; return the forecast.
inline double settle(Block cells, Cube finer, Block book, Block said, Cube heard, Cube lift,
                     double y) {
    clip(book, said);
    double c = book(GAME, 0), total = weigh(cells, book, said);
    double g = merged(book, said, total), mix = mixed(book, said, y, total);
    audit(finer, book, said, heard, lift, y, g);
    double loss = (y - g) * (y - g), t = book(COUNTS, 0) + 1.0;
    ledger::add(book, LOSS, loss);
    ledger::add(book, MIX, mix);
    if (t == 1.0 || (loss - mix) / c > book(WORST, 0))
        book(WORST, 0) = (loss - mix) / c, book(WORST, 1) = t;
    book(COUNTS, 0) = t;
    charge(cells, said, y);
    return g;
}

// Round by round, from outputs of layer one that are known already, one row per round.
inline void settle_all(Block cells, Cube finer, Block book, Block said, Cube heard, Cube lift,
                       Block raws, Row ys, Row forecasts) {
    for (Size t = 0; t < ys.n; ++t) {
        for (Size j = 0; j < raws.cols; ++j) said(RAW, j) = raws(t, j);
        forecasts[t] = settle(cells, finer, book, said, heard, lift, ys[t]);
    }
}

// All that a net is made of.
struct Net {
    Cube points, coefs;
    Block facts, cells;
    Cube finer;
    Block book, rates;
    Whole levels;
    Block work, said;
    Cube heard, lift;
    Row at;

    // The x looked at last.
    Row seen() const { return {at.p + AT, points.rows}; }
};

// Layer one's outputs at x; those of the last look where x is the same.
template <class Vector>
INLINE int look(const Net& net, Vector x) {
    Size n = net.points.rows;
    Row at = net.at, old = at.from(AT);
    if (x.n != n) return WIDTH;
    bool same = at[FRESH] == 1.0;
    for (Size i = 0; i < n; ++i) {
        if (!(std::fabs(x[i]) <= layout::LARGEST_FEATURE)) return LIMIT;
        same = same && old[i] == x[i];
    }
    if (same) return OK;
    at[FRESH] = 0.0;
    for (Size i = 0; i < n; ++i) old[i] = x[i] + 0.0;  // -0.0 is 0.0
    Size size = Size(net.book(COUNTS, 1));
    at[MATCH] = double(lms::outputs(net.points, net.coefs, size, {old.p, n}, net.rates, net.levels,
                                    net.work, net.said[RAW]));
    at[FRESH] = 1.0;
    return OK;
}

// The forecast at x; NaN where x needs a closer look.
template <class Vector>
INLINE double predict(const Net& net, Vector x) {
    if (look(net, x) != OK) return NaN;
    clip(net.book, net.said);
    return merged(net.book, net.said, weigh(net.cells, net.book, net.said));
}

INLINE bool inside(const Net& net, double y) {
    return net.book(RANGE, 0) <= y && y <= net.book(RANGE, 1);
}

// Whether there is room for the x looked at.
INLINE bool room(const Net& net) {
    double size = net.book(COUNTS, 1), window = net.book(RATE, 1);
    bool free = size < double(net.facts.rows) || (0.0 < window && window <= size);
    return free || net.at[MATCH] >= 0.0;
}

// Whether y can be learned at the x looked at.
inline bool takes(const Net& net, double y) { return inside(net, y) && room(net); }

// One round; every check comes before the first write.
template <class Vector>
INLINE int learn(const Net& net, Vector x, double y) {
    Block book = net.book;
    if (!inside(net, y)) return OUTSIDE;
    int answer = look(net, x);
    if (answer != OK) return answer;
    if (!room(net)) return FULL;
    Size size = Size(book(COUNTS, 1)), window = Size(book(RATE, 1)), slot = Size(net.at[MATCH]);
    bool known = slot >= 0;
    if (!known) slot = 0 < window && window <= size ? lms::oldest(net.facts, size) : size;
    net.at[FRESH] = 0.0;
    book(PEAK, 0) = 1.0;
    net.at[FORECAST] = settle(net.cells, net.finer, book, net.said, net.heard, net.lift, y);
    if (!known) book(slot == size ? COUNTS : PEAK, 1) += 1.0;
    Row old = net.seen();
    lms::keep(net.points, net.coefs, net.facts, slot, known, old, net.said[RAW], y, book(RATE, 0));
    net.facts(slot, lms::LAST) = book(COUNTS, 0);
    for (Size i = 0; i < old.n; ++i) {
        bool first = book(COUNTS, 0) == 1.0 && i == 0;
        book(BOX, 0) = first ? old[i] : smaller(book(BOX, 0), old[i]);
        book(BOX, 1) = first ? old[i] : larger(book(BOX, 1), old[i]);
    }
    return OK;
}

// Predict-then-learn over rows that are known to be good; how many went before it was full.
inline Size replay(const Net& net, Block xs, Row ys, Row forecasts) {
    for (Size t = 0; t < ys.n; ++t) {
        if (learn(net, xs[t], ys[t]) != OK) return t;
        forecasts[t] = net.at[FORECAST];
    }
    return ys.n;
}

}  // namespace noregret::continuum
