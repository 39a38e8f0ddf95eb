// Mondrian trees: how they grow, by the inputs alone (Roy and Teh 2009; Lakshminarayanan et al. 2014).
//
// A node has the box of the inputs that passed through it and lives from `birth` to `time`, when it
// splits; a leaf's time is infinite.  An input outside the box by E_j in feature j, in units of the
// root's side, meets a split at birth + Exp(1)/sum E_j, if that comes before the node's own time: a
// new node is put above this one, cut between box and input in feature j with chance E_j/sum E, and
// the input begins a leaf of its own.  Else the box grows, and the input goes on to a child.
//
// Random numbers are drawn anew for each tree and round from the seed (splitmix64): nothing is kept.
#pragma once

#include "arrays.hpp"

namespace noregret::mondrian {

// Columns of `nodes`, one row per node.  Rows 0 to trees - 1 are the roots, and stay.
enum : int {
    LEFT = 0,     // the child of inputs up to the cut; 0: a leaf
    RIGHT = 1,    // the other one
    FEATURE = 2,  // in which the node is cut
    CUT = 3,
    BIRTH = 4,
    TIME = 5,
    HEIGHT = 6,   // of the tree below: 0 for a leaf
    ROUNDS = 7,   // that passed through the node
    GAIN = 8,     // L_v - M_left - M_right, see prunings.hpp
    PAID = 9,     // L_v but for the very first round, compensated
    FIT = 11,     // sum e^2/d, compensated
    CHARGE = 13,  // what the theorem on clipped ridge charges beyond FIT, compensated
    COLUMNS = 15,
};

constexpr Size DEEPEST = 64;  // nodes on a path below the root: what bounds a round's cost

constexpr double LATEST = 1e9;  // of a split: later ones never come

// A stream of random numbers (Steele, Lea and Flood 2014).
class Dice {
  public:
    Dice(std::uint64_t seed, std::uint64_t tree, std::uint64_t round)
        : state_(scrambled(scrambled(seed + STEP * (tree + 1)) + STEP * (round + 1))) {}

    double uniform() {  // in [0, 1)
        return double(scrambled(state_ += STEP) >> 11) * 0x1p-53;
    }
    double exponential() { return -std::log1p(-uniform()); }

  private:
    static constexpr std::uint64_t STEP = 0x9E3779B97F4A7C15u;

    static std::uint64_t scrambled(std::uint64_t z) {
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return z ^ (z >> 31);
    }

    std::uint64_t state_;
};

// Where an input goes: nodes from the root on, and a new node above the last of them, perhaps.
struct Walk {
    std::vector<Size> path;
    bool splits = false;
    Size feature = 0;
    double cut = 0.0, time = 0.0;

    Size length() const { return Size(path.size()); }
};

// A box as [low; high], each of n numbers; by how much x is outside of it in feature j.
INLINE double outside(const double* box, Size n, Size j, double x) {
    return larger(larger(box[j] - x, x - box[n + j]), 0.0);
}

// Let x down a tree, writing nothing; `room`: whether there may be more nodes.  E_j counts
// `weights[j]` times, where there are weights.
inline void descend(Block nodes, Block boxes, Size root, Row x, bool room, Dice dice, Row sides,
                    Row beyond, Walk& walk, Row weights = {nullptr, 0}) {
    Size n = x.n;
    const double* whole = boxes[root].p;
    for (Size j = 0; j < n; ++j) sides[j] = larger(whole[n + j], x[j]) - smaller(whole[j], x[j]);
    walk.path.clear();
    walk.splits = false;
    for (Size v = root;;) {
        walk.path.push_back(v);
        const double* box = boxes[v].p;
        double total = 0.0;
        for (Size j = 0; j < n; ++j) {
            double off = outside(box, n, j, x[j]);
            beyond[j] = off > 0.0 ? off / sides[j] : 0.0;
            if (weights.n > 0) beyond[j] *= weights[j];
            total += beyond[j];
        }
        Size deep = walk.length() + Size(nodes(v, HEIGHT));  // of the longest path, one node longer
        if (total > 0.0 && room && deep <= DEEPEST) {
            double time = nodes(v, BIRTH) + dice.exponential() / total;
            if (nodes(v, BIRTH) < time && time < smaller(nodes(v, TIME), LATEST)) {
                double at = dice.uniform() * total;
                Size j = 0, last = 0;
                for (double sum = 0.0; j < n; ++j) {
                    if (beyond[j] == 0.0) continue;
                    last = j;
                    if (at < (sum += beyond[j])) break;
                }
                j = j < n ? j : last;  // rounding
                double low = x[j] > box[n + j] ? box[n + j] : x[j];
                double high = x[j] > box[n + j] ? x[j] : box[j];
                double cut = low + (high - low) * dice.uniform();
                walk.splits = true, walk.feature = j, walk.time = time;
                walk.cut = low <= cut && cut < high ? cut : low;
                return;
            }
        }
        if (nodes(v, LEFT) == 0.0) return;
        v = Size(nodes(v, x[Size(nodes(v, FEATURE))] <= nodes(v, CUT) ? LEFT : RIGHT));
    }
}

// Put a node above the last of a path, in its row; that one moves to row `moved`, and row `begun`,
// the leaf at x, is born beside it.
inline void graft(Block nodes, Block boxes, Walk& walk, Row x, Size moved, Size begun) {
    Size v = walk.path.back();
    std::memcpy(nodes[moved].p, nodes[v].p, std::size_t(nodes.cols) * sizeof(double));
    std::memcpy(boxes[moved].p, boxes[v].p, std::size_t(boxes.cols) * sizeof(double));
    nodes(moved, BIRTH) = nodes(begun, BIRTH) = walk.time;
    bool left = x[walk.feature] <= walk.cut;
    Row node = nodes[v];
    node[LEFT] = double(left ? begun : moved), node[RIGHT] = double(left ? moved : begun);
    node[FEATURE] = double(walk.feature), node[CUT] = walk.cut, node[TIME] = walk.time;
    node[HEIGHT] += 1.0;
    walk.path.push_back(begun);
    walk.splits = false;
}

// Let a node's box reach to x.
INLINE void reach(Row box, Row x) {
    for (Size j = 0; j < x.n; ++j) {
        box[j] = smaller(x[j], box[j]);
        box[x.n + j] = larger(x[j], box[x.n + j]);
    }
}

// Whether these are trees: every node but the roots is one node's child, born when that one splits.
inline bool sound(Block nodes, Size trees, Size n) {
    Size N = nodes.rows, reached = 0;
    if (N == 0) return true;
    if (N < trees) return false;
    std::vector<bool> used(std::size_t(N), false);
    std::vector<Size> open;
    for (Size k = 0; k < trees; ++k) open.push_back(k);
    for (; !open.empty(); ++reached) {
        Row node = nodes[open.back()];
        open.pop_back();
        if (!(node[BIRTH] < node[TIME] && 0.0 <= node[BIRTH] && 0.0 <= node[ROUNDS])) return false;
        if (node[LEFT] == 0.0) {
            if (node[RIGHT] != 0.0 || node[HEIGHT] != 0.0 || node[TIME] < INF) return false;
            continue;
        }
        double tallest = -1.0;
        for (int side : {LEFT, RIGHT}) {
            double child = node[side];
            if (!(double(trees) <= child && child < double(N)) || child != std::floor(child)) return false;
            Row below = nodes[Size(child)];
            if (used[std::size_t(child)] || below[BIRTH] != node[TIME]) return false;
            used[std::size_t(child)] = true;
            tallest = larger(tallest, below[HEIGHT]);
            open.push_back(Size(child));
        }
        double j = node[FEATURE];
        if (!(0.0 <= j && j < double(n)) || j != std::floor(j) || !(node[TIME] < INF)) return false;
        if (node[HEIGHT] != tallest + 1.0 || !(node[HEIGHT] <= double(DEEPEST))) return false;
    }
    return reached == N;
}

}  // namespace noregret::mondrian
