// What lies where in the arrays that compiled rounds share.
//
// `work` is scratch and settings: nothing in it is learned but LOW and HIGH, though ROOTED says how
// to read `factor`.  `ledger` has one row per running sum, as (sum, compensation), then one row per outcome.
#pragma once

#include "arrays.hpp"

namespace noregret::layout {

// Rows of `work`, each as wide as [x | y].
enum : int {
    X = 0,       // the features looked at last, constant feature first
    V = 1,       // R^-T x (fixed experts) or T x (drifting ones)
    U = 2,       // what the rotations have left of [x | y]
    MEAN = 3,    // the look's mean, one entry per outcome
    Y = 4,       // the outcomes of the round
    AT = 5,      // scalars, below
    GROWN = 6,   // beta_i = sqrt(1 + v_1^2 + ... + v_i^2)
    SHRUNK = 7,  // 1/beta_i
    LOW = 8,     // what a hint is the middle of, one entry per outcome; learned, see hint.hpp
    HIGH = 9,
    ROWS = 10,   // the drift core keeps its square of noise from here on
};

// Entries of work[AT].
enum : int {
    FRESH = 0,     // 1.0 while V, MEAN, ROOT, GROWN, SHRUNK are of X, within CEILING, and of this state
    ROOT = 1,      // sqrt(d)
    NORM = 2,      // |x|_2
    PEAK = 3,      // |x|_inf
    DRIFT = 4,     // 1/a of the round to come
    STATUS = 5,    // what the last look answered
    OFFSET = 6,    // how many constant features stand before the user's own: 0 or 1
    CEILING = 7,   // largest |x_i| admitted
    RULE = 8,      // RIDGE, CLIPPED, AAR, ...
    LEVEL = 9,     // what the rule needs: where to clip, the noise variance, or the hint
    CLOSED = 10,   // 1.0 while many rounds are being learned or the state is being copied
    ROOTED = 11,   // 1.0: a drifting factor holds a root of the covariance; 0.0: the covariance
    PASSED = 12,   // rounds that a drifting or fading core has absorbed
    FADE = 13,     // what counts after a round of what was learned, 0 where all of it does
    SCALARS = 14,
};

// Rows of `ledger`.
enum : int {
    LOSS = 0,       // what the rule paid
    SQUARE = 1,     // square loss of the point forecast
    FIT = 2,        // what the core's factor says the best expert in hindsight pays, a|w|^2 included
    WEIGHTED = 3,   // sum e^2/d, from the looks; theorems say that it equals FIT
    LOGDET = 4,     // sum ln d
    LEVERAGE = 5,   // sum 1 - 1/d
    CHARGE = 6,     // sum (y - h)^2 (1 - 1/d), h = 0 without a hint
    RELIEF = 7,     // sum (d - 1) ((m - h)/d)^2
    NORMS = 8,      // sum |x|_2^2
    WIDEST = 9,     // largest |x|_inf
    LONGEST = 10,   // largest |x|_2
    ROUNDS = 11,    // how many, and from how many learners merged into one
    JOINT = 12,     // by how much the best expert for all merged rounds pays more than FIT;
                    // with FADE, what fading has taken from |z|^2
    MISSED = 13,    // of sum k(x, x), what a budget left out
    ENERGY = 14,    // sum of |y|^2
    PROBE = 15,     // a|r|^2 + sum (r'x)^2, for the probe r of audit.hpp; fades like the state
    CROSS = 16,     // sum (r'x)(r'y); fades too
    MARK = 17,      // ENERGY and PROBE when the state was last audited on the way
    WORST = 18,     // the largest ratio that those audits found, and in which round
    LOGWEIGHT = 19, // sum of ln w over the rounds that had a weight w
    LIGHT = 20,     // how many rounds had a weight other than 1; CHARGE before there was a hint
    OUTCOMES = 21,  // from here on: largest |y_k - h_k| of each outcome k, once there was a hint
};

// What a compiled round answers.
enum : int {
    OK = 0,
    WIDTH = 1,     // wrong number of features
    LIMIT = 2,     // some feature is not a finite number within the limit
    OUTCOME = 3,   // some outcome is not a finite number whose square is finite
    OVERFLOWS = 4, // the look does not fit in float64
    BUSY = 5,      // the state is closed: wait for the lock
};

// What a rule does, see rules.hpp.
enum : int {
    RIDGE = 0, CLIPPED = 1, AAR = 2, BAYES = 3, STUDENT = 4,
    AROUND = 5, LAST = 6, MIDRANGE = 7,  // AAR around a hint, see hint.hpp
};

constexpr double LARGEST_FEATURE = 0x1p1000;  // column norms then fit in float64 for 2^46 rounds
constexpr double LARGEST_OUTCOME = 0x1p511;   // its square fits in float64
constexpr double EXACT_INTEGER = 0x1p53 - 1;  // no other integer rounds to one up to here

}  // namespace noregret::layout
