"""What learners that are made of several parts share: a lock, one state, copies, fit."""

from __future__ import annotations

import copy
from threading import Lock
from typing import Any, Self

from sklearn.base import BaseEstimator

from noregret.errors import MergeError
from noregret.learner.locks import new_lock
from noregret.learner.saving import Saveable, writable_copy

__all__ = ["Holder"]


class Holder(Saveable, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Parameters as scikit-learn has them, and beside them what was learned, under a lock."""

    # State is in slots: `__init__` sets parameters and nothing else, as scikit-learn asks.
    __slots__ = ("_lock", "_state")

    _state: Any  # None: nothing has been learned
    _lock: Lock
    _alone = "what a round teaches it depends on the rounds before"
    _tickets = False  # whether a forecast issues a ticket, and an outcome needs one

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """A learner that has seen nothing."""
        self: Self = super().__new__(cls)
        self._lock, self._state = new_lock(), None
        return self

    def _run(self, held: Any, X: Any, y: Any) -> Any:
        """Predict-then-learn over all rows on top of a state, None for a new one, and keep it."""
        raise NotImplementedError

    def partial_fit(self, X: Any, y: Any) -> Self:
        """Learn all rows, in order, on top of what was learned before."""
        with self._lock:
            self._run(self._state, X, y)
        return self

    def fit(self, X: Any, y: Any) -> Self:
        """Forget everything, then learn all rows in order."""
        with self._lock:
            self._run(None, X, y)
        return self

    # One round of several learners together ---------------------------------------------------

    def _takes(self, y: float) -> bool:  # noqa: ARG002  # a child may look at it
        """Whether a round is sure to be learned whose x has just been forecast."""
        return False

    def _mark(self) -> Any:
        """The state as it is now, for `_restore` to come back to."""
        with self._lock:
            held = self._state
            return held.copy() if hasattr(held, "copy") else copy.deepcopy(held)

    def _restore(self, mark: Any) -> None:
        """Go back to a mark."""
        with self._lock:
            self._state = mark

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def merge(self, other: Any) -> Self:  # noqa: ARG002  # as those that can merge have it
        """Refuse to merge, and say why."""
        raise MergeError(f"{type(self).__name__} cannot be merged exactly: {self._alone}")

    def __sklearn_is_fitted__(self) -> bool:
        return self._state is not None

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            held = copy.deepcopy(self._state)
            return {"parameters": self.get_params(deep=False), "held": held} | self._beside()

    def _beside(self) -> dict[str, Any]:
        """What else a copy needs; the caller holds the lock."""
        return {}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._lock, self._state = new_lock(), writable_copy(state["held"])
        for name, value in state["parameters"].items():
            setattr(self, name, value)
