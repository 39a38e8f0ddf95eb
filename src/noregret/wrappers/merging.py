"""Merging: learners that saw parts of a stream become the one that saw the whole."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Protocol, Self, TypeVar

from noregret.errors import MergeError, abbreviated

__all__ = ["merge"]


class Mergeable(Protocol):
    """What can take over what another one has learned, or say why it cannot."""

    def merge(self, other: Self, /) -> Self:
        """Become the one that saw the rounds of both."""
        ...


M = TypeVar("M", bound=Mergeable)


def merge(learners: Iterable[M]) -> M:
    """One learner from several of the same kind, each of which saw its own rounds.

    For fixed experts the result equals one learner that saw all rounds, in any order: weights,
    the triangle with its determinant, the best expert in hindsight, and the Bayesian learner's
    `log_loss_`, which follows from them.  Certificates do not: losses, and the logarithms in their
    bounds, are sums over the learners of what each paid and was charged, and they say so.  The
    learners are left alone.  Those that cannot be merged exactly say why: drift, kernels, sparse,
    binary learners and pools.

    >>> import numpy as np, noregret as nr
    >>> X, y = np.arange(12.0).reshape(6, 2) % 5, np.arange(6.0)
    >>> whole = nr.BayesianRidge(0.5).fit(X, y)
    >>> parts = [nr.BayesianRidge(0.5).fit(X[k::3], y[k::3]) for k in range(3)]
    >>> merged = nr.merge(parts)
    >>> np.allclose(merged.coef_, whole.coef_, rtol=1e-12), merged.n_samples_seen_
    (True, 6)
    """
    if isinstance(learners, str) or not isinstance(learners, Iterable):
        raise MergeError(f"learners = {abbreviated(learners)}: give a list of learners")
    given = list(learners)
    if not given:
        raise MergeError("learners is empty: give at least one")
    for one in given:
        if not hasattr(one, "merge"):
            raise MergeError(f"{abbreviated(one)} cannot be merged: it is no learner that could")
    result = copy.deepcopy(given[0])
    for other in given[1:]:
        result.merge(other)
    return result
