// Eight numbers at a time, in as many vectors as the processor needs for them.
//
// The same operations in the same order whatever the vectors' width, so the same bits.  A function
// that uses them is a template on that width, in bytes, and is bound once per set of instructions
// (VECTORS).
#pragma once

#include "vectors.hpp"

namespace noregret::lanes {

using vectors::LOWEST;

#define UNROLLED _Pragma("GCC unroll 8")  // arrays that are indexed by a loop stay in memory

// A vector of so many bytes; what the processor lacks would be taken apart, number by number.
template <int BYTES>
struct Width;
#define NOREGRET_WIDTH(BYTES)                                                \
    template <>                                                              \
    struct Width<BYTES> {                                                    \
        typedef double Numbers __attribute__((vector_size(BYTES)));          \
        typedef std::int64_t Bits __attribute__((vector_size(BYTES)));       \
        typedef double Anywhere __attribute__((vector_size(BYTES), aligned(8), may_alias)); \
    };
NOREGRET_WIDTH(16)
NOREGRET_WIDTH(32)
NOREGRET_WIDTH(64)

template <int BYTES>
struct Eight {
    static constexpr int PARTS = 64 / BYTES;
    using Numbers = typename Width<BYTES>::Numbers;
    using Anywhere = typename Width<BYTES>::Anywhere;
    Numbers part[PARTS];

    static INLINE Eight all(double value) {
        Eight r;
        UNROLLED for (int i = 0; i < PARTS; ++i) r.part[i] = value - Numbers{};  // x - 0 is x
        return r;
    }
    // Part by part: a memcpy of all eight is cut into pieces of 16 bytes, through the stack.
    static INLINE Eight at(const double* p) {
        Eight r;
        UNROLLED for (int i = 0; i < PARTS; ++i)
            r.part[i] = reinterpret_cast<const Anywhere*>(p)[i];
        return r;
    }
    static INLINE Eight of(double a, double b, double c, double d, double e, double f, double g,
                           double h) {
        if constexpr (BYTES == 16)
            return {{Numbers{a, b}, Numbers{c, d}, Numbers{e, f}, Numbers{g, h}}};
        else if constexpr (BYTES == 32)
            return {{Numbers{a, b, c, d}, Numbers{e, f, g, h}}};
        else
            return {{Numbers{a, b, c, d, e, f, g, h}}};
    }
    INLINE void put(double* p) const {
        UNROLLED for (int i = 0; i < PARTS; ++i) reinterpret_cast<Anywhere*>(p)[i] = part[i];
    }
};

#define NOREGRET_EACH(expression)                                            \
    Eight<B> r;                                                              \
    UNROLLED for (int i = 0; i < Eight<B>::PARTS; ++i) r.part[i] = expression; \
    return r;
#define NOREGRET_OPERATOR(op)                                                                     \
    template <int B>                                                                              \
    INLINE Eight<B> operator op(const Eight<B>& a, const Eight<B>& b) {                           \
        NOREGRET_EACH(a.part[i] op b.part[i])                                                     \
    }                                                                                             \
    template <int B>                                                                              \
    INLINE Eight<B> operator op(const Eight<B>& a, double b) {                                    \
        NOREGRET_EACH(a.part[i] op b)                                                             \
    }                                                                                             \
    template <int B>                                                                              \
    INLINE Eight<B> operator op(double a, const Eight<B>& b) {                                    \
        NOREGRET_EACH(a op b.part[i])                                                             \
    }
NOREGRET_OPERATOR(+)
NOREGRET_OPERATOR(-)
NOREGRET_OPERATOR(*)
NOREGRET_OPERATOR(/)

template <int B>
INLINE Eight<B> larger(const Eight<B>& a, const Eight<B>& b) {
    NOREGRET_EACH(a.part[i] > b.part[i] ? a.part[i] : b.part[i])
}

// `yes` where a > b, else `no`.
template <int B>
INLINE Eight<B> above(const Eight<B>& a, double b, double yes, double no) {
    using Numbers = typename Eight<B>::Numbers;
    NOREGRET_EACH(a.part[i] > b ? yes - Numbers{} : no - Numbers{})
}

// `yes` where a < b, else 0.
template <int B>
INLINE Eight<B> where_below(const Eight<B>& a, double b, const Eight<B>& yes) {
    using Numbers = typename Eight<B>::Numbers;
    NOREGRET_EACH(a.part[i] < b ? yes.part[i] : Numbers{})
}

// a where it is above b, else 0.
template <int B>
INLINE Eight<B> where_above(const Eight<B>& a, double b) {
    using Numbers = typename Eight<B>::Numbers;
    NOREGRET_EACH(a.part[i] > b ? a.part[i] : Numbers{})
}

// 2^k, from SHIFT + k, see vectors.hpp.
template <int B>
INLINE Eight<B> power(const Eight<B>& shifted) {
    using Numbers = typename Eight<B>::Numbers;
    using Bits = typename Width<B>::Bits;
    NOREGRET_EACH((Numbers)(((Bits)shifted.part[i] + 1023) << 52))
}

// exp of x <= 700 by the series of vectors.hpp; below -708 it is that of -708, 3e-308.  NaN stays.
template <int B>
INLINE Eight<B> exponential(const Eight<B>& given) {
    using namespace vectors;
    Eight<B> x = larger(Eight<B>::all(LOWEST), given);
    Eight<B> shifted = x * LOG2E + SHIFT;
    Eight<B> k = shifted - SHIFT;
    Eight<B> r = (x - k * LN2_HIGH) - k * LN2_LOW;
    Eight<B> r2 = r * r, r4 = r2 * r2;
    Eight<B> low = (1.0 + r) + r2 * (C2 + r * C3);
    Eight<B> middle = (C4 + r * C5) + r2 * (C6 + r * C7);
    Eight<B> high = (C8 + r * C9) + r2 * (C10 + r * C11) + r4 * (C12 + r * C13);
    return (low + r4 * (middle + r4 * high)) * power(shifted);
}

// Eight numbers as two, 0, 2, 4 and 6 in one and the others in the other: (0 . 4) . (2 . 6).
using Two = Width<16>::Numbers;
#define NOREGRET_HALVED(name, join)                                                               \
    INLINE Two name(const Eight<16>& a) {                                                         \
        return join(join(a.part[0], a.part[2]), join(a.part[1], a.part[3]));                      \
    }                                                                                             \
    INLINE Two name(const Eight<32>& a) {                                                         \
        Width<32>::Numbers v = join(a.part[0], a.part[1]);                                        \
        return join((Two{v[0], v[1]}), (Two{v[2], v[3]}));                                        \
    }                                                                                             \
    INLINE Two name(const Eight<64>& a) {                                                         \
        using Four = Width<32>::Numbers;                                                          \
        const auto& v = a.part[0];                                                                \
        Four low = {v[0], v[1], v[2], v[3]}, high = {v[4], v[5], v[6], v[7]};                     \
        low = join(low, high);                                                                    \
        return join((Two{low[0], low[1]}), (Two{low[2], low[3]}));                                \
    }
#define NOREGRET_SUM(a, b) (a) + (b)
#define NOREGRET_MOST(a, b) ((a) > (b) ? (a) : (b))
NOREGRET_HALVED(sums, NOREGRET_SUM)
NOREGRET_HALVED(tops, NOREGRET_MOST)
#undef NOREGRET_HALVED
#undef NOREGRET_SUM
#undef NOREGRET_MOST

// The sum, in the order of all sums here.
template <int B>
INLINE double total(const Eight<B>& a) {
    Two s = sums(a);
    return s[0] + s[1];
}

template <int B>
INLINE double largest(const Eight<B>& a) {
    Two s = tops(a);
    return noregret::larger(s[0], s[1]);
}

#undef NOREGRET_EACH
#undef NOREGRET_OPERATOR
#undef NOREGRET_WIDTH

// VECTORS(type, name, parameters, arguments) makes `name` of the template `name_in<BYTES>`: one
// version for each set of vector instructions, of which the loader takes the best.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(NOREGRET_BASELINE)
#define VECTORS(type, name, parameters, arguments)                                          \
    __attribute__((target("default"))) inline type name parameters {                        \
        return name##_in<16> arguments;                                                     \
    }                                                                                       \
    __attribute__((target("avx2"))) inline type name parameters { return name##_in<32> arguments; } \
    __attribute__((target("avx512f"))) inline type name parameters { return name##_in<64> arguments; }
#else
#define VECTORS(type, name, parameters, arguments) \
    inline type name parameters { return name##_in<16> arguments; }
#endif

}  // namespace noregret::lanes
