"""What a replay gives back: one entry a round, and the certificate at its end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from noregret.certificates import Certificate
from noregret.declare.extras import module
from noregret.types import Gaps, Matrix, Vector

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["BandReplay", "Replay", "RunningBound", "ends_as_columns", "library_of", "module"]


@dataclass(frozen=True, slots=True, eq=False)
class Replay:
    """Predict-then-learn over T rounds, as the loop over single rounds would have gone.

    forecast, mean: (T,), or (T, m) for m outcomes a round; spread, loss: (T,).

    >>> import noregret as nr
    >>> result = nr.AAR().replay([[1.0], [1.0], [1.0]], [1.0, 1.0, 1.0])
    >>> result.forecast.round(6)
    array([0.      , 0.333333, 0.5     ])
    >>> result.spread.round(6)
    array([2.      , 1.5     , 1.333333])
    >>> result.certificate.holds
    True
    """

    forecast: Matrix
    mean: Matrix | None  # None where the learner has no mean or spread apart from its forecast
    spread: Vector | None
    loss: Vector
    certificate: Certificate
    library: str = "pandas"

    def __len__(self) -> int:
        return len(self.loss)

    def __str__(self) -> str:
        """A summary: rounds, mean loss, its root, and what the certificate says."""
        c, mean = self.certificate, float(self.loss.mean()) if len(self) else float("nan")
        root = f", root {mean**0.5:.4g}" if mean >= 0.0 else ""
        verdict = {True: "holds", False: "FAILS", None: "no claim"}[c.holds]
        bound = "" if c.bound is None else f", bound {c.bound:.6g}"
        return (
            f"Replay of {len(self):,} rounds: mean loss {mean:.4g}{root}\n"
            f"{c.name}: {verdict} (loss {c.loss:.6g}, best in hindsight {c.comparator:.6g}{bound})"
        )

    def columns(self) -> dict[str, Vector | Gaps]:
        """The columns by name; with m outcomes, forecast_0, forecast_1, ..."""
        named: dict[str, Vector | Gaps] = {}
        both = {"forecast": self.forecast, "mean": self.mean, "spread": self.spread}
        for name, values in both.items():
            if values is not None and values.ndim == 1:
                named[name] = values
            elif values is not None:
                named |= {f"{name}_{k}": values[:, k] for k in range(values.shape[1])}
        return named | {"loss": self.loss}

    def to_frame(self) -> object:
        """A frame of the library that X came in (pandas, Polars, Arrow), else pandas."""
        library = module(self.library, "to_frame")
        return (library.table if self.library == "pyarrow" else library.DataFrame)(self.columns())

    def plot(self, ax: Axes | None = None) -> Axes:
        """Cumulative loss against that of the best expert in hindsight; returns the axes.

        For more, see `noregret.plot`.
        """
        drawn: Axes = module("noregret.plot", "plot").certificate(self, ax=ax)
        return drawn


@dataclass(frozen=True, slots=True, eq=False)
class BandReplay(Replay):
    """A replay with the ends that were issued, before each outcome was known.

    low, high, covered: (T,), or (T, k) for k coverages; quantiles: (T, k), ascending.
    """

    low: Matrix | None = None
    high: Matrix | None = None
    covered: Gaps | None = None
    quantiles: Matrix | None = None

    def columns(self) -> dict[str, Vector | Gaps]:
        """The columns by name; with several coverages, low_0, low_1, ..."""
        named = Replay.columns(self)
        ends = {"low": self.low, "high": self.high, "covered": self.covered, "q": self.quantiles}
        for name, found in ends.items():
            if found is not None and found.ndim == 1:
                named[name] = found
            elif found is not None:
                named |= {f"{name}_{k}": found[:, k] for k in range(found.shape[1])}
        return named


StoredSums = tuple[tuple[float, float], tuple[float, float], float, int]
"""What a state file keeps of a running bound: two compensated sums, a maximum, a count."""


class RunningBound(Protocol):
    """What knows the main certificate's bound after every round, replay after replay."""

    def after(self, replay: Replay, y: Vector) -> Vector | None:
        """The bound after every round of the next replay; None where it is withdrawn."""
        ...

    def stored(self) -> StoredSums | None:
        """What a state file keeps of it, so that `resume` goes on to the last bit."""
        ...

    def resume(self, stored: StoredSums) -> None:
        """Go on from what was stored, as JSON has it; TypeError or ValueError if it is not that."""
        ...


def library_of(X: object) -> str:
    """The library of a frame; pandas for what comes from elsewhere."""
    library = type(X).__module__.partition(".")[0]
    return library if library in ("pandas", "polars", "pyarrow") else "pandas"


def ends_as_columns(
    coverages: Sequence[float], pairs: Iterable[tuple[Vector, Vector]]
) -> dict[str, Vector]:
    """Lower and upper ends by name; those of several coverages have their percentage in it."""
    found: dict[str, Vector] = {}
    for coverage, (low, high) in zip(coverages, pairs, strict=True):
        tag = f"_{100 * coverage:g}" if len(coverages) > 1 else ""
        found |= {f"low{tag}": low, f"high{tag}": high}
    return found
