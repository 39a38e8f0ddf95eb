"""Ends about a learner's forecasts, or somebody else's: the state of Intervals and Quantiles."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from typing import Any, Self

import numpy as np

from noregret._native.rows import RenewedRounds, Rounds, TrackedRounds
from noregret.certificates import Certificate
from noregret.declare.fields import AnyLearner, Array, Group, Mismatch, Records, Truth, require
from noregret.errors import FeatureError, InputError, wrapping
from noregret.gaussian.base import Gaussian
from noregret.gaussian.stream import Stream
from noregret.inputs import values
from noregret.inputs.spaces import FeatureSpace
from noregret.learner.base import Learner
from noregret.learner.replay import BandReplay, Replay
from noregret.learner.saving import ours, revived
from noregret.types import Matrix, Outcome, Outcomes, Row, Table, Vector
from noregret.wrappers.bands import Column
from noregret.wrappers.coverage import coverage_certificates, level_certificates
from noregret.wrappers.inner import certificates_of, space_of
from noregret.wrappers.lagged import Lagged
from noregret.wrappers.spread import (
    check_root,
    forecast_and_root,
    forecasts_and_roots,
    replayed,
    replays_its_spread,
)
from noregret.wrappers.tracking import Trackers

__all__ = ["TrackedState"]

LARGEST = 2.0**511  # outcome whose square fits in float64


class TrackedState:
    """A learner (or the place of somebody else's forecasts), trackers, and rounds that wait.

    At horizon h the last h - 1 rounds wait with the ends they were issued with, as the outcomes
    that their successors' ends may know.
    """

    __slots__ = ("column", "coverages", "fast", "learner", "scalar", "trackers", "waiting")

    FIELDS = (
        AnyLearner("learner", optional=True),
        Group("trackers", Trackers),
        Array("coverages", ("coverages",)),
        Truth("scalar"),
        Records("waiting", ("y", "forecast", "root", "ends")),
    )
    SCRATCH = ("column", "fast")  # as the parameters say; rounds in the arrays of both

    def __init__(
        self,
        learner: Learner | None,
        trackers: Trackers,
        coverages: Vector,
        scalar: bool,  # noqa: FBT001  # in the order of FIELDS
        waiting: Iterable[tuple[float, float, float, Vector]] = (),
        column: Column | None = None,
    ) -> None:
        self.learner, self.trackers = learner, trackers
        self.coverages, self.scalar = coverages, scalar  # in the order given; none: quantiles
        self.waiting, self.column = list(waiting), column or Column()
        self.fast = RenewedRounds()
        self.renew()

    def __reduce__(self) -> tuple[object, ...]:
        kept = (self.learner, self.trackers, self.coverages, self.scalar, self.waiting, self.column)
        return revived, (type(self), *kept)

    @classmethod
    def restored(
        cls,
        learner: Learner | None,
        trackers: Trackers,
        coverages: Vector,
        scalar: bool,  # noqa: FBT001  # in the order of FIELDS
        waiting: Iterable[tuple[object, ...]],
    ) -> Self:
        """The state of these values."""
        found, size = cls(learner, trackers, coverages, scalar), len(trackers.levels)
        require(len(coverages) in (0, len(trackers.ring)), "has windows for other coverages")
        require(not len(coverages) or 2 * len(coverages) == size, "has levels of other coverages")
        require(bool(((coverages > 0.0) & (coverages < 1.0)).all()), "has an invalid coverage")
        require(not scalar or len(coverages) == 1, "has several coverages that are one")
        for y, forecast, root, ends in waiting:
            plain = all(type(v) is float for v in (y, forecast, root))
            if not plain or not isinstance(ends, np.ndarray) or ends.shape != (size,):
                raise Mismatch("has an invalid round that waits")
            found.waiting.append((y, forecast, root, np.array(ends, float)))  # type: ignore[arg-type]  # shown above
        require(len(found.waiting) < found.horizon, "has too many rounds that wait")
        return found

    @property
    def horizon(self) -> int:
        """How many rounds ahead the learner forecasts."""
        return int(self.learner._checked("horizon")) if isinstance(self.learner, Lagged) else 1

    @property
    def rounds(self) -> int:
        """How many rounds have been learned."""
        return self.trackers.rounds + len(self.waiting)

    @property
    def space(self) -> FeatureSpace | None:
        """The features of the learner."""
        return None if self.learner is None else space_of(self.learner)

    def copy(self) -> Self:
        """One that shares nothing with this one."""
        return self._around(copy.deepcopy(self.learner))

    def _around(self, learner: Learner | None) -> Self:
        """A copy of all but the learner, around this one."""
        parts = (self.trackers.copy(), self.coverages, self.scalar, self.waiting, self.column)
        return type(self)(learner, *parts)

    def renew(self) -> None:
        """Begin compiled rounds anew, where the learner has such rounds."""
        self.fast.renew(_rounds(self.learner, self.trackers))

    # One round: compiled, see native/tracked_rounds.hpp, or carefully ---------------------------

    def look(self, x: Row) -> tuple[float, float]:
        """The forecast at x and its root spread."""
        if self.learner is None:
            return self.column.of(x), 1.0
        forecast, root = forecast_and_root(self.learner, x)
        return forecast, check_root(root)

    def predict(self, x: Row) -> float:
        """The forecast at x."""
        return self.look(x)[0]

    def ends(self, x: Row) -> Vector:
        """The ends of every level at x, ascending."""
        return self.trackers.issue(*self.look(x))

    def learn(self, x: Row, y: Outcome) -> Self:
        """Learn one round."""
        self.step(x, y if type(y) is float and abs(y) <= LARGEST else values.outcome(y))
        self.renew()
        return self

    def step(self, x: Row, y: float) -> tuple[float, Vector | None]:
        """Learn one round: its forecast, and its ends where they had to wait."""
        forecast, root = self.look(x)
        if not self.waiting and self.horizon == 1:
            self.trackers.check(y, forecast, root)  # NaN too
            self._teach(x, y)
            self.trackers.learn(y, forecast, root)
            return forecast, None
        ends = self.trackers.issue(forecast, root)
        waiting = [*self.waiting, (y, forecast, root, ends)]
        self.trackers.check(y, forecast, root)
        due = waiting.pop(0) if len(waiting) >= self.horizon else None
        if due is not None:
            self.trackers.check(*due[:3])
        self._teach(x, y)
        if due is not None:
            self.trackers.learn(*due)
        self.waiting = waiting
        return forecast, ends

    def settle(self, x: Row, y: Outcome, issued: Vector) -> None:
        """Learn a round whose forecast, root spread and ends were issued before."""
        taken, forecast, root = values.outcome(y), float(issued[0]), float(issued[1])
        self.trackers.check(taken, forecast, root)
        self._teach(x, taken)
        self.trackers.learn(taken, forecast, root, issued[2:].copy())

    def _teach(self, x: Row, y: float) -> None:
        if self.learner is not None:
            with wrapping("the learner", InputError):
                self.learner.learn_one(x, y)

    # Many rounds ----------------------------------------------------------------------------

    def look_rows(self, X: Table) -> tuple[Vector, Vector]:
        """Forecasts and root spreads at every row; nothing is learned."""
        if self.learner is None:
            g = self.column.rows(X)
            return g, np.ones(len(g))
        return forecasts_and_roots(self.learner, X)

    def predict_rows(self, X: Table) -> Vector:
        """Forecasts at every row; nothing is learned."""
        return self.look_rows(X)[0]

    def ends_rows(self, X: Table) -> Matrix:
        """The ends at every row, all from what is known now."""
        rounds = zip(*(part.tolist() for part in self.look_rows(X)), strict=True)
        found = [self.trackers.issue(g, root) for g, root in rounds]
        return np.array(found).reshape(-1, len(self.trackers.levels))

    def replay(self, X: Table, y: Outcomes) -> tuple[Self, BandReplay]:
        """Predict-then-learn over rows; if one is refused, nothing has been learned."""
        learner = self.learner
        if not ours(learner):
            after = self.copy()
            return after, after._run(X, y)
        after, mark = self._around(learner), learner._mark()
        try:
            return after, after._run(X, y)
        except BaseException:
            learner._restore(mark)
            raise

    def _run(self, X: Table, y: Outcomes) -> BandReplay:
        """Predict-then-learn over rows."""
        if self.learner is None:
            g = self.column.rows(X)
            ys = values.outcome_column(y, len(g))
            values.require_rows((len(g), 1))
            plain: dict[str, Any] = {"forecast": g, "mean": None, "spread": None}
            plain["loss"] = (ys - g) ** 2
            ends = self.trackers.replay(ys, g, np.ones(len(g)))
        elif not self.waiting and replays_its_spread(self.learner):
            plain, ys, ends = self._at_once(X, y)
        else:
            plain, ys, ends = self._one_by_one(X, y)
        self.renew()
        return BandReplay(**plain, certificate=self.main(), **self._banded(ys, ends))

    def _at_once(self, X: Table, y: Outcomes) -> tuple[dict[str, Any], Vector, Matrix]:
        """The learner's own replay, then the trackers."""
        learner: Any = self.learner
        with wrapping("the learner", InputError):
            said: Replay = replayed(learner, X, y)
        if said.forecast.ndim != 1:
            raise InputError("outcomes must be numbers: intervals of vectors are not made")
        ys = values.outcome_column(y, len(said.forecast))
        T = len(ys)
        roots = np.ones(T) if said.spread is None else np.sqrt(said.spread)
        if not np.isfinite(roots).all():
            check_root(np.inf)
        g = np.ascontiguousarray(said.forecast, dtype=np.float64)
        plain = {name: getattr(said, name) for name in ("forecast", "mean", "spread", "loss")}
        return plain, ys, self.trackers.replay(ys, g, roots)

    def _one_by_one(self, X: Table, y: Outcomes) -> tuple[dict[str, Any], Vector, Matrix]:
        rows = list(_rows(X, gaps=hasattr(self.learner, "experts")))
        ys = values.outcome_column(y, len(rows))
        values.require_rows((len(rows), 1))
        g, ends = np.empty(len(ys)), np.empty((len(ys), len(self.trackers.levels)))
        for t, (x, one) in enumerate(zip(rows, ys.tolist(), strict=True)):
            now = self.ends(x)
            g[t], issued = self.step(x, one)
            ends[t] = now if issued is None else issued
        plain = {"forecast": g, "mean": None, "spread": None, "loss": (ys - g) ** 2}
        return plain, ys, ends

    def _banded(self, ys: Vector, ends: Matrix) -> dict[str, Any]:
        """The ends of a replay as its columns."""
        if not len(self.coverages):
            return {"quantiles": ends}
        if self.scalar:
            low, high = ends.T
            return {"low": low, "high": high, "covered": (low <= ys) & (ys <= high)}
        low, high = self.bands(ends)
        within = (low <= ys[:, None]) & (ys[:, None] <= high)
        return {"low": low, "high": high, "covered": within}

    def bands(self, ends: Matrix) -> tuple[Matrix, Matrix]:
        """Lower and upper ends in the order of the coverages, from ends in the order of levels."""
        place = np.argsort(np.argsort(-self.coverages))  # the widest has the outermost levels
        return ends[..., place], ends[..., ends.shape[-1] - 1 - place]

    # What is proved -------------------------------------------------------------------------

    def main(self) -> Certificate:
        """The first certificate."""
        return next(self.own())

    def own(self) -> Iterator[Certificate]:
        """The statements about the ends, one after the other."""
        trackers = self.trackers
        if self.waiting:  # of all rounds whose outcome is known, also of those that wait
            trackers = trackers.copy()
            for one in self.waiting:
                trackers.learn(*one)
        if len(self.coverages):
            return coverage_certificates(trackers, self.coverages.tolist())
        return level_certificates(trackers)

    def certificates(self) -> list[Certificate]:
        """The statements about the ends, then the learner's."""
        made = self.learner is not None and hasattr(self.learner, "certificates")
        return [*self.own(), *(certificates_of(self.learner) if made else [])]  # type: ignore[arg-type]  # shown above


def _rounds(learner: Learner | None, trackers: Trackers) -> TrackedRounds | None:
    """Compiled rounds of both, where the learner has such rounds and its spread is at hand."""
    if not ours(learner) or not isinstance(getattr(learner._state, "fast", None), Rounds):
        return None
    work, stream = None, learner._state
    if isinstance(learner, Gaussian) and type(stream) is Stream:
        work = stream.core.work
    elif hasattr(learner, "predictive"):
        return None
    return TrackedRounds(learner, work, *trackers.arrays)


def _rows(X: Table, *, gaps: bool = False) -> Iterator[Row]:
    """Row by row, by name where there are names; experts of a pool may sleep, in gaps."""
    if X is None:
        raise FeatureError("X is None: give an array or a frame, without columns if there are none")
    xs, names = (
        values.table_with_gaps(X, "X") if gaps and values.frame_names(X) else values.table(X)
    )
    return iter(xs) if names is None else (dict(zip(names, row.tolist())) for row in xs)
