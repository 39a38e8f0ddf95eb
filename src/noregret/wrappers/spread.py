"""A learner's forecast at x and the unit it measures errors in: the root of its own spread.

Gaussian learners have sqrt(d), learners with a distribution its deviation, all others 1.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from noregret._native.layout import AT, ROOT
from noregret.errors import InputError, NotLearnedError, NumericalError, wrapping
from noregret.gaussian.base import Gaussian
from noregret.gaussian.stream import Stream
from noregret.inputs import values
from noregret.inputs.values import as_frame
from noregret.learner.base import Learner
from noregret.learner.replay import Replay
from noregret.types import Outcomes, Row, Table, Vector
from noregret.wrappers.lagged import Lagged

__all__ = ["forecast_and_root", "forecasts_and_roots", "replayed", "replays_its_spread"]

ONE_OUTCOME = "outcomes must be numbers: intervals of vectors are not made, wrap one learner each"


def forecast_and_root(learner: Learner, x: Row) -> tuple[float, float]:
    """The forecast at x, and the root spread there."""
    if isinstance(learner, Gaussian):
        return _gaussian(learner, x)
    if isinstance(learner, Lagged):
        buffer = learner._state or learner._begin()
        return forecast_and_root(buffer.learner, buffer.with_lags(x))
    with wrapping("the learner", InputError):
        said = learner.predict_one(x)
        g = said if type(said) is float else values.number(said, "the forecast", InputError)
        return g, _deviation(learner, x) if hasattr(learner, "predictive") else 1.0


def _gaussian(learner: Gaussian, x: Row) -> tuple[float, float]:
    stream = learner._state
    if isinstance(stream, Stream) and stream.fast is not None:
        said = stream.fast.predict(x)
        if said is not None:
            return said, float(stream.core.work[AT, ROOT])
    with learner._lock:
        stream = learner._state or learner._start_row(x)
        if not stream.scalar:
            raise InputError(ONE_OUTCOME)
        look = stream.look(x)
        g = stream.plan.rule.forecast(look.mean[None], np.array([look.root]))
        return float(g[0, 0]), look.root


def _deviation(learner: Any, x: Row) -> float:
    try:
        found = float(learner.predictive(x).std)
    except NotLearnedError:
        return 1.0
    return found if 0.0 < found < math.inf else 1.0


def replays_its_spread(learner: object) -> bool:
    """Whether a replay of the learner has every root spread that its rounds one by one have."""
    if isinstance(learner, Lagged):
        buffer = learner._state or learner._begin()
        return buffer.ahead is None and replays_its_spread(buffer.learner)
    if isinstance(learner, Gaussian):
        return True
    return hasattr(learner, "replay") and not hasattr(learner, "predictive")


def replayed(learner: Any, X: Table, y: Outcomes) -> Replay:
    """What a learner says and pays over rows; nobody asks here what is proved of it."""
    if isinstance(learner, Gaussian):
        return learner._run(X, y, proved=False)
    found: Replay = learner.replay(X, y)
    return found


def forecasts_and_roots(learner: Learner, X: Table) -> tuple[Vector, Vector]:
    """Forecasts and root spreads at every row; nothing is learned."""
    if isinstance(learner, Gaussian) and isinstance(learner._state, Stream):
        stream = learner._state
        with stream.closed():
            means, roots = stream.look_rows(as_frame(X))
        return stream.flat(stream.plan.rule.forecast(means, roots)), roots
    if not hasattr(learner, "predictive") and hasattr(learner, "predict"):
        with wrapping("the learner", InputError):
            g = np.asarray(learner.predict(X), dtype=np.float64)
        return g, np.ones(len(g))
    xs, names = values.table(X)[:2]
    rows: Any = xs if names is None else (dict(zip(names, row.tolist())) for row in xs)
    found = [forecast_and_root(learner, x) for x in rows]
    g, roots = np.array(found).reshape(-1, 2).T
    return g.copy(), roots.copy()


def check_root(root: float) -> float:
    """A root spread that errors can be measured in."""
    if 0.0 < root < math.inf:
        return root
    raise NumericalError("the spread at x does not fit in float64: rescale the features")
