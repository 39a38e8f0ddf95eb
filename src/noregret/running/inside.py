"""The learner that a run is about, inside its intervals and its lags."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from noregret.certificates import Certificate
from noregret.errors import NotLearnedError
from noregret.wrappers.intervals import Intervals
from noregret.wrappers.lagged import Lagged

__all__ = ["given", "proofs", "within"]


def within(learner: object) -> Any:
    """The learner inside its intervals, as it is now."""
    if not isinstance(learner, Intervals):
        return learner
    try:
        return learner.learner_
    except NotLearnedError:
        return learner.learner


def given(learner: object) -> Any:
    """The learner as it was given, inside its intervals and its lags."""
    found = learner.learner if isinstance(learner, Intervals) else learner
    return found.learner if isinstance(found, Lagged) else found


def proofs(learner: Any) -> Iterator[Certificate]:
    """Every statement: those about the loss first, then those about intervals."""
    inner = within(learner)
    if hasattr(inner, "certificates"):
        yield from inner.certificates()
    if inner is not learner:
        yield from learner._learned().own()
