"""Learners by name: every parameter on the list is one, and text becomes what it means."""

from __future__ import annotations

import inspect

import pytest

import noregret as nr
from noregret.errors import ParameterError
from noregret.registry import MODELS, PARAMETERS, make


@pytest.mark.parametrize("name", MODELS)
def test_every_parameter_is_the_constructors(name: str) -> None:
    learner = make(name)
    known = inspect.signature(type(learner)).parameters
    assert set(MODELS[name].parameters) <= set(known)
    assert set(MODELS[name].parameters) <= set(PARAMETERS)
    assert MODELS[name].guarantee
    assert MODELS[name].cost


def test_text_becomes_what_it_means() -> None:
    given = {"prior_precision": "0.5", "fit_intercept": "yes", "budget": "fourier:16:2.0"}
    learner = make("aar", given)
    assert learner.prior_precision == 0.5
    assert learner.fit_intercept is True
    assert learner.budget == nr.RandomFourier(16, 2.0)
    assert make("auto", {"outcome_range": "-1,2"}).outcome_range == (-1.0, 2.0)
    assert make("safe-oslog", {"outcome_range": "3"}).outcome_range == 3.0
    assert make("oslog", {"passes": "inf"}).passes == float("inf")
    assert make("aar", {"kernel": "rbf"}).kernel == "rbf"


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("nothing", {}),
        ("aar", {"clip": "1"}),
        ("aar", {"prior_precision": "much"}),
        ("aar", {"fit_intercept": "perhaps"}),
        ("aar", {"budget": "nystrom"}),
        ("aar", {"budget": "nystrom:1:2"}),
        ("aar", {"budget": "magic:3"}),
        ("auto", {"outcome_range": ""}),
    ],
    ids=range(8),
)
def test_what_makes_no_sense_is_refused(name: str, given: dict[str, str]) -> None:
    with pytest.raises(ParameterError):
        make(name, given)
