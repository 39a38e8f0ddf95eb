"""The world of Mondrian trees: every pruning written out, ridge in every cell by dense formulas."""

from __future__ import annotations

import math

import numpy as np

from literal import PoolWorld, World
from noregret.reference.mondrian import Cell, measured, mondrian, mondrian_labels, prunings


class MondrianWorld(PoolWorld):
    """Rounds of a forest whose trees have grown anew, the slow way."""

    def __init__(
        self, X: np.ndarray, y: np.ndarray, g: np.ndarray, *, span: tuple[float, float] | None,
        trees: int, price: float, a: float, linear: bool,
    ) -> None:  # fmt: skip
        how = {"trees": trees, "price": price, "a": a, "linear": linear, "span": span}
        _, self.rate, self.trees, self.mixes = mondrian(X, y, **how)
        self.Z, self.a, self.cost = measured(X, linear=linear), a, price
        super().__init__(g[:, None], y, g, prior=np.ones(1), span=span, rate=self.rate)

    def _run(self) -> None:
        self.mix = self.mixes.mean(axis=1).tolist()

    def MIXES(self) -> float:
        return sum(self.mix)

    def EVIDENCE(self) -> float:
        return np.mean([tree.evidence(self.rate, self.y) for tree in self.trees])

    def BEST_PRUNING(self) -> float:
        return np.mean([tree.best(self.rate, self.y) for tree in self.trees])

    def BEST_CELLS(self) -> float:
        return np.mean([
            min(sum(map(self._cell, P)) - p / self.rate for P, p in prunings(tree.root, self.cost))
            for tree in self.trees
        ])  # fmt: skip

    def _cell(self, cell: Cell) -> float:
        """min_w (sum (y - w'z)^2 + a|w - w_0|^2), and what clipped ridge is charged beyond it."""
        w, y = cell.weights(self.Z, self.y, self.a), self.y
        best = ((y[cell.rounds] - self.Z[cell.rounds] @ w) ** 2).sum()
        best += self.a * ((w - cell.start) ** 2).sum()
        A, b = self.a * np.eye(len(w)), self.a * cell.start
        for t, g in zip(cell.rounds, cell.said):
            z = self.Z[t]
            m, d = z @ np.linalg.solve(A, b), 1.0 + z @ np.linalg.solve(A, z)
            if t and y[:t].min() <= y[t] <= y[:t].max():
                best += (y[:t].max() - y[:t].min()) ** 2 * (1.0 - 1.0 / d)
            else:
                best += max((y[t] - g) ** 2 - (y[t] - m) ** 2 / d, 0.0)
            A, b = A + np.outer(z, z), b + y[t] * z
        return float(best) if math.isfinite(best) else math.nan


class LabelTreesWorld(World):
    """Rounds of a forest that counts labels, grown anew the slow way."""

    def __init__(
        self, X: np.ndarray, y: np.ndarray, said: list[float], *, trees: int, price: float, a: float
    ) -> None:
        super().__init__()
        self.y, self.p = y, np.where(y == 1.0, said, 1.0 - np.array(said))
        _, self.trees, self.mixes = mondrian_labels(X, y, trees=trees, price=price, a=a)

    def LOGLOSS(self) -> float:
        return -np.log(self.p).sum()

    def MIXES(self) -> float:
        return self.mixes.mean(axis=1).sum()

    def EVIDENCE(self) -> float:
        return np.mean([tree.evidence(1.0, self.y) for tree in self.trees])

    def BEST_PRUNING(self) -> float:
        return np.mean([tree.best(1.0, self.y) for tree in self.trees])
