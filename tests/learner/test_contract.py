"""Every learner passes the public checklist at parameters that are not the defaults."""

from __future__ import annotations

import copy

import pandas as pd  # noqa: F401  # frames of these libraries come back as they came
import polars as pl  # noqa: F401  # as above
import pyarrow as pa  # noqa: F401  # as above
import pytest
from sklearn.gaussian_process.kernels import RBF, DotProduct

import noregret as nr
from noregret.testing import CHECKS


def slowing(t: int) -> float:
    return 1.0 / t**2


def abs_sum(x) -> float:
    return float(sum(map(abs, x.values() if isinstance(x, dict) else x)))


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
    nr.AAR(0.5, kernel="rbf"),
    nr.Ridge(0.1, kernel=RBF(2.0) + DotProduct(), clip=1.0, fit_intercept=True),
    nr.BayesianRidge(0.2, kernel=RBF(0.5), drift=0.01, noise_var=0.1),
    nr.AAR(0.5, kernel=RBF(0.7), budget=nr.Nystrom(12)),
    nr.Ridge(2.0, budget=nr.RandomFourier(16, width=2.0, seed=1), drift=1e-3),
    nr.BayesianRidge(0.3, budget=nr.Taylor(3), fit_intercept=True),
    nr.AAR(0.5, budget=nr.Polynomial(2)),
    nr.AAR(0.5, kernel="matern", budget=nr.Window(10)),
    nr.AggregatingAlgorithm(nr.over(nr.AAR, prior_precision=[0.1, 3.0], drift=[0.0, 0.01])),
    nr.AggregatingAlgorithm([nr.Ridge(clip=1.0), nr.AAR(0.2)], outcome_range=1.5, share=0.02),
    nr.AggregatingAlgorithm({"a": nr.Ridge(), "b": abs_sum}, outcome_range=(-1, 2), prior=[1, 3]),
    nr.BayesianAlgorithm(nr.over(nr.BayesianRidge, prior_precision=0.3, noise_var=[0.01, 1.0])),
    nr.ExponentialWeights(nr.over(nr.Ridge, clip=1.0, drift=[0.0, 0.1]), outcome_range=1.0),
    nr.Auto(),
    nr.Auto((-1.0, 1.0)),
    nr.Auto(kernels=True),
    nr.KernelLMS(RBF(0.7), 0.3),
    nr.KernelLMS("matern", loss_budget=5.0, norm_budget=2.0, budget=nr.Window(10)),
    nr.KLMSNet(1.0, scale=3.0, nodes=9),
    nr.KLMSNet((-1, 2), learning_rate=0.2, nodes=16, substitution=True, audit=False),
    nr.KLMSNet(1.5, scale=20.0, tolerance=0.1, budget=nr.Window(8), loss_budget=9, norm_budget=2),
    nr.Lagged(nr.AAR(0.5), [1, 3]),
    nr.Lagged(nr.Ridge(0.3, clip=1.0), [2], horizon=3),
    nr.OSLOG(0.5, start=0.1),
    nr.OSLOG(0.3, passes=3, floor=1e-3),
    nr.SafeOSLOG(0.5, 2.0, outcome_range=1.0),
    nr.RidgeMixture(2.0, precisions=5),
    nr.Mondrian(trees=3, price=1.0, max_nodes=60, seed=2),
    nr.Mondrian((-3.0, 2.0), node="mean", prior_precision=0.3),
    nr.MLpol([nr.AAR(0.3), nr.Ridge(2.0, clip=1.0)], loss="absolute"),
    nr.RulePool([nr.AAR(0.3), nr.Ridge(2.0, clip=1.0)], share=0.02),
    nr.BOA(nr.over(nr.AAR, prior_precision=[0.1, 3.0])),
    nr.PriorFreeAAR(),
    nr.PriorFreeAAR(hint="last", fit_intercept=True),
    nr.AutoClassifier(),
    nr.MondrianClassifier(trees=3, price=1.0, prior_count=2.0, max_nodes=60, seed=2),
    nr.Forecaster(),
    nr.Forecaster(nr.AAR(0.5), horizon=2, lags=[2, 5]),
    nr.MAPLogistic(2.0),
    nr.MAPLogistic(0.5, history=False, family="probit"),
    nr.BayesianLogistic(2.0, method="adf"),
    nr.BayesianLogistic(2.0, method="tierney-kadane"),
    nr.BayesianLogistic(0.7, method="smc", particles=30, seed=3),
    nr.ImproperLogistic(3.0, regularisation=0.2),
    nr.SafeLogistic(0.5, method="adf"),
    nr.BayesianRidge(0.3, noise_var=None),
    nr.BayesianRidge(0.3, noise_var=None, kernel=RBF(2.0), drift=0.01),
    nr.Intervals(nr.AAR(0.3), [0.5, 0.9]),
    nr.Intervals(nr.Lagged(nr.Ridge(0.3), [2], horizon=3), 0.8),
    nr.Intervals(nr.Auto(), 0.75),
    nr.Quantiles(nr.BayesianRidge(0.3, noise_var=None), [0.1, 0.4, 0.5, 0.99]),
    nr.LinearQuantiles([0.3, 0.6, 0.95]),
    nr.DistributionPool(
        {"a": nr.BayesianRidge(0.3, noise_var=0.2), "b": nr.BayesianRidge(5.0)}, outcome_range=99.0
    ),
    nr.Delayed(nr.Intervals(nr.Ridge(0.3), 0.6)),
    nr.Delayed(nr.AAR(0.3)),
    nr.Delayed(nr.ImproperLogistic(2.0)),
]


UNTIMED = ("check_replay_is_the_loop", "check_certificates_hold")  # tests/forecasting has its own


def test_every_public_learner_is_here() -> None:
    public = {getattr(nr, name) for name in nr.__all__}
    learners = {one for one in public if isinstance(one, type) and hasattr(one, "learn_one")}
    abstract = {one for one in learners if one.__name__ in ("Learner", "OnlineLearner")}
    assert learners - abstract == {type(learner) for learner in LEARNERS}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize(
    "k", range(len(LEARNERS)), ids=lambda k: f"{type(LEARNERS[k]).__name__}{k}"
)
def test_learner_contract(k: int, check) -> None:
    learner = copy.deepcopy(LEARNERS[k])
    if getattr(learner, "method", None) == "smc" and "names" in check.__name__:
        pytest.skip("particles are drawn in the order in which names arrive")
    if isinstance(learner, nr.Forecaster) and check.__name__ in UNTIMED:
        pytest.skip("certificates of a Forecaster count the steps that it could forecast")
    check(learner)
