"""Every learner at parameters that are not the defaults, and a stream for it to be stored on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

import numpy as np
from sklearn.gaussian_process import kernels as sk

import noregret as nr


def slowing(t: int) -> float:
    return 1.0 / t**2


def common_words(X, Z):
    return np.array([[len(set(x.split()) & set(z.split())) for z in Z] for x in X], dtype=float)


def dots(X, Z):
    return np.asarray(X) @ np.asarray(Z).T


def shared_letters(alpha, X, Z):
    """exp(-alpha d) for the number d of letters in one text and not in the other."""
    return np.array([[np.exp(-alpha * len(set(x) ^ set(z))) for z in Z] for x in X])


def decaying(alpha, X, Z):
    return np.exp(-3.0 * alpha * np.abs(np.subtract.outer(X.sum(axis=1), Z.sum(axis=1))))


def mean_of(x) -> float:
    values = list(x.values()) if isinstance(x, dict) else list(x)
    return float(sum(v for v in values if v is not None)) / (1 + len(values))


def arrays(T: int, n: int = 3) -> list[Any]:
    """Rows with zeros of either sign, and one that comes again."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(T, n)) * [2.0**k for k in range(n)]
    X[rng.random((T, n)) < 0.15] = 0.0
    X[rng.random((T, n)) < 0.1] = -0.0
    X[T // 3] = X[0]
    return list(X)


NAMES = ("hot", 7, ("two", "words"), None, "späť", b"raw", 1.5, np.int64(9), "\ud800")


def mappings(T: int) -> list[Any]:
    """Names of all kinds that come one after another, and are absent now and then."""
    rng = np.random.default_rng(8)
    rows: list[Any] = []
    for t in range(T):
        known = NAMES[: 2 + min(t // 3, len(NAMES) - 2)]
        row = {name: float(rng.normal()) for name in known if rng.random() < 0.9 or t % 4 == 0}
        for name in row:
            row[name] = [row[name], 0.0, -0.0, 3, Fraction(1, 3)][
                rng.choice(5, p=[0.6, *[0.1] * 4])
            ]
        rows.append(row)
    return rows


def words(T: int) -> list[Any]:
    lot = ["a", "good", "bad", "film", "fun", "long", "night", "of", "the", "day"]
    rng = np.random.default_rng(9)
    return [" ".join(rng.choice(lot, size=1 + t % 5)) for t in range(T)]


def hours(T: int) -> list[Any]:
    """Rows with times; some hours are left out."""
    rng, start = np.random.default_rng(12), datetime(2024, 3, 30, tzinfo=UTC)
    steps = np.cumsum(rng.choice([1, 1, 1, 3], size=T)).tolist()
    weather = rng.normal(size=(T, 2)).tolist()
    return [
        {"warm": warm, "wet": wet, "at": (start + timedelta(hours=t)).isoformat()}
        for t, (warm, wet) in zip(steps, weather)
    ]


def forecasts(T: int) -> list[Any]:
    """What three experts say; some sleep."""
    rng = np.random.default_rng(10)
    rows = []
    for t in range(T):
        said = {"a": float(rng.uniform(-1, 1)), "b": float(rng.uniform(-1, 1)), "c": 0.25}
        said["b"] = None if t % 3 == 1 else said["b"]
        if t % 4 == 2:
            del said["c"]
        rows.append(said)
    return rows


def few(T: int) -> list[Any]:
    """Patterns that come again and again, zeros of either sign among them."""
    lot = [[0.0, 1.0], [-0.0, 1.0], [2.0, -0.0], [0.5, 0.25], [1e-170, 1.0], [-3.0, 0.0]]
    rng = np.random.default_rng(14)
    return [np.array(lot[k]) for k in rng.integers(0, len(lot), T)]


def named(T: int) -> list[Any]:
    """Mappings that always have the same names, now and then without one."""
    rng = np.random.default_rng(15)
    rows: list[Any] = [dict(zip(NAMES[:4], rng.normal(size=4).round(1).tolist())) for _ in range(T)]
    for t in range(2, T, 3):
        rows[t] = {name: (-0.0, 2, v)[t % 3] for name, v in rows[t].items()}
    for t in range(3, T, 5):
        del rows[t][7]
    return rows


def mixed_words(T: int) -> list[Any]:
    """Objects of several kinds, vectors among them, and some that cannot be recognised."""
    lot = words(T)
    return [(w, tuple(w), np.array([*map(ord, w)], float))[t % 3] for t, w in enumerate(lot)]


def numbers(T: int) -> list[Any]:
    return np.random.default_rng(11).uniform(-1.0, 1.0, T).tolist()


def pairs(T: int) -> list[Any]:
    return list(np.random.default_rng(12).normal(size=(T, 2)))


def labels(T: int) -> list[Any]:
    return [bool(v) for v in np.random.default_rng(13).random(T) < 0.5]


def chances(T: int) -> list[Any]:
    return [float(v) for v in labels(T)]


def yes(T: int) -> list[Any]:
    return ["yes" if v else "no" for v in labels(T)]


def predict(learner: Any, x: Any) -> Any:
    return learner.predict_one(x)


def learn(learner: Any, x: Any, y: Any) -> None:
    learner.learn_one(x, y)


def issue(learner: Any, x: Any) -> Any:
    return learner.predict_one(x).forecast


def settle(learner: Any, x: Any, y: Any) -> None:
    """Outcomes come late and out of order; now and then one never comes."""
    waiting = learner.pending_
    if len(waiting) > 3:
        learner.learn_one(waiting.pop(len(waiting) % 3), y)
    if len(waiting) > 3 and waiting[0] % 5 == 0:
        learner.drop(waiting[0])


@dataclass(frozen=True)
class Case:
    make: Callable[[], Any]
    xs: Callable[[int], list[Any]] = arrays
    ys: Callable[[int], list[Any]] = numbers
    given: dict[str, Any] = field(default_factory=dict)
    predict: Callable[[Any, Any], Any] = predict
    learn: Callable[[Any, Any, Any], None] = learn


def said_yes() -> Any:
    X = np.eye(3)
    return nr.MAPLogistic(2.0).partial_fit(X, ["no", "yes", "no"], classes=["no", "yes"])


def two(T: int) -> list[Any]:
    return arrays(T, 2)


def line(T: int) -> list[Any]:
    return arrays(T, 1)


def set_anew() -> Any:
    """Parameters set after learning take effect at the next fit: state and parameters differ."""
    learner = nr.Ridge(0.5, clip=1.0)
    learner.learn_one(np.array([1.0, 2.0, 3.0]), 0.5)
    return learner.set_params(clip=7.0, prior_precision=np.float32(3.0))


def joined() -> Any:
    pool = nr.AggregatingAlgorithm([nr.AAR(), mean_of], outcome_range=2.0)
    pool.join(nr.Ridge(0.1, drift=0.1), 0.25, name="late")
    return pool


K = sk.ConstantKernel(2.0) * sk.RBF([1.0, 2.0, 3.0]) + sk.WhiteKernel(0.1)

CASES: dict[str, Case] = {
    "ridge": Case(nr.Ridge),
    "ridge, clipped": Case(lambda: nr.Ridge(Fraction(1, 3), clip=1.0, fit_intercept=True)),
    "ridge, drift": Case(lambda: nr.Ridge(0.5, drift=0.01, clip=1.0, fit_intercept=True)),
    "ridge, rooted": Case(lambda: nr.Ridge(1e-6, drift=1e-4)),
    "ridge, given drift": Case(
        lambda: nr.Ridge(0.5, drift=slowing), mappings, given={"drift": slowing}
    ),
    "ridge, names": Case(nr.Ridge, mappings),
    "ridge, set anew": Case(set_anew),
    "bayes": Case(lambda: nr.BayesianRidge(0.1, noise_var=3.0), mappings),
    "bayes, two outcomes": Case(lambda: nr.BayesianRidge(7.0, drift=0.3), arrays, pairs),
    "aar": Case(lambda: nr.AAR(4.0, fit_intercept=True), mappings, numbers),
    "aar, two outcomes": Case(lambda: nr.AAR(0.2), mappings, pairs),
    "aar, drift": Case(lambda: nr.AAR(1e-4, drift=1e-3), mappings),
    "aar, discount": Case(lambda: nr.AAR(0.5, discount=0.9, hint="last"), mappings),
    "ridge, discount": Case(lambda: nr.Ridge(0.5, discount=0.5, clip=1.0), arrays, pairs),
    "aar, around": Case(lambda: nr.AAR(0.5, hint=2.5, drift=0.01)),
    "aar, last": Case(lambda: nr.AAR(0.3, hint="last", fit_intercept=True), mappings),
    "aar, midrange of two": Case(lambda: nr.AAR(0.3, hint="midrange"), arrays, pairs),
    "aar, rbf, midrange": Case(lambda: nr.AAR(0.5, kernel="rbf", hint="midrange")),
    "aar, rbf": Case(lambda: nr.AAR(0.5, kernel="rbf")),
    "aar, kernel of kernels": Case(lambda: nr.AAR(0.5, kernel=K, drift=0.01)),
    "ridge, kernels": Case(
        lambda: nr.Ridge(
            0.1,
            kernel=sk.Matern(2.0, nu=1.5) * sk.DotProduct(0.5) ** 2,
            clip=1.0,
            fit_intercept=True,
        ),
        arrays,
        pairs,
    ),
    "bayes, more kernels": Case(
        lambda: nr.BayesianRidge(
            0.2,
            kernel=sk.ExpSineSquared(1.0, 3.0)
            + sk.RationalQuadratic(0.5, 2.0, length_scale_bounds="fixed")
            + sk.PairwiseKernel(0.5, metric="laplacian"),
            drift=slowing,
        ),
        line,
        given={"drift": slowing},
    ),
    "ridge, given kernel": Case(lambda: nr.Ridge(0.1, kernel=dots), given={"kernel": dots}),
    "ridge, words": Case(
        lambda: nr.Ridge(0.1, kernel=common_words), words, given={"kernel": common_words}
    ),
    "aar, window": Case(lambda: nr.AAR(0.5, kernel=sk.RBF(2.0), budget=nr.Window(6))),
    "ridge, window of words": Case(
        lambda: nr.Ridge(0.1, kernel=common_words, budget=nr.Window(5)),
        words,
        given={"common_words": common_words},
    ),
    "aar, nystrom": Case(lambda: nr.AAR(0.5, kernel=sk.RBF(0.7), budget=nr.Nystrom(12, 1e-3))),
    "aar, nystrom of words": Case(
        lambda: nr.AAR(0.5, kernel=common_words, budget=nr.Nystrom(5)),
        words,
        given={f"{__name__}.common_words": common_words},
    ),
    "ridge, fourier": Case(
        lambda: nr.Ridge(2.0, budget=nr.RandomFourier(16, width=2.0, seed=1), drift=1e-3)
    ),
    "aar, taylor": Case(lambda: nr.AAR(0.3, budget=nr.Taylor(2, 1.5), fit_intercept=True)),
    "bayes, polynomial": Case(lambda: nr.BayesianRidge(0.3, budget=nr.Polynomial(3)), two),
    "oslog": Case(lambda: nr.OSLOG(2.0, start=0.1)),
    "oslog, names": Case(lambda: nr.OSLOG(0.3, passes=3, floor=1e-3), mappings),
    "oslog, limit": Case(lambda: nr.OSLOG(0.3, passes=float("inf"))),
    "map": Case(lambda: nr.MAPLogistic(2.0), arrays, labels),
    "map, names": Case(lambda: nr.MAPLogistic(2.0, family="probit"), mappings, labels),
    "map, labels": Case(said_yes, arrays, yes),
    "map, no history": Case(lambda: nr.MAPLogistic(0.5, history=False), mappings, labels),
    "averaging, auto": Case(lambda: nr.BayesianLogistic(2.0), mappings, labels),
    "averaging, exact": Case(lambda: nr.BayesianLogistic(2.0, method="exact"), line, labels),
    "averaging, ratio": Case(
        lambda: nr.BayesianLogistic(2.0, method="tierney-kadane"), mappings, labels
    ),
    "averaging, particles": Case(
        lambda: nr.BayesianLogistic(2.0, method="smc", particles=50, seed=3), mappings, labels
    ),
    "averaging, moments": Case(
        lambda: nr.BayesianLogistic(2.0, method="adf", family="probit"), arrays, labels
    ),
    "improper": Case(lambda: nr.ImproperLogistic(3.0, regularisation=0.2), mappings, labels),
    "pool of learners": Case(
        lambda: nr.AggregatingAlgorithm(
            {"near": nr.AAR(0.1), "far": nr.Ridge(kernel="rbf"), "thin": nr.OSLOG()}, share=0.01
        )
    ),
    "pool of names": Case(
        lambda: nr.AggregatingAlgorithm(
            ["a", "b", "c"], outcome_range=(-1.0, 1.0), prior=np.array([0.5, 0.25, 0.25])
        ),
        forecasts,
    ),
    "pool of labels": Case(
        lambda: nr.AggregatingAlgorithm([nr.MAPLogistic()], loss="brier"), arrays, chances
    ),
    "pool with a function": Case(joined, given={"mean_of": mean_of}),
    "pool of pools": Case(
        lambda: nr.AggregatingAlgorithm(
            [nr.Auto(effort="linear"), nr.SafeOSLOG(0.5, outcome_range=1.0)]
        ),
        arrays,
    ),
    "mixture": Case(
        lambda: nr.BayesianAlgorithm(nr.over(nr.BayesianRidge, noise_var=[0.1, 1.0, 10.0])),
        mappings,
    ),
    "distribution pool": Case(
        lambda: nr.DistributionPool(
            {
                "exact": nr.BayesianRidge(0.3, noise_var=0.5),
                "wide": nr.BayesianRidge(noise_var=9.0),
                "number": nr.AAR(),
            },
            outcome_range=100.0,
        )
    ),
    "MLpol": Case(lambda: nr.MLpol({"near": nr.AAR(0.1), "far": nr.Ridge()}, loss="absolute")),
    "rule pool": Case(lambda: nr.RulePool({"near": nr.AAR(0.1), "far": nr.Ridge()}, share=0.02)),
    "rule pool of names": Case(
        lambda: nr.RulePool(["a", "b", "c"], rule="stacking", prior=[0.5, 0.25, 0.25]), forecasts
    ),
    "BOA of names": Case(
        lambda: nr.BOA(["a", "b", "c"], loss="pinball", level=0.3, prior=[0.5, 0.25, 0.25]),
        forecasts,
    ),
    "exponential weights": Case(
        lambda: nr.ExponentialWeights(
            [nr.AAR(), mean_of], outcome_range=(-2, 2), learning_rate=0.01
        ),
        given={"mean_of": mean_of},
    ),
    "safe oslog": Case(lambda: nr.SafeOSLOG(0.5, 2.0, floor=1e-3), mappings),
    "safe logistic": Case(
        lambda: nr.SafeLogistic(method="smc", particles=20, seed=5), arrays, chances
    ),
    "auto": Case(lambda: nr.Auto(effort="linear"), mappings),
    "auto, kernels": Case(lambda: nr.Auto(outcome_range=1.0, kernels=True, effort="linear"), two),
    "auto, low": Case(lambda: nr.Auto(effort="low"), mappings),
    "auto, normal": Case(nr.Auto, mappings),
    "auto, high": Case(lambda: nr.Auto(2.0, effort="high"), two),
    "auto for labels": Case(nr.AutoClassifier, mappings, labels),
    "auto for labels, 14 experts": Case(nr.AutoClassifier, mappings, labels),
    "forecaster": Case(lambda: nr.Forecaster(nr.Ridge(0.5), horizon=2, lags=[2, 3])),
    "forecaster, times": Case(
        lambda: nr.Forecaster(nr.AAR(), time="at", every="1 h", known=["warm"], late="skip"), hours
    ),
    "kernel lms": Case(lambda: nr.KernelLMS(sk.RBF([1.0, 2.0, 3.0]), 0.3)),
    "kernel lms, names": Case(
        lambda: nr.KernelLMS("rational-quadratic", loss_budget=2.0, norm_budget=Fraction(1, 2)),
        named,
    ),
    "kernel lms, again": Case(lambda: nr.KernelLMS(2.0 * sk.Matern(0.7), peak=2.0), few),
    "kernel lms, given kernel": Case(
        lambda: nr.KernelLMS(dots, 1e-3, budget=nr.Window(5)), given={"kernel": dots}
    ),
    "kernel lms, words": Case(
        lambda: nr.KernelLMS(common_words, 0.1), words, given={"kernel": common_words}
    ),
    "kernel lms, window of words": Case(
        lambda: nr.KernelLMS(common_words, peak=5.0, budget=nr.Window(4)),
        words,
        given={"common_words": common_words},
    ),
    "net": Case(lambda: nr.KLMSNet(1.0, scale=0.7, nodes=9)),
    "net, substitution": Case(
        lambda: nr.KLMSNet((-1, 2.5), learning_rate=0.9, nodes=17, substitution=True), named
    ),
    "net, again": Case(lambda: nr.KLMSNet(1.0, loss_budget=3.0, norm_budget=2.0, nodes=6), few),
    "net, window": Case(lambda: nr.KLMSNet(1.5, nodes=20, audit=False, budget=nr.Window(5))),
    "net, tolerance": Case(lambda: nr.KLMSNet(1.0, tolerance=0.01, domain=(0.0, 2.0)), line),
    "net, family": Case(
        lambda: nr.KLMSNet(1.0, family=decaying, nodes=5), few, given={"family": decaying}
    ),
    "net, family of words": Case(
        lambda: nr.KLMSNet(
            (-1.0, 1.0),
            family=shared_letters,
            nodes=7,
            substitution=True,
            audit=False,
            learning_rate=1.0,
        ),
        words,
        given={"family": shared_letters},
    ),
    "net, window of objects": Case(
        lambda: nr.KLMSNet(1.0, family=shared_letters, nodes=4, budget=nr.Window(6)),
        mixed_words,
        given={"shared_letters": shared_letters},
    ),
    "delayed": Case(
        lambda: nr.Delayed(nr.AAR(0.3), max_pending=6, overflow="drop"),
        mappings,
        predict=issue,
        learn=settle,
    ),
    "delayed, two outcomes": Case(
        lambda: nr.Delayed(nr.Ridge(0.3)), arrays, pairs, predict=issue, learn=settle
    ),
    "delayed, labels": Case(
        lambda: nr.Delayed(nr.ImproperLogistic()), arrays, labels, predict=issue, learn=settle
    ),
    "bayes, noise learned": Case(lambda: nr.BayesianRidge(0.2, noise_var=None), mappings),
    "bayes, noise of two outcomes": Case(
        lambda: nr.BayesianRidge(0.2, noise_var=None, drift=0.1), arrays, pairs
    ),
    "intervals": Case(lambda: nr.Intervals(nr.AAR(0.3), [0.5, 0.95, 0.9]), mappings),
    "intervals, kernel": Case(lambda: nr.Intervals(nr.Ridge(0.3, kernel="rbf"), 0.8)),
    "intervals, horizon 3": Case(
        lambda: nr.Intervals(nr.Lagged(nr.Ridge(0.3), [1, 2], 3), 0.6), arrays
    ),
    "intervals, outside": Case(lambda: nr.Intervals(None, 0.7, forecast="a"), forecasts),
    "intervals, delayed": Case(
        lambda: nr.Delayed(nr.Intervals(nr.AAR(0.3), [0.5, 0.8])),
        arrays,
        predict=issue,
        learn=settle,
    ),
    "quantiles": Case(lambda: nr.Quantiles(nr.Auto(effort="linear"), [0.9, 0.5, 0.2]), mappings),
    "quantiles, mixture": Case(
        lambda: nr.Quantiles(
            nr.BayesianAlgorithm(nr.over(nr.BayesianRidge, noise_var=[0.1, 1.0])), [0.3, 0.6]
        )
    ),
    "linear quantiles": Case(lambda: nr.LinearQuantiles([0.9, 0.2, 0.5]), mappings),
    "linear quantiles, no constant": Case(
        lambda: nr.LinearQuantiles([0.35], fit_intercept=False), arrays
    ),
    "prior-free": Case(lambda: nr.PriorFreeAAR(hint="midrange", fit_intercept=True), mappings),
    "prior-free, around": Case(lambda: nr.PriorFreeAAR(hint=0.5), arrays),
    "ridge mixture": Case(lambda: nr.RidgeMixture(2.0, 3.0, precisions=4), arrays),
    "delayed, copies": Case(
        lambda: nr.Delayed(nr.AAR(0.3), max_pending=6, overflow="drop", copies=True),
        mappings,
        predict=issue,
        learn=settle,
    ),
    "mondrian": Case(lambda: nr.Mondrian(trees=2, price=1.0, max_nodes=30, seed=5), mappings),
    "mondrian, means": Case(
        lambda: nr.Mondrian((-1.5, 2), trees=3, node="mean", prior_precision=0.5), arrays
    ),
    "mondrian for labels": Case(
        lambda: nr.MondrianClassifier(trees=2, prior_count=1.5, price=1.0, max_nodes=30, seed=5),
        mappings,
        labels,
    ),
    "lagged": Case(lambda: nr.Lagged(nr.AAR(0.3), [1, 4]), mappings),
    "lagged, horizon 3": Case(lambda: nr.Lagged(nr.Ridge(0.3, drift=0.01), [2], 3), arrays),
}


def bits(value: Any) -> bytes:
    return np.asarray(value, dtype=np.float64).tobytes()


def proofs(learner: Any) -> list[Any]:
    """Every certificate, its numbers to the last bit."""
    from noregret.errors import NotLearnedError

    try:
        found = learner.certificates()
    except NotLearnedError:
        return []
    return [
        (str(c), c.rounds, bits([c.loss, c.comparator, c.bound or 0.0, c.scale])) for c in found
    ]


def fitted_slog() -> Any:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4))
    return nr.SLOG(2.0, fit_intercept=True).fit(X, X @ [1.0, 0.0, -2.0, 0.0] + 0.5)


def extended(case: Case, T: int = 12) -> Any:
    """A learner that has learned T rounds, and has looked at one more."""
    learner = case.make()
    xs, ys = case.xs(T + 1), case.ys(T + 1)
    for x, y in zip(xs[:T], ys[:T]):
        case.predict(learner, x)
        case.learn(learner, x, y)
    case.predict(learner, xs[T])
    return learner


def every_kind() -> list[Any]:
    """Everything that a model file may hold."""
    from noregret import snapshot  # noqa: F401  # which lists those without declared fields
    from noregret.snapshot.kinds import BY_NAME, HOMES, kind_called

    return [kind_called(name) for name in {**BY_NAME, **HOMES}]
