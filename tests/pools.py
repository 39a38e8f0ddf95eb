"""Random pools: experts good and absurd, outcomes in their range, priors even and uneven."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from noregret._native.mixing import AWAKE, COST, MASS, SAID
from noregret.errors import NoRegretError, SnapshotError
from noregret.experts.pool import Pool

RANGES = (
    (-1.0, 1.0),
    (0.0, 1.0),
    (-0.25, 3.5),
    (-7.0, -2.0),
    (0.0, 1e-6),
    (-3e-7, 5e-7),
    (-1e6, 2e6),
    (1e6, 1e6 + 1.0),
)
SANE = ("noisy", "random", "constant", "outside", "perfect", "twin")
MAD = ("absurd", "flips")
ABSURD = 1e12

shares = st.sampled_from([0.0, 0.01, 0.3, "falling"])
seeds = st.integers(0, 2**32 - 1)


@dataclass(frozen=True, eq=False)
class Game:
    """Forecasts (T, N), outcomes within [lo, hi], and prior weights or None."""

    said: np.ndarray
    y: np.ndarray
    lo: float
    hi: float
    prior: np.ndarray | None
    kinds: tuple[str, ...]

    @property
    def range(self) -> tuple[float, float]:
        return self.lo, self.hi

    @property
    def eta(self) -> float:
        return 2.0 / (self.hi - self.lo) ** 2

    @property
    def p(self) -> np.ndarray:
        N = self.said.shape[1]
        return np.full(N, 1.0 / N) if self.prior is None else self.prior / self.prior.sum()

    @property
    def losses(self) -> np.ndarray:
        return (self.y[:, None] - self.said) ** 2

    @property
    def size(self) -> float:
        """What an error is relative to: the range and the spread of experts in their senses."""
        heard = self.said[:, self.sane]
        return self.hi - self.lo + float(np.nanmax(heard) - np.nanmin(heard))

    def asleep(self, seed: int, share: float = 0.4) -> Game:
        """The same with some experts asleep; one in its senses is awake in every round."""
        rng, said = np.random.default_rng(seed), self.said.copy()
        naps = rng.random(said.shape) < share
        naps[np.arange(len(said)), rng.choice(self.sane, len(said))] = False
        said[naps] = np.nan
        return replace(self, said=said)

    @property
    def sane(self) -> list[int]:
        return [j for j, kind in enumerate(self.kinds) if kind not in MAD]

    def __repr__(self) -> str:
        prior = self.prior if self.prior is None else self.prior.tolist()
        return f"Game({self.kinds}, {self.range}, {prior}, {self.said.tolist()}, {self.y.tolist()})"


def expert(kind: str, y: np.ndarray, lo: float, hi: float, rng: np.random.Generator) -> np.ndarray:
    """The forecasts of one expert; a twin says what its neighbour says."""
    T, width = len(y), hi - lo
    return {
        "noisy": lambda: y + width * rng.choice([0.01, 0.3]) * rng.normal(size=T),
        "random": lambda: lo + width * rng.random(T),
        "constant": lambda: np.full(T, lo + width * rng.integers(-1, 6) / 4.0),
        "outside": lambda: lo + 20.0 * width * rng.normal(size=T),
        "perfect": y.copy,
        "twin": lambda: np.full(T, lo + width / 4.0),
        "absurd": lambda: np.full(T, ABSURD * rng.choice([-1.0, 1.0])),
        "flips": lambda: ABSURD * rng.choice([-1.0, 1.0], size=T),
    }[kind]()


@st.composite
def games(
    draw,
    max_rounds: int = 60,
    max_experts: int = 12,
    *,
    spans: Sequence[tuple[float, float]] = RANGES,
    mad: bool = True,
) -> Game:
    """Outcomes at random or at the ends of the range; the first expert is in its senses."""
    T = draw(st.integers(1, max_rounds))
    first = draw(st.sampled_from(SANE))
    others = st.sampled_from((*SANE, *MAD) if mad else SANE)
    kinds = [first, *draw(st.lists(others, max_size=max_experts - 1))]
    lo, hi = draw(st.sampled_from(spans))
    rng = np.random.default_rng(draw(seeds))
    share = rng.random(T) if rng.random() < 0.5 else rng.integers(0, 2, T)
    y = (lo + (hi - lo) * share).clip(lo, hi)
    said = np.column_stack([expert(kind, y, lo, hi, rng) for kind in kinds])
    for j, kind in enumerate(kinds):
        if kind == "twin" and j:
            said[:, j] = said[:, j - 1]
            kinds[j] = kinds[j - 1] if kinds[j - 1] in MAD else kind
    N = len(kinds)
    priors = None, rng.random(N) + 0.01, 10.0 ** -rng.integers(0, 9, N).astype(float)
    return Game(said, y, lo, hi, priors[rng.integers(3)], tuple(kinds))


def learned(pool: Pool) -> bytes:
    """All that a pool knows; the rows where a round is worked out are left out."""
    rows = [r for r in range(len(pool.cells)) if r not in {SAID, COST, MASS, AWAKE}]
    return pool.cells[rows].tobytes() + pool.book.tobytes()


def state(merger: Any) -> Any:
    """All that a pool with its experts has learned, as its file has it; None where it has not.

    Experts of other libraries cannot be in a file: then, what can be asked of the pool and of them.
    """
    if not merger.__sklearn_is_fitted__():
        return None
    try:
        return merger.to_bytes()
    except SnapshotError:
        experts = {n: bits_of(e) for n, e in merger.experts_.items() if hasattr(e, "partial_fit")}
        return merger.weights_, merger.losses_, merger.certificates(), experts


def bits_of(model: Any) -> Any:
    """What an expert has learned, one of another library too."""
    if hasattr(model, "to_bytes"):
        return state(model)
    fitted = {name: value for name, value in vars(model).items() if name.endswith("_")}
    return {name: np.asarray(value).tobytes() for name, value in fitted.items()}


def refused(pool: Any, error: type[Exception], words: tuple[str, ...], *calls: Any) -> None:
    """Each call raises just this error with these words, and the pool stays as it was."""
    before = state(pool)
    for call in calls:
        with pytest.raises(NoRegretError) as caught:
            call()
        message = str(caught.value)
        assert isinstance(caught.value, error), message
        for word in words:
            assert word in message
        assert len(message) < 300
        assert state(pool) == before, message
