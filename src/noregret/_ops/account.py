"""What a yes-or-no learner has paid, and what the theorems need of its inputs."""

from __future__ import annotations

import math

import numba as nb

from noregret._ops import BLOCK, ROW, compiled
from noregret._ops.ledger import add
from noregret._ops.sparse import dot
from noregret.types import Matrix, Vector

# Rows of `book`, two entries each.
LOSS = 0  # log loss, compensated
BRIER = 1  # sum (label - p)^2, compensated
ROUNDS = 2  # how many; and how many had the positive label
LONGEST = 3  # largest |x|_2
EXCESS = 4  # MAP: sum l_t(w_{t-1}) - l_t(w_t), compensated
PRICE = 5  # improper learner: what its theorem charges, exactly, compensated
LOGDET = 6  # improper learner: ln det(A_T/A_0), compensated
BOOK_ROWS = 7


@compiled(nb.void(BLOCK, BLOCK, ROW, nb.float64, nb.float64))
def note(book: Matrix, scatter: Matrix, x: Vector, loss: float, sign: float) -> None:
    """Book one round; `scatter` is sum xx'."""
    add(book, LOSS, loss)
    miss = -math.expm1(-loss)
    add(book, BRIER, miss * miss)
    book[ROUNDS, 0] += 1.0
    book[ROUNDS, 1] += 0.5 * (1.0 + sign)
    book[LONGEST, 0] = max(book[LONGEST, 0], math.sqrt(dot(x, x)))
    for i in range(x.shape[0]):
        row, xi = scatter[i], x[i]
        if xi != 0.0:
            for j in range(x.shape[0]):
                row[j] += xi * x[j]
