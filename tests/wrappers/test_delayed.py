"""Outcomes that come late: two books, never mixed."""

from __future__ import annotations

import copy
import csv
import datetime as dt
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import noregret as nr
from noregret.errors import InputError, MergeError, NotLearnedError, OutcomeError, ParameterError


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 40),
    st.integers(0, 2**32 - 1),
    st.sampled_from(
        [
            lambda: nr.AAR(0.3, drift=0.01),
            lambda: nr.Ridge(2.0, clip=1.0, fit_intercept=True),
            lambda: nr.OSLOG(0.5, start=0.1),
            lambda: nr.SafeOSLOG(outcome_range=3.0),
        ]
    ),
)
def test_both_books_are_those_of_a_learner_by_hand(T: int, seed: int, make) -> None:
    """Outcomes in a random order: forecasts as of their time, the learner as of its own."""
    rng = np.random.default_rng(seed)
    delayed, by_hand = nr.Delayed(make()), make()
    waiting, paid, learned = [], [], []
    for _ in range(T):
        x = rng.normal(size=3)
        ticket = delayed.predict_one(x)
        assert ticket.forecast == by_hand.predict_one(x) == float(ticket)
        waiting.append((ticket, x.copy()))
        x[:] = np.nan  # the caller may do as he likes with what he gave
        while waiting and rng.random() < 0.6:
            ticket, was = waiting.pop(rng.integers(len(waiting)))
            y = float(rng.uniform(-1, 1))
            learned.append((y - by_hand.predict_one(was)) ** 2)
            delayed.learn_one(ticket if rng.random() < 0.5 else ticket.number, y)
            by_hand.learn_one(was, y)
            paid.append((y - ticket.forecast) ** 2)
    issued = delayed.issued_
    assert (issued.forecasts, issued.settled) == (T, len(paid))
    assert (issued.pending, issued.dropped) == (len(waiting), 0)
    assert issued.square_loss == pytest.approx(math.fsum(paid), rel=1e-13, abs=1e-300)
    assert issued.log_loss is None
    if paid:
        for ours, theirs in zip(delayed.certificates(), by_hand.certificates(), strict=True):
            assert (ours.loss, ours.bound, ours.comparator) == (
                theirs.loss,
                theirs.bound,
                theirs.comparator,
            )
            assert ours.holds == theirs.holds
            assert "as learned" in ours.assumptions[-1].text
        if isinstance(by_hand, nr.AAR | nr.Ridge):
            square = by_hand._state.ledger[1].sum()
            assert square == pytest.approx(sum(learned), rel=1e-9, abs=1e-12)


def test_labels() -> None:
    delayed = nr.Delayed(nr.MAPLogistic(2.0))
    tickets = [delayed.predict_one([1.0, float(k)]) for k in range(3)]
    for ticket, y in zip(reversed(tickets), (True, False, True)):
        delayed.learn_one(ticket, y)
    assert delayed.issued_.log_loss == pytest.approx(3 * math.log(2.0))
    assert delayed.issued_.square_loss == 0.75
    last = delayed.predict_one([1.0, 1.0])
    delayed.learn_one(last, 0)
    assert delayed.issued_.log_loss == pytest.approx(
        3 * math.log(2.0) - math.log(1.0 - last.forecast)
    )
    assert delayed.certificate().loss == delayed.learner_.log_loss_ != delayed.issued_.log_loss


def test_several_outcomes() -> None:
    delayed = nr.Delayed(nr.BayesianRidge().fit(np.eye(2), np.eye(2)))
    ticket = delayed.predict_one(np.array([1.0, 0.0]))
    assert ticket.forecast.shape == (2,)
    with pytest.raises(ValueError, match="read-only"):
        ticket.forecast[0] = 7.0
    delayed.learn_one(ticket, [1.0, 2.0])
    assert delayed.issued_.square_loss == pytest.approx(0.25 + 4.0)
    assert delayed.certificate().rounds == 3


def test_what_overflows_is_refused_or_dropped() -> None:
    strict = nr.Delayed(nr.AAR(), max_pending=2)
    first, _ = strict.predict_one([1.0]), strict.predict_one([2.0])
    with pytest.raises(InputError, match=r"2 forecasts wait.*max_pending = 2.*ticket 0 is the"):
        strict.predict_one([3.0])
    strict.drop(first)
    assert strict.predict_one([3.0]).number == 2
    assert strict.pending_ == [1, 2]
    loose = nr.Delayed(nr.AAR(), max_pending=2, overflow="drop")
    for k in range(5):
        loose.predict_one([float(k)])
    assert loose.pending_ == [3, 4]
    with pytest.raises(InputError, match="ticket 1 does not wait: its outcome came, or it was dro"):
        loose.learn_one(1, 1.0)
    loose.learn_one(4, 1.0)
    issued = loose.issued_
    assert (issued.forecasts, issued.settled, issued.pending, issued.dropped) == (5, 1, 1, 3)
    assert issued.square_loss == 1.0  # nothing of those dropped
    assert loose.certificate().rounds == 1


def test_a_refused_outcome_leaves_all_as_it_was() -> None:
    delayed = nr.Delayed(nr.AAR())
    ticket = delayed.predict_one({"a": 1.0})
    before = delayed.to_bytes()
    for y in (math.nan, "high", None, 1e300):
        with pytest.raises(OutcomeError):
            delayed.learn_one(ticket, y)
    for x in ({"a": math.nan}, {"a": math.inf}):
        with pytest.raises(InputError):
            delayed.predict_one(x)
    for bad in (7, -1, "0", None, 0.0, True):
        with pytest.raises(InputError, match="ticket"):
            delayed.learn_one(bad, 1.0)
    with pytest.raises(InputError, match="by ticket"):
        delayed.fit([[1.0]], [1.0])
    assert delayed.to_bytes() == before
    delayed.learn_one(ticket, 1.0)
    with pytest.raises(InputError, match="its outcome came"):
        delayed.learn_one(ticket, 1.0)


def test_parameters_and_copies() -> None:
    for wrong in (
        {"max_pending": 0},
        {"max_pending": True},
        {"max_pending": 2.0},
        {"overflow": "wait"},
    ):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            nr.Delayed(nr.AAR(), **wrong).predict_one([1.0])
    with pytest.raises(ParameterError, match="predict_one and learn_one"):
        nr.Delayed(nr.SLOG()).predict_one([1.0])
    with pytest.raises(NotLearnedError):
        nr.Delayed(nr.AAR()).certificate()
    learner = nr.AAR()
    delayed = nr.Delayed(learner)
    ticket = delayed.predict_one([1.0])
    twin = copy.deepcopy(delayed)
    twin.learn_one(ticket, 1.0)
    assert delayed.pending_ == [0]
    assert twin.pending_ == []
    assert not learner.__sklearn_is_fitted__()  # the caller's own is left alone
    with pytest.raises(MergeError, match="tickets of two"):
        delayed.merge(twin)
    again = nr.from_bytes(delayed.to_bytes())
    again.learn_one(ticket.number, 1.0)  # a ticket outlasts a file
    assert again.issued_ == twin.issued_


@pytest.mark.data
@pytest.mark.parametrize("delay", [dt.timedelta(days=2), dt.timedelta(days=14), 3])
def test_the_same_numbers_as_rivers_own_delay(shared_data: Path, delay) -> None:
    """Trump's approval, day by day, outcomes so much later: river's score, and ours."""
    pytest.importorskip("river")
    from river import base, evaluate, metrics, stream

    class Wrapped(base.Regressor):
        def __init__(self, learner=None):
            self.learner = learner or nr.Ridge(0.01, fit_intercept=True)

        def predict_one(self, x):
            return self.learner.predict_one(x)

        def learn_one(self, x, y):
            self.learner.learn_one(x, y)

    with (shared_data / "trump_approval.csv").open() as file:
        table = list(csv.DictReader(file))
    rounds = [({k: float(v) for k, v in row.items() if k != "y"}, float(row["y"])) for row in table]
    days = [dt.datetime.fromordinal(int(row["ordinal_date"])) for row in table]

    def dataset():
        for t, (x, y) in enumerate(rounds):
            yield {**x, "moment": days[t]}, y

    class Timeless(Wrapped):
        def predict_one(self, x):
            return super().predict_one({k: v for k, v in x.items() if k != "moment"})

        def learn_one(self, x, y):
            super().learn_one({k: v for k, v in x.items() if k != "moment"}, y)

    theirs = Timeless()
    moment = "moment" if isinstance(delay, dt.timedelta) else None
    score = evaluate.progressive_val_score(
        dataset(), theirs, metrics.MSE(), moment=moment, delay=delay
    )

    ours = nr.Delayed(nr.Ridge(0.01, fit_intercept=True))
    tickets, metric = {}, metrics.MSE()
    for t, x, y in stream.simulate_qa(dataset(), moment=moment, delay=delay):
        if y is None:
            tickets[t] = ours.predict_one({k: v for k, v in x.items() if k != "moment"})
        else:
            metric.update(y, float(tickets[t]))
            ours.learn_one(tickets.pop(t), y)
    issued = ours.issued_
    assert issued.settled == len(rounds) > 500
    assert metric.get() == score.get()
    assert issued.square_loss / issued.settled == pytest.approx(score.get(), rel=1e-12)
    assert ours.learner_.to_bytes() == theirs.learner.to_bytes()
    assert ours.learner_._state.ledger[1].sum() != issued.square_loss  # two books
