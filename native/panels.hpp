// Four rows of a triangle at a time: what is left of [x | y] is read and written once for all four.
//
// A panel is rows i to i + 3, from column i on; to the right of it there are only whole pieces.
// Every number comes from the operations of pieces.hpp, row by row, in their order: the same bits.
#pragma once

#include <type_traits>

#include "pieces.hpp"

namespace noregret::panels {

using pieces::Four;
using pieces::four;
using pieces::Mask;

constexpr Size SIDE = 4;  // rows of a panel

template <Size ROWS = SIDE>
struct Rows {
    double* p[ROWS];
    INLINE Rows(double* first, Size width) {
        for (Size j = 0; j < ROWS; ++j) p[j] = first + j * width;
    }
};

// v_i = u_i/R_ii, one row after another, and 1 + v_1^2 + ... + v_i^2 from the sum before the panel.
template <Size ROWS = SIDE>
struct Solved {
    Four v, square;
    Four left;  // of u, after these rows

    INLINE Solved(const Rows<ROWS>& R, Four u, double before, Size i) {
        auto at = [&](Size j, Size k) INLINED { return j < ROWS ? R.p[j][i + k] : 1.0; };
        Four inverse = 1.0 / Four{at(0, 0), at(1, 1), at(2, 2), at(3, 3)};
        double u1 = u[1], u2 = u[2], u3 = u[3];
        double v0 = u[0] * inverse[0], v1 = 0.0, v2 = 0.0, v3 = 0.0;
        u1 -= v0 * at(0, 1), u2 -= v0 * at(0, 2), u3 -= v0 * at(0, 3);
        if (ROWS > 1) v1 = u1 * inverse[1], u2 -= v1 * at(1, 2), u3 -= v1 * at(1, 3);
        if (ROWS > 2) v2 = u2 * inverse[2], u3 -= v2 * at(2, 3);
        if (ROWS > 3) v3 = u3 * inverse[3];
        double s0 = before + v0 * v0, s1 = s0 + v1 * v1, s2 = s1 + v2 * v2, s3 = s2 + v3 * v3;
        v = Four{v0, v1, v2, v3}, square = Four{s0, s1, s2, s3}, left = Four{u[0], u1, u2, u3};
    }
};

INLINE Four roots(Four squares) {
    for (Size j = 0; j < SIDE; ++j) squares[j] = std::sqrt(squares[j]);
    return squares;
}

// Whether no v is 0, the first few aside.
template <Size ROWS = SIDE>
INLINE bool full(Four v, Size aside = 0) {
    Mask zero = v == Four{};
    std::int64_t some = zero[ROWS - 1];
    for (Size j = 0; j < ROWS - 1; ++j) some |= j < aside ? 0 : zero[j];
    return some == 0;
}

INLINE bool empty(Four v) {
    Mask some = v != Four{};
    return ((some[0] | some[1]) | (some[2] | some[3])) == 0;
}

// u <- u - v_1 row_1 - ... - v_4 row_4, for the piece at column k.
template <Size ROWS>
INLINE Four eliminated(const Rows<ROWS>& R, const double* u, Four v, Size k) {
    Four a = four(u + k);
    for (Size j = 0; j < ROWS; ++j) a -= v[j] * four(R.p[j] + k);
    return a;
}

// The rotations of four rows by which [R z] takes in v, given beta and 1/beta before them.
struct Turns {
    Four v, keep, take;

    INLINE Turns(Four v, Four keep, Four take) : v(v), keep(keep), take(take) {}

    INLINE Turns(Four v, Four grown, Four shrunk, double beta, double before)
        : v(v), keep(Four{beta, grown[0], grown[1], grown[2]} * shrunk),
          take(v * Four{before, shrunk[0], shrunk[1], shrunk[2]} * shrunk) {}
};

// row_j <- keep_j row_j + take_j u, u <- u - v_j row_j(old), for one row after another and the
// pieces from column k on.
template <Size ROWS>
INLINE void rotate_right(const Rows<ROWS>& R, double* u, const Turns& turns, Size k, Size end) {
    double v[ROWS], keep[ROWS], take[ROWS];
    for (Size j = 0; j < ROWS; ++j)
        v[j] = turns.v[j], keep[j] = turns.keep[j], take[j] = turns.take[j];
    for (; k < end; k += SIDE) {
        Four a = four(u + k);
        for (Size j = 0; j < ROWS; ++j) {
            Four r = four(R.p[j] + k);
            four(R.p[j] + k) = keep[j] * r + take[j] * a;
            a -= v[j] * r;
        }
        four(u + k) = a;
    }
}

// The same for the corner of the panel.  What is left of the diagonal is 0, and stays so.
template <Size ROWS>
INLINE void rotate(const Rows<ROWS>& R, double* u, const Turns& turns, Size i) {
    Four a = four(u + i);
    for (Size j = 0; j < ROWS; ++j) {
        Four r = four(R.p[j] + i);
        four(R.p[j] + i) = turns.keep[j] * r + turns.take[j] * a;
        Mask rest = reinterpret_cast<Mask>(Four(a - turns.v[j] * r));
        rest &= *reinterpret_cast<const Mask*>(pieces::RIGHT + 3 - j);
        a = reinterpret_cast<Four>(rest);
    }
    four(u + i) = a;
}

// The same for the first rows, if there are fewer than four: their corner has ROWS columns and goes
// number by number.  What is left of u there is not written back: nobody reads it again.
template <Size ROWS>
INLINE void rotate_first(const Rows<ROWS>& R, double* u, const Turns& turns) {
    double a[SIDE] = {u[0], u[1], u[2], u[3]};
    for (Size j = 0; j < ROWS; ++j)
        for (Size k = j; k < ROWS; ++k) {
            double r = R.p[j][k];
            R.p[j][k] = turns.keep[j] * r + turns.take[j] * a[k];
            a[k] -= turns.v[j] * r;
        }
}

// Whether [R z], n rows of `width` columns, is too narrow for panels.
INLINE bool narrow(Size n, Size width) { return width < SIDE || pieces::lead(width) > n; }

// f(rows), where the compiler knows how many rows there are: at most ROWS.
template <Size ROWS, class Function>
INLINE void known(Size rows, const Function& f) {
    if constexpr (ROWS > 0) {
        if (rows == ROWS) return f(std::integral_constant<Size, ROWS>{});
        known<ROWS - 1>(rows, f);
    }
}

// f(i, right, ROWS) for ROWS rows from i on, one panel after another: as many as there are columns
// before the first whole piece, then four, in the end what is left.  Whole pieces begin at `right`.
template <class Function>
INLINE void each(Size n, Size width, const Function& f) {
    Size i = pieces::lead(width);
    known<SIDE - 1>(i, [&](auto ROWS) INLINED { f(0, i, ROWS); });
    for (; i + SIDE <= n; i += SIDE) f(i, i + SIDE, std::integral_constant<Size, SIDE>{});
    known<SIDE - 1>(n - i, [&](auto ROWS) INLINED { f(i, i + SIDE, ROWS); });
}

}  // namespace noregret::panels
