"""Where somebody else's forecasts are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from noregret.errors import FeatureError
from noregret.inputs import values
from noregret.types import Row, Vector

__all__ = ["Column"]


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
