// A forest of Mondrian trees for labels: every node counts its labels, all prunings of a tree are
// mixed under log loss (prunings.hpp, eta = 1), and the forecast is the mean over the trees.
//
// A node that has seen k positive labels of m says (k + a q)/(m + a): a Beta prior of weight a about
// q, which is 1/2 at a root, and for a new leaf what the node beside it says then.  A node that is put
// above another has a copy of its counts, for they have had the same inputs.
//
// Splits prefer features that told the labels apart: with D_j the distance of the two class means so
// far in standard deviations, the rate of feature j is EVEN + (1 - EVEN) n D_j^3/sum D^3, n features
// having varied.  Trees then depend on past labels, never on the label of the round; the accounts hold
// for any growth.
//
// `look` writes nothing but scratch; `settle` learns the round that was looked at.
#pragma once

#include "account.hpp"
#include "prunings.hpp"

namespace noregret::counting {

using namespace mondrian;

// Columns of `nodes` beyond those of mondrian.hpp up to PAID.
enum : int { YES = PAID + 2, NO, START, COUNTS };  // labels seen; q
// Rows of `book` beyond those of account.hpp up to ROUNDS.
enum : int { MIX = account::ROUNDS + 1, BOOK_ROWS };  // mean over the trees of -ln of the mix
// Rows of `units`: the first x, and sums about it: of positive rounds, of the others, of squares.
enum : int { ORIGIN = 0, POSITIVE = 1, NEGATIVE = 2, SQUARES = 3, UNIT_ROWS = 4 };

constexpr double EVEN = 0.05;
constexpr double LARGEST = 1e100;  // of a feature: squares then add up within float64

struct Settings {
    Size features, trees;
    Size cap;         // nodes of all trees together
    double strength;  // a
    double rate;      // lam: what a tree's time costs
    std::uint64_t seed;
};

// The two probabilities of a round: neither is 1 minus the other, so that none is lost to rounding.
struct Chances {
    double yes = 0.0, no = 0.0;
    double of(bool label) const { return label ? yes : no; }
    void add(double weight, const Chances& c) { yes += weight * c.yes, no += weight * c.no; }
};

class Counts {
  public:
    Counts(Settings settings, Block nodes, Block boxes, Block units, Block book)
        : set_(settings), nodes_(nodes.p, nodes.p + nodes.rows * nodes.cols),
          boxes_(boxes.p, boxes.p + boxes.rows * boxes.cols),
          units_(units.p, units.p + units.rows * units.cols), book_(book.p, book.p + BOOK_ROWS * 2),
          walks_(std::size_t(set_.trees)), levels_(walks_.size()), x_(scratch(set_.features)),
          sides_(x_), beyond_(x_), weights_(x_) {}

    Size size() const { return Size(nodes_.size()) / COUNTS; }
    Block nodes() { return {nodes_.data(), size(), Size(COUNTS)}; }
    Block boxes() { return {boxes_.data(), size(), 2 * set_.features}; }
    Block units() { return {units_.data(), Size(UNIT_ROWS), set_.features}; }
    Block book() { return {book_.data(), Size(BOOK_ROWS), 2}; }
    Chances chances() const { return said_; }

    // The probability of the positive label at x; NaN where x does not fit.
    double look(Row x) {
        if (fresh_ && !std::memcmp(x.p, x_.data(), x_.size() * sizeof(double))) return said_.yes;
        fresh_ = false;
        for (Size j = 0; j < x.n; ++j) {
            if (!(std::fabs(x[j]) <= LARGEST)) return NaN;  // NaN too
            x_[std::size_t(j)] = x[j];
        }
        weigh();
        said_ = {};
        for (Size k = 0; k < set_.trees; ++k) said_.add(1.0 / double(set_.trees), look_in(k));
        fresh_ = true;
        return said_.yes;
    }

    static bool takes(double y) { return y == 0.0 || y == 1.0; }

    // Learn that the x looked at last had this label, 1 or 0; what the forecast cost.
    double settle(double y) {
        make_room();
        bool label = y > 0.0;
        if (size() == 0) begin();
        double mix = 0.0, loss = -std::log(said_.of(label)), miss = said_.of(!label);
        for (Size k = 0; k < set_.trees; ++k) mix += settle_in(k, label);
        for (Size j = 0; j < set_.features; ++j) {
            double off = x_[std::size_t(j)] - units()(ORIGIN, j);
            units()(label ? POSITIVE : NEGATIVE, j) += off;
            units()(SQUARES, j) += off * off;
        }
        ledger::add(book(), account::LOSS, loss);
        ledger::add(book(), account::BRIER, miss * miss);
        ledger::add(book(), MIX, mix / double(set_.trees));
        book()(account::ROUNDS, 0) += 1.0;
        book()(account::ROUNDS, 1) += label;
        fresh_ = false;
        return loss;
    }

    // The mean over the trees.
    prunings::Reckoned reckoned() {
        prunings::Reckoned mean{};
        for (Size k = 0; k < set_.trees && size() > 0; ++k)
            mean.add(prunings::reckoned(nodes(), k, 1.0, set_.rate, counted));
        for (double* part : {&mean.potential, &mean.price, &mean.course, &mean.linear, &mean.fit})
            *part /= double(set_.trees);
        return mean;
    }

  private:
    // One node of a path in the round that was looked at.
    struct Level {
        Chances said, mixed;  // by itself, and with all below it
        prunings::Posterior weights;
    };

    // What a node has lost, and what the best constant would have: m times the entropy of k/m.
    static prunings::Lost counted(Row node) {
        double paid = node[PAID] + node[PAID + 1], m = node[YES] + node[NO], fit = 0.0;
        for (double k : {node[YES], node[NO]})
            if (k > 0.0) fit -= k * std::log(k / m);
        return {paid, fit, paid};
    }

    Row x() { return {x_.data(), set_.features}; }

    // The rates of features.
    void weigh() {
        double yes = book()(account::ROUNDS, 1), all = book()(account::ROUNDS, 0);
        double total = 0.0, varied = 0.0;
        for (Size j = 0; j < set_.features; ++j) {
            double mean = (units()(POSITIVE, j) + units()(NEGATIVE, j)) / larger(all, 1.0);
            double spread = units()(SQUARES, j) / larger(all, 1.0) - mean * mean;
            double apart = units()(POSITIVE, j) / (yes + 1.0) - units()(NEGATIVE, j) / (all - yes + 1.0);
            bool varies = spread > 1e-14 * mean * mean;
            double D = varies ? std::fabs(apart) / std::sqrt(spread) : 0.0;
            varied += varies;
            total += weights_[std::size_t(j)] = D * D * D;
        }
        double scale = total > 0.0 ? (1.0 - EVEN) * varied / total : 0.0;
        for (double& w : weights_) w = total > 0.0 ? EVEN + scale * w : 1.0;
    }

    Chances say(Row node) const {
        double all = node[YES] + node[NO] + set_.strength;
        return {(node[YES] + set_.strength * node[START]) / all,
                (node[NO] + set_.strength * (1.0 - node[START])) / all};
    }

    // Everybody on the path of tree k speaks; what all prunings say together.
    Chances look_in(Size k) {
        Walk& walk = walks_[std::size_t(k)];
        std::vector<Level>& levels = levels_[std::size_t(k)];
        walk.path.clear(), levels.clear(), walk.splits = false;
        walk.path.reserve(std::size_t(DEEPEST + 2)), levels.reserve(std::size_t(DEEPEST + 2));
        if (size() == 0) {
            levels.push_back({{0.5, 0.5}, {0.5, 0.5}, {}});
            return levels[0].mixed;
        }
        Dice dice(set_.seed, std::uint64_t(k), std::uint64_t(book()(account::ROUNDS, 0)));
        bool room = size() + 2 * set_.trees <= set_.cap;
        descend(nodes(), boxes(), k, x(), room, dice, {sides_.data(), set_.features},
                {beyond_.data(), set_.features}, walk, {weights_.data(), set_.features});
        for (Size i = 0; i < walk.length(); ++i)
            levels.push_back({say(nodes()[walk.path[std::size_t(i)]]), {},
                              prunings::posterior(nodes(), walk, i, 1.0, set_.rate)});
        if (walk.splits) levels.push_back({levels.back().said, {}, {}});
        levels.back().mixed = levels.back().said;
        for (Size i = Size(levels.size()) - 2; i >= 0; --i) {  // stop (own) + go (below)
            Level& here = levels[std::size_t(i)];
            here.mixed.add(std::exp(here.weights.stop), here.said);
            here.mixed.add(std::exp(here.weights.go), levels[std::size_t(i + 1)].mixed);
        }
        return levels[0].mixed;
    }

    // Have memory for all nodes that a round may add, before it changes anything.
    void make_room() {
        std::size_t needed = std::size_t(size() + 2 * set_.trees);
        if (nodes_.capacity() >= needed * COUNTS && boxes_.capacity() >= 2 * needed * x_.size()) return;
        boxes_.reserve(4 * needed * x_.size());
        nodes_.reserve(2 * needed * COUNTS);
    }

    // The first round: one leaf per tree.
    void begin() {
        for (Size j = 0; j < set_.features; ++j) units()(ORIGIN, j) = x_[std::size_t(j)];
        for (Size k = 0; k < set_.trees; ++k) walks_[std::size_t(k)].path.push_back(append(0.5));
    }

    // A leaf at x in a new row, whose prior is about q.
    Size append(double q) {
        Size v = size();
        nodes_.resize(nodes_.size() + COUNTS);
        boxes_.insert(boxes_.end(), x_.begin(), x_.end());
        boxes_.insert(boxes_.end(), x_.begin(), x_.end());
        nodes()(v, TIME) = INF, nodes()(v, START) = q;
        return v;
    }

    // Learn the label in tree k; -ln of the mix.
    double settle_in(Size k, bool label) {
        Walk& walk = walks_[std::size_t(k)];
        const std::vector<Level>& levels = levels_[std::size_t(k)];
        if (walk.splits) {
            double q = levels.back().said.yes;
            Size moved = append(q), begun = append(q);
            graft(nodes(), boxes(), walk, x(), moved, begun);
        }
        for (Size i = walk.length() - 1; i >= 0; --i) {
            Size v = walk.path[std::size_t(i)];
            Row node = nodes()[v];
            const Level& here = levels[std::size_t(i)];
            double lost = -std::log(here.said.of(label));
            if (i + 1 < walk.length()) {
                double below = -std::log(levels[std::size_t(i + 1)].mixed.of(label));
                node[GAIN] = here.weights.gain + (lost - below);
                node[HEIGHT] = larger(node[HEIGHT], nodes()(walk.path[std::size_t(i + 1)], HEIGHT) + 1.0);
            }
            reach(boxes()[v], x());
            ledger::add(Block{node.p + PAID, 1, 2}, 0, lost);
            node[label ? YES : NO] += 1.0;
            node[mondrian::ROUNDS] += 1.0;
        }
        return -std::log(levels[0].mixed.of(label));
    }

    Settings set_;
    std::vector<double> nodes_, boxes_, units_, book_;
    // Scratch: the round that was looked at.
    std::vector<Walk> walks_;
    std::vector<std::vector<Level>> levels_;
    std::vector<double> x_, sides_, beyond_, weights_;
    Chances said_;
    bool fresh_ = false;
};

}  // namespace noregret::counting
