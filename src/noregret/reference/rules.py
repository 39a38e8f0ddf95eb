"""Pools of rules from the formulas, dense and slow; docs/theory.md section 23.

Weights and regrets are vectors, the ridge of a stack solves with the inverse of its covariance, and
the outermost pool keeps p_j exp(-eta u_j) as it stands.  NaN: asleep.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from noregret.types import Matrix, Vector

__all__ = ["Adaptive", "MLpol", "Outermost", "Stack", "rules"]


@dataclass
class Mean:
    """A running mean of squares: the past fades by 0.995, a term counts at most 25 times it."""

    v: float = 0.0
    n: float = 0.0

    def add(self, square: float) -> None:
        """One square more."""
        cut = min(square, 25.0 * self.v) if self.v > 0.0 else square
        n = 0.995 * self.n
        self.v, self.n = (n * self.v + cut) / (n + 1.0), n + 1.0


@dataclass
class Adaptive:
    """Exponential weights at the rate c/(2v), with Fixed Share; forecasts are N x k."""

    p: Vector
    share: float
    power: float = 0.5
    w: Vector = field(init=False)
    mean: Mean = field(default_factory=Mean)

    def __post_init__(self) -> None:
        self.w = self.p.copy()

    def forecast(self, said: Matrix) -> Vector:
        """The weighted mean of those awake."""
        w = np.where(np.isnan(said).any(axis=1), 0.0, self.w)
        forecast: Vector = w @ np.nan_to_num(said) / w.sum()
        return forecast

    def learn(self, said: Matrix, g: Vector, y: Vector) -> None:
        """The round with forecast g met y."""
        self.mean.add(float(((y - g) ** 2).sum()))
        if self.mean.v == 0.0:
            return
        here = ~np.isnan(said).any(axis=1)
        lost = ((y - said[here]) ** 2).sum(axis=1)
        nats = np.minimum((lost - lost.min()) * self.power / (2.0 * self.mean.v), 30.0)
        after = self.w[here] * np.exp(-nats)
        self.w[here] = after / after.sum() * self.w[here].sum()
        self.w = (1.0 - self.share) * self.w + self.share * self.p


@dataclass
class MLpol:
    """MLpol for square loss, in plain units."""

    p: Vector
    R: Vector = field(init=False)
    D: Vector = field(init=False)
    B: float = 0.0

    def __post_init__(self) -> None:
        self.R, self.D = np.zeros(self.p.size), np.zeros(self.p.size)

    def weights(self, said: Matrix) -> Vector:
        """Of those awake, adding up to 1."""
        here = ~np.isnan(said).any(axis=1)
        merit = self.p * np.maximum(self.R, 0.0) / np.where(self.D > 0.0, self.D, 1.0) * here
        w = merit if merit.sum() > 0.0 else self.p * here
        weights: Vector = w / w.sum()
        return weights

    def learn(self, said: Matrix, g: Vector, y: Vector) -> None:
        """The round with forecast g met y."""
        r = np.nan_to_num((2.0 * (g - y) * (g - said)).sum(axis=1))
        B = max(self.B, float((r * r).max()))
        self.R, self.D, self.B = self.R + r, self.D + r * r + (B - self.B), B


@dataclass
class Stack:
    """Ridge on how far the experts are from a centre, in units of the centre's own error (23.2)."""

    N: int
    precision: float = 10.0
    step: float = 1e-4
    first: int = 100
    rounds: int = 0
    mean: Mean = field(default_factory=Mean)
    w: Vector = field(init=False)
    P: Matrix = field(init=False)

    def __post_init__(self) -> None:
        self.w, self.P = np.zeros(self.N), np.eye(self.N) / self.precision

    def forecast(self, said: Matrix, centre: Vector) -> Vector:
        """The centre plus what the weights make of the distances."""
        if self.rounds < self.first or self.mean.v == 0.0:
            return centre
        forecast: Vector = centre + self.w @ np.nan_to_num(said - centre)
        return forecast

    def learn(self, said: Matrix, centre: Vector, y: Vector) -> None:
        """The round met y: one row for each outcome, then a step of the random walk."""
        if self.mean.v > 0.0:
            s = math.sqrt(self.mean.v)
            for z, r in zip(np.nan_to_num((said - centre) / s).T, (y - centre) / s):
                after = np.linalg.inv(np.linalg.inv(self.P) + np.outer(z, z))
                self.w = self.w + after @ z * float(r - self.w @ z)
                self.P = after
        self.P = self.P + self.step * np.eye(self.N)
        self.mean.add(float(((y - centre) ** 2).sum()))
        self.rounds += 1


@dataclass
class Outermost:
    """The Aggregating Algorithm over experts and rules, range learned around c; share 1/(t+1).

    Of k outcomes the rate of the added losses is 2/(k W^2), each is forecast at 2/W^2 (23.5).
    """

    p: Vector
    k: int
    u: Vector = field(init=False)
    seen: list[float] = field(default_factory=list)
    width: float = 0.0
    rounds: int = 0

    def __post_init__(self) -> None:
        self.u = np.zeros(self.p.size)

    def forecast(self, said: Matrix, c: Vector) -> Vector:
        """The substitution, outcome by outcome; before there is a range the prior's mean."""
        here = ~np.isnan(said).any(axis=1)
        words = said[here]
        if not self.seen or not self.width:
            mean: Vector = self.p[here] @ words / self.p[here].sum()
            agreed = (words == words[0]).all(axis=0)
            return mean if not self.seen else np.where(agreed, words[0], c + self.seen[0])
        W, middle = self.width, 0.5 * (min(self.seen) + max(self.seen))
        rate = 2.0 / W**2
        start = np.log(self.p[here]) - rate / self.k * self.u[here]

        def mix(f: Vector, w: float) -> float:
            x = start - rate * (w - f) ** 2
            return float(-(x.max() + np.log(np.exp(x - x.max()).sum())) / rate)

        found = []
        for f in (words - c).T:
            lo, hi = middle - W / 2, middle + W / 2
            found.append((mix(f, lo) - mix(f, hi)) / (2.0 * W) + middle)
        forecast: Vector = c + np.array(found)
        return forecast

    def learn(self, said: Matrix, c: Vector, y: Vector) -> None:
        """The round met y."""
        here = ~np.isnan(said).any(axis=1)
        lost = ((y - said[here]) ** 2).sum(axis=1)
        if self.width:
            eta = 2.0 / (self.k * self.width**2)
            before = self.p[here] * np.exp(-eta * self.u[here])
            after = before * np.exp(-eta * (lost - lost.min()))
            mix = lost.min() - math.log(after.sum() / before.sum()) / eta
            self.u[here] += lost - mix
            s = 1.0 / (self.rounds + 2.0)
            self.u = -np.log((1.0 - s) * np.exp(-eta * self.u) + s) / eta
        else:
            self.u[:] = 0.0
        self.seen += (y - c).tolist()
        spread = max(self.seen) - min(self.seen)
        least = float(2.0**-26 * np.abs(c).max())
        if not self.width and spread:
            self.width = max(spread, least)
        grown = self.width
        while 0.0 < grown < max(spread, least):
            grown *= 2.0
        if grown != self.width:
            self.width = grown
        if self.width:
            eta = 2.0 / (self.k * self.width**2)
            self.u += math.log(float((self.p * np.exp(-eta * self.u)).sum())) / eta
        self.rounds += 1


def rules(said: Matrix, y: Matrix, prior: Vector, playing: Vector) -> tuple[Matrix, Matrix, Matrix]:
    """Forecasts T x k of the outermost pool, those of the rules merged, and T x 4 x k of each.

    >>> said = np.array([[[0.0], [1.0]], [[0.0], [1.0]]])
    >>> found, merged, each = rules(said, np.ones((2, 1)), np.array([0.5, 0.5]), np.full(4, 0.25))
    >>> found[0].tolist(), merged.shape, each.shape
    ([0.5], (2, 1), (2, 4, 1))
    """
    T, N, k = said.shape
    slow, quick = Adaptive(prior, 1e-4), Adaptive(prior, 1e-2)
    ml, stack, merger = MLpol(prior), Stack(N), Adaptive(playing, 1e-3, 0.25)
    outer = Outermost(np.append(0.1 * prior, 0.9), k)
    found, merged, each = np.empty((T, k)), np.empty((T, k)), np.empty((T, 4, k))
    for t, f in enumerate(said):
        centre = ml.weights(f) @ np.nan_to_num(f)
        each[t] = slow.forecast(f), quick.forecast(f), centre, stack.forecast(f, centre)
        g = merged[t] = merger.forecast(each[t])
        all_said, c = np.vstack([f, g]), np.median(f[~np.isnan(f).any(axis=1)], axis=0)
        found[t] = outer.forecast(all_said, c)
        outer.learn(all_said, c, y[t])
        slow.learn(f, each[t, 0], y[t])
        quick.learn(f, each[t, 1], y[t])
        stack.learn(f, centre, y[t])
        ml.learn(f, centre, y[t])
        merger.learn(np.where(playing[:, None] > 0.0, each[t], np.nan), g, y[t])
    return found, merged, each
