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
#define INLINE inline __attribute__((always_inline))
#define INLINED __attribute__((always_inline))  // of a lambda

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

// a'b.  Eight running sums, added up in one fixed order: vectors of any width give the same bits.
INLINE double dot(const double* a, const double* b, Size n) {
    double s[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    Size k = 0;
    for (; k + 8 <= n; k += 8)
        for (int q = 0; q < 8; ++q) s[q] += a[k + q] * b[k + q];
    for (int q = 0; k < n; ++k, ++q) s[q] += a[k] * b[k];
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}
INLINE double dot(Row a, Row b) { return dot(a.p, b.p, a.n); }

}  // namespace noregret
