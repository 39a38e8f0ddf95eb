"""Parameters that nobody should give are refused by name, also those that cannot be printed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import noregret as nr
from campaign import MADE
from hostile_calls import endless
from hostile_inputs import Rude
from noregret.errors import NoRegretError, ParameterError

HUGE = 10**400
X, Y = np.array([[1.0, 2.0], [0.5, 1.0], [2.0, 0.0]]), [0.0, 1.0, 0.0]
UNUSED = {"domain", "noise_var"}  # only with a tolerance; only in certificates


def used(learner) -> None:
    if isinstance(learner, nr.SLOG):
        learner.fit(X, Y)
    else:
        ticket = learner.predict_one(X[0])
        learner.learn_one(ticket if isinstance(learner, nr.Delayed) else X[0], 1.0)


@pytest.mark.parametrize("name", MADE)
def test_an_object_that_cannot_be_printed_is_refused(name: str) -> None:
    for parameter in {*MADE[name]().get_params(deep=False)} - UNUSED:
        with pytest.raises(ParameterError, match=r"a Rude|Rude"):
            used(MADE[name]().set_params(**{parameter: Rude()}))


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("Auto", {"outcome_range": HUGE}),
        ("SafeOSLOG", {"outcome_range": (-HUGE, HUGE)}),
        ("KLMSNet", {"outcome_range": HUGE}),
        ("ExponentialWeights", {"learning_rate": HUGE}),
        ("AggregatingAlgorithm", {"share": HUGE}),
        ("AggregatingAlgorithm", {"prior": [HUGE]}),
        ("AggregatingAlgorithm", {"prior": np.ma.masked}),
        ("AggregatingAlgorithm", {"experts": np.ma.masked}),
        ("AggregatingAlgorithm", {"loss": pd.NA}),
        ("AggregatingAlgorithm", {"loss": np.ones(2)}),
        ("BayesianLogistic", {"method": pd.NA}),
        ("SafeLogistic", {"method": pd.NA}),
        ("Delayed", {"overflow": pd.NA}),
        ("Lagged", {"lags": np.ma.masked}),
    ],
    ids=str,
)
def test_odd_values_are_refused(name: str, given) -> None:
    with pytest.raises(ParameterError, match=next(iter(given))):
        used(MADE[name]().set_params(**given))


def test_a_list_that_holds_itself_is_refused() -> None:
    for call in (
        lambda: nr.aggregate(endless(), Y),
        lambda: nr.aggregate([[0.1, 0.2], [0.1, endless()], [0.1, 0.2]], Y),
        lambda: nr.best_sequence(endless(), 1),
        lambda: nr.Lagged(nr.AAR(), endless()).predict_one(None),
    ):
        with pytest.raises(NoRegretError):
            call()
