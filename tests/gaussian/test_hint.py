"""AAR around a hint: twins, certificates, what a shift does, files, merges, refusals."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import noregret as nr
from noregret._native import layout
from noregret.declare.fields import Mismatch
from noregret.errors import InputError, ParameterError
from noregret.gaussian.hints import restored_ends
from noregret.gaussian.rules import Rule
from noregret.reference import linear
from noregret.reference.hints import forecasts, hints
from noregret.registry import make
from strategies import Rows, precisions, rows

KINDS = st.sampled_from(["last", "midrange", 3.0, -1e3])


def played(learner, X, Y) -> np.ndarray:
    said = []
    for x, y in zip(X, Y):
        said.append(np.zeros(np.shape(y)) + learner.predict_one(x))
        learner.learn_one(x, y)
    return np.array(said).reshape(len(X), -1)


@settings(max_examples=150, deadline=None)
@given(rows(max_outcomes=3), precisions, KINDS)
def test_forecasts_equal_the_dense_twin(data: Rows, a: float, hint) -> None:
    mean, spread = linear.looks(data.X, data.Y, a)
    wanted = forecasts(mean, spread, hints(data.Y, hint))
    size = 1.0 + np.abs(data.Y).max() + (0.0 if isinstance(hint, str) else abs(hint))
    said = played(nr.AAR(a, hint=hint), data.X, data.Y)
    np.testing.assert_allclose(said, wanted, rtol=1e-9, atol=1e-9 * size)


@settings(max_examples=150, deadline=None)
@given(rows(max_outcomes=2), precisions, KINDS, st.sampled_from([0.0, 0.05, 3.0]))
def test_every_certificate_holds_in_every_round(data: Rows, a: float, hint, q: float) -> None:
    learner = nr.AAR(a, hint=hint, drift=q, fit_intercept=True)
    for x, y in zip(data.X, data.Y):
        learner.learn_one(x, y)
        for c in learner.certificates():
            assert c.holds is True, str(c)
    exact = next(c for c in learner.certificates() if c.name == "AAR around a hint, exact loss")
    size = abs(exact.loss) + (np.abs(data.Y - hints(data.Y, hint)) ** 2).sum()
    assert exact.loss == pytest.approx(exact.bound, rel=1e-9, abs=1e-9 * size)


@settings(max_examples=300, deadline=None)
@given(*[st.integers(-64_000, 64_000).map(lambda k: k / 64.0)] * 3, st.floats(1.0, 1e6))
def test_price_of_one_round(m: float, y: float, h: float, d: float) -> None:
    """(y - g)^2 = e^2/d + (y - h)^2 (1 - 1/d) - (d - 1)(g - h)^2, of scalars alone.

    On a grid: y - g has the rounding of g, which is that of h, however close they are.
    """
    rule, root = Rule(layout.AROUND, h), np.array([np.sqrt(d)])
    (g,) = rule.forecast(np.array([[m]]), root, np.array([h]))[0]
    paid = rule.loss(np.array([[m]]), root, np.array([[y]]), np.array([h]))[0]
    assert paid == (y - g) * (y - g)  # NumPy squares arrays by a product, numbers by a power
    due = (y - m) ** 2 / d + (y - h) ** 2 * (1 - 1 / d) - (d - 1) * (g - h) ** 2
    size = (y - m) ** 2 + (y - h) ** 2 + (m - h) ** 2
    assert paid == pytest.approx(due, rel=1e-9, abs=1e-9 * size)


@settings(max_examples=80, deadline=None)
@given(rows(max_outcomes=2), precisions, KINDS, st.sampled_from([0.0, 0.1]))
def test_replay_is_the_loop(data: Rows, a: float, hint, q: float) -> None:
    one, many = nr.AAR(a, hint=hint, drift=q), nr.AAR(a, hint=hint, drift=q)
    said = played(one, data.X, data.Y)
    cut = len(data.X) // 2
    halves = [h for h in (slice(0, cut), slice(cut, None)) if len(data.X[h])]
    replayed = np.vstack([many.replay(data.X[h], data.Y[h]).forecast for h in halves])
    np.testing.assert_allclose(replayed, said, rtol=1e-12, atol=1e-12 * (1 + np.abs(said).max()))
    x = data.X[0]
    np.testing.assert_allclose(many.predict_one(x), one.predict_one(x), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(many.predict(data.X[:1])[0], many.predict_one(x), rtol=1e-12)
    assert many.certificate().bound == pytest.approx(one.certificate().bound, rel=1e-12)


@settings(max_examples=60, deadline=None)
@given(rows(), precisions, KINDS)
def test_running_bound_is_the_certificates_bound(data: Rows, a: float, hint) -> None:
    learner, whole = nr.AAR(a, hint=hint), nr.AAR(a, hint=hint)
    sums, found = learner.running_bound(), []
    for cut in np.array_split(np.arange(len(data.X)), 3):
        if len(cut):
            found.extend(sums.after(learner.replay(data.X[cut], data.y[cut]), data.y[cut]))
    for t, bound in enumerate(found):
        whole.learn_one(data.X[t], float(data.y[t]))
        due = whole.certificate().bound
        assert bound == pytest.approx(due, rel=1e-9, abs=1e-9 * float((data.y**2).sum()))


@settings(max_examples=80, deadline=None)
@given(rows(), precisions, st.sampled_from(["last", "midrange"]))
def test_the_price_does_not_depend_on_where_0_is(data: Rows, a: float, hint: str) -> None:
    """With h inside the range, D <= hi - lo: loss <= V + opening + (hi - lo)^2 sum (1 - 1/d)."""
    prices = []
    for shift in (0.0, 1024.0):
        y = np.round(data.y * 1024.0) / 1024.0 + shift
        learner = nr.AAR(a, hint=hint).fit(data.X, y)
        c = learner.certificate()
        opening = y[0] ** 2 * (1.0 - 1.0 / linear.looks(data.X[:1], y[:1, None], a)[1][0])
        prices.append(c.bound - c.comparator - opening)
        lever = linear.looks(data.X, y[:, None], a)[1]
        most = c.comparator + opening + (y.max() - y.min()) ** 2 * (1.0 - 1.0 / lever).sum()
        assert c.loss <= most + 1e-9 * (most + 1024.0**2)
    assert prices[0] == pytest.approx(prices[1], rel=1e-6, abs=1e-6 * (1.0 + data.y.size))


def test_far_from_0_a_hint_is_worth_its_keep() -> None:
    rng = np.random.default_rng(3)
    X = np.column_stack([np.ones(300), rng.normal(size=(300, 3))])
    y = 500.0 + X @ [0.0, 1.0, -1.0, 0.5] + 0.1 * rng.normal(size=300)
    plain, last, middle = (
        nr.AAR(hint=h).fit(X, y).certificate() for h in (None, "last", "midrange")
    )
    assert last.bound - last.comparator < 0.2 * (plain.bound - plain.comparator)
    assert middle.bound - middle.comparator < 0.2 * (plain.bound - plain.comparator)
    assert last.loss < plain.loss
    assert middle.loss < plain.loss


def test_0_is_plain_aar_to_the_last_bit() -> None:
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    one, other = nr.AAR(0.3, hint=0.0).fit(X, y), nr.AAR(0.3).fit(X, y)
    assert one.predict_one(X[0]) == other.predict_one(X[0])
    assert one.certificate() == other.certificate()


@pytest.mark.parametrize("hint", ["last", "midrange", -2.0])
@pytest.mark.parametrize("options", [{"kernel": "rbf"}, {"kernel": "rbf", "budget": nr.Window(4)}])
def test_kernels(hint, options) -> None:
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(12, 2)), 5.0 + rng.normal(size=12)
    loop, rows_ = nr.AAR(0.5, hint=hint, **options), nr.AAR(0.5, hint=hint, **options)
    said = played(loop, X, y)[:, 0]
    np.testing.assert_allclose(rows_.replay(X, y).forecast, said, rtol=1e-10)
    np.testing.assert_allclose(rows_.predict_one(X[0]), loop.predict_one(X[0]), rtol=1e-10)
    plain = nr.AAR(0.5, **options).replay(X, y)
    h = hints(y[:, None], hint)
    np.testing.assert_allclose(
        said[:, None], forecasts(plain.mean[:, None], plain.spread, h), rtol=1e-9
    )
    for twin in (nr.from_bytes(loop.to_bytes()), pickle.loads(pickle.dumps(loop))):
        assert twin.predict_one(X[1]) == loop.predict_one(X[1])
    for c in loop.certificates():
        assert c.holds is not False


@settings(max_examples=60, deadline=None)
@given(rows(), rows(), precisions, KINDS)
def test_merge(one: Rows, other: Rows, a: float, hint) -> None:
    n = min(one.X.shape[1], other.X.shape[1])
    left = nr.AAR(a, hint=hint).fit(one.X[:, :n], one.y)
    right = nr.AAR(a, hint=hint).fit(other.X[:, :n], other.y)
    paid = left.certificate().loss + right.certificate().loss
    left.merge(right)
    for c in left.certificates():
        assert c.holds is True, str(c)
    assert left.certificate().loss == pytest.approx(paid, rel=1e-12)
    both = np.concatenate([one.y, other.y])
    low, high = left._state.ends[:, 0]
    if hint == "midrange":
        assert (low, high) == (both.min(), both.max())
    else:
        assert low == high == (other.y[-1] if hint == "last" else hint)


def test_copies_do_not_share_a_hint() -> None:
    learner = nr.AAR(hint="last")
    learner.learn_one([1.0, 0.0], 5.0)
    new = [0.0, 1e9]  # says nothing of itself: m = 0 and d = 1e18
    for twin in (pickle.loads(pickle.dumps(learner)), nr.from_bytes(learner.to_bytes())):
        twin.learn_one([1.0, 0.0], 9.0)
        assert twin.predict_one(new) == pytest.approx(9.0, rel=1e-15)
        assert learner.predict_one(new) == pytest.approx(5.0, rel=1e-15)


def test_a_new_feature_keeps_the_hint() -> None:
    learner = nr.AAR(hint="midrange")
    learner.learn_one({"a": 1.0}, 4.0)
    learner.learn_one({"b": 1.0}, 8.0)
    assert learner.predict_one({"c": 1e9}) == pytest.approx(6.0, rel=1e-15)
    assert learner.predict_one({}) == 0.0  # d = 1: nothing is new, and ridge is sure
    assert all(c.holds for c in learner.certificates())


@pytest.mark.parametrize("hint", ["first", True, float("nan"), 1e300, [1.0], float("inf")])
def test_what_is_no_hint_is_refused(hint) -> None:
    with pytest.raises(ParameterError, match=r'hint = .*"last" or "midrange"'):
        nr.AAR(hint=hint).fit([[1.0]], [1.0])


def test_weights_are_refused() -> None:
    learner = nr.AAR(hint="last").fit([[1.0]], [1.0])
    before = learner.to_bytes()
    with pytest.raises(InputError, match="sample_weight: a hint"):
        learner.partial_fit([[1.0]], [2.0], sample_weight=[2.0])
    assert learner.to_bytes() == before


def test_a_bound_that_is_vouched_for() -> None:
    learner = nr.AAR(hint=10.0).fit([[1.0], [2.0]], [10.5, 9.0])
    kept = learner.certificates(outcome_bound=1.0)[0]
    assert kept.holds is True
    assert "D = 1, as given" in kept.assumptions[0].text
    broken = learner.certificates(outcome_bound=0.5)[0]
    assert broken.holds is None


@pytest.mark.parametrize(
    ("ends", "code"),
    [
        (None, layout.LAST),
        (np.zeros((2, 1)), layout.AAR),
        (np.zeros((2, 1)), layout.AROUND),
        (np.array([[2.0], [1.0]]), layout.MIDRANGE),
        (np.zeros((2, 2)), layout.LAST),
        (np.full((2, 1), 1e200), layout.LAST),
    ],
)
def test_files_with_a_hint_that_is_none(ends, code: int) -> None:
    with pytest.raises(Mismatch):
        restored_ends(ends, Rule(code), 1)


def test_by_name() -> None:
    assert make("aar", {"hint": "last"}).hint == "last"
    assert make("aar", {"hint": "-2.5"}).hint == -2.5


def test_behind_a_budget_the_first_round_counts_too() -> None:
    """Against the whole space: the first round's charge is in the bound."""
    learner = nr.AAR(1e3, budget=nr.Taylor(2), hint="last").fit([[0.1]], [50.0])
    (whole,) = [c for c in learner.certificates() if "whole space" in c.name]
    assert whole.holds is True
    assert whole.bound >= whole.loss


def test_pools_take_it() -> None:
    pool = nr.AggregatingAlgorithm([nr.AAR(hint="last"), nr.AAR(hint="midrange")])
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(50, 2)), 7.0 + rng.normal(size=50)
    alone = nr.AAR(hint="last")
    played(pool, X, y)
    played(alone, X, y)
    assert pool.certificate().holds is True
    inner, _ = pool.experts_.values()
    assert inner.predict_one(X[0]) == alone.predict_one(X[0])
