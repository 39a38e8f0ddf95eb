// Four keys abreast: a round in each of four slots, one key per lane of a vector.
//
// Every lane takes the steps of admit.hpp, primal.hpp or drift.hpp, rules.hpp and ledger.hpp in their
// order, so that the bits are those of one key at a time.  What happens seldom (features or looks that
// are too large or too small to be squared, an audit that is due, a covariance that will not do) is
// left to these: `round` then says false, and nothing was written.
//
// A slot has row i of [R z] from its diagonal on, one row after the other, or the rows of P up to
// their diagonals and the weights; then the ledger.  Side by side, place p of the four slots is the
// vector p of `held`.
#pragma once

#include "rounds.hpp"

namespace noregret::abreast {

using namespace layout;
using pieces::Four;
using pieces::Mask;

constexpr Size LANES = 4;
constexpr Size MOST = 24;  // features: from here on the rows of one key fill vectors by themselves

INLINE Four& at(double* lanes, Size place) { return pieces::four(lanes + LANES * place); }
INLINE void magnitude(Four& a) {
    Mask bits = reinterpret_cast<Mask>(a) & std::numeric_limits<std::int64_t>::max();
    a = reinterpret_cast<Four>(bits);
}
INLINE bool everywhere(const Mask& yes) { return (yes[0] & yes[1] & yes[2] & yes[3]) != 0; }

// Four numbers of each of four rows -> the rows' first numbers, their second ones, ...
INLINE void turn(double* const* from, double* const* to) {
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
    Four r0 = pieces::four(from[0]), r1 = pieces::four(from[1]);
    Four r2 = pieces::four(from[2]), r3 = pieces::four(from[3]);
    Four a = __builtin_shufflevector(r0, r1, 0, 4, 2, 6), b = __builtin_shufflevector(r0, r1, 1, 5, 3, 7);
    Four c = __builtin_shufflevector(r2, r3, 0, 4, 2, 6), d = __builtin_shufflevector(r2, r3, 1, 5, 3, 7);
    pieces::four(to[0]) = __builtin_shufflevector(a, c, 0, 1, 4, 5);
    pieces::four(to[1]) = __builtin_shufflevector(b, d, 0, 1, 4, 5);
    pieces::four(to[2]) = __builtin_shufflevector(a, c, 2, 3, 6, 7);
    pieces::four(to[3]) = __builtin_shufflevector(b, d, 2, 3, 6, 7);
    return;
#endif
#endif
    double room[LANES][LANES];
    for (Size q = 0; q < LANES; ++q)
        for (Size k = 0; k < LANES; ++k) room[k][q] = from[q][k];
    for (Size k = 0; k < LANES; ++k) std::memcpy(to[k], room[k], sizeof room[k]);
}

// Four slots side by side, and scratch.
struct Bench {
    Size n, wide, offset;
    bool drifts;
    int rule;
    double drift, level, unit;  // what the rule needs; what it pays of each round, if it pays the log loss
    std::vector<Size> starts;            // of row i of [R z], or of [P; w], in a slot
    Size rooted;                         // where ROOTED and PASSED of drifting experts are
    Size places[2 * (OUTCOMES + 1)];     // of the numbers of a ledger, -1 where it is not kept
    std::vector<double> held, x, u, v, grown, shrunk;

    INLINE Four& booked(int row, int part) { return at(held.data(), places[2 * row + part]); }
    // Column k of row i is at(row(i), k).
    INLINE double* row(Size i) { return held.data() + LANES * (starts[std::size_t(i)] - (drifts ? 0 : i)); }

    // Place p of every slot, from 0 to wide, in pieces; the last one overlaps.
    template <class Move>
    INLINE void each_piece(Move move) {
        Size p = 0;
        for (; p + LANES <= wide; p += LANES) move(p);
        if (p < wide) move(wide - LANES);
    }
    INLINE void lay(double* const* slots) {
        each_piece([&](Size p) {
            double* from[LANES] = {slots[0] + p, slots[1] + p, slots[2] + p, slots[3] + p};
            double* h = held.data() + LANES * p;
            double* to[LANES] = {h, h + LANES, h + 2 * LANES, h + 3 * LANES};
            turn(from, to);
        });
    }
    INLINE void gather(double* const* slots) {
        each_piece([&](Size p) {
            double* h = held.data() + LANES * p;
            double* from[LANES] = {h, h + LANES, h + 2 * LANES, h + 3 * LANES};
            double* to[LANES] = {slots[0] + p, slots[1] + p, slots[2] + p, slots[3] + p};
            turn(from, to);
        });
    }
};

// x, behind the constant feature if any.
INLINE void admit(Bench& b, double* const* xs) {
    double* x = b.x.data();
    if (b.offset) at(x, 0) = Four{1.0, 1.0, 1.0, 1.0};
    x += LANES * b.offset;
    Size k = 0, given = b.n - b.offset;
    for (; k + LANES <= given; k += LANES) {
        double* from[LANES] = {xs[0] + k, xs[1] + k, xs[2] + k, xs[3] + k};
        double* to[LANES] = {x + LANES * k, x + LANES * (k + 1), x + LANES * (k + 2), x + LANES * (k + 3)};
        turn(from, to);
    }
    for (; k < given; ++k) at(x, k) = Four{xs[0][k], xs[1][k], xs[2][k], xs[3][k]};
}

// a'b, as in arrays.hpp.
INLINE void dot(double* a, double* b, Size n, Four& total) {
    Four s[8] = {};
    for (Size k = 0; k < n; k += 8)
        for (Size q = 0; q < 8 && k + q < n; ++q) s[q] += at(a, k + q) * at(b, k + q);
    total = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

// drift::look in covariance form: v = P x, root = sqrt(1 + x'v), mean = w'x.
INLINE bool look_at_drifting(Bench& b, Four& mean, Four& root) {
    Size n = b.n;
    double *x = b.x.data(), *v = b.v.data();
    Four gauge = {}, square, size;
    for (Size i = 0; i < n; ++i) gauge += at(b.row(i), i) * at(x, i) * at(x, i);
    for (Size i = 0; i < n; ++i) {
        double* row = b.row(i);
        Four xi = at(x, i);
        dot(row, x, i, at(v, i));
        at(v, i) += at(row, i) * xi;
        for (Size k = 0; k < i; ++k) at(v, k) += xi * at(row, k);
    }
    dot(x, v, n, square);
    dot(b.row(n), x, n, mean);
    for (Size q = 0; q < LANES; ++q) root[q] = std::sqrt(1.0 + square[q]);
    size = mean;
    magnitude(size);
    Mask rooted = at(b.held.data(), b.rooted) != 0.0;
    return everywhere(~rooted & (gauge <= drift::GAUGE) & (root < INF) & (size < INF));
}

// drift::absorb in covariance form; fit <- e^2/d.
INLINE void absorb_drifting(Bench& b, const Four& y, const Four& mean, const Four& root, Four& fit) {
    Size n = b.n;
    double *v = b.v.data(), *w = b.row(n);
    for (Size i = 0; i < n; ++i) {
        double* row = b.row(i);
        Four share = at(v, i) / root / root;
        for (Size k = 0; k <= i; ++k) at(row, k) -= share * at(v, k);
    }
    Four gain = (y - mean) / root, step = gain / root;
    for (Size k = 0; k < n; ++k) at(w, k) += step * at(v, k);
    at(b.held.data(), b.rooted + 1) += 1.0;
    fit = gain * gain;
}

// drift::diffuse, likewise.
INLINE void diffuse(Bench& b) {
    for (Size i = 0; i < b.n; ++i) at(b.row(i), i) += b.drift;
}

// primal::look: solve R'v = x; mean = v'z, grown_i = 1 + v_1^2 + ... + v_i^2, root^2 the last;
// absorb takes the other roots.
INLINE bool look(Bench& b, Four& mean, Four& root) {
    Size n = b.n;
    double *u = b.u.data(), *v = b.v.data(), *grown = b.grown.data();
    for (Size k = 0; k < n; ++k) at(u, k) = at(b.x.data(), k);
    at(u, n) = Four{};
    Four square = Four{1.0, 1.0, 1.0, 1.0}, ui = at(u, 0);
    for (Size i = 0; i < n; ++i) {
        double* row = b.row(i);
        Four vi = ui * (1.0 / at(row, i));
        at(v, i) = vi;
        ui = at(u, i + 1) - vi * at(row, i + 1);
        at(grown, i) = square += vi * vi;
        for (Size k = i + 2; k <= n; ++k) at(u, k) -= vi * at(row, k);
    }
    for (Size q = 0; q < LANES; ++q) root[q] = std::sqrt(square[q]);
    mean = 0.0 - ui;
    Four size = mean;
    magnitude(size);
    return everywhere((square < SAFE * SAFE) & (size < INF));
}

// primal::absorb: rotate [x | y] into [R z]; fit <- (e/sqrt(d))^2.  A row whose v is 0 stays.
INLINE void absorb(Bench& b, const Four& y, Four& fit) {
    Size n = b.n;
    double *u = b.u.data(), *grown = b.grown.data(), *shrunk = b.shrunk.data();
    for (Size k = 0; k < n; ++k) at(u, k) = at(b.x.data(), k);
    at(u, n) = y;
    for (Size k = 0; k < LANES * n; ++k) grown[k] = std::sqrt(grown[k]);
    for (Size k = 0; k < LANES * n; ++k) shrunk[k] = 1.0 / grown[k];
    Four before = Four{1.0, 1.0, 1.0, 1.0}, beta = before;
    for (Size i = 0; i < n; ++i) {
        double* row = b.row(i);
        Four vi = at(b.v.data(), i), keep = beta * at(shrunk, i), take = vi * before * at(shrunk, i);
        Mask moves = vi != 0.0;
        if (everywhere(moves)) {
            for (Size k = i; k <= n; ++k) {
                Four r = at(row, k), a = at(u, k);
                at(row, k) = keep * r + take * a;
                at(u, k) = a - vi * r;
            }
        } else {
            for (Size k = i; k <= n; ++k) {
                Four r = at(row, k), a = at(u, k);
                at(row, k) = moves ? keep * r + take * a : r;
                at(u, k) = moves ? a - vi * r : a;
            }
        }
        beta = at(grown, i), before = at(shrunk, i);  // as they were where v is 0
    }
    fit = (at(u, n) / beta) * (at(u, n) / beta);
}

// ledger::add and ledger::tally.  A term of 0 changes nothing.
INLINE void add(Bench& b, int row, const Four& term) {
    Four held = b.booked(row, 0), total = held + term, large = held, small = term, size = total;
    magnitude(large), magnitude(small), magnitude(size);
    Four lost = large >= small ? (held - total) + term : (term - total) + held;
    b.booked(row, 0) = total;
    b.booked(row, 1) = size < INF ? b.booked(row, 1) + lost : Four{};
}
INLINE void tally(Bench& b, int row, const Four& term) {
    Four held = b.booked(row, 0), total = held + term, added = total - held;
    b.booked(row, 0) = total;
    b.booked(row, 1) += (held - (total - added)) + (term - added);
}
INLINE void raise(Bench& b, int row, const Four& value) {
    Four held = b.booked(row, 0);
    b.booked(row, 0) = held > value ? held : value;
}

// rules::forecast.
INLINE void forecast(const Bench& b, const Four& mean, const Four& root, Four& said) {
    said = mean;
    if (b.rule == AAR) said = mean / root / root;
    if (b.rule == CLIPPED) {
        said = said > -b.level ? said : Four{} - b.level;
        said = said < b.level ? said : Four{} + b.level;
    }
}

// |x|_inf, |x|_2 and r'x, as in admit.hpp and probe.hpp.  False: leave them to these.
INLINE bool measure(Bench& b, Four& peak, Four& norm, Four& seen) {
    double* x = b.x.data();
    Four parts[2] = {}, square;
    peak = Four{};
    for (Size k = 0; k < b.n; ++k) {
        Four size = at(x, k);
        magnitude(size);
        peak = size > peak ? size : peak;
    }
    for (Size k = 0; k + 1 < b.n; k += 2)
        for (Size q = 0; q < 2; ++q) parts[q] += at(x, k + q) * PROBES[std::size_t(k + q)];
    seen = parts[0] + parts[1];
    seen += b.n % 2 ? at(x, b.n - 1) * PROBES[std::size_t(b.n - 1)] : Four{};
    dot(x, x, b.n, square);
    for (Size q = 0; q < LANES; ++q) norm[q] = std::sqrt(square[q]);
    return everywhere((1.0 / SAFE < peak) & (peak < SAFE));
}

// Whether no key's sums grow so much that audit::before_round would look at its state.
INLINE bool calm(Bench& b, const Four& y, const Four& seen) {
    Four energy = (b.booked(ENERGY, 0) + b.booked(ENERGY, 1)) + y * y;
    Four probe = (b.booked(PROBE, 0) + b.booked(PROBE, 1)) + seen * seen;
    Mask drowns = (energy > audit::DROWNS * b.booked(MARK, 0)) | (probe > audit::DROWNS * b.booked(MARK, 1));
    return everywhere(~drowns);
}

// ledger::post, and what the rule pays.
INLINE void book(Bench& b, const Four& y, const Four& mean, const Four& beta, const Four& said, const Four& fit,
                 const Four& peak, const Four& norm, const Four& seen) {
    Four shrunk = 1.0 / beta, leverage = 1.0 - shrunk * shrunk, miss = y - said, square = miss * miss;
    Four e = (y - mean) * shrunk, m = mean * shrunk, size = y, logs;
    for (Size q = 0; q < LANES; ++q) logs[q] = std::log(beta[q]);
    if (b.rule == BAYES) {
        Four off = (y - mean) / beta;
        add(b, LOSS, (b.unit + logs) + 0.5 * off * off / b.level);
        add(b, SQUARE, square);
    } else {
        add(b, LOSS, square);  // SQUARE is the same
    }
    magnitude(size);
    add(b, FIT, fit);
    add(b, LEVERAGE, leverage);
    add(b, NORMS, norm * norm);
    add(b, WEIGHTED, e * e);
    add(b, LOGDET, 2.0 * logs);
    add(b, CHARGE, leverage * (y * y));
    add(b, RELIEF, leverage * (m * m));
    tally(b, ENERGY, y * y);
    tally(b, PROBE, seen * seen);
    tally(b, CROSS, seen * (0.0 + PROBES[0] * y));
    raise(b, OUTCOMES, size);
    raise(b, WIDEST, peak);
    raise(b, LONGEST, norm);
    b.booked(ROUNDS, 0) += 1.0;
}

// A forecast of each of four rows, whose slots differ; and, given their outcomes, a round.
MULTIVERSIONED inline bool round(Bench& b, double* const* slots, double* const* xs, const double* ys,
                                 double now, double* forecasts) {
    Four mean, root, said, peak, norm, seen, y = {}, fit;
    b.lay(slots);
    admit(b, xs);
    if (!(b.drifts ? look_at_drifting(b, mean, root) : look(b, mean, root))) return false;
    forecast(b, mean, root, said);
    if (ys) {
        for (Size q = 0; q < LANES; ++q) y[q] = ys[q];
        if (!measure(b, peak, norm, seen) || !(b.drifts || calm(b, y, seen))) return false;
        if (b.drifts)
            absorb_drifting(b, y, mean, root, fit);
        else
            absorb(b, y, fit);
        book(b, y, mean, root, said, fit, peak, norm, seen);
        if (b.drifts) diffuse(b);
        at(b.held.data(), b.wide - 1) = Four{now, now, now, now};
        b.gather(slots);
    }
    for (Size q = 0; q < LANES; ++q) forecasts[q] = said[q];
    return true;
}

}  // namespace noregret::abreast
