"""Delayed with copies: what is proved of the forecasts that were really issued."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import noregret as nr
from noregret.errors import InputError, NotLearnedError


def test_a_hundred_forecasts_before_any_outcome() -> None:
    """Issued loss 100: the sequence as learned lost 2.5 and says so, copies speak of the 100."""
    lost = {}
    for copies in (False, True):
        delayed = nr.Delayed(nr.AAR(), copies=copies)
        tickets = [delayed.predict_one([1.0]) for _ in range(100)]
        for ticket in tickets:
            delayed.learn_one(ticket, 1.0)
        assert delayed.issued_.square_loss == 100.0
        lost[copies] = delayed.certificate()
    plain, issued = lost[False], lost[True]
    assert plain.loss < 3.0
    assert plain.name.endswith(", as learned")
    assert "not of those issued, which lost 100" in plain.statement
    assert issued.holds is True
    assert issued.loss == 100.0
    assert issued.name == "Busuttil-Kalnishkan Theorem 1, issued"
    assert "of the forecasts issued" in issued.statement
    assert "at most min_w (sum (y - w'x)^2 + 100 a|w|^2)" in issued.statement


@settings(max_examples=80, deadline=None)
@given(st.integers(1, 60), st.integers(0, 2**32 - 1), st.floats(0.1, 0.9))
def test_the_theorem_from_its_formula(T: int, seed: int, pace: float) -> None:
    rng = np.random.default_rng(seed)
    a = 10.0 ** rng.uniform(-2, 2)
    delayed = nr.Delayed(nr.AAR(a), copies=True)
    waiting, rounds, most = [], {}, 0
    for _ in range(T):
        x = rng.normal(size=2)
        ticket = delayed.predict_one(x)
        waiting.append((ticket, x))
        most = max(most, len(waiting))
        while waiting and rng.random() < pace:
            ticket, x = waiting.pop(rng.integers(len(waiting)))
            y = float(rng.normal())
            rounds[ticket.number] = x, y, ticket.forecast
            delayed.learn_one(ticket, y)
    assert len(delayed.copies_) == most
    if not rounds:
        with pytest.raises(NotLearnedError):
            delayed.certificate()
        return
    X, y, g = (np.array(column) for column in zip(*rounds.values()))
    c = delayed.certificate()
    assert c.holds is True
    assert c.loss == pytest.approx(((y - g) ** 2).sum(), rel=1e-9, abs=1e-300)
    assert c.loss == pytest.approx(delayed.issued_.square_loss, rel=1e-9, abs=1e-300)
    p = sum(1 for one in delayed.copies_ if one.__sklearn_is_fitted__())
    w = np.linalg.solve(p * a * np.eye(2) + X.T @ X, X.T @ y)
    minimum = ((y - X @ w) ** 2).sum() + p * a * w @ w
    assert c.comparator <= minimum * (1.0 + 1e-9)
    prices = sum(_log_det(one, a) for one in delayed.copies_ if one.__sklearn_is_fitted__())
    assert c.bound <= minimum + (y**2).max() * prices * (1.0 + 1e-9) + 1e-9 * minimum


def _log_det(one: nr.AAR, a: float) -> float:
    (exact,) = [c for c in one.certificates() if c.name == "Busuttil-Kalnishkan Theorem 1"]
    Y2 = float(exact.assumptions[0].text.split("Y = ")[1].split(",")[0]) ** 2
    assert a > 0.0
    return (exact.bound - exact.comparator) / Y2 * (1.0 + 1e-5) if Y2 else 0.0


def test_outcomes_that_come_at_once_need_one_copy_and_change_nothing() -> None:
    rng = np.random.default_rng(0)
    delayed, plain = nr.Delayed(nr.AAR(0.5), copies=True), nr.AAR(0.5)
    for _ in range(40):
        x, y = rng.normal(size=3), float(rng.normal())
        assert delayed.predict_one(x).forecast == plain.predict_one(x)
        delayed.learn_one(delayed.pending_[0], y)
        plain.learn_one(x, y)
    assert len(delayed.copies_) == 1
    assert delayed.certificate().bound == plain.certificate().bound
    assert delayed.learner_.coef_.tolist() == plain.coef_.tolist()


def test_a_copy_that_refuses_an_outcome_goes_on_waiting_and_a_dropped_one_is_idle() -> None:
    delayed = nr.Delayed(nr.AAR(), copies=True)
    first, second = delayed.predict_one([1.0]), delayed.predict_one([2.0])
    with pytest.raises(InputError):
        delayed.learn_one(first, 1e300)
    assert delayed.pending_ == [0, 1]
    delayed.drop(first)
    third = delayed.predict_one([3.0])
    assert len(delayed.copies_) == 2
    delayed.learn_one(third, 1.0)
    delayed.learn_one(second, 2.0)
    assert sorted(one.coef_.size for one in delayed.copies_) == [1, 1]


def test_copies_and_files_go_on_bit_for_bit(tmp_path) -> None:
    rng = np.random.default_rng(1)
    delayed = nr.Delayed(nr.AAR(0.3), copies=True)
    for t in range(12):
        delayed.predict_one(rng.normal(size=2))
        if t % 3:
            delayed.learn_one(delayed.pending_[t % len(delayed.pending_)], float(rng.normal()))
    nr.save(delayed, tmp_path / "delayed.npz")
    twins = [delayed, copy.deepcopy(delayed), nr.load(tmp_path / "delayed.npz")]
    for _ in range(6):
        x, y = rng.normal(size=2), float(rng.normal())
        said = {one.predict_one(x).forecast for one in twins}
        assert len(said) == 1
        for one in twins:
            one.learn_one(one.pending_[0], y)
    assert len({str(one.certificates()) for one in twins}) == 1


@pytest.mark.parametrize(
    "make",
    [
        lambda: nr.AAR(0.5, drift=0.01),
        lambda: nr.Ridge(0.5, clip=2.0),
        lambda: nr.BayesianRidge(0.5),
        lambda: nr.AAR(0.5, kernel="rbf"),
        nr.Auto,
        lambda: nr.SafeOSLOG(outcome_range=4.0),
    ],
)
def test_other_learners_add_up_too(make) -> None:
    rng = np.random.default_rng(2)
    delayed = nr.Delayed(make(), copies=True)
    for t in range(50):
        delayed.predict_one(rng.normal(size=2))
        if t > 3:
            delayed.learn_one(delayed.pending_[0], float(rng.uniform(-1, 1)))
    found = delayed.certificates()
    assert len(delayed.copies_) == 5
    assert found
    assert all(c.holds is True for c in found)
    assert all(c.rounds == 46 for c in found)
