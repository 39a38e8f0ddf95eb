"""Parameters are declared once: every parameter of every learner is in the table."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import noregret as nr
from noregret.declare.parameters import PARAMETERS, Flag, Parameter, Whole, Wholes, checked
from noregret.errors import ParameterError
from noregret.snapshot.kinds import is_learner
from stored import every_kind

LEARNERS = {kind.type.__name__: kind.type for kind in every_kind() if is_learner(kind.type)}


def parameters(name: str) -> dict[str, tuple[Parameter, object]]:
    """Each parameter of a learner: its entry in the table, and its default."""
    own = getattr(LEARNERS[name], "_parameters", {})
    signature = inspect.signature(LEARNERS[name].__init__).parameters
    return {
        key: (own.get(key) or PARAMETERS[key], given.default)
        for key, given in signature.items()
        if key != "self"
    }


@pytest.mark.parametrize("name", LEARNERS)
def test_every_parameter_is_in_the_table_and_takes_its_default(name: str) -> None:
    for key, (parameter, default) in parameters(name).items():
        assert parameter.help
        assert parameter.kind.metavar or isinstance(parameter.kind, Flag)
        if default is not inspect.Parameter.empty and default is not None:
            parameter.kind.check(key, default)


def test_every_entry_of_the_table_is_used() -> None:
    assert set(PARAMETERS) <= {key for name in LEARNERS for key in parameters(name)}


@pytest.mark.parametrize(
    "wrong", [0, 1.5, True, "1", [], [0], [1, 1], [1.0], [True], np.ones((1, 1))]
)
def test_lists_of_whole_numbers(wrong: object) -> None:
    lags = Wholes(Whole(1, 9, "a whole number, 1 to 9"))
    assert lags.check("lags", range(1, 4)) == lags.check("lags", np.arange(1, 4)) == [1, 2, 3]
    assert lags.read("1,24") == [1, 24]
    with pytest.raises(ParameterError, match=r"lags = .*1 to 9"):
        lags.check("lags", wrong)


@pytest.mark.parametrize("wrong", [1, "yes", None, np.ones(1, dtype=bool), 0.0])
def test_flags(wrong: object) -> None:
    assert checked(nr.AAR(fit_intercept=np.bool_(True)), "fit_intercept") is True
    with pytest.raises(ParameterError, match=r"fit_intercept = .*True or False"):
        checked(nr.SLOG(fit_intercept=wrong), "fit_intercept")
