"""Asking changes nothing, and what overflows is refused without a word from NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import noregret as nr
from noregret.errors import NotLearnedError, NumericalError
from stored import CASES, Case, issue, mixed_words

ASKED = {name: case for name, case in CASES.items() if case.predict is not issue}


def zeros(x, sign: float):
    """The same row with its first entry 0.0 or -0.0."""
    if isinstance(x, dict):
        return {**x, next(iter(x), "one"): sign * 0.0}
    return np.array([sign * 0.0, *x[1:]]) if isinstance(x, np.ndarray) else x


@pytest.mark.parametrize("case", ASKED.values(), ids=ASKED.keys())
def test_what_was_asked_is_not_learned(case: Case) -> None:
    """0.0 == -0.0: a forecast at one must not stand in for the other when it is learned."""
    quiet, asked = case.make(), case.make()
    for x, y in zip(case.xs(8), case.ys(8)):
        quiet.learn_one(zeros(x, 1.0), y)
        asked.predict_one(zeros(x, -1.0))
        asked.learn_one(zeros(x, 1.0), y)
    assert asked.to_bytes() == quiet.to_bytes()


@pytest.mark.parametrize(
    "make",
    [
        lambda: nr.BayesianRidge(budget=nr.Polynomial(3)),
        lambda: nr.AAR(budget=nr.Taylor(2)),
        lambda: nr.Auto(kernels=True, effort="linear"),
    ],
    ids=["polynomial", "taylor", "auto"],
)
@pytest.mark.parametrize("size", [1e155, 1e160, 1e300])
def test_features_whose_squares_overflow_are_refused(make, size: float) -> None:
    learner, huge = make(), np.array([size, 1.0])
    learner.replay(np.array([[1.0, 0.0], [0.5, 1.0], [0.0, 2.0]]), [0.5, -0.5, 1.0])
    before = learner.to_bytes()
    for call in (
        lambda: learner.predict_one(huge),
        lambda: learner.learn_one(huge, 0.5),
        lambda: learner.replay([[1.0, 1.0], huge], [0.5, 0.5]),
        lambda: learner.predict([huge]),
    ):
        with pytest.raises(NumericalError, match="rescale"):
            call()
    assert learner.to_bytes() == before


def test_a_replay_takes_objects_of_several_kinds_as_the_loop_does() -> None:
    case = CASES["net, window of objects"]
    xs, ys = mixed_words(9), case.ys(9)
    loop, many = case.make(), case.make()
    for x, y in zip(xs, ys):
        loop.learn_one(x, y)
    many.replay(xs[:2], ys[:2])
    many.replay(xs[2:], ys[2:])  # a vector comes first
    assert many.to_bytes() == loop.to_bytes()


def test_a_learner_without_a_distribution_says_so_behind_lags() -> None:
    with pytest.raises(NotLearnedError, match="Ridge has no distribution"):
        nr.Lagged(nr.Ridge()).predictive(None)
