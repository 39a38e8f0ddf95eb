"""Every learner passes the public checklist at parameters that are not the defaults."""

from __future__ import annotations

import copy

import pytest

import noregret as nr
from noregret.testing import CHECKS


def slowing(t: int) -> float:
    return 1.0 / t**2


LEARNERS = [
    nr.Ridge(),
    nr.Ridge(0.01, fit_intercept=True),
    nr.Ridge(30.0, clip=1.0),
    nr.Ridge(0.5, drift=0.01, clip=1.0, fit_intercept=True),
    nr.Ridge(0.5, drift=slowing),
    nr.BayesianRidge(0.1, noise_var=3.0),
    nr.BayesianRidge(7.0, noise_var=0.02, drift=0.3),
    nr.AAR(),
    nr.AAR(4.0, fit_intercept=True),
    nr.AAR(1e-4, drift=1e-3),
    nr.AAR(1e3),
]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize(
    "k", range(len(LEARNERS)), ids=lambda k: f"{type(LEARNERS[k]).__name__}{k}"
)
def test_learner_contract(k: int, check) -> None:
    check(copy.deepcopy(LEARNERS[k]))
