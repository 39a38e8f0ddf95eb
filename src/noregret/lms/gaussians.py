"""The state of K-LMS-NET with Gaussian kernels: tiles of patterns, a column of sums a node."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from noregret._ops import bare
from noregret._ops import continuum as ops
from noregret._ops.continuum import (
    AT,
    BOOK,
    BUDGETS,
    CELLS,
    COUNTS,
    FRESH,
    FULL,
    GAME,
    PRIOR,
    RANGE,
    RATE,
    SAID,
)
from noregret._ops.lms import FACTS, STEPS, TILE
from noregret.gaussian.cores.memory import enough
from noregret.inputs.kernel_spaces import KernelInputs
from noregret.lms.nodes import NodeRule, grid
from noregret.types import Integers, Matrix, Vector

__all__ = ["AUDITS", "GaussianNetState", "NetGame", "opened"]

AUDITS = 2  # see grid.py
_predict, _learn = bare(ops.predict), bare(ops.learn)


@dataclass(frozen=True, slots=True)
class NetGame:
    """What the parameters come to: range, rate, price of a nat, window."""

    low: float
    high: float
    eta: float
    substitution: bool
    window: int  # 0: every pattern is kept
    budgets: tuple[float, float]  # L-hat and H-hat, 0 where there are none
    audit: bool

    @property
    def price(self) -> float:
        """c: exponential weights pay c ln(1/w_j)."""
        r = self.high - self.low
        return r * r * (0.5 if self.substitution else 2.0)


def opened(game: NetGame, grid: NodeRule) -> tuple[Matrix, Any, Matrix]:
    """Cells of the nodes and of the audits, and the book, before the first round."""
    cells, book = np.zeros((CELLS, grid.alphas.size)), np.zeros((BOOK, 2))
    finer = np.zeros((AUDITS if game.audit else 0, CELLS, grid.finer.size))
    cells[PRIOR] = np.log(grid.weights)
    finer[:, PRIOR] = np.log(grid.audit)
    book[RANGE] = game.low, game.high
    book[GAME] = game.price, game.substitution
    book[RATE] = game.eta, game.window
    book[BUDGETS] = game.budgets
    return cells, finer, book


@dataclass(slots=True, eq=False)
class GaussianNetState:
    """Everything that a net of Gaussian widths has learned."""

    inputs: KernelInputs
    scale: float  # s0
    alphas: Vector
    rates: Matrix
    levels: Integers
    points: Any  # (tiles, n, TILE)
    coefs: Any  # (tiles, nodes, TILE)
    facts: Matrix
    cells: Matrix
    finer: Any  # the audits' cells
    book: Matrix
    # Scratch: nothing learned is in it.
    work: Matrix = field(init=False, repr=False)
    said: Matrix = field(init=False, repr=False)
    heard: Any = field(init=False, repr=False)
    lift: Any = field(init=False, repr=False)
    at: Vector = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.work = np.zeros((STEPS + len(self.rates), TILE))
        self.said = np.zeros((SAID, self.alphas.size))
        self.heard = np.zeros((AUDITS, SAID, self.finer.shape[2]))
        self.lift = grid(self.alphas.size).lift
        self.at = np.zeros(AT + self.points.shape[1])

    def __reduce__(self) -> tuple[Any, ...]:
        learned = (part.name for part in fields(self) if part.init)
        return GaussianNetState, tuple(getattr(self, name) for name in learned)

    @classmethod
    def start(
        cls, game: NetGame, rule: NodeRule, scale: float, inputs: KernelInputs
    ) -> GaussianNetState:
        """Nothing learned."""
        assert inputs.space is not None
        n, J = inputs.space.size, rule.alphas.size
        cells, finer, book = opened(game, rule)
        points, coefs = np.zeros((1, n, TILE)), np.zeros((1, J, TILE))
        facts = np.zeros((TILE, FACTS))
        rates, levels = rule.rates(scale), rule.levels
        return cls(
            *(inputs, scale, rule.alphas, rates, levels),
            *(points, coefs, facts, cells, finer, book),
        )

    def copy(self) -> GaussianNetState:
        """One that shares nothing with this one."""
        names = "points", "coefs", "facts", "cells", "finer", "book"
        return replace(self, **{name: getattr(self, name).copy() for name in names})

    @property
    def size(self) -> int:
        """How many patterns are kept."""
        return int(self.book[COUNTS, 1])

    def has_room(self) -> bool:
        """Whether one more pattern fits without asking for memory."""
        return self.size < len(self.points) * TILE

    def _room(self, more: int) -> None:
        """Make room for so many more patterns."""
        tiles = -(-(self.size + more) // TILE)
        have, J, n = len(self.points), self.alphas.size, self.points.shape[1]
        if tiles <= have:
            return
        tiles = max(tiles, have + have // 2)
        enough(tiles * TILE * (J + n), f"a net with room for {tiles * TILE} patterns")
        for name in ("points", "coefs"):
            old = getattr(self, name)
            extended = np.zeros((tiles, *old.shape[1:]))
            extended[:have] = old
            setattr(self, name, extended)
        facts = np.zeros((tiles * TILE, FACTS))
        facts[: len(self.facts)] = self.facts
        self.facts = facts

    # One round ------------------------------------------------------------------------------

    def predict(self, x: Vector) -> float:
        """The forecast at x; NaN where x is not good."""
        return _predict(
            self.points,
            self.coefs,
            self.cells,
            self.book,
            self.rates,
            self.levels,
            self.work,
            self.said,
            self.at,
            x,
        )

    def learn(self, x: Vector, y: float) -> int:
        """One round; OK, or why not."""
        while True:
            answer: int = _learn(
                self.points,
                self.coefs,
                self.facts,
                self.cells,
                self.finer,
                self.book,
                self.rates,
                self.levels,
                self.work,
                self.said,
                self.heard,
                self.lift,
                self.at,
                x,
                y,
            )
            if answer != FULL:
                return answer
            self._room(1)

    # Many rounds ----------------------------------------------------------------------------

    def replay(self, xs: Matrix, ys: Vector) -> Vector:
        """Predict-then-learn over rows, in place."""
        forecasts = np.empty(len(ys))
        self.at[FRESH] = 0.0
        begin = 0
        while begin < len(ys):
            begin += ops.replay(
                self.points,
                self.coefs,
                self.facts,
                self.cells,
                self.finer,
                self.book,
                self.rates,
                self.levels,
                self.work,
                self.said,
                self.heard,
                self.lift,
                self.at,
                xs[begin:],
                ys[begin:],
                forecasts[begin:],
            )
            if begin < len(ys):
                self._room(1)
        return forecasts

    def predict_rows(self, xs: Matrix) -> Vector:
        """Forecasts at every row; nothing is learned."""
        return np.array([self.predict(x) for x in xs])

    # What the theorems ask for --------------------------------------------------------------

    def patterns(self) -> Matrix:
        """The patterns kept, a row each."""
        tiles, n = self.points.shape[:2]
        rows: Matrix = self.points.transpose(0, 2, 1).reshape(tiles * TILE, n)[: self.size]
        return np.ascontiguousarray(rows)

    def matrix(self, alpha: float, X: Matrix, Z: Matrix) -> Matrix:
        """k_alpha(x, z)."""
        square = np.zeros((len(X), len(Z)))
        for i in range(X.shape[1]):
            square += np.subtract.outer(X[:, i], Z[:, i]) ** 2
        return np.exp(-self.scale * alpha * square)
