// Gradient boosting on a window of rounds (Friedman 2001): trees grown leaf by leaf on histograms, each a
// Newton step for the loss of those before.
//
// A row has the gradient g and the curvature h of its loss; a leaf with sums G and H has the value
// -G/(H + RIDGE), and a cut gains
//
//     GL^2/(HL + RIDGE) + GR^2/(HR + RIDGE) - G^2/(H + RIDGE).
//
// Of labels the loss is the log loss: with p the probability so far, g = p - label and h = p (1 - p).  Of
// numbers it is half the square loss, g = score - y and h = 1, where y is measured from the window's mean in
// mean deviations, and counts at most BEYOND quartile ranges from the median.
// No random number, every sum in a fixed order: same window, same bits.
#pragma once

#include "vectors.hpp"

namespace noregret::boosting {

// Columns of `nodes`, one row per node; the first are the roots of the trees.
enum : int {
    FEATURE = 0,  // in which the node is cut; -1: a leaf
    CUT = 1,      // rows up to the cut go to LEFT, others to LEFT + 1
    LEFT = 2,
    VALUE = 3,    // of a leaf
    COLUMNS = 4,
};

constexpr Size FEWEST = 5, FIRST = 16;  // rows of a leaf and of the first trees, at least
constexpr Size BINS = 64, NEAR = 100;
constexpr double OFTEN = 8.0;  // rounds from one fit to the next, at least
constexpr double RIDGE = 1.0, LEAST = 1e-3, BEYOND = 20.0, SURE = 10.0;

// How many trees, each of how many leaves, on how many rows; made anew whenever `part` of them is new, and
// each by `step` of Newton's step.
struct Settings {
    Size trees, leaves, window;
    double part, step;
};

// What all trees say at x, together.
inline double say(Block nodes, Size trees, Row x) {
    double sum = 0.0;
    for (Size k = 0; k < trees && k < nodes.rows; ++k) {
        Size v = k;
        while (nodes(v, FEATURE) >= 0.0)
            v = Size(nodes(v, LEFT)) + (x[Size(nodes(v, FEATURE))] <= nodes(v, CUT) ? 0 : 1);
        sum += nodes(v, VALUE);
    }
    return sum;
}

// Whether these are trees: a child comes after all roots and after its parent.
inline bool sound(Block nodes, Size trees, Size n) {
    if (nodes.rows != 0 && nodes.rows < trees) return false;
    for (Size v = 0; v < nodes.rows; ++v) {
        double j = nodes(v, FEATURE), left = nodes(v, LEFT);
        if (j == -1.0) continue;
        bool whole = j == std::floor(j) && left == std::floor(left);
        if (!whole || j < 0.0 || j >= double(n)) return false;
        if (!(left >= double(trees) && left > double(v) && left + 1.0 < double(nodes.rows))) return false;
    }
    return true;
}

// Histograms of four features, side by side: bin after bin, of each feature its sums (g, ..., rows).
constexpr Size LANES = 4;

// By bin and feature what a cut behind it gains; 0 where a side would have too little.
template <Size WIDTH>
INLINE void gains(const double* bars, const double* all, double* to) {
    double left[LANES * WIDTH] = {}, G = all[0], H = all[1], rows = all[WIDTH - 1], worth = G * G / (H + RIDGE);
    for (Size b = 0; b < BINS; ++b) {
        for (Size k = 0; k < LANES * WIDTH; ++k) left[k] += bars[b * LANES * WIDTH + k];
        for (Size q = 0; q < LANES; ++q) {
            double g = left[q * WIDTH], h = left[q * WIDTH + 1], held = left[q * WIDTH + WIDTH - 1], rest = G - g;
            double gain = g * g / (h + RIDGE) + rest * rest / (H - h + RIDGE) - worth;
            bool few = (held < FEWEST) | (rows - held < FEWEST) | (h < LEAST) | (H - h < LEAST);
            to[b * LANES + q] = few ? 0.0 : gain;
        }
    }
}
MULTIVERSIONED inline void gains(const double* bars, Size width, const double* all, double* to) {
    width == 2 ? gains<2>(bars, all, to) : gains<3>(bars, all, to);
}

MULTIVERSIONED inline void subtract(double* from, const double* what, Size n) {
    for (Size k = 0; k < n; ++k) from[k] -= what[k];
}

// Labels, 1 and -1.
struct LogLoss {
    static constexpr Size WIDTH = 3;  // sums of g, h and rows

    explicit LogLoss(Row signs) : signs_(signs) {
        double positive = 0.5;
        for (Size i = 0; i < signs.n; ++i) positive += signs[i] > 0.0;
        begin = start = std::log(positive) - std::log(double(signs.n) + 1.0 - positive);
    }

    double begin, start, unit = 1.0;  // scores begin there; what is said is start + unit (score - begin)
    void slopes(const double* score, double* slope, double* curve) const {
        for (Size i = 0; i < signs_.n; ++i) {
            double p = 1.0 / (1.0 + std::exp(-score[i]));
            slope[i] = p - (signs_[i] > 0.0 ? 1.0 : 0.0);
            curve[i] = p * (1.0 - p);
        }
    }

  private:
    Row signs_;
};

// Numbers.
struct SquareLoss {
    static constexpr Size WIDTH = 2;  // sums of g, and of rows, which is that of h

    explicit SquareLoss(Row ys) : ys_(ys.p, ys.p + ys.n) {
        std::vector<double> sorted = ys_;
        std::sort(sorted.begin(), sorted.end());
        Size last = ys.n - 1;
        double middle = sorted[std::size_t(last / 2)];
        double range = sorted[std::size_t(3 * last / 4)] - sorted[std::size_t(last / 4)];
        double reach = range > 0.0 ? BEYOND * range : INF, sum = 0.0, far = 0.0;
        for (double& y : ys_) sum += y = larger(middle - reach, smaller(middle + reach, y));
        start = sum / double(ys.n);
        for (double& y : ys_) far += std::fabs(y -= start);
        unit = far > 0.0 ? far / double(ys.n) : 1.0;
        for (double& y : ys_) y /= unit;
    }

    double begin = 0.0, start, unit;
    void slopes(const double* score, double* slope, double*) const {
        for (std::size_t i = 0; i < ys_.size(); ++i) slope[i] = score[i] - ys_[i];
    }

  private:
    std::vector<double> ys_;
};

template <class Loss>
class Fit {
  public:
    Fit(Block xs, Row targets, Settings set)
        : set_(set), m_(xs.rows), n_(xs.cols), wide_((n_ + LANES - 1) / LANES * LANES), loss_(targets),
          bins_(std::size_t(m_ * wide_)), cuts_(std::size_t(n_)), order_(std::size_t(m_)), moved_(order_),
          score_(scratch(m_)), slope_(scratch(m_)), curve_(scratch(m_)),
          bars_(scratch(set.leaves * (wide_ / LANES) * BLOCK)) {
        for (Size j = 0; j < n_; ++j) quantise(xs, j);
    }

    std::vector<double> nodes() {
        for (double& s : score_) s = loss_.begin;
        nodes_.assign(std::size_t(set_.trees * COLUMNS), 0.0);
        for (Size k = 0; k < set_.trees; ++k) grow(k, k == 0 ? loss_.start : 0.0);
        return nodes_;
    }

  private:
    static constexpr Size WIDTH = Loss::WIDTH, BLOCK = BINS * LANES * WIDTH;
    struct Leaf {
        Size node, begin, end, feature = -1, bin = 0;
        double gain = 0.0;
        double all[WIDTH];
        double* bars = nullptr;  // of all features; of the first where nothing can be cut

        Size rows() const { return end - begin; }
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
        double places[BINS];  // by halves, without a branch
        for (Size b = 0; b < BINS; ++b) places[b] = b < Size(cuts.size()) ? cuts[std::size_t(b)] : INF;
        for (Size i = 0; i < m_; ++i) {
            Size bin = 0;
            for (Size half = BINS / 2; half > 0; half /= 2) bin += places[bin + half - 1] < xs(i, j) ? half : 0;
            bins_[std::size_t(i * wide_ + j)] = (unsigned char)bin;
        }
    }

    double* room(Size leaf) { return bars_.data() + leaf * (wide_ / LANES) * BLOCK; }

    void count(Leaf& leaf, Size features) {
        std::memset(leaf.bars, 0, std::size_t(features / LANES * BLOCK) * sizeof(double));
        for (Size r = leaf.begin; r < leaf.end; ++r) {
            std::size_t i = std::size_t(order_[std::size_t(r)]);
            double g = slope_[i], h = curve_[i];
            const unsigned char* bins = &bins_[i * std::size_t(wide_)];
            double* bars = leaf.bars;
            for (Size j = 0; j < features; j += LANES, bars += BLOCK)
                for (Size q = 0; q < LANES; ++q) {
                    double* bar = bars + (bins[j + q] * LANES + q) * WIDTH;
                    bar[0] += g;
                    if (WIDTH > 2) bar[1] += h;
                    bar[WIDTH - 1] += 1.0;
                }
        }
    }

    // The sums of a leaf and, where it may be cut, its best cut.
    void judge(Leaf& leaf, bool may) {
        leaf.gain = 0.0;
        for (Size k = 0; k < WIDTH; ++k) leaf.all[k] = 0.0;
        for (Size b = 0; b < BINS; ++b)
            for (Size k = 0; k < WIDTH; ++k) leaf.all[k] += leaf.bars[b * LANES * WIDTH + k];
        if (!may || leaf.rows() < 2 * FEWEST) return;
        double gain[BINS * LANES];
        for (Size j = 0; j < n_; j += LANES) {
            gains(leaf.bars + j / LANES * BLOCK, WIDTH, leaf.all, gain);
            if (!(vectors::largest({gain, BINS * LANES}) > leaf.gain + 1e-9)) continue;
            for (Size q = 0; q < LANES; ++q)
                for (Size b = 0; b < BINS; ++b)
                    if (gain[b * LANES + q] > leaf.gain + 1e-9)
                        leaf.gain = gain[b * LANES + q], leaf.feature = j + q, leaf.bin = b;
        }
    }

    void grow(Size root, double start) {
        for (Size i = 0; i < m_; ++i) order_[std::size_t(i)] = std::int32_t(i);
        loss_.slopes(score_.data(), slope_.data(), curve_.data());
        std::vector<Leaf> leaves(1);
        leaves[0].node = root, leaves[0].begin = 0, leaves[0].end = m_, leaves[0].bars = room(0);
        count(leaves[0], wide_), judge(leaves[0], true);
        while (Size(leaves.size()) < set_.leaves) {
            std::size_t best = 0;
            for (std::size_t l = 1; l < leaves.size(); ++l)
                if (leaves[l].gain > leaves[best].gain) best = l;
            if (leaves[best].gain <= 0.0) break;
            leaves.push_back(divide(leaves[best], room(Size(leaves.size()))));
        }
        for (const Leaf& leaf : leaves) {
            double value = -set_.step * leaf.all[0] / (leaf.all[1] + RIDGE);
            double* node = &nodes_[std::size_t(leaf.node * COLUMNS)];
            node[FEATURE] = -1.0, node[VALUE] = loss_.unit * value + start;
            for (Size r = leaf.begin; r < leaf.end; ++r) score_[std::size_t(order_[std::size_t(r)])] += value;
        }
    }

    // Cut a leaf: it becomes its left part, the right one is returned; there is room for one histogram more.
    Leaf divide(Leaf& leaf, double* room) {
        Size j = leaf.feature, v = Size(nodes_.size()) / COLUMNS;
        nodes_.resize(nodes_.size() + 2 * COLUMNS);
        double* node = &nodes_[std::size_t(leaf.node * COLUMNS)];
        node[FEATURE] = double(j), node[LEFT] = double(v);
        node[CUT] = cuts_[std::size_t(j)][std::size_t(leaf.bin)];
        std::int32_t *to = order_.data() + leaf.begin, *moved = moved_.data();
        for (Size r = leaf.begin; r < leaf.end; ++r) {  // in order, and without a branch
            std::int32_t i = order_[std::size_t(r)];
            bool stays = Size(bins_[std::size_t(i * wide_ + j)]) <= leaf.bin;
            *to = *moved = i;
            to += stays, moved += !stays;
        }
        std::copy(moved_.data(), moved, to);
        Leaf right;
        right.node = v + 1, right.begin = to - order_.data(), right.end = leaf.end;
        leaf.node = v, leaf.end = right.begin;
        bool less = leaf.rows() < right.rows();  // the smaller part is counted
        Leaf &small = less ? leaf : right, &large = less ? right : leaf;
        double* whole = leaf.bars;
        bool final = room == this->room(set_.leaves - 1) || large.rows() < 2 * FEWEST;
        Size features = final ? LANES : wide_;  // the first alone are enough for the leaf's own sums
        large.bars = whole, small.bars = room;
        count(small, features);
        subtract(large.bars, small.bars, features / LANES * BLOCK);
        judge(leaf, !final), judge(right, !final);
        return right;
    }

    Settings set_;
    Size m_, n_, wide_;  // rows; features, and those of whole blocks
    Loss loss_;
    std::vector<unsigned char> bins_;
    std::vector<std::vector<double>> cuts_;
    std::vector<std::int32_t> order_, moved_;
    std::vector<double> score_, slope_, curve_, bars_, nodes_;
};

// The trees of the last rounds, made anew whenever a part of the window is new.
class Booster {
  public:
    // Goes on from rows and targets, oldest first, trees, and how many rounds they have not seen.
    Booster(Settings set, bool labels, Size features, Block rows, Row targets, Block nodes, double since)
        : set_(set), labels_(labels), n_(features), rows_(rows.p, rows.p + rows.rows * rows.cols),
          targets_(targets.p, targets.p + targets.n), nodes_(nodes.p, nodes.p + nodes.rows * nodes.cols),
          since_(since) {}

    Size size() const { return std::min(Size(targets_.size()), set_.window); }
    Size features() const { return n_; }
    Block rows() { return {rows_.data() + older() * n_, size(), n_}; }
    Row targets() { return {targets_.data() + older(), size()}; }
    Block nodes() { return {nodes_.data(), Size(nodes_.size()) / COLUMNS, Size(COLUMNS)}; }
    double since() const { return since_; }

    // What the trees say; before the first the odds are even, and of numbers nothing is known.
    double look(Row x) {
        if (nodes_.empty()) return labels_ ? 0.0 : NaN;
        double said = say(nodes(), set_.trees, x);
        return labels_ ? said : near(said);
    }

    void learn(Row x, double target) {
        rows_.insert(rows_.end(), x.p, x.p + n_), targets_.push_back(target);
        since_ += 1.0;
        if (since_ < larger(OFTEN, set_.part * double(size()))) return;
        rows_.erase(rows_.begin(), rows_.begin() + older() * n_);
        targets_.erase(targets_.begin(), targets_.begin() + older());
        if (n_ == 0 || size() < FIRST) return;
        nodes_ = labels_ ? Fit<LogLoss>(rows(), targets(), set_).nodes()
                         : Fit<SquareLoss>(rows(), targets(), set_).nodes();
        since_ = 0.0;
    }

  private:
    // Trees may be sure of what they have hardly seen: no farther than SURE mean deviations from the median
    // of the last NEAR targets.
    double near(double said) const {
        double last[NEAR], apart;
        Size n = std::min(size(), NEAR);
        std::copy(targets_.end() - n, targets_.end(), last);
        double middle = vectors::median({last, n}, apart);
        return larger(middle - SURE * apart, smaller(middle + SURE * apart, said));
    }

    // Rows of before the window, which are let go when there is a fit.
    Size older() const { return Size(targets_.size()) - size(); }

    Settings set_;
    bool labels_;
    Size n_;
    std::vector<double> rows_, targets_, nodes_;
    double since_;
};

}  // namespace noregret::boosting
