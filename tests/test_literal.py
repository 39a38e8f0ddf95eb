"""No certificate says "holds" of a stream on which its sentence, read literally, is false."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import noregret as nr
from literal import (
    BinaryWorld,
    ClippedWorld,
    FadingWorld,
    GaussianWorld,
    KernelLMSWorld,
    MixtureWorld,
    NetWorld,
    PoolWorld,
    PriorFreeWorld,
    RulePoolWorld,
    World,
    expression,
    is_true,
    sides,
)
from literal_trees import LabelTreesWorld, MondrianWorld
from noregret.experts.guarded_pool import GUARDED
from noregret.reference.continuum import layer_one
from noregret.reference.hints import hints
from noregret.reference.rules import rules

QUICK, FULL = 6, 300
Case = tuple[list[nr.Certificate], World, float]


def stream(rng: np.random.Generator, T: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Rounds of many kinds: noise, drift, collinear columns, outliers, scales."""
    T = int(rng.integers(1, 24)) if T is None else T
    n = int(rng.integers(1, 4))
    X = rng.normal(size=(T, n)) * 10.0 ** rng.uniform(-1, 1, n)
    if rng.random() < 0.3:
        X[:, -1] = X[:, 0]
    w = rng.normal(size=n)
    if rng.random() < 0.3:
        w = w + np.cumsum(0.3 * rng.normal(size=(T, n)), axis=0)
    y = (X * w).sum(axis=1) + 10.0 ** rng.uniform(-2, 1) * rng.normal(size=T)
    if rng.random() < 0.2:
        y[rng.integers(T)] *= 30.0
    return X, y


def played(learner, X, y) -> np.ndarray:
    """Forecasts as the rounds go."""
    said = []
    for x, v in zip(X, y):
        said.append(np.zeros(np.shape(v)) + learner.predict_one(x))
        learner.learn_one(x, v)
    return np.array(said)


def rbf(X: np.ndarray) -> np.ndarray:
    return np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))


def gaussian(rng: np.random.Generator) -> Case:
    X, y = stream(rng)
    T, a = len(y), 10.0 ** rng.uniform(-2, 2)
    kind = rng.integers(4)
    clip = float(np.abs(y).max() * rng.uniform(0.5, 2.0)) if kind == 1 else None
    noise = float(10.0 ** rng.uniform(-1, 1)) if kind == 2 else 1.0
    q = float(rng.choice([0.0, 0.1, 2.0]))
    kernel = "rbf" if rng.random() < 0.4 else None
    options = {"drift": q, "kernel": kernel}
    hint = [0.0, 0.0, 2.5, "last", "midrange"][rng.integers(5)]
    if kernel is None and rng.random() < 0.3:
        options["fit_intercept"] = True
    make: Callable = [
        lambda: nr.Ridge(a, **options),
        lambda: nr.Ridge(a, clip=clip, **options),
        lambda: nr.BayesianRidge(a, noise_var=noise, **options),
        lambda: nr.AAR(a, hint=hint, **options),
    ][kind]
    learner = make()
    outcomes = y
    if rng.random() < 0.25:
        outcomes = np.column_stack([y, rng.normal(size=T)])
        if clip is not None:
            outcomes = np.clip(outcomes, -clip, clip)
    g = played(learner, X, outcomes)
    Z = np.column_stack([np.ones(T), X]) if options.get("fit_intercept") else X
    S = 1.0 / a + q * np.arange(T)
    world = GaussianWorld(
        rbf(X) if kernel else Z @ Z.T, outcomes, g, S=S, X=Z, a=a, clip=clip, noise=noise, hint=hint
    )
    return learner.certificates(), world, float((outcomes**2).sum())


def fading(rng: np.random.Generator) -> Case:
    X, y = stream(rng)
    a, gam = 10.0 ** rng.uniform(-2, 2), float(rng.choice([0.3, 0.9, 0.99]))
    clip = float(np.abs(y).max()) if rng.random() < 0.5 else None
    hint = [0.0, 2.5, "last", "midrange"][rng.integers(4)]
    ridge = rng.random() < 0.5
    learner = nr.Ridge(a, discount=gam, clip=clip) if ridge else nr.AAR(a, discount=gam, hint=hint)
    g = played(learner, X, y)
    world = FadingWorld(gam, X, y, g, a=a, clip=clip if ridge else None, hint=hint)
    return learner.certificates(), world, float((y**2).sum())


def merged(rng: np.random.Generator) -> Case:
    X, y = stream(rng, int(rng.integers(2, 20)))
    a, cut = 10.0 ** rng.uniform(-1, 1), len(y) // 2
    hint = [0.0, -3.0, "last", "midrange"][rng.integers(4)]
    makers = lambda: nr.AAR(a, hint=hint), lambda: nr.Ridge(a), lambda: nr.BayesianRidge(a)
    make = makers[rng.integers(3)]
    parts = [make(), make()]
    halves = [np.arange(cut), np.arange(cut, len(y))]
    g = np.concatenate([played(one, X[h], y[h]) for one, h in zip(parts, halves)])
    learner = nr.merge([one for one, h in zip(parts, halves) if len(h)])
    world = GaussianWorld(
        X @ X.T, y, g, S=np.full(len(y), 1 / a), X=X, a=a, parts=[h for h in halves if len(h)],
        hint=hint,
    )  # fmt: skip
    return learner.certificates(), world, float((y**2).sum())


def weighted(rng: np.random.Generator) -> Case:
    X, y = stream(rng)
    a, w = 10.0 ** rng.uniform(-1, 1), 10.0 ** rng.uniform(-3, 1, len(y))
    learner, root, g = [nr.AAR, nr.Ridge, nr.BayesianRidge][rng.integers(3)](a), np.sqrt(w), []
    for x, v, weight in zip(X, y, w):
        g.append(learner.predict_one(math.sqrt(weight) * x))
        learner.partial_fit(x[None], [v], sample_weight=[weight])
    Xw, yw = root[:, None] * X, root * y
    world = GaussianWorld(
        Xw @ Xw.T, yw, np.array(g), S=np.full(len(y), 1 / a), X=Xw, a=a, weights=w
    )
    return learner.certificates(), world, float((yw**2).sum())


def budget(rng: np.random.Generator) -> Case:
    X, y = stream(rng)
    X = X / np.abs(X).max()
    chosen = [nr.Taylor(2), nr.Polynomial(2), nr.RandomFourier(6)][rng.integers(3)]
    a = 10.0 ** rng.uniform(-1, 1)
    learner = nr.AAR(a, budget=chosen)
    g = played(learner, X, y)
    phi = np.asarray(chosen.map(X.shape[1]).features(X))
    world = GaussianWorld(phi @ phi.T, y, g, S=np.full(len(y), 1 / a), X=phi, a=a)
    world.full = rbf(X)  # Taylor's, of width 1
    return learner.certificates(), world, float((y**2).sum())


def pool(rng: np.random.Generator) -> Case:
    T, N = int(rng.integers(1, 12)), int(rng.integers(1, 4))
    y = rng.normal(size=T)
    said = y[:, None] + rng.normal(size=(T, N))
    if rng.random() < 0.4 and N > 1:
        said[rng.random(said.shape) < 0.3] = np.nan
        said[np.isnan(said).all(axis=1), 0] = 0.0
    span = None if rng.random() < 0.5 else (float(y.min()) - 0.1, float(y.max()) + 0.1)
    share = [0.0, 0.1, "falling"][rng.integers(3)]
    prior = rng.random(N) + 0.1
    result = nr.aggregate(said, y, rule="aggregating", outcome_range=span, share=share, prior=prior)
    world = PoolWorld(said, y, result.forecast, prior=prior / prior.sum(), span=span, share=share)
    return list(result.certificates), world, float(np.nansum((y[:, None] - said) ** 2))


def rule_pool(rng: np.random.Generator) -> Case:
    T, N = int(rng.integers(1, 12)), int(rng.integers(1, 4))
    y = rng.normal(size=T) + 3.0
    said = y[:, None] + rng.normal(size=(T, N)) + rng.normal(size=N)
    if rng.random() < 0.4 and N > 1:
        said[rng.random(said.shape) < 0.3] = np.nan
        said[np.isnan(said).all(axis=1), 0] = 0.0
    span = None if rng.random() < 0.5 else (float(y.min()) - 0.1, float(y.max()) + 0.1)
    share = [0.0, 0.1, "falling"][rng.integers(3)]
    rule = list(GUARDED)[rng.integers(len(GUARDED))]
    prior = rng.random(N) + 0.1
    prior /= prior.sum()
    result = nr.aggregate(said, y, rule=rule, outcome_range=span, share=share, prior=prior)
    own = rules(said[:, :, None], y[:, None], prior, np.array(GUARDED[rule]))[1]
    c = np.zeros(T) if span else np.nanmedian(said, axis=1)
    all_said = np.column_stack([said, own])
    world = RulePoolWorld(
        all_said - c[:, None], y - c, result.forecast - c, prior=np.append(0.1 * prior, 0.9),
        span=span, share=share,
    )  # fmt: skip
    return list(result.certificates), world, float(np.nansum((y[:, None] - all_said) ** 2))


def log_pool(rng: np.random.Generator) -> Case:
    T, N = int(rng.integers(1, 12)), int(rng.integers(1, 4))
    y = (rng.random(T) < 0.6).astype(float)
    said = rng.uniform(0.05, 0.95, (T, N))
    share = [0.0, 0.2, "falling"][rng.integers(3)]
    result = nr.aggregate(said, y, loss="log", share=share)
    costs = -np.log(np.where(y[:, None] > 0.5, said, 1.0 - said))
    world = PoolWorld(
        said, y, result.forecast, prior=np.full(N, 1 / N), span=None, share=share, costs=costs
    )
    return list(result.certificates), world, float(costs.sum())


def weighted_means(rng: np.random.Generator) -> Case:
    T, N = int(rng.integers(1, 15)), int(rng.integers(1, 4))
    y, said = rng.random(T), rng.random((T, N))
    rate = [None, 0.2, 3.0][rng.integers(3)]
    names = [f"e{j}" for j in range(N)]
    learner = nr.ExponentialWeights(names, outcome_range=(0, 1), learning_rate=rate)
    g = played(learner, [dict(zip(names, row)) for row in said.tolist()], y.tolist())
    world = PoolWorld(
        said, y, g, prior=np.full(N, 1 / N), span=(0.0, 1.0), rate=0.5 if rate is None else rate
    )
    return learner.certificates(), world, float(T)


def aar_world(X: np.ndarray, y: np.ndarray, a: float, q: float = 0.0, clipped=False) -> World:
    """An AAR expert of a pool, or ridge clipped to the outcomes before: all of it from formulas."""
    S = 1.0 / a + q * np.arange(len(y))
    kind = ClippedWorld if clipped else GaussianWorld
    return kind(X @ X.T, y, np.zeros(len(y)), S=S, X=X, a=a)


def pool_of_learners(rng: np.random.Generator) -> Case:
    X, y = stream(rng, int(rng.integers(2, 16)))
    grid = [0.1, 1.0, 30.0]
    share = [0.0, 0.1, "falling"][rng.integers(3)]
    span = None if rng.random() < 0.5 else float(np.abs(y).max() + 0.1)
    experts = {f"a{j}": nr.AAR(a) for j, a in enumerate(grid)}
    learner = nr.AggregatingAlgorithm(experts, outcome_range=span, share=share)
    said = np.column_stack([played(nr.AAR(a), X, y) for a in grid])
    g = played(learner, X, y)
    worlds = {f"a{j}": (lambda a=a: aar_world(X, y, a)) for j, a in enumerate(grid)}
    world = PoolWorld(
        said, y, g, prior=np.full(3, 1 / 3), span=None if span is None else (-span, span),
        share=share, worlds=worlds,
    )  # fmt: skip
    return learner.certificates(), world, float((y**2).sum())


def auto(rng: np.random.Generator) -> Case:
    X, y = stream(rng, int(rng.integers(2, 12)))
    learner = nr.Auto(effort="linear")
    g = played(learner, X, y)
    first = np.array([next((abs(v) for v in column if v), 1.0) for column in X.T])
    Z = np.column_stack([np.full(len(y), 30.0), X / first])
    said, worlds = [], {}
    for q in (0.0, 1e-5, 1e-3, 1e-1):
        for a in (1e-6, 10.0**-3.5, 1e-1, 10.0**1.5, 1e4):
            look = aar_world(Z, y, a, q, clipped=True)
            lows = [y[:t].min() if t else 0.0 for t in range(len(y))]
            highs = [y[:t].max() if t else 0.0 for t in range(len(y))]
            said += [np.clip(look.m[:, 0], lows, highs), look.m[:, 0] / look.d]
            name = f"a={a:.3g}" + (f" drift={q:.3g}" if q else "")
            worlds |= {
                f"ridge {name}": lambda look=look: look,
                f"AAR {name}": lambda look=look: look,
            }
    world = PoolWorld(
        np.column_stack(said), y, g, prior=np.full(40, 1 / 40), span=None, share="falling",
        worlds=worlds,
    )  # fmt: skip
    return learner.certificates(), world, float((np.column_stack(said) ** 2).sum() + (y**2).sum())


def delayed(rng: np.random.Generator) -> Case:
    X, y = stream(rng, int(rng.integers(5, 20)))
    a, gap = 10.0 ** rng.uniform(-1, 1), int(rng.integers(1, 4))
    copies = bool(rng.random() < 0.6)
    learner = nr.Delayed(nr.AAR(a), copies=copies)
    g, by_copy, order = np.zeros(len(y)), {}, []
    for t, x in enumerate(X):
        ticket = learner.predict_one(x)
        g[t] = ticket.forecast
        if copies:
            by_copy.setdefault(learner._state.whose[t], []).append(t)
        if t >= gap:
            learner.learn_one(t - gap, y[t - gap])
            order.append(t - gap)
    settled = np.array(order, dtype=int)
    if not copies:
        by_copy, g = {0: order}, played(nr.AAR(a), X, y)
    parts = [np.array([t for t in part if t in order], dtype=int) for part in by_copy.values()]
    place = {t: i for i, t in enumerate(settled)}
    places = [np.array([place[t] for t in part]) for part in parts if len(part)]
    S, Xs = np.full(len(settled), 1 / a), X[settled]
    world = GaussianWorld(Xs @ Xs.T, y[settled], g[settled], S=S, X=Xs, a=a, parts=places)
    if copies:  # the copies' own largest |y|, each times its own ln det
        world["Y2"] = 1.0
        world["LOGDET"] = _by_copy(world, "LOGDET")
        world["LEVERAGE"] = _by_copy(world, "LEVERAGE")
        world["HADAMARD_X"] = sum(
            (world.y[p] ** 2).max() * world.X.shape[1]
            * math.log1p(len(p) * np.abs(world.X[p]).max() ** 2 / a) for p in world.parts
        )  # fmt: skip
        p = len(world.parts)
        w = np.linalg.solve(p * a * np.eye(X.shape[1]) + world.X.T @ world.X, world.X.T @ world.y)
        least = ((world.y - world.X @ w) ** 2).sum() + p * a * (w**2).sum()
        assert world["V"] <= least * (1.0 + 1e-9) + 1e-12  # what the sentence ends with
    return learner.certificates(), world, float((y**2).sum())


def _by_copy(world: GaussianWorld, name: str) -> float:
    total = 0.0
    for part in world.parts:
        Y2 = (world.y[part] ** 2).max()
        if name == "LOGDET":
            G = np.eye(len(part)) + world.Kbar(part, part)
            total += Y2 * np.linalg.slogdet(G)[1]
        else:
            total += Y2 * (1.0 - 1.0 / world.d[part]).sum()
    return total


def safe_oslog(rng: np.random.Generator) -> Case:
    X, y = stream(rng, int(rng.integers(2, 16)))
    Y = float(np.abs(y).max() + 0.1)
    learner = nr.SafeOSLOG(0.5, 2.0, Y)
    said = np.column_stack([played(nr.OSLOG(0.5), X, y), played(nr.AAR(2.0), X, y)])
    worlds = {"OSLOG": World, "AAR": lambda: aar_world(X, y, 2.0)}
    g = played(learner, X, y)
    world = PoolWorld(said, y, g, prior=np.full(2, 0.5), span=(-Y, Y), worlds=worlds)
    return learner.certificates(), world, float((y**2).sum() + (said**2).sum())


def ridge_mixture(rng: np.random.Generator) -> Case:
    X, y = stream(rng, int(rng.integers(2, 16)))
    X = X / (1.001 * np.linalg.norm(X, axis=1).max())
    Y = float(np.abs(y).max() + 0.1)
    learner = nr.RidgeMixture(1.0, Y, precisions=8)
    g = played(learner, X, y)
    grid = [2.0**j for j in range(8)]
    said = np.column_stack([played(nr.AAR(a), X, y) for a in grid])
    worlds = {f"a={a:.6g}": (lambda a=a: aar_world(X, y, a)) for a in grid}
    prior = np.array([*(0.5 ** (j + 1) for j in range(7)), 0.5**7])
    world = MixtureWorld(said, y, g, prior=prior, span=(-Y, Y), worlds=worlds)
    world.X, world.norm = X, 1.0
    return learner.certificates(), world, float((y**2).sum())


def mondrian(rng: np.random.Generator) -> Case:
    X, y = stream(rng, int(rng.integers(1, 9)))
    span = None if rng.random() < 0.5 else (float(y.min()) - 0.1, float(y.max()) + 0.1)
    how = {"trees": int(rng.integers(1, 4)), "price": float(rng.choice([0.1, 1.0]))}
    node, a = str(rng.choice(["ridge", "mean"])), 10.0 ** rng.uniform(-2, 1)
    learner = nr.Mondrian(span, node=node, prior_precision=a, **how)
    g = played(learner, X, y)
    world = MondrianWorld(X, y, g, span=span, a=a, linear=node == "ridge", **how)
    return learner.certificates(), world, float((y**2).sum())


def mondrian_classifier(rng: np.random.Generator) -> Case:
    X, y = stream(rng, int(rng.integers(1, 9)))
    labels = (y > np.median(y)).astype(float)
    how = {"trees": int(rng.integers(1, 4)), "price": float(rng.choice([0.1, 1.0]))}
    a = 10.0 ** rng.uniform(-1, 1)
    learner = nr.MondrianClassifier(prior_count=a, **how)
    said = played(learner, X, labels.tolist())
    return learner.certificates(), LabelTreesWorld(X, labels, said, a=a, **how), float(len(y))


def without_prior(rng: np.random.Generator) -> Case:
    X, y = stream(rng, int(rng.integers(1, 12)))
    X, y = np.round(2.0 * X), np.round(4.0 * y) / 4.0
    hint = [None, 0.5, "last", "midrange"][rng.integers(4)]
    learner = nr.PriorFreeAAR(hint=hint)
    g, h = played(learner, X, y), hints(y[:, None], hint or 0.0)[:, 0]
    return learner.certificates(), PriorFreeWorld(X, y, g, h), float((y**2).sum() + (h**2).sum())


def kernel_lms(rng: np.random.Generator) -> Case:
    X, y = stream(rng)
    eta = float(rng.uniform(0.1, 0.9))
    learner = nr.KernelLMS("rbf", learning_rate=eta)
    g = played(learner, X, y)
    return learner.certificates(), KernelLMSWorld(rbf(X), y, g, eta), float((y**2).sum())


def net(rng: np.random.Generator) -> Case:
    T, n = int(rng.integers(1, 15)), int(rng.integers(1, 3))
    X, y = rng.random((T, n)), rng.uniform(-1, 1, T)
    learner = nr.KLMSNet(1.0, scale=2.0, learning_rate=0.4, nodes=8)
    g = played(learner, X, y)
    totals = learner._totals()
    outputs = layer_one(X, y, 0.4, 2.0, totals.alphas)
    world = NetWorld(outputs, y, g, totals.weights, (-1.0, 1.0))
    return learner.certificates(), world, float(T)


def binary(rng: np.random.Generator) -> Case:
    T, nu2 = int(rng.integers(1, 10)), float(rng.choice([0.2, 1.0]))
    X = rng.normal(size=(T, 1)) * rng.choice([0.3, 1.0])
    labels = (rng.random(T) < 0.5).astype(int)
    s, bound, weight = 2.0 * labels - 1.0, 2.0, 0.5
    learner = [
        lambda: nr.MAPLogistic(nu2),
        lambda: nr.BayesianLogistic(nu2, method="exact"),
        lambda: nr.ImproperLogistic(bound, regularisation=weight),
    ][rng.integers(3)]()
    said = played(learner, X, labels.tolist())
    p = np.where(labels == 1, said, 1.0 - said)
    world = BinaryWorld(X, s, p, nu2, bound=bound, weight=weight)
    return learner.certificates(), world, float(T)


CASES = {
    maker.__name__: maker
    for maker in (
        gaussian, fading, merged, weighted, budget, pool, log_pool, weighted_means,
        pool_of_learners, auto, rule_pool, delayed, safe_oslog, ridge_mixture, mondrian,
        mondrian_classifier, without_prior, kernel_lms, net, binary,
    )
}  # fmt: skip


def check(case: str, seeds: range) -> set[str]:
    """Every certificate that holds is true when read; the names of those that were read."""
    read = set()
    for seed in seeds:
        certificates, world, size = CASES[case](np.random.default_rng([seed, len(case)]))
        for c in certificates:
            if c.kind == "report":
                continue
            assert c.holds is not False, f"seed {seed}: {c}"
            if c.holds:
                read.add(c.name)
                left, sign, right = sides(c, world)
                assert is_true(c, world, size), f"seed {seed}: {left!r} {sign} {right!r}\n{c}"
    return read


@pytest.mark.parametrize("case", CASES)
def test_sentences_are_true_of_the_rounds(case: str) -> None:
    assert check(case, range(QUICK))


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_sentences_are_true_of_300_streams(case: str) -> None:
    assert check(case, range(FULL))


def test_a_sentence_that_nobody_has_evaluated_cannot_be_read() -> None:
    with pytest.raises(AssertionError, match="no evaluator"):
        expression("min over the moon of (sum y)")


def test_a_false_sentence_is_found_out() -> None:
    certificates, world, size = gaussian(np.random.default_rng(1))
    world["V"] = -1.0 - 10.0 * abs(world["V"])
    assert not all(is_true(c, world, size) for c in certificates if c.kind == "equality")
