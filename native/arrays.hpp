// Views of NumPy arrays: what lies where, and no more.  They own nothing and cost nothing.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace noregret {

using Size = std::ptrdiff_t;

constexpr double INF = std::numeric_limits<double>::infinity();
constexpr double NaN = std::numeric_limits<double>::quiet_NaN();

// Compiled once for each set of vector instructions; which one runs is chosen when the module is
// loaded.  Products and sums are never fused (-ffp-contract=off) and no sum is reordered, so that
// all of them give the same bits.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(NOREGRET_BASELINE)
#define MULTIVERSIONED __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define MULTIVERSIONED
#endif
#ifdef NOREGRET_CALLS  // functions stay functions: sooner compiled, slower, the same bits
#define INLINE inline
#define INLINED
#else
#define INLINE inline __attribute__((always_inline))
#define INLINED __attribute__((always_inline))  // of a lambda
#endif

// A contiguous vector.
struct Row {
    double* p;
    Size n;
    INLINE double& operator[](Size i) const { return p[i]; }
    INLINE Row from(Size i) const { return {p + i, n - i}; }
    INLINE Row first(Size k) const { return {p, k}; }
};

// A C-ordered matrix.
struct Block {
    double* p;
    Size rows, cols;
    INLINE Row operator[](Size i) const { return {p + i * cols, cols}; }
    INLINE double& operator()(Size i, Size j) const { return p[i * cols + j]; }
    INLINE Block below(Size i) const { return {p + i * cols, rows - i, cols}; }
};

// A C-ordered stack of matrices.
struct Cube {
    double* p;
    Size depth, rows, cols;
    INLINE Block operator[](Size i) const { return {p + i * rows * cols, rows, cols}; }
};

// A vector from the user: strided and read-only as it may be.
struct Strided {
    const char* p;
    Size n, stride;  // in bytes
    INLINE double operator[](Size i) const {
        double value;
        std::memcpy(&value, p + i * stride, sizeof value);
        return value;
    }
};
INLINE Strided strided(Row x) {
    return {reinterpret_cast<const char*>(x.p), x.n, Size(sizeof(double))};
}

// The same without gaps, for the time of a call.
struct Copied {
    std::vector<double> numbers;
    explicit Copied(Strided x) : numbers(std::size_t(x.n)) {
        for (Size k = 0; k < x.n; ++k) numbers[std::size_t(k)] = x[k];
    }
    Row row() { return {numbers.data(), Size(numbers.size())}; }
};

// A matrix from the user, likewise.
struct StridedBlock {
    const char* p;
    Size rows, cols, down, along;  // strides in bytes
    INLINE Strided operator[](Size i) const { return {p + i * down, cols, along}; }
};

// A contiguous vector of whole numbers.
struct Whole {
    const std::int64_t* p;
    Size n;
    INLINE std::int64_t operator[](Size i) const { return p[i]; }
};

// Room for n numbers, for the time of a call.
inline std::vector<double> scratch(Size n) { return std::vector<double>(std::size_t(n)); }

INLINE double larger(double a, double b) { return a > b ? a : b; }
INLINE double smaller(double a, double b) { return a < b ? a : b; }

// Four numbers side by side, without any promise about where they begin.
typedef double Four __attribute__((vector_size(32), aligned(8)));
typedef std::int64_t Mask __attribute__((vector_size(32), aligned(8)));  // what a comparison gives
INLINE Four& four(double* p) { return *reinterpret_cast<Four*>(p); }
INLINE Four four(const double* p) { return *reinterpret_cast<const Four*>(p); }
typedef double Two __attribute__((vector_size(16), aligned(8)));  // likewise
INLINE Two two(const double* p) { return *reinterpret_cast<const Two*>(p); }
INLINE Mask bits(Four a) { return reinterpret_cast<Mask>(a); }
INLINE std::int64_t joined(Mask a) { return (a[0] | a[1]) | (a[2] | a[3]); }

// The sum of eight running sums, in one fixed order.
INLINE double total(Four low, Four high) {
    Four t = low + high;
    return (t[0] + t[2]) + (t[1] + t[3]);
}

// a'b.  Eight running sums, added up in one fixed order: vectors of any width give the same bits.
// Products that are left over never go through memory, where the next sum would wait for them.
INLINE double dot(const double* a, const double* b, Size n) {
    auto few = [&](Size k) INLINED {  // of the last one to three
        return Four{a[k] * b[k], k + 1 < n ? a[k + 1] * b[k + 1] : 0.0, k + 2 < n ? a[k + 2] * b[k + 2] : 0.0, 0.0};
    };
    Four low = {0.0, 0.0, 0.0, 0.0}, high = low;
    Size k = 0;
    for (; k + 8 <= n; k += 8) {
        low += four(a + k) * four(b + k);
        high += four(a + k + 4) * four(b + k + 4);
    }
    if (k + 4 <= n) {
        low += four(a + k) * four(b + k);
        if ((k += 4) < n) high += few(k);
    } else if (k < n) {
        low += few(k);
    }
    return total(low, high);
}
INLINE double dot(Row a, Row b) { return dot(a.p, b.p, a.n); }

}  // namespace noregret
