"""K-LMS-NET and kernel LMS round by round in plain Python, and every number that they claim."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import DotProduct

import noregret as nr
from noregret.lms.totals import totals_of
from noregret.reference import kernel as dense

LO, HI, SCALE = -1.5, 1.0, 3.0
RNG = np.random.default_rng(9)
X = np.round(RNG.uniform(size=(24, 2)), 3)
X[[5, 9, 17]] = X[2]  # patterns that come again
X[20] = X[1]
Y = np.clip(np.sin(7.0 * X[:, 0]) + 0.5 * RNG.normal(size=24), LO, HI)


def gaussian(A: np.ndarray, B: np.ndarray, alpha: float) -> np.ndarray:
    return np.exp(-SCALE * alpha * ((A[:, None] - B[None]) ** 2).sum(-1))


def simulated(alphas, weights, eta: float, window: int, *, substitution: bool) -> dict:
    """Kernel LMS at every width, clipped, and exponential weights over them."""
    J, c = len(alphas), (HI - LO) ** 2 * (0.5 if substitution else 2.0)
    points: list[tuple] = []
    coefs: list[np.ndarray] = []
    met: list[int] = []
    paid, loss, mixes, forecasts, worst = np.zeros(J), 0.0, 0.0, [], (-math.inf, 0)
    forgotten = 0
    for t, (x, y) in enumerate(zip(X, Y, strict=True)):
        raw = np.zeros(J)
        for point, coef in zip(points, coefs, strict=True):
            d2 = float(((np.array(point) - x) ** 2).sum())
            raw += coef * np.exp(-SCALE * alphas * d2)
        said = np.clip(raw, LO, HI)
        v = weights * np.exp(-(paid - paid.min()) / c)
        v /= v.sum()

        def mixed(z, v=v, said=said) -> float:
            return -c * math.log((v * np.exp(-((z - said) ** 2) / c)).sum())

        g = float(v @ said)
        if substitution:
            g = (LO + HI) / 2 + (mixed(LO) - mixed(HI)) / (2 * (HI - LO))
        forecasts.append(g)
        loss += (y - g) ** 2
        mixes += mixed(y)
        worst = max(worst, (((y - g) ** 2 - mixed(y)) / c, t + 1))
        paid += (y - said) ** 2
        key = tuple(x)
        if key in points:
            k = points.index(key)
            coefs[k] = coefs[k] + eta * (y - raw)
            met[k] = t
            continue
        if window and len(points) == window:
            k = int(np.argmin(met))
            forgotten += 1
            points[k], coefs[k], met[k] = key, eta * (y - raw), t
        else:
            points.append(key)
            coefs.append(eta * (y - raw))
            met.append(t)
    return {
        "paid": paid, "loss": loss, "mix": mixes, "g": forecasts, "c": c, "worst": worst,
        "points": set(points), "forgotten": forgotten,
    }  # fmt: skip


@pytest.mark.parametrize("window", [0, 4])
@pytest.mark.parametrize("substitution", [False, True])
@pytest.mark.parametrize("way", ["learn_one", "replay"])
def test_a_net_is_its_definition(window: int, substitution: bool, way: str) -> None:
    net = nr.KLMSNet(
        (LO, HI), scale=SCALE, learning_rate=0.4, nodes=12, substitution=substitution,
        budget=nr.Window(window) if window else None,
    )  # fmt: skip
    if way == "replay":
        forecasts = net.replay(X, Y).forecast
    else:
        forecasts = []
        for x, y in zip(X, Y, strict=True):
            forecasts.append(net.predict_one(x))
            net.learn_one(x, float(y))
    t = totals_of(net._state)
    assert t.weights.sum() == pytest.approx(1.0, rel=1e-12)
    s = simulated(t.alphas, t.weights, 0.4, window, substitution=substitution)
    assert forecasts == pytest.approx(s["g"], abs=1e-11)
    assert net.losses_ == pytest.approx(s["paid"], rel=1e-10)
    best, mixture, each = net.certificates()
    assert best.loss == pytest.approx(s["loss"], rel=1e-10)
    assert best.comparator == pytest.approx(s["paid"].min(), rel=1e-10)
    c = s["c"]
    assert best.bound == pytest.approx((s["paid"] - c * np.log(t.weights)).min(), rel=1e-10)
    soft = -c * math.log((t.weights * np.exp(-s["paid"] / c)).sum())
    assert mixture.bound == pytest.approx(soft, rel=1e-10)
    assert t.mix == pytest.approx(soft, rel=1e-10)
    assert each.loss == pytest.approx(s["worst"][0], abs=1e-11)
    assert f"round {s['worst'][1]}" in each.statement
    assert set(map(tuple, net._state.patterns())) == s["points"]
    kinds = [c.kind for c in net.certificates(comparator=nr.Expansion([[0.5, 0.5]], [1.0], 0.3))]
    assert set(kinds[3:]) == {"report" if s["forgotten"] else "upper bound"}


def test_theorems_1_and_2() -> None:
    """(5), (6), (7) and (19) of section 15.3 for an expansion, nodes and all."""
    L_hat, H_hat, width = 60.0, 3.0, 0.35
    points, b = np.array([[0.1, 0.9], [0.6, 0.2], [0.4, 0.4]]), np.array([1.2, -0.9, 0.7])
    net = nr.KLMSNet((LO, HI), scale=SCALE, loss_budget=L_hat, norm_budget=H_hat, nodes=12)
    net.replay(X, Y)
    t = totals_of(net._state)
    eta, c = 1.0 / (1.0 + math.sqrt(L_hat) / H_hat), 2.0 * (HI - LO) ** 2
    assert net.learning_rate_ == pytest.approx(eta, rel=1e-12)

    def of(alpha: float) -> tuple[float, float]:
        loss = float(((Y - gaussian(X, points, alpha) @ b) ** 2).sum())
        return loss, float(b @ gaussian(points, points, alpha) @ b)

    nodes = [of(alpha) for alpha in t.alphas]
    _, _, _, any_rate, one, two = net.certificates(comparator=nr.Expansion(points, b, width))
    B = np.array([loss / (1 - eta) + square / eta for loss, square in nodes])
    soft = B.min() - c * math.log((t.weights * np.exp((B.min() - B) / c)).sum())
    assert any_rate.bound == pytest.approx(soft, rel=1e-10)
    loss, square = of(width)
    assert any_rate.comparator == pytest.approx(loss, rel=1e-12)
    fits = sorted(
        (l, w)
        for (l, q), w in zip(nodes, t.weights, strict=True)
        if l <= L_hat and math.sqrt(q) <= H_hat
    )
    mass, totals = 0.0, []
    for l, w in fits:
        mass += w
        totals.append(l - c * math.log(mass))
    tuned = 2 * math.sqrt(L_hat) * H_hat + H_hat**2
    assert one.bound == pytest.approx(min(totals) + tuned, rel=1e-10)
    gram = gaussian(points, points, width)
    plus, minus = np.maximum(b, 0), np.minimum(b, 0)
    surfeit = float(plus @ gram @ plus + minus @ gram @ minus)
    room = min(1.0, c, H_hat - 1.0, H_hat**2 - square, L_hat - loss) * (1 - 1e-9)
    inside = 5 * SCALE * len(Y) * max(-LO, HI) * 2 * 1.0 * surfeit / room
    bound = loss + tuned + room + c * math.log(inside)
    assert two.bound == pytest.approx(bound, rel=1e-9)
    assert f"surfeit <= {math.sqrt(surfeit):.6g}" in two.statement
    met = {a.text.split(" ")[0]: a.met for a in two.assumptions}
    assert met["|h|"] is (square >= 1.0)
    assert two.assumptions[-1].met is bool(soft <= bound)


def test_which_widths_count_for_theorem_1() -> None:
    """(6) asks for the loss and for the norm, at the same width."""
    for L_hat, H_hat in ((60.0, 0.9), (12.0, 30.0), (60.0, 30.0)):
        net = nr.KLMSNet((LO, HI), scale=SCALE, loss_budget=L_hat, norm_budget=H_hat, nodes=12)
        net.replay(X, Y)
        points, b = np.array([[0.1, 0.9], [0.6, 0.2]]), np.array([1.2, 0.9])
        one = net.certificates(comparator=nr.Expansion(points, b, 0.5))[4]
        fits = 0
        for alpha in totals_of(net._state).alphas:
            loss = float(((Y - gaussian(X, points, alpha) @ b) ** 2).sum())
            norm = math.sqrt(float(b @ gaussian(points, points, alpha) @ b))
            fits += loss <= L_hat and norm <= H_hat
        assert f"at {fits} of 12 widths" in one.assumptions[0].text
        assert one.assumptions[0].met is (fits > 0)


@pytest.mark.parametrize(("nodes", "fine"), [(4, False), (64, True)])
def test_theorem_2_needs_widths_that_are_fine_enough(nodes: int, fine: bool) -> None:
    """A function of a width that no node is near: (19) is below what the nodes can promise."""
    rng = np.random.default_rng(1)
    rows, point = rng.uniform(size=(900, 2)), np.array([[0.5, 0.5]])
    h = 1.4 * np.exp(-10.0 * ((rows - point) ** 2).sum(-1))
    net = nr.KLMSNet(1.5, scale=300.0, loss_budget=2.5, norm_budget=4.0, nodes=nodes)
    net.replay(rows, h)
    found = net.certificates(comparator=nr.Expansion(point, [1.4], 1.0 / 30.0))
    assert found[-1].name == "Theorem 2"
    assert [a.text for a in found[-1].assumptions if not a.met] == (
        [] if fine else ["the widths that ran are fine enough: their own bound is no larger"]
    )
    assert (found[-1].bound is not None) is fine


@pytest.mark.parametrize("budget", [None, (40.0, 2.0), (5.0, 0.5)])
def test_kernel_lms(budget: tuple[float, float] | None) -> None:
    kernel = DotProduct(0.5)
    chosen = {"learning_rate": 0.3} if budget is None else {
        "loss_budget": budget[0], "norm_budget": budget[1], "peak": 2.5}  # fmt: skip
    learner = nr.KernelLMS(kernel, **chosen)
    learner.replay(X, Y)
    points, b = X[:3], np.array([0.5, -0.2, 0.3])
    found = learner.certificates(comparator=nr.Expansion(points, b))
    loss = float(((Y - kernel(X, points) @ b) ** 2).sum())
    square = float(b @ kernel(points) @ b)
    peak = float(kernel.diag(X).max())
    eta = learner.learning_rate_
    plain = next(c for c in found if c.name == "kernel LMS")
    assert plain.comparator == pytest.approx(loss, rel=1e-10)
    assert plain.bound == pytest.approx(loss / (1 - eta * peak) + square / eta, rel=1e-10)
    if budget is None:
        return
    reach = budget[1] * math.sqrt(2.5)
    assert eta == pytest.approx(1 / ((1 + math.sqrt(budget[0]) / reach) * 2.5), rel=1e-12)
    tuned = next(c for c in found if c.name == "kernel LMS, budgets")
    kept = loss <= budget[0] and math.sqrt(square) <= budget[1]
    price = 2 * math.sqrt(budget[0]) * reach + reach**2
    assert (tuned.bound is not None) is kept
    if kept:
        assert tuned.bound == pytest.approx(loss + price, rel=1e-10)
    short = nr.KernelLMS(kernel, loss_budget=40.0, norm_budget=2.0, peak=0.9 * peak)
    short.replay(X, Y)
    broken = next(c for c in short.certificates() if c.name == "kernel LMS, budgets")
    assert any(a.text.startswith("k(x, x) <=") and not a.met for a in broken.assumptions)


@pytest.mark.parametrize(
    ("loss_share", "norm_share", "broken"),
    [(1.01, 1.01, []), (0.99, 1.01, ["L(h) ="]), (1.01, 0.99, ["|h| ="])],
)
def test_budgets_at_their_edges(loss_share: float, norm_share: float, broken: list[str]) -> None:
    """A loss or a norm one part in a hundred beyond its budget withdraws the claim."""
    kernel, points, b = DotProduct(0.5), X[:3], np.array([0.5, -0.2, 0.3])
    loss = float(((Y - kernel(X, points) @ b) ** 2).sum())
    norm = math.sqrt(float(b @ kernel(points) @ b))
    learner = nr.KernelLMS(
        kernel, loss_budget=loss_share * loss, norm_budget=norm_share * norm, peak=2.5
    ).fit(X, Y)
    tuned = learner.certificates(comparator=nr.Expansion(points, b))[0]
    assert tuned.name == "kernel LMS, budgets"
    assert [a.text.partition("=")[0] + "=" for a in tuned.assumptions if not a.met] == broken
    assert (tuned.bound is None) is bool(broken)


def test_the_best_expansion_in_hindsight_is_kernel_ridge() -> None:
    """No h makes L(h)/(1 - eta X^2) + |h|^2/eta less than kernel ridge at a = (1 - eta X^2)/eta."""
    eta = 0.3
    learner = nr.KernelLMS(lambda A, B: gaussian(A, B, 1.0), eta).fit(X, Y)
    best = dense.best_loss(gaussian(X, X, 1.0), Y[:, None], (1.0 - eta) / eta)
    assert learner.certificate().bound == pytest.approx(best / (1.0 - eta), rel=1e-10)


def test_rates() -> None:
    assert nr.KernelLMS(DotProduct(0.5)).fit(X, Y).learning_rate_ == 0.5
    assert nr.KernelLMS(DotProduct(0.5), peak=2.5).fit(X, Y).learning_rate_ == 0.2
    fast = nr.KernelLMS(DotProduct(0.5), 0.9).fit(3.0 * X, Y).certificate()
    assert fast.bound is None  # eta X^2 is beyond 1


def test_losses_of_widths_are_compensated() -> None:
    """One pattern far from all others and rounds where every width says 0."""
    y = np.array([100.0] * 13 + [1e10] + [100.0] * 23)
    rows = 1e3 * np.arange(1.0, len(y) + 1.0)[:, None]
    net = nr.KLMSNet(1e10, scale=1e6, nodes=4, learning_rate=1e-12, audit=False)
    net.replay(rows, y)
    exactly = math.fsum((y * y).tolist())
    assert net.losses_[-1] == exactly
