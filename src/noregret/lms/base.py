"""What KernelLMS and KLMSNet share: from the first round to how inputs reach a kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from noregret.budgets import Window
from noregret.inputs.spaces import FeatureSpace, Names, space_for_row
from noregret.inputs.values import as_mapping
from noregret.learner.base import OnlineLearner
from noregret.learner.estimator import Regressor
from noregret.lms.family_net import FamilyNetState
from noregret.lms.gaussian_net import GaussianNetState
from noregret.lms.state import KernelLMSState
from noregret.types import Outcome, Outcomes, Row, Table

if TYPE_CHECKING:
    from sklearn.utils import Tags

__all__ = ["LMSLearner"]


S = TypeVar("S", bound=KernelLMSState | GaussianNetState | FamilyNetState)


class LMSLearner(Regressor, OnlineLearner[S]):
    """A learner whose inputs keep their features, or are objects that only its kernel understands.

    A child writes `_start`, whose space is None for objects, and `_vectors`.
    """

    budget: Window | None

    def _start(self, space: FeatureSpace | None) -> S:
        raise NotImplementedError

    def _vectors(self) -> bool:
        """Whether only vectors will do as inputs."""
        raise NotImplementedError

    def _start_row(self, x: Row, y: Outcome = None) -> S:  # noqa: ARG002  # as every learner has it
        if not self._vectors() and _is_object(x):
            return self._start(None)
        mapping = as_mapping(x)
        return self._start(space_for_row(x) if mapping is None else Names(mapping))

    def _start_table(self, X: Table, y: Outcomes) -> tuple[S, Table]:
        objects = isinstance(X, list | tuple) and X and not self._vectors() and _is_object(X[0])
        return (self._start(None), X) if objects else super()._start_table(X, y)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = self.budget is not None  # a window forgets
        return tags

    @property
    def patterns_(self) -> int:
        """How many distinct patterns are kept."""
        with self._lock:
            return self._learned().size

    @property
    def learning_rate_(self) -> float:
        """eta."""
        with self._lock:
            return self._learned().eta


def _is_object(x: Row) -> bool:
    """Whether only the kernel understands x."""
    if isinstance(x, np.ndarray):
        return x.dtype.kind not in "biuf" or x.ndim != 1
    if isinstance(x, Mapping | str | bytes):
        return True
    if as_mapping(x) is not None:
        return False
    return not (
        isinstance(x, list | tuple) and all(isinstance(v, int | float | np.number) for v in x)
    )
