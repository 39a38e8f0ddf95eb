"""What Intervals and Quantiles share as learners."""

from __future__ import annotations

import numpy as np

from noregret.declare.fields import Group, Mismatch
from noregret.errors import InputError, ParameterError, abbreviated
from noregret.inputs import values
from noregret.learner.base import Learner
from noregret.learner.estimator import Regressor
from noregret.learner.replay import BandReplay
from noregret.types import Interval, Matrix, Outcome, Outcomes, Row, Table, Vector
from noregret.wrappers.bands import Column
from noregret.wrappers.inner import Wrapper, private_copy
from noregret.wrappers.recalibrated import Recalibrated
from noregret.wrappers.tracked import TrackedState
from noregret.wrappers.tracking import Trackers

__all__ = ["TrackedWrapper"]


class TrackedWrapper(Regressor, Wrapper[TrackedState]):
    """What Intervals and Quantiles share: a learner inside or a place in x, and trackers."""

    STATE = Group("state", TrackedState)
    _merge_refusal = "its ends follow the order of one stream; merge the learners inside"

    forecast: object

    def _trackers(self) -> tuple[Trackers, Vector, bool]:
        """Trackers, coverages in the order given, whether there is just one; checked."""
        raise NotImplementedError

    def _begin(self) -> TrackedState:
        learner = None
        if self.learner is not None:
            if self.forecast is not None:
                raise ParameterError(
                    f"forecast = {abbreviated(self.forecast)}: it is for learner=None, forecasts "
                    "that come with x"
                )
            learner = private_copy(self.learner)
            if hasattr(learner, "predict_proba"):
                raise ParameterError(
                    f"learner = {abbreviated(self.learner)}: it forecasts labels, and its "
                    "probabilities are its own intervals"
                )
        trackers, coverages, scalar = self._trackers()
        return TrackedState(learner, trackers, coverages, scalar, column=Column(self.forecast))

    def _accept(self, state: TrackedState) -> None:
        if (state.learner is None) != (self.learner is None):
            raise Mismatch("has a learner where there is none, or none where there is one")
        state.column = Column(self.forecast)
        self._state = state

    def predict_one(self, x: Row = None) -> float:
        """The forecast at x: that of the learner, or of whoever gave it."""
        return float(super().predict_one(x))

    def _ends(self, x: Row) -> tuple[TrackedState, Vector]:
        """The state, and its ends at x."""
        with self._lock:
            state = self._state or self._begin()
            return state, state.ends(x)

    def _ends_rows(self, X: Table) -> tuple[TrackedState, Matrix]:
        X = values.as_frame(X)
        with self._lock:
            state = self._learned()
            return state, state.ends_rows(X)

    def replay(self, X: Table, y: Outcomes) -> BandReplay:
        """Predict-then-learn over all rows; the ends are those issued before each outcome."""
        found = self._run(X, y)
        assert isinstance(found, BandReplay)
        return found

    def predictive(self, x: Row = None) -> Recalibrated:
        """The forecast at x as a distribution: quantiles as tracked, straight lines between."""
        state, ends = self._ends(x)
        return Recalibrated(state.trackers.levels.copy(), ends)

    @property
    def learner_(self) -> Learner | None:
        """The learner inside, which has learned."""
        return self._learned().learner

    # Outcomes that come late: Delayed asks for these ------------------------------------------

    def _issue(self, x: Row) -> Vector:
        """Forecast, root spread and ends at x, for `_settle`."""
        with self._lock:
            state = self._state or self._begin()
            forecast, root = state.look(x)
            return np.concatenate([[forecast, root], state.trackers.issue(forecast, root)])

    def _kept_shape(self) -> tuple[int]:
        """The shape of what `_issue` gives."""
        with self._lock:
            return (2 + len((self._state or self._begin()).trackers.levels),)

    def _interval(self, ends: Vector) -> Interval | None:  # noqa: ARG002  # a child may have them
        """Ends as an interval, where they are one."""
        return None

    def _settle(self, x: Row, y: Outcome, issued: Vector) -> None:
        """Learn a round whose ends were issued before others were learned."""
        with self._lock:
            state = self._state or self._begin()
            if state.horizon > 1:
                raise InputError("a learner at a horizon > 1 has its own delay: use it by itself")
            state.settle(x, y, issued)
            self._state = state
