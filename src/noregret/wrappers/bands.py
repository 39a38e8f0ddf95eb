"""Where somebody else's forecasts are, and what a replay with intervals gives back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from noregret.errors import FeatureError
from noregret.inputs import values
from noregret.learner.replay import Replay
from noregret.types import Matrix, Row, Vector

__all__ = ["BandReplay", "Column"]


@dataclass(frozen=True, slots=True)
class Column:
    """Where in x somebody else's forecast stands: a name, a position, or x itself (None)."""

    place: object = None

    def of(self, x: Row) -> float:
        """The forecast in x."""
        if self.place is None:
            return values.number(x, "x", FeatureError)
        mapping = values.as_mapping(x)
        held: Any = values.row(x) if mapping is None else mapping
        try:
            found = held[self.place]
        except (KeyError, IndexError, TypeError):
            raise FeatureError(f"x has no forecast {self.place!r}: see forecast=") from None
        return values.number(found, f"x[{self.place!r}]", FeatureError)

    def rows(self, X: Any) -> Vector:
        """The forecasts in every row."""
        if self.place is None:
            return values.outcome_column(X, len(X) if hasattr(X, "__len__") else 0)
        rows, names = values.table(X)
        try:
            place: Any = self.place if names is None else names.index(self.place)
            found: Vector = rows[:, place]
        except (ValueError, IndexError, TypeError):
            raise FeatureError(f"X has no column {self.place!r}: see forecast=") from None
        return np.ascontiguousarray(found)


@dataclass(frozen=True, slots=True, eq=False)
class BandReplay(Replay):
    """A replay with the ends that were issued, before each outcome was known.

    low, high, covered: (T,), or (T, k) for k coverages; quantiles: (T, k), ascending.
    """

    low: Matrix | None = None
    high: Matrix | None = None
    covered: Any = None  # an array of True and False
    quantiles: Matrix | None = None

    def columns(self) -> dict[str, Vector]:
        """The columns by name; with several coverages, low_0, low_1, ..."""
        named = Replay.columns(self)
        ends = {"low": self.low, "high": self.high, "covered": self.covered, "q": self.quantiles}
        for name, found in ends.items():
            if found is not None and found.ndim == 1:
                named[name] = found
            elif found is not None:
                named |= {f"{name}_{k}": found[:, k] for k in range(found.shape[1])}
        return named
