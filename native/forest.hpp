// A forest of Mondrian trees whose nodes are ridge learners: every node of a path looks at x, all
// prunings of a tree are mixed (prunings.hpp), and the forecast is the mean over the trees.
//
// A node's learner sees z = (1, (x_1 - o_1)/c_1, ...), o the first input and c_j feature j's first
// distance above 0 from it: any unit will do, and fixed experts stay fixed.  Where nodes are means,
// z = 1.  It says its mean m = w'z, clipped to the outcomes seen; before there are any, 0.  A root's
// prior has as mean the first outcome, that of a new leaf the weights of the node beside it; a node
// that is put above another has a copy of that one's learner, for they have had the same inputs.
//
// `look` writes nothing but scratch; `settle` learns the round that was looked at.
#pragma once

#include "mixing.hpp"
#include "primal.hpp"
#include "prunings.hpp"

namespace noregret::mondrian {

// Rows of `book`: those of a pool (mixing.hpp), and two more.
enum : int {
    WIDENED = mixing::BOOK_ROWS,  // by how much -(1/eta) ln W grew when eta fell, compensated
    FIRST = WIDENED + 1,          // loss of the very first round, when all prunings say the same
    BOOK_ROWS = FIRST + 1,
};

constexpr double LARGEST = 1e150;  // of outcomes and forecasts, as in a pool

struct Settings {
    Size features, trees;
    Size cap;          // nodes of all trees together
    bool linear;       // nodes are ridge learners of all features, or means
    double precision;  // a
    double rate;       // lam: what a tree's time costs
    std::uint64_t seed;

    Size width() const { return linear ? features + 1 : 1; }
};

class Forest {
  public:
    // In arrays of its own, which begin as copies of these; see the methods of the same names.
    Forest(Settings settings, Block nodes, Block boxes, Cube factors, Block units, Block book)
        : set_(settings), nodes_(nodes.p, nodes.p + nodes.rows * nodes.cols),
          boxes_(boxes.p, boxes.p + boxes.rows * boxes.cols),
          factors_(factors.p, factors.p + factors.depth * factors.rows * factors.cols),
          units_(units.p, units.p + units.rows * units.cols), book_(book.p, book.p + BOOK_ROWS * 2),
          walks_(std::size_t(set_.trees)), x_(scratch(set_.features)), z_(scratch(set_.width())),
          leaves_(scratch(set_.trees * set_.width() * (set_.width() + 1))),
          sides_(scratch(set_.features)), beyond_(sides_) {}

    const Settings& settings() const { return set_; }
    Size size() const { return Size(nodes_.size()) / COLUMNS; }
    Block nodes() { return {nodes_.data(), size(), Size(COLUMNS)}; }
    Block boxes() { return {boxes_.data(), size(), 2 * set_.features}; }
    Cube factors() { return {factors_.data(), size(), set_.width(), set_.width() + 1}; }
    Block units() { return {units_.data(), 2, set_.features}; }  // o, then c; 0: not known yet
    Block book() { return {book_.data(), Size(BOOK_ROWS), 2}; }

    // The forecast at x; NaN where x or a look does not fit in float64.
    double look(Row x) {
        if (fresh_ && !std::memcmp(x.p, x_.data(), x_.size() * sizeof(double))) return g_;
        fresh_ = false;
        for (Size j = 0; j < x.n; ++j) {
            if (!(std::fabs(x[j]) <= layout::LARGEST_FEATURE)) return NaN;  // NaN too
            x_[std::size_t(j)] = x[j];
        }
        measure();
        double sum = 0.0;
        for (Size k = 0; k < set_.trees; ++k) sum += look_in(k);
        g_ = sum / double(set_.trees);
        fresh_ = std::fabs(g_) <= LARGEST;
        return fresh_ ? g_ : NaN;
    }

    static bool takes(double y) { return std::fabs(y) <= LARGEST; }

    // Learn that the x looked at last had the outcome y; return what the forecast cost.
    double settle(double y) {
        make_room();
        Block sums = book();
        double loss = (y - g_) * (y - g_), mix = 0.0, eta = sums(mixing::RATE, 0);
        if (size() == 0) {
            begin(y);
            sums(FIRST, 0) = loss;
        }
        keep_units();
        for (Size k = 0; k < set_.trees; ++k) mix += settle_in(k, y);
        mixing::post(sums, mixing::prepared(sums, y, 0.0), mixing::rounded(y, g_), loss,
                     mix / double(set_.trees));
        mixing::widen(Block{nullptr, Size(mixing::POOL_ROWS), 0}, sums, y, y, 0.0);
        sums(mixing::ROUNDS, 0) += 1.0;
        if (sums(mixing::RATE, 0) != eta) regain(eta, sums(mixing::RATE, 0));
        fresh_ = false;
        return loss;
    }

    // What a node has lost, what its fit would have, and by the theorem on clipped ridge.
    static prunings::Lost ridge(Row node) {
        double fit = node[FIT] + node[FIT + 1];
        return {node[PAID] + node[PAID + 1], fit, fit + (node[CHARGE] + node[CHARGE + 1])};
    }

    // The mean over the trees, but for the very first round's loss.
    prunings::Reckoned reckoned(double eta) {
        prunings::Reckoned mean{};
        for (Size k = 0; k < set_.trees && size() > 0; ++k)
            mean.add(prunings::reckoned(nodes(), k, eta, set_.rate, ridge));
        for (double* part : {&mean.potential, &mean.price, &mean.course, &mean.linear, &mean.fit})
            *part /= double(set_.trees);
        return mean;
    }

  private:
    // One learner of a path in the round that was looked at.
    struct Level {
        double said;
        prunings::Posterior weights;  // of stopping here and of going on; not at the end
    };

    Row x() { return {x_.data(), set_.features}; }
    Level& level(Size k, Size i) { return levels_[std::size_t(i * set_.trees + k)]; }
    Block work(Size k, Size i) {
        Size width = set_.width() + 1, least = layout::SCALARS, cols = width > least ? width : least;
        return {work_.data() + (i * set_.trees + k) * layout::ROWS * cols, layout::ROWS, cols};
    }
    Block leaf(Size k) {
        Size m = set_.width();
        return {leaves_.data() + k * m * (m + 1), m, m + 1};
    }
    bool began() { return book()(mixing::ROUNDS, 0) > 0.0; }

    // z of x; what is first away from the origin is one unit away.
    void measure() {
        z_[0] = 1.0;
        for (Size j = 0; j + 1 < set_.width(); ++j) {
            double off = began() ? x_[std::size_t(j)] - units()(0, j) : 0.0, unit = units()(1, j);
            z_[std::size_t(j + 1)] = off == 0.0 ? 0.0 : off / (unit > 0.0 ? unit : std::fabs(off));
        }
    }
    void keep_units() {
        for (Size j = 0; j < set_.features; ++j)
            if (units()(1, j) == 0.0) units()(1, j) = std::fabs(x_[std::size_t(j)] - units()(0, j));
    }

    // A learner looks at z and says its mean, clipped to the outcomes seen.
    double speak(Block factor, Block work) {
        for (Size i = 0; i < set_.width(); ++i) work(layout::X, i) = z_[std::size_t(i)];
        if (primal::look(factor, work) != layout::OK) return NaN;
        double mean = work(layout::MEAN, 0);
        if (!began()) return mean;
        return smaller(larger(mean, book()(mixing::SEEN, 0)), book()(mixing::SEEN, 1));
    }

    // The learner of a leaf, sqrt(a) [I | w]: w = R^-1 z, the weights of the node beside it.
    void prepare(Block fresh, Size beside) {
        Size m = fresh.rows;
        double root = std::sqrt(set_.precision);
        for (Size i = 0; i < m * (m + 1); ++i) fresh.p[i] = 0.0;
        for (Size i = m - 1; i >= 0; --i) {
            fresh(i, i) = root;
            if (beside < 0) continue;
            Block from = factors()[beside];
            double left = from(i, m);
            for (Size j = i + 1; j < m; ++j) left -= from(i, j) * (fresh(j, m) / root);
            fresh(i, m) = left / from(i, i) * root;
        }
    }

    // Make room for the looks of one more level.
    void deepen(Size depth) {
        std::size_t needed = std::size_t((depth + 1) * set_.trees);
        if (levels_.size() >= needed) return;
        levels_.resize(needed);
        Size cols = work(0, 0).cols;
        work_.resize(needed * std::size_t(layout::ROWS * cols));
    }

    // Everybody on the path of tree k speaks, and one forecast is made of it.
    double look_in(Size k) {
        Walk& walk = walks_[std::size_t(k)];
        walk.path.clear(), walk.splits = false;
        walk.path.reserve(std::size_t(DEEPEST + 2));  // so that `settle` needs no memory
        if (size() > 0) {
            Dice dice(set_.seed, std::uint64_t(k), std::uint64_t(book()(mixing::ROUNDS, 0)));
            bool room = size() + 2 * set_.trees <= set_.cap;
            descend(nodes(), boxes(), k, x(), room, dice, Row{sides_.data(), set_.features},
                    Row{beyond_.data(), set_.features}, walk);
        }
        Size depth = 0;
        for (Size v : walk.path) {
            deepen(depth);
            level(k, depth) = {speak(factors()[v], work(k, depth)), prunings::posterior(nodes(), walk, depth, book()(mixing::RATE, 0), set_.rate)};
            ++depth;
        }
        if (walk.splits || walk.path.empty()) {
            prepare(leaf(k), walk.splits ? walk.path.back() : -1);
            deepen(depth);
            level(k, depth) = {speak(leaf(k), work(k, depth)), {}};
            ++depth;
        }
        return substitute(k, depth);
    }

    // The forecast g with (y - g)^2 <= mix for every y in [lo, hi] (Vovk 1990, 2001).
    double substitute(Size k, Size depth) {
        Block sums = book();
        if (sums(mixing::RATE, 0) == INF) return began() ? sums(mixing::SEEN, 0) : level(k, 0).said;
        double lo = sums(mixing::RANGE, 0), hi = sums(mixing::RANGE, 1);
        double g0 = level(k, depth - 1).said;
        return g0 + (mix_up(k, depth, lo) - mix_up(k, depth, hi)) / (2.0 * (hi - lo));
    }

    // What place i of a path loses if y happens, less what its end loses: nothing large cancels.
    double cost(Size k, Size depth, Size i, double y) {
        double g = level(k, i).said, g0 = level(k, depth - 1).said;
        return (g - g0) * ((g - y) + (g0 - y));
    }

    // The mix of tree k if y happens, less what the end of its path loses.
    double mix_up(Size k, Size depth, double y) {
        double below = 0.0;
        for (Size i = depth - 2; i >= 0; --i)
            below = level(k, i).weights.mix(cost(k, depth, i, y), below);
        return below;
    }

    // Have memory for all nodes that a round may add, before it changes anything.
    void make_room() {
        std::size_t needed = std::size_t(size() + 2 * set_.trees), m = std::size_t(set_.width());
        if (nodes_.capacity() >= needed * COLUMNS) return;
        factors_.reserve(2 * needed * m * (m + 1));
        boxes_.reserve(4 * needed * x_.size());
        nodes_.reserve(2 * needed * COLUMNS);
    }

    // The first round: one leaf per tree, whose prior has as mean the first outcome.
    void begin(double y) {
        for (Size j = 0; j < set_.features; ++j) units()(0, j) = x_[std::size_t(j)];
        for (Size k = 0; k < set_.trees; ++k) {
            leaf(k)(0, set_.width()) = std::sqrt(set_.precision) * y;
            append(leaf(k));
            walks_[std::size_t(k)].path.push_back(k);
        }
    }

    // A leaf at x with this learner, in a new row.
    Size append(Block fresh) {
        Size v = size();
        nodes_.resize(nodes_.size() + COLUMNS);
        boxes_.insert(boxes_.end(), x_.begin(), x_.end());
        boxes_.insert(boxes_.end(), x_.begin(), x_.end());
        factors_.insert(factors_.end(), fresh.p, fresh.p + fresh.rows * fresh.cols);
        nodes()(v, TIME) = INF;
        return v;
    }

    // Split the last node of a path: the learner of the one above it is a copy of its own.
    void split(Walk& walk, Block fresh) {
        Size v = walk.path.back(), moved = append(fresh), begun = append(fresh);
        graft(nodes(), boxes(), walk, x(), moved, begun);
        std::memcpy(factors()[moved].p, factors()[v].p, std::size_t(fresh.rows * fresh.cols) * sizeof(double));
    }

    // Learn y in tree k; return the mix.
    double settle_in(Size k, double y) {
        Walk& walk = walks_[std::size_t(k)];
        if (walk.splits) split(walk, leaf(k));
        Size depth = walk.length();
        double below = 0.0;
        for (Size i = depth - 1; i >= 0; --i) {
            Row node = nodes()[walk.path[std::size_t(i)]];
            if (i + 1 < depth) {
                const prunings::Posterior& weights = level(k, i).weights;
                double lost = cost(k, depth, i, y);
                node[GAIN] = weights.gain + (lost - below);
                node[HEIGHT] = larger(node[HEIGHT], nodes()(walk.path[std::size_t(i + 1)], HEIGHT) + 1.0);
                below = weights.mix(lost, below);
            }
            absorb(walk.path[std::size_t(i)], level(k, i).said, work(k, i), y);
        }
        double e = y - level(k, depth - 1).said;
        return e * e + below;
    }

    // One learner learns, and what it lost is booked.
    void absorb(Size v, double said, Block work, double y) {
        Row node = nodes()[v];
        double root = work(layout::AT, layout::ROOT), loss = (y - said) * (y - said);
        reach(boxes()[v], x());
        work(layout::Y, 0) = y;
        double fit = primal::absorb(factors()[v], work);
        double lo = book()(mixing::SEEN, 0), hi = book()(mixing::SEEN, 1), charge = larger(loss - fit, 0.0);
        if (began() && lo <= y && y <= hi) charge = (hi - lo) * (hi - lo) * (1.0 - 1.0 / (root * root));
        if (began()) primal::accumulate(Row{node.p + PAID, 2}, loss);
        primal::accumulate(Row{node.p + FIT, 2}, fit);
        primal::accumulate(Row{node.p + CHARGE, 2}, charge);
        node[ROUNDS] += 1.0;
    }

    // The range has grown: gains anew, and what that does to -(1/eta) ln W.
    void regain(double before, double eta) {
        ledger::add(book(), WIDENED, reckoned(eta).potential - reckoned(before).potential);
        for (Size k = 0; k < set_.trees; ++k) prunings::regained(nodes(), k, eta, set_.rate);
    }

    Settings set_;
    std::vector<double> nodes_, boxes_, factors_, units_, book_;
    // Scratch: the round that was looked at.
    std::vector<Walk> walks_;
    std::vector<Level> levels_;
    std::vector<double> work_, x_, z_, leaves_, sides_, beyond_;
    double g_ = NaN;
    bool fresh_ = false;
};

}  // namespace noregret::mondrian
