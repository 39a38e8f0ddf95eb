"""Parameters of pools that make no sense: refused by name, and nothing has changed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import noregret as nr
from hostile_inputs import INF, NAN
from noregret.errors import ParameterError
from pools import refused

AA = nr.AggregatingAlgorithm
TABLE = np.random.default_rng(0).uniform(0.1, 0.9, (6, 2))
COLUMN = [0.0, 1.0, 1.0, 0.0, 1.0, 0.0]

PARAMETERS: list[tuple[str, Any, str]] = [
    *(("share", v, "share = ") for v in (-0.1, 1.0, 1, NAN, INF, "0.1", None, 1j, True, [0.1])),
    *(("prior", v, "prior") for v in ([1.0], [1.0, 0.0], [1.0, -1.0], [NAN, 1.0], [INF, 1.0])),
    *(("prior", v, "prior") for v in ([], 3.0, ["x", "y"], [None, 1.0], [1j, 1.0], {"a": 1.0})),
    *(("prior", v, "prior") for v in ({"a": 1.0, "c": 1.0}, [[1.0, 2.0]] * 2)),
    *(("outcome_range", v, "outcome_range = ") for v in (0, -1.0, NAN, INF, True, "12", 1j, 1e151)),
    *(("outcome_range", v, "outcome_range = ") for v in ((1, 1), (2, 1), (0, INF), (0, NAN), [0])),
    *(("outcome_range", v, "outcome_range = ") for v in ((1, 2, 3), {}, (None, 1), (0, 1e-101))),
    *(("loss", v, "loss = ") for v in ("absolute", None, 2, "Square")),
    *(("experts", v, "experts") for v in ([], {}, "ab", 3, None, [3], [None], {"a": object()})),
]
RATES = (0, 0.0, -1.0, NAN, INF, "1", 1j, True, [1.0], 1e-320)


@pytest.mark.parametrize(("name", "value", "words"), PARAMETERS)
def test_parameters_that_make_no_sense(name: str, value: Any, words: str) -> None:
    """They are looked at when they are first needed, and again by fit."""
    fresh = AA(["a", "b"]).set_params(**{name: value})
    refused(
        fresh,
        ParameterError,
        (words,),
        lambda: fresh.predict_one([0.5, 0.5]),
        lambda: fresh.learn_one([0.5, 0.5], 1.0),
        lambda: fresh.replay(TABLE, COLUMN),
        lambda: fresh.fit(TABLE, COLUMN),
        lambda: fresh.join("c", 0.5),
    )
    pool = AA(["a", "b"]).fit(TABLE, COLUMN).set_params(**{name: value})
    refused(pool, ParameterError, (words,), lambda: pool.fit(TABLE, COLUMN))
    assert pool.predict_one([0.5, 0.5]) == 0.5  # as it was begun
    if name not in {"experts", "outcome_range"} and value is not None:  # None: the default
        with pytest.raises(ParameterError, match=words):
            nr.aggregate(TABLE, COLUMN, rule="aggregating", **{name: value})


@pytest.mark.parametrize("rate", RATES)
def test_learning_rates_that_make_no_sense(rate: Any) -> None:
    pool = nr.ExponentialWeights(["a", "b"], outcome_range=1.0, learning_rate=rate)
    refused(pool, ParameterError, ("learning_rate = ",), lambda: pool.fit(TABLE, COLUMN))


def test_parameters_that_do_not_go_together() -> None:
    for loss in ("log", "brier"):
        with pytest.raises(ParameterError, match=f"outcome_range = 1.0: {loss} loss needs none"):
            nr.aggregate(TABLE, COLUMN, rule="aggregating", loss=loss, outcome_range=1.0)
    with pytest.raises(ParameterError, match="exponential weights need a range"):
        nr.ExponentialWeights(["a"], outcome_range=None).predict_one([1.0])
