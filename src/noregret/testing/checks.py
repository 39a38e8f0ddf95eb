"""What every learner must pass, whatever its mathematics; run it on your own too.

>>> import noregret as nr
>>> from noregret.testing import CHECKS
>>> for check in CHECKS:
...     check(nr.AAR(prior_precision=0.3, fit_intercept=True))
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from noregret.errors import InputError
from noregret.types import Matrix, Vector

__all__ = ["CHECKS", "Check"]

Check = Callable[[Any], None]


def _stream(rounds: int = 40, seed: int = 0) -> tuple[Matrix, Vector]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, size=(rounds, 3))
    return X, np.clip(X @ [0.5, -0.3, 0.1] + 0.1 * rng.standard_normal(rounds), -1.0, 1.0)


def _named(x: Vector) -> dict[str, float]:
    return {f"x{i}": float(v) for i, v in enumerate(x)}


def check_forecasts_before_it_has_learned(learner: Any) -> None:
    """A stream starts with a forecast."""
    X, _ = _stream()
    assert np.isfinite(learner.predict_one(X[0]))
    assert np.isfinite(learner.predict_one(_named(X[0])))


def check_forecasting_changes_nothing(learner: Any) -> None:
    """Any number of forecasts between two rounds leaves the next ones as they were."""
    X, y = _stream()
    quiet, chatty = copy.deepcopy(learner), copy.deepcopy(learner)
    for x, outcome in zip(X, y, strict=True):
        quiet.learn_one(x, outcome)
        for probe in X[:3]:
            chatty.predict_one(probe)
        chatty.learn_one(x, outcome)
        assert quiet.predict_one(x) == chatty.predict_one(x)


def check_replay_is_the_loop(learner: Any) -> None:
    """Many rounds at once go as they would one at a time."""
    X, y = _stream()
    one, many = copy.deepcopy(learner), copy.deepcopy(learner)
    forecasts = []
    for x, outcome in zip(X, y, strict=True):
        forecasts.append(one.predict_one(x))
        one.learn_one(x, outcome)
    replay = many.replay(X, y)
    assert_allclose(replay.forecast, forecasts, rtol=1e-10, atol=1e-12)
    assert_allclose(many.predict(X), one.predict(X), rtol=1e-10, atol=1e-12)
    assert replay.certificate.rounds == len(X)


def check_names_and_positions_agree(learner: Any) -> None:
    """The order of names never matters, and names forecast what positions do."""
    X, y = _stream()
    positions, names = copy.deepcopy(learner), copy.deepcopy(learner)
    for x, outcome in zip(X, y, strict=True):
        shuffled = dict(reversed(_named(x).items()))
        assert_allclose(names.predict_one(shuffled), positions.predict_one(x), rtol=1e-12)
        positions.learn_one(x, outcome)
        names.learn_one(_named(x), outcome)


def check_certificates_hold(learner: Any) -> None:
    """Every certificate holds in every round, and is plain JSON."""
    X, y = _stream()
    for t, (x, outcome) in enumerate(zip(X, y, strict=True), start=1):
        learner.predict_one(x)
        learner.learn_one(x, outcome)
        for certificate in learner.certificates():
            assert certificate.holds is not False, str(certificate)
            assert certificate.rounds == t
            assert json.loads(certificate.to_json())["name"] == certificate.name


def check_refusals_change_nothing(learner: Any) -> None:
    """A round that is refused leaves no trace."""
    X, y = _stream()
    clean, tried = copy.deepcopy(learner), copy.deepcopy(learner)
    for x, outcome in zip(X, y, strict=True):
        for bad_x, bad_y in (
            (x * np.nan, 0.0),
            (x, np.nan),
            (x[:2], 0.0),
            (x, None),
            (x.astype(str), 0.0),
        ):
            try:
                tried.learn_one(bad_x, bad_y)
            except InputError:
                continue
            assert tried.n_samples_seen_ == 1, "a bad round was learned"
            tried = copy.deepcopy(learner)  # a first round of two features is no error
        clean.learn_one(x, outcome)
        tried.learn_one(x, outcome)
        assert clean.predict_one(X[0]) == tried.predict_one(X[0])


def check_copies_are_independent(learner: Any) -> None:
    """A copy goes on bit for bit, and neither sees what the other learns."""
    X, y = _stream()
    for x, outcome in zip(X[:20], y, strict=False):
        learner.learn_one(x, outcome)
    before = learner.predict_one(X[0])
    one, other = copy.deepcopy(learner), copy.deepcopy(learner)
    for x, outcome in zip(X[20:], y[20:], strict=True):
        one.learn_one(x, outcome)
    assert learner.predict_one(X[0]) == before
    for x, outcome in zip(X[20:], y[20:], strict=True):
        other.learn_one(x, outcome)
    assert_array_equal(one.predict(X), other.predict(X))


CHECKS: tuple[Check, ...] = (
    check_forecasts_before_it_has_learned,
    check_forecasting_changes_nothing,
    check_replay_is_the_loop,
    check_names_and_positions_agree,
    check_certificates_hold,
    check_refusals_change_nothing,
    check_copies_are_independent,
)
