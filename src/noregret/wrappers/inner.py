"""The learner inside a wrapper: a copy of the caller's own, whatever library it is from."""

from __future__ import annotations

import copy
from typing import TypeVar

from noregret.certificates import Certificate
from noregret.errors import InputError, NotLearnedError, ParameterError, abbreviated, wrapping
from noregret.inputs.spaces import FeatureSpace, Names, Positions
from noregret.learner.base import Learner, OnlineLearner
from noregret.learner.state import State
from noregret.types import Forecast, Outcome, Outcomes, Row, Table

__all__ = ["Wrapper", "certificates_of", "forecast_of", "private_copy", "space_of"]

S = TypeVar("S", bound=State)


class Wrapper(OnlineLearner[S]):
    """A learner around another one, which alone looks at x: it starts before it has seen any."""

    learner: Learner

    def _begin(self) -> S:
        """A state that has learned nothing; the parameters are checked here."""
        raise NotImplementedError

    def _start_row(self, x: Row, y: Outcome = None) -> S:  # noqa: ARG002  # as the base has it
        return self._begin()

    def _start_table(self, X: Table, y: Outcomes) -> tuple[S, Table]:  # noqa: ARG002
        return self._begin(), X


def private_copy(learner: object) -> Learner:
    """A copy of the learner that a wrapper was given, if it is one that can be wrapped."""
    with wrapping("a copy of the learner", ParameterError):
        able = all(hasattr(learner, name) for name in ("predict_one", "learn_one"))
        if isinstance(learner, type) or not able:
            raise ParameterError(
                f"learner = {abbreviated(learner)}: give a learner, which has predict_one and "
                "learn_one"
            )
        if getattr(learner, "_tickets", False):
            raise ParameterError(
                f"learner = {abbreviated(learner)}: it forecasts by ticket; put Delayed outermost"
            )
        copied: Learner = copy.deepcopy(learner)  # type: ignore[assignment]  # shown above
        return copied


def forecast_of(learner: Learner, x: Row) -> Forecast:
    """The forecast of a learner; what a foreign one raises is an InputError."""
    with wrapping("the learner", InputError):
        return learner.predict_one(x)


def certificates_of(learner: Learner, **bounds: object) -> list[Certificate]:
    """The statements of a learner, if it makes any."""
    if not hasattr(learner, "certificates"):
        raise NotLearnedError(f"{type(learner).__name__} gives no certificates")
    found: list[Certificate] = learner.certificates(**bounds)
    return found


def space_of(learner: Learner) -> FeatureSpace | None:
    """The features that a learner knows, by what it says of itself; None where it says nothing."""
    names = getattr(learner, "feature_names_in_", None)
    if names is not None:
        return Names(names)
    size = getattr(learner, "n_features_in_", None)
    return None if size is None else Positions(size)
