"""The priors of a fleet, one after the other: a key keeps the one that it started from.

Version 0 is the learner's own prior.  A new one is learned whenever the rounds have doubled, so
that there are never many, from up to 256 keys spread over all.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from noregret._native import layout
from noregret.fleet.packing import Packing
from noregret.fleet.prior import Moments, Prior, learned
from noregret.types import Integers, Matrix, Vector

__all__ = ["Priors"]

FEWEST = 8  # keys that a prior is learned from
MOST = 256


class Slotted(Protocol):
    """What priors are learned from."""

    packing: Packing | None
    blocks: list[Matrix]


class Priors:
    """All priors so far, and when the next one is due."""

    __slots__ = ("known", "next", "rounds")

    def __init__(self) -> None:
        self.known: list[Prior] = []  # versions 1, 2, ...
        self.rounds = 0
        self.next = 0  # rounds at which the next is due; 0: when there are enough keys

    def turn(self, versions: Integers, X: Matrix, a: float) -> tuple[Vector, Matrix]:
        """What is added to the forecasts of rows, and the rows as the keys' learners see them."""
        base, turned = np.zeros(len(X)), X.copy()
        for version in np.unique(versions).tolist():
            if version > 0:
                here, prior = versions == version, self.known[version - 1]
                with np.errstate(over="ignore", invalid="ignore"):  # then the look refuses it
                    base[here] = X[here] @ prior.mean
                    turned[here] = prior.turned(X[here], a)
        return base, turned

    def due(self, store: Slotted) -> bool:
        """Whether a prior is to be learned now."""
        assert store.packing is not None
        return self.rounds >= max(self.next, FEWEST * store.packing.features)

    def learn(self, store: Slotted) -> None:
        """Learn the next prior from the keys as they are."""
        packing = store.packing
        assert packing is not None
        met = [block[block[:, -2] >= 0.0] for block in store.blocks]
        count = sum(map(len, met))
        if count < FEWEST:
            return
        rows = np.concatenate(met) if count <= MOST else self._some(met, count)
        with np.errstate(all="ignore"):  # then there is none
            each = [self._moments(row, packing) for row in rows]
            found = learned(each, self._a(packing), count)
        if found is not None:
            self.known.append(found)
        self.next = 2 * self.rounds

    def _some(self, met: list[Matrix], count: int) -> Matrix:
        chosen = np.linspace(0, count - 1, MOST).astype(np.int64)
        starts = np.cumsum([0, *map(len, met)])
        blocks = np.searchsorted(starts, chosen, side="right") - 1
        return np.stack([met[b][k - starts[b]] for b, k in zip(blocks, chosen, strict=True)])

    @staticmethod
    def _a(packing: Packing) -> float:
        return packing.plan.prior_precision

    def _moments(self, row: Vector, packing: Packing) -> Moments:
        """What a key has seen, in terms of x and y themselves."""
        stream = packing.stream(row)
        n, a, book = packing.features, self._a(packing), stream.ledger
        energy, rounds = float(book[layout.ENERGY].sum()), int(book[layout.ROUNDS, 0])
        found = Moments.of(stream.core.factor[:, :n], stream.core.factor[:, n], energy, rounds, a)
        version = int(row[-2])
        return found if version == 0 else found.turned_back(self.known[version - 1], a)

    def adopt(self, others: Priors | None) -> Integers:
        """Take in the priors of another fleet: where each of them is now."""
        assert others is not None
        places = [0]
        for prior in others.known:
            same = [k for k, mine in enumerate(self.known) if _equal(mine, prior)]
            if not same:
                self.known.append(prior)
            places.append(same[0] + 1 if same else len(self.known))
        self.rounds, self.next = max(self.rounds, others.rounds), max(self.next, others.next)
        return np.array(places, dtype=np.int64)


def _equal(one: Prior, other: Prior) -> bool:
    same = one.mean.tobytes() == other.mean.tobytes()
    return same and one.precision.tobytes() == other.precision.tobytes()
