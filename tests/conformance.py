"""Other libraries' checks of our learners: which learners, which parameters, what cannot pass.

    python tests/conformance.py

prints how many checks each learner passes, and why the others do not apply.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

from sklearn.gaussian_process.kernels import RBF
from sklearn.utils.estimator_checks import check_estimator

import noregret as nr

LEARNERS: dict[str, Callable[[], Any]] = {
    "Ridge": nr.Ridge,
    "Ridge, intercept": lambda: nr.Ridge(0.3, fit_intercept=True),
    "Ridge, clip": lambda: nr.Ridge(0.3, clip=500.0),
    "Ridge, drift": lambda: nr.Ridge(0.5, drift=0.01, fit_intercept=True),
    "Ridge, kernel": lambda: nr.Ridge(0.1, kernel=RBF(2.0)),
    "BayesianRidge": nr.BayesianRidge,
    "BayesianRidge, noise": lambda: nr.BayesianRidge(3.0, noise_var=0.2, fit_intercept=True),
    "BayesianRidge, drift": lambda: nr.BayesianRidge(0.2, drift=0.1),
    "AAR": nr.AAR,
    "AAR, intercept": lambda: nr.AAR(0.05, fit_intercept=True),
    "AAR, drift": lambda: nr.AAR(drift=0.001),
    "AAR, kernel": lambda: nr.AAR(kernel=RBF()),
    "AAR, kernel and drift": lambda: nr.AAR(0.5, kernel=RBF(3.0), drift=0.01),
    "AAR, Nystrom": lambda: nr.AAR(kernel=RBF(3.0), budget=nr.Nystrom(20)),
    "AAR, RandomFourier": lambda: nr.AAR(0.1, budget=nr.RandomFourier(50, seed=1)),
    "AAR, Taylor": lambda: nr.AAR(0.1, budget=nr.Taylor(2)),
    "AAR, Polynomial": lambda: nr.AAR(2.0, budget=nr.Polynomial(2)),
    "AAR, Window": lambda: nr.AAR(kernel=RBF(), budget=nr.Window(50)),
    "OSLOG": nr.OSLOG,
    "OSLOG, passes and floor": lambda: nr.OSLOG(0.1, passes=3, start=0.1, floor=1e-3),
    "SLOG": nr.SLOG,
    "SLOG, intercept": lambda: nr.SLOG(0.1, fit_intercept=True),
    "SafeOSLOG": nr.SafeOSLOG,
    "RidgeMixture": nr.RidgeMixture,
    "SafeOSLOG, range": lambda: nr.SafeOSLOG(0.3, 0.2, (-600.0, 700.0), floor=0.01),
    "Mondrian": nr.Mondrian,
    "MondrianClassifier": nr.MondrianClassifier,
    "Auto": nr.Auto,
    "Auto, range": lambda: nr.Auto((-700.0, 700.0)),
    "AggregatingAlgorithm": lambda: nr.AggregatingAlgorithm([nr.Ridge(), nr.AAR()]),
    "AggregatingAlgorithm, share": lambda: nr.AggregatingAlgorithm(
        nr.over(nr.AAR, prior_precision=[0.01, 1.0]), outcome_range=800.0, share=0.01
    ),
    "ExponentialWeights": lambda: nr.ExponentialWeights(
        [nr.Ridge(), nr.AAR()], outcome_range=(-900.0, 900.0)
    ),
    "BayesianAlgorithm": lambda: nr.BayesianAlgorithm(nr.over(nr.BayesianRidge, noise_var=[1, 9])),
    "MLpol": lambda: nr.MLpol([nr.Ridge(), nr.AAR()]),
    "RulePool": lambda: nr.RulePool([nr.Ridge(), nr.AAR()]),
    "BOA, pinball": lambda: nr.BOA([nr.Ridge(), nr.AAR()], loss="pinball", level=0.4),
    "KernelLMS": lambda: nr.KernelLMS(RBF(2.0), 0.5),
    "KernelLMS, window": lambda: nr.KernelLMS(RBF(), 0.3, budget=nr.Window(30)),
    "KLMSNet": lambda: nr.KLMSNet(800.0),
    "KLMSNet, substitution": lambda: nr.KLMSNet(
        (-700.0, 900.0), scale=3.0, nodes=16, substitution=True, budget=nr.Window(50)
    ),
    "MAPLogistic": nr.MAPLogistic,
    "MAPLogistic, probit": lambda: nr.MAPLogistic(2.0, family="probit"),
    "MAPLogistic, no history": lambda: nr.MAPLogistic(4.0, history=False),
    "BayesianLogistic, adf": lambda: nr.BayesianLogistic(method="adf"),
    "BayesianLogistic, adf, probit": lambda: nr.BayesianLogistic(
        9.0, method="adf", family="probit"
    ),
    "BayesianLogistic, tierney-kadane": lambda: nr.BayesianLogistic(method="tierney-kadane"),
    "BayesianLogistic, smc": lambda: nr.BayesianLogistic(2.0, method="smc", particles=100, seed=3),
    "ImproperLogistic": nr.ImproperLogistic,
    "ImproperLogistic, bound": lambda: nr.ImproperLogistic(3.0, regularisation=0.1),
    "SafeLogistic": lambda: nr.SafeLogistic(method="adf"),
    "SafeLogistic, prior": lambda: nr.SafeLogistic(4.0, method="tierney-kadane"),
}

WEIGHTS = (
    "check_sample_weights_pandas_series",
    "check_sample_weights_not_an_array",
    "check_sample_weights_list",
    "check_sample_weights_shape",
    "check_sample_weights_not_overwritten",
    "check_all_zero_sample_weights_error",
)
EQUIVALENT = (
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
)


def expected(learner: Any) -> dict[str, str]:
    """Checks of scikit-learn that this learner cannot pass, each with the reason."""
    reasons: dict[str, str] = {}
    if getattr(learner, "clip", None) is not None:
        reasons |= dict.fromkeys(
            (*WEIGHTS, *EQUIVALENT),
            "a clipped learner takes no weights: its clip would move",
        )
    budget = getattr(learner, "budget", None)
    if getattr(learner, "kernel", None) is not None and not isinstance(budget, nr.Nystrom):
        reasons |= dict.fromkeys(
            (*WEIGHTS, *EQUIVALENT), "an exact kernel learner takes no weights"
        )
    if getattr(learner, "drift", 0.0) != 0.0:
        reasons |= dict.fromkeys(
            (*WEIGHTS, *EQUIVALENT),
            "experts that change do so every round, so that they take no weights",
        )
    return reasons


def scikit_learn(learner: Any) -> list[dict[str, Any]]:
    """All of scikit-learn's checks, with what became of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found: list[dict[str, Any]] = check_estimator(
            learner, expected_failed_checks=expected(learner), on_fail=None, on_skip=None
        )
    return found


def in_river(name: str, learner: Any) -> Any:
    """The learner as River sees it; None where its features cannot come and go."""
    from noregret.adapters.river import RiverClassifier, RiverRegressor

    fixed = isinstance(learner, nr.SLOG | nr.KernelLMS | nr.KLMSNet)
    if fixed or getattr(learner, "kernel", None) or getattr(learner, "budget", None):
        return None
    binary = hasattr(learner, "predict_proba")
    return (RiverClassifier if binary else RiverRegressor)(learner)


def expected_in_river(learner: Any) -> dict[str, str]:
    """Checks of River that this learner cannot pass, each with the reason."""
    if isinstance(learner, nr.Mondrian | nr.MondrianClassifier | nr.AutoClassifier):
        return {"check_shuffle_features_no_impact": "trees draw the feature of a cut by its place"}
    if getattr(learner, "method", None) == "smc":
        return {
            "check_shuffle_features_no_impact": "particles are drawn feature by feature, in the "
            "order of arrival: another order is another sample"
        }
    return {}


def river(model: Any) -> Iterator[tuple[str, Exception | None]]:
    """All of River's checks, with what became of them."""
    from river import checks

    cannot = expected_in_river(model.learner)
    for check in checks.yield_checks(model):
        if check.__name__ not in (*model._unit_test_skips(), *cannot):
            try:
                check(model.clone())
            except Exception as failure:
                yield check.__name__, failure
            else:
                yield check.__name__, None


def counted(name: str, make: Callable[[], Any]) -> list[str]:
    """How many checks were passed, skipped and expected to fail, and how many of River's passed."""
    states = [check["status"] for check in scikit_learn(make())]
    model = in_river(name, make())
    found = [failure is None for _, failure in river(model)] if model is not None else []
    assert "failed" not in states, name
    assert all(found), name
    theirs = f"{sum(found)} of {len(found)}" if found else "-"
    return [*(str(states.count(s)) for s in ("passed", "skipped", "xfail")), theirs]


def main() -> None:
    """Print the counts."""
    header = "scikit-learn: passed", "skipped", "expected to fail", "River: passed"
    print(f"{'':34}", *(f"{title:>20}" for title in header))
    for name, make in LEARNERS.items():
        print(f"{name:34}", *(f"{count:>20}" for count in counted(name, make)), flush=True)


if __name__ == "__main__":
    main()
