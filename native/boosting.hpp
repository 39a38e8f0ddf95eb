// Gradient boosting for labels on a window of rounds (Friedman 2001): trees grown leaf by leaf on
// histograms, each a Newton step for the log loss of those before.
//
// With p the probability so far, a row has the gradient g = p - label and the curvature h = p (1 - p);
// a leaf with sums G and H has the value -G/(H + RIDGE), and a cut gains
//
//     GL^2/(HL + RIDGE) + GR^2/(HR + RIDGE) - G^2/(H + RIDGE).
//
// No random number, every sum in a fixed order: same window, same bits.
#pragma once

#include <algorithm>

#include "arrays.hpp"

namespace noregret::boosting {

// Columns of `nodes`, one row per node; rows 0 to TREES - 1 are the roots.
enum : int {
    FEATURE = 0,  // in which the node is cut; -1: a leaf
    CUT = 1,      // rows up to the cut go to LEFT, others to LEFT + 1
    LEFT = 2,
    VALUE = 3,    // of a leaf
    COLUMNS = 4,
};

constexpr Size TREES = 100, LEAVES = 24, BINS = 64, FEWEST = 5;
constexpr Size WINDOW = 4096, FIRST = 16;  // rows that are kept; with fewer no tree is grown
constexpr double OFTEN = 8.0, PART = 0.1;  // rounds from one fit to the next, at least
constexpr double STEP = 0.1, RIDGE = 1.0, LEAST = 1e-3;

// ln of the odds at x by all trees.
inline double log_odds(Block nodes, Row x) {
    double sum = 0.0;
    for (Size k = 0; k < TREES && k < nodes.rows; ++k) {
        Size v = k;
        while (nodes(v, FEATURE) >= 0.0)
            v = Size(nodes(v, LEFT)) + (x[Size(nodes(v, FEATURE))] <= nodes(v, CUT) ? 0 : 1);
        sum += nodes(v, VALUE);
    }
    return sum;
}

// Whether these are trees: a child comes after all roots and after its parent.
inline bool sound(Block nodes, Size n) {
    if (nodes.rows != 0 && nodes.rows < TREES) return false;
    for (Size v = 0; v < nodes.rows; ++v) {
        double j = nodes(v, FEATURE), left = nodes(v, LEFT);
        if (j == -1.0) continue;
        bool whole = j == std::floor(j) && left == std::floor(left);
        if (!whole || j < 0.0 || j >= double(n)) return false;
        if (!(left >= double(TREES) && left > double(v) && left + 1.0 < double(nodes.rows))) return false;
    }
    return true;
}

class Fit {
  public:
    Fit(Block xs, Row signs)
        : m_(xs.rows), n_(xs.cols), bins_(std::size_t(m_ * n_)), cuts_(std::size_t(n_)), order_(std::size_t(m_)),
          score_(scratch(m_)), slope_(scratch(m_)), curve_(scratch(m_)), signs_(signs.p) {
        for (Size j = 0; j < n_; ++j) quantise(xs, j);
    }

    std::vector<double> nodes() {
        double positive = 0.5;
        for (Size i = 0; i < m_; ++i) positive += signs_[i] > 0.0;
        double start = std::log(positive) - std::log(double(m_) + 1.0 - positive);
        for (double& s : score_) s = start;
        nodes_.assign(std::size_t(TREES * COLUMNS), 0.0);
        for (Size k = 0; k < TREES; ++k) grow(k, k == 0 ? start : 0.0);
        return nodes_;
    }

  private:
    struct Sums {
        double g = 0.0, h = 0.0, rows = 0.0;
        void add(const Sums& s, double sign) { g += sign * s.g, h += sign * s.h, rows += sign * s.rows; }
        double worth() const { return g * g / (h + RIDGE); }
    };
    struct Leaf {
        Size node, begin, end, feature = -1, bin = 0;
        double gain = 0.0;
        Sums all;
        std::vector<Sums> bars;  // n by BINS
    };

    // Cut a feature at up to BINS - 1 of its values, as many rows between them as may be.
    void quantise(Block xs, Size j) {
        std::vector<double> sorted;
        for (Size i = 0; i < m_; ++i) sorted.push_back(xs(i, j));
        std::sort(sorted.begin(), sorted.end());
        std::vector<double>& cuts = cuts_[std::size_t(j)];
        for (Size b = 1; b < BINS; ++b) {
            Size at = b * m_ / BINS;
            if (at == 0) continue;
            double low = sorted[std::size_t(at - 1)];
            auto next = std::upper_bound(sorted.begin() + at, sorted.end(), low);
            if (next == sorted.end() || (!cuts.empty() && low <= cuts.back())) continue;
            double cut = low + 0.5 * (*next - low);
            cuts.push_back(cut < *next ? cut : low);
        }
        for (Size i = 0; i < m_; ++i)
            bins_[std::size_t(i * n_ + j)] = (unsigned char)(std::lower_bound(cuts.begin(), cuts.end(), xs(i, j)) - cuts.begin());
    }

    void count(Leaf& leaf) {
        leaf.bars.assign(std::size_t(n_ * BINS), Sums{});
        for (Size r = leaf.begin; r < leaf.end; ++r) {
            Size i = order_[std::size_t(r)];
            double g = slope_[std::size_t(i)], h = curve_[std::size_t(i)];
            const unsigned char* bins = &bins_[std::size_t(i * n_)];
            Sums* bars = leaf.bars.data();
            for (Size j = 0; j < n_; ++j, bars += BINS) {
                Sums& bar = bars[bins[j]];
                bar.g += g, bar.h += h, bar.rows += 1.0;
            }
        }
    }

    // The best cut of a leaf.
    void judge(Leaf& leaf) {
        leaf.all = Sums{};
        for (Size b = 0; b < BINS; ++b) leaf.all.add(leaf.bars[std::size_t(b)], 1.0);
        leaf.gain = 0.0;
        for (Size j = 0; j < n_; ++j) {
            Sums left;
            Size last = Size(cuts_[std::size_t(j)].size());
            for (Size b = 0; b < last; ++b) {
                left.add(leaf.bars[std::size_t(j * BINS + b)], 1.0);
                Sums right = leaf.all;
                right.add(left, -1.0);
                if (left.rows < FEWEST || right.rows < FEWEST || left.h < LEAST || right.h < LEAST) continue;
                double gain = left.worth() + right.worth() - leaf.all.worth();
                if (gain > leaf.gain + 1e-9) leaf.gain = gain, leaf.feature = j, leaf.bin = b;
            }
        }
    }

    void grow(Size root, double start) {
        for (Size i = 0; i < m_; ++i) {
            double p = 1.0 / (1.0 + std::exp(-score_[std::size_t(i)]));
            order_[std::size_t(i)] = i;
            slope_[std::size_t(i)] = p - (signs_[i] > 0.0 ? 1.0 : 0.0);
            curve_[std::size_t(i)] = p * (1.0 - p);
        }
        std::vector<Leaf> leaves(1);
        leaves[0].node = root, leaves[0].begin = 0, leaves[0].end = m_;
        count(leaves[0]), judge(leaves[0]);
        while (Size(leaves.size()) < LEAVES) {
            std::size_t best = 0;
            for (std::size_t l = 1; l < leaves.size(); ++l)
                if (leaves[l].gain > leaves[best].gain) best = l;
            if (leaves[best].gain <= 0.0) break;
            leaves.push_back(divide(leaves[best]));
        }
        for (const Leaf& leaf : leaves) {
            double value = -STEP * leaf.all.g / (leaf.all.h + RIDGE);
            double* node = &nodes_[std::size_t(leaf.node * COLUMNS)];
            node[FEATURE] = -1.0, node[VALUE] = value + start;
            for (Size r = leaf.begin; r < leaf.end; ++r) score_[std::size_t(order_[std::size_t(r)])] += value;
        }
    }

    // Cut a leaf: it becomes its left part, the right one is returned.
    Leaf divide(Leaf& leaf) {
        Size j = leaf.feature, v = Size(nodes_.size()) / COLUMNS;
        nodes_.resize(nodes_.size() + 2 * COLUMNS);
        double* node = &nodes_[std::size_t(leaf.node * COLUMNS)];
        node[FEATURE] = double(j), node[LEFT] = double(v);
        node[CUT] = cuts_[std::size_t(j)][std::size_t(leaf.bin)];
        auto middle = std::stable_partition(order_.begin() + leaf.begin, order_.begin() + leaf.end, [&](Size i) {
            return Size(bins_[std::size_t(i * n_ + j)]) <= leaf.bin;
        });
        Leaf right;
        right.node = v + 1, right.begin = middle - order_.begin(), right.end = leaf.end;
        leaf.node = v, leaf.end = right.begin;
        bool less = leaf.end - leaf.begin < right.end - right.begin;  // the smaller part is counted
        std::vector<Sums> whole = std::move(leaf.bars);
        Leaf &small = less ? leaf : right, &large = less ? right : leaf;
        count(small);
        large.bars = std::move(whole);
        for (std::size_t b = 0; b < large.bars.size(); ++b) large.bars[b].add(small.bars[b], -1.0);
        judge(leaf), judge(right);
        return right;
    }

    Size m_, n_;
    std::vector<unsigned char> bins_;
    std::vector<std::vector<double>> cuts_;
    std::vector<Size> order_;
    std::vector<double> score_, slope_, curve_, nodes_;
    const double* signs_;
};

// The trees of the last rounds, made anew whenever the window has grown, or changed, by a tenth.
class Booster {
  public:
    // Goes on from rows and signs, oldest first, trees, and how many rounds they have not seen.
    Booster(Size features, Block rows, Row signs, Block nodes, double since)
        : n_(features), rows_(rows.p, rows.p + rows.rows * rows.cols), signs_(signs.p, signs.p + signs.n),
          nodes_(nodes.p, nodes.p + nodes.rows * nodes.cols), since_(since) {}

    Size size() const { return Size(signs_.size()); }
    Block rows() { return {rows_.data(), size(), n_}; }
    Row signs() { return {signs_.data(), size()}; }
    Block nodes() { return {nodes_.data(), Size(nodes_.size()) / COLUMNS, Size(COLUMNS)}; }
    double since() const { return since_; }

    double look(Row x) { return log_odds(nodes(), x); }

    void learn(Row x, double sign) {
        if (size() == WINDOW) {
            std::rotate(rows_.begin(), rows_.begin() + n_, rows_.end());
            std::rotate(signs_.begin(), signs_.begin() + 1, signs_.end());
            rows_.resize(rows_.size() - std::size_t(n_)), signs_.pop_back();
        }
        rows_.insert(rows_.end(), x.p, x.p + n_), signs_.push_back(sign);
        since_ += 1.0;
        if (size() < FIRST || since_ < larger(OFTEN, PART * double(size()))) return;
        nodes_ = Fit(rows(), signs()).nodes();
        since_ = 0.0;
    }

  private:
    Size n_;
    std::vector<double> rows_, signs_, nodes_;
    double since_;
};

}  // namespace noregret::boosting
