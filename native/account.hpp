// What a binary learner has paid, and what the theorems need of its inputs.
#pragma once

#include "ledger.hpp"

namespace noregret::account {

// Rows of `book`, two entries each.
enum : int {
    LOSS = 0,     // log loss, compensated
    BRIER = 1,    // sum (label - p)^2, compensated
    ROUNDS = 2,   // how many; and how many had the positive label
    LONGEST = 3,  // largest |x|_2
    EXCESS = 4,   // MAP: sum l_t(w_{t-1}) - l_t(w_t), compensated
    PRICE = 5,    // improper learner: what its theorem charges, exactly, compensated
    LOGDET = 6,   // improper learner: ln det(A_T/A_0), compensated
    BOOK_ROWS = 7,
};

// Book one round; `scatter` is sum xx'.
MULTIVERSIONED inline void note(const Block& book, const Block& scatter, Row x, double loss, double sign) {
    ledger::add(book, LOSS, loss);
    double miss = -std::expm1(-loss);
    ledger::add(book, BRIER, miss * miss);
    book(ROUNDS, 0) += 1.0;
    book(ROUNDS, 1) += 0.5 * (1.0 + sign);
    book(LONGEST, 0) = larger(book(LONGEST, 0), std::sqrt(dot(x, x)));
    const double* __restrict from = x.p;
    for (Size i = 0; i < x.n; ++i) {
        double *__restrict row = scatter[i].p, xi = x[i];
        if (xi != 0.0)
            for (Size j = 0; j < x.n; ++j) row[j] += xi * from[j];
    }
}

}  // namespace noregret::account
