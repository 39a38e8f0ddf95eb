"""Mondrian trees the slow way: ridge solved anew from its rows, prunings written out one by one."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field

import numpy as np

from noregret.types import Matrix, Vector

__all__ = [
    "Cell",
    "LabelTree",
    "MondrianTree",
    "measured",
    "mondrian",
    "mondrian_labels",
    "prunings",
    "uniforms",
]

BITS = 2**64 - 1
STEP = 0x9E3779B97F4A7C15


def _scrambled(z: int) -> int:
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & BITS
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & BITS
    return z ^ (z >> 31)


def uniforms(seed: int, tree: int, at: int, count: int) -> list[float]:
    """Random numbers of one tree in one round: splitmix64."""
    start = _scrambled((seed + STEP * (tree + 1)) & BITS)
    state = _scrambled((start + STEP * (at + 1)) & BITS)
    return [(_scrambled((state + STEP * (k + 1)) & BITS) >> 11) * 2.0**-53 for k in range(count)]


@dataclass
class Cell:
    """A node: which rounds passed through it, and what ridge said there."""

    birth: float
    time: float
    low: Vector
    high: Vector
    start: Vector  # mean of the prior
    rounds: list[int] = field(default_factory=list)
    said: list[float] = field(default_factory=list)
    feature: int = -1
    cut: float = math.nan
    left: Cell | None = None
    right: Cell | None = None

    def children(self) -> list[Cell]:
        """Two, or none."""
        return [c for c in (self.left, self.right) if c is not None]

    def weights(self, Z: Matrix, y: Vector, a: float) -> Vector:
        """argmin_w sum (y - w'z)^2 + a|w - start|^2."""
        z, rest = Z[self.rounds], y[self.rounds] - Z[self.rounds] @ self.start
        q, r = np.linalg.qr(np.vstack([z, math.sqrt(a) * np.eye(Z.shape[1])]))
        w: Vector = self.start + np.linalg.solve(r, q[: len(z)].T @ rest)
        return w

    def loss(self, y: Vector) -> float:
        """What it lost so far."""
        return math.fsum((float(y[t]) - g) ** 2 for t, g in zip(self.rounds, self.said))


def prunings(cell: Cell, price: float) -> list[tuple[list[Cell], float]]:
    """All sets of cells where a pruning may stop, each with the logarithm of its prior weight."""
    if not cell.children():
        return [([cell], 0.0)]
    life = price * (cell.time - cell.birth)
    found = [([cell], math.log(-math.expm1(-life)))]
    below = [prunings(child, price) for child in cell.children()]
    for (a, p), (b, q) in itertools.product(*below):
        found.append((a + b, p + q - life))
    return found


class MondrianTree:
    """One tree on rows that are known beforehand, of which it looks at one after another."""

    def __init__(self, tree: int, seed: int, price: float, a: float) -> None:
        self.tree, self.seed, self.price, self.a = tree, seed, price, a
        self.root: Cell | None = None
        self.size = 0
        self.rates: Vector | float = 1.0  # of the features

    def grow(self, x: Vector, t: int, Z: Matrix, y: Vector, *, room: bool) -> list[Cell]:
        """Let x in, by x alone; the path that it takes."""
        if self.root is None:
            self.root, self.size = Cell(0.0, math.inf, x, x, self._first(Z)), 1
            return [self.root]
        draws = iter(uniforms(self.seed, self.tree, t, 200))
        sides = np.maximum(self.root.high, x) - np.minimum(self.root.low, x)
        path: list[Cell] = []
        cell: Cell = self.root
        while True:
            off = np.maximum(np.maximum(cell.low - x, x - cell.high), 0.0)
            rates = np.where(off > 0.0, off / np.where(sides > 0.0, sides, 1.0), 0.0) * self.rates
            total = float(np.cumsum(rates)[-1]) if rates.size else 0.0
            if total > 0.0 and room:
                time = cell.birth - math.log1p(-next(draws)) / total
                if cell.birth < time < cell.time:
                    at = next(draws) * total
                    j = int(np.argmax(np.cumsum(rates) > at))
                    ends = sorted(
                        [float(x[j]), float(cell.low[j] if x[j] < cell.low[j] else cell.high[j])]
                    )
                    cut = ends[0] + (ends[1] - ends[0]) * next(draws)
                    return self._split(cell, path, x, (time, j, cut), self._start(cell, Z, y))
            cell.low, cell.high = np.minimum(cell.low, x), np.maximum(cell.high, x)
            path.append(cell)
            if cell.left is None or cell.right is None:
                return path
            cell = cell.left if x[cell.feature] <= cell.cut else cell.right

    def _first(self, Z: Matrix) -> Vector:
        """What the prior of the root is about."""
        return np.zeros(Z.shape[1])

    def _start(self, cell: Cell, Z: Matrix, y: Vector) -> Vector:
        """What the prior of a leaf beside a cell is about."""
        return cell.weights(Z, y, self.a)

    def _lost(self, cell: Cell, y: Vector) -> float:
        """What a cell lost so far."""
        return cell.loss(y)

    def _split(
        self, cell: Cell, path: list[Cell], x: Vector, where: tuple[float, int, float], w: Vector
    ) -> list[Cell]:
        """A new cell above this one, with this one's past; and a leaf at x."""
        time, j, cut = where
        above = Cell(
            cell.birth, time, np.minimum(cell.low, x), np.maximum(cell.high, x), cell.start
        )
        above.rounds, above.said = cell.rounds.copy(), cell.said.copy()
        leaf = Cell(time, math.inf, x, x, w)
        above.feature, above.cut = j, cut
        above.left, above.right = (leaf, cell) if x[j] <= cut else (cell, leaf)
        cell.birth, self.size = time, self.size + 2
        if not path:
            self.root = above
        elif path[-1].left is cell:
            path[-1].left = above
        else:
            path[-1].right = above
        return [*path, above, leaf]

    def evidence(self, eta: float, y: Vector) -> float:
        """-(1/eta) ln sum_P p_P exp(-eta L_P)."""
        assert self.root is not None
        found = [(sum(self._lost(c, y) for c in P), p) for P, p in prunings(self.root, self.price)]
        least = min(loss for loss, _ in found)
        if eta == math.inf:
            return least
        return least - math.log(math.fsum(math.exp(p - eta * (L - least)) for L, p in found)) / eta

    def best(self, eta: float, y: Vector) -> float:
        """min_P L_P + (1/eta) ln 1/p_P."""
        assert self.root is not None
        nodes = prunings(self.root, self.price)
        return min(sum(self._lost(c, y) for c in P) - p / eta for P, p in nodes)

    def forecast(
        self, path: list[Cell], said: list[float], eta: float, y: Vector, ends: tuple[float, float]
    ) -> float:
        """The substitution over all prunings, each of which says what its cell on the path says."""
        assert self.root is not None
        by = {id(c): g for c, g in zip(path, said)}
        pool = [
            (p - eta * sum(self._lost(c, y) for c in P), next(by[id(c)] for c in P if id(c) in by))
            for P, p in prunings(self.root, self.price)
        ]

        def mix(outcome: float) -> float:
            logs = np.array([w - eta * (outcome - g) ** 2 for w, g in pool])
            return -float(np.logaddexp.reduce(logs)) / eta

        lo, hi = ends
        return 0.5 * (lo + hi) + (mix(lo) - mix(hi)) / (2.0 * (hi - lo))


def measured(X: Matrix, *, linear: bool) -> Matrix:
    """z = (1, (x - o)/c): o the first row, c the first distance above 0 from it."""
    if not linear:
        return np.ones((len(X), 1))
    off = X - X[0]
    first = [column[np.flatnonzero(column)[:1]] for column in off.T]
    units = np.array([abs(float(value[0])) if value.size else 1.0 for value in first])
    return np.hstack([np.ones((len(X), 1)), off / units])


def mondrian(
    X: Matrix,
    y: Vector,
    *,
    trees: int,
    price: float,
    a: float,
    seed: int = 0,
    linear: bool = True,
    span: tuple[float, float] | None = None,
    cap: int = 10**9,
) -> tuple[Vector, float, list[MondrianTree], Matrix]:
    """Forecasts, eta after the last round, the trees then, and the mixes by round and tree."""
    Z, forest = measured(X, linear=linear), [MondrianTree(k, seed, price, a) for k in range(trees)]
    width = 0.0 if span is None else span[1] - span[0]
    g, mixes = np.zeros(len(y)), np.zeros((len(y), trees))
    for t, x in enumerate(X):
        seen = y[:t]
        if span is None and t:
            spread = float(seen.max() - seen.min())
            width = width or spread
            while width < spread:
                width *= 2.0
        middle = 0.5 * (float(seen.min()) + float(seen.max())) if t else 0.0
        ends = (middle - width / 2.0, middle + width / 2.0) if span is None else span
        eta = 2.0 / width**2 if width else math.inf
        room = sum(tree.size for tree in forest) + 2 * trees <= cap
        heard = []
        for tree in forest:
            path = tree.grow(x, t, Z, y, room=room)
            raw = [float(c.weights(Z, y, a) @ Z[t]) for c in path]
            said = [min(max(m, float(seen.min())), float(seen.max())) for m in raw] if t else raw
            known = eta < math.inf
            point = float(seen[0]) if t else said[0]
            heard.append(tree.forecast(path, said, eta, y, ends) if known else point)
            before = tree.evidence(eta, y)
            for c, m in zip(path, said):
                c.rounds.append(t)
                c.said.append(m)
            mixes[t, tree.tree] = tree.evidence(eta, y) - before
            if t == 0:  # the first outcome is where ridge begins
                path[0].start = y[0] * np.eye(Z.shape[1])[0]
        g[t] = sum(heard) / trees
    spread = float(y.max() - y.min())
    width = (width or spread) if span is None else width
    while span is None and 0.0 < width < spread:
        width *= 2.0
    return g, 2.0 / width**2 if width else math.inf, forest, mixes


class LabelTree(MondrianTree):
    """A tree whose cells count labels, 0 and 1."""

    def _first(self, Z: Matrix) -> Vector:  # noqa: ARG002  # as its parent has it
        return np.array([0.5])

    def says(self, cell: Cell, y: Vector) -> float:
        """(k + a q)/(m + a)."""
        k, m = float(y[cell.rounds].sum()), len(cell.rounds)
        return (k + self.a * float(cell.start[0])) / (m + self.a)

    def _start(self, cell: Cell, Z: Matrix, y: Vector) -> Vector:  # noqa: ARG002  # as above
        return np.array([self.says(cell, y)])

    def _lost(self, cell: Cell, y: Vector) -> float:
        return -math.fsum(math.log(p if y[t] else 1.0 - p) for t, p in zip(cell.rounds, cell.said))

    def mixed(self, path: list[Cell], said: list[float], y: Vector) -> float:
        """The probability of 1 by all prunings: each says what its cell on the path says."""
        assert self.root is not None
        by = {id(c): p for c, p in zip(path, said)}
        pool = [
            (p - sum(self._lost(c, y) for c in P), next(by[id(c)] for c in P if id(c) in by))
            for P, p in prunings(self.root, self.price)
        ]
        top = max(w for w, _ in pool)
        weights = [math.exp(w - top) for w, _ in pool]
        return math.fsum(w * p for w, (_, p) in zip(weights, pool)) / math.fsum(weights)


def mondrian_labels(
    X: Matrix, y: Vector, *, trees: int, price: float, a: float, seed: int = 0, cap: int = 10**9
) -> tuple[Vector, list[LabelTree], Matrix]:
    """Probabilities of label 1, the trees after the last round, and mixes by round and tree."""
    forest = [LabelTree(k, seed, price, a) for k in range(trees)]
    said_by, mixes, n = np.zeros((len(y), trees)), np.zeros((len(y), trees)), X.shape[1]
    for t, x in enumerate(X):
        off, yes = X[:t] - X[0], y[:t] == 1.0
        apart = off[yes].sum(axis=0) / (yes.sum() + 1.0) - off[~yes].sum(axis=0) / (
            (~yes).sum() + 1.0
        )
        spread = off.std(axis=0) if t else np.zeros(n)
        varies = spread > 1e-7 * np.abs(off.sum(axis=0)) / max(t, 1)
        D3 = varies * (np.abs(apart) / np.where(spread > 0.0, spread, 1.0)) ** 3
        rates = 0.05 + 0.95 * varies.sum() * D3 / D3.sum() if D3.sum() > 0.0 else np.ones(n)
        room = sum(tree.size for tree in forest) + 2 * trees <= cap
        for k, tree in enumerate(forest):
            tree.rates = rates
            path = tree.grow(x, t, X, y, room=room)
            said = [tree.says(c, y) for c in path]
            said_by[t, k] = tree.mixed(path, said, y)
            before = tree.evidence(1.0, y)
            for c, p in zip(path, said):
                c.rounds.append(t)
                c.said.append(p)
            mixes[t, k] = tree.evidence(1.0, y) - before
    return said_by.mean(axis=1), forest, mixes
