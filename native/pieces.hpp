// Rows of a triangle in pieces of four numbers: what the compiler turns into vectors.
//
// All rows are cut at the same columns, counted from the last, so that a piece of u is read as it
// was written.  Row i begins with the piece that its diagonal is in: what stands left of the diagonal
// is 0, and stays so.  The few columns before the first whole piece go one by one.
#pragma once

#include "arrays.hpp"

namespace noregret::pieces {

using noregret::Four;  // of a row and of u
using noregret::Mask;
using noregret::four;

// From RIGHT + 3 - p on: a mask that leaves what is right of place p in a piece.
constexpr std::int64_t RIGHT[8] = {0, 0, 0, 0, -1, -1, -1, -1};

// How many columns stand before the first whole piece.
INLINE Size lead(Size width) { return width % 4; }

// The first column of the piece that column i is in; `lead` columns stand before the first piece.
INLINE Size piece(Size i, Size lead) { return i - ((i - lead) & 3); }

// u <- u - v row, from the diagonal on: one row of the forward substitution.
INLINE void eliminate(double* u, double* row, double v, Size i, Size width, Size lead) {
    Size k = i;
    for (; k < lead; ++k) u[k] -= v * row[k];
    for (k = piece(k, lead); k < width; k += 4) four(u + k) -= v * four(row + k);
}

// row <- v row, from the diagonal on.
INLINE void scale(double* row, double v, Size i, Size width, Size lead) {
    Size k = i;
    for (; k < lead; ++k) row[k] *= v;
    for (k = piece(k, lead); k < width; k += 4) four(row + k) *= v;
}

// row <- keep row + take u, u <- u - v row(old), from the diagonal on; in the piece of u_i, which the
// next rows read, u_i becomes 0: it is, but for rounding.
INLINE void rotate(double* row, double* u, double keep, double take, double v, Size i, Size width,
                   Size lead) {
    Size k = i;
    if (i < lead) {
        for (; k < lead; ++k) {
            double r = row[k], a = u[k];
            row[k] = keep * r + take * a;
            u[k] = a - v * r;
        }
    } else {
        k = piece(i, lead);
        Four r = four(row + k), a = four(u + k);
        four(row + k) = keep * r + take * a;
        Mask rest = reinterpret_cast<Mask>(Four(a - v * r));
        rest &= *reinterpret_cast<const Mask*>(RIGHT + 3 - (i - k));
        four(u + k) = reinterpret_cast<Four>(rest);
        k += 4;
    }
    for (; k < width; k += 4) {
        Four r = four(row + k), a = four(u + k);
        four(row + k) = keep * r + take * a;
        four(u + k) = a - v * r;
    }
}

}  // namespace noregret::pieces
