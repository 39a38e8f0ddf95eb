"""Threads that share a learner: some serial order, and no round lost.  Copies share nothing.

Sums do not depend on the order of rounds, and neither do the weights of fixed experts: what many
threads did is held against one thread that did it all.  Where a race would need luck to show, the
switch of threads is put just where it would hurt.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import pickle
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

import noregret as nr
from hostile import bits, state_bytes
from noregret._native import layout, rounds
from noregret.errors import NotLearnedError, ParameterError
from noregret.gaussian.cores import PrimalCore
from noregret.gaussian.ledger import totals

THREADS = 4
ROUNDS = 1200  # of each thread


@pytest.fixture(autouse=True)
def restless() -> Iterator[None]:
    """Let the interpreter switch threads as often as it can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(*tasks: Callable[[], Any]) -> list[Any]:
    """Run the tasks at once; what each gave, in order.  The first error is raised here."""
    barrier = threading.Barrier(len(tasks))
    results: list[Any] = [None] * len(tasks)
    errors: list[BaseException] = []

    def run(k: int) -> None:
        barrier.wait()
        try:
            results[k] = tasks[k]()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(k,), daemon=True) for k in range(len(tasks))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60.0)
        assert not thread.is_alive(), "deadlock"
    if errors:
        raise errors[0]
    return results


def shares(n: int, seed: int = 0) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each thread, rows and outcomes of its own."""
    rng = np.random.default_rng(seed)
    w = rng.normal(size=n)
    parts = []
    for _ in range(THREADS):
        X = rng.normal(size=(ROUNDS, n))
        parts.append((X, X @ w + 0.3 * rng.normal(size=ROUNDS)))
    return parts


def serial(learner: Any, parts: list[tuple[np.ndarray, np.ndarray]]) -> Any:
    for X, y in parts:
        learner.partial_fit(X, y)
    return learner


def sums_agree(learner: Any, alone: Any) -> None:
    """The columns of the ledger that no order of rounds can change."""
    mine, theirs = totals(learner._state.ledger), totals(alone._state.ledger)
    assert mine.rounds == theirs.rounds
    assert mine.squared_norms == pytest.approx(theirs.squared_norms, rel=1e-12)
    assert (mine.widest, mine.largest) == (theirs.widest, theirs.largest)
    # |x|_2 adds up in the order of the features, which is that of their arrival
    assert mine.longest == pytest.approx(theirs.longest, rel=1e-14)


def fixed_sums_agree(learner: Any, alone: Any) -> None:
    """Fixed experts: the volume and the best expert's loss do not depend on the order either."""
    sums_agree(learner, alone)
    mine, theirs = totals(learner._state.ledger), totals(alone._state.ledger)
    assert mine.log_det == pytest.approx(theirs.log_det, rel=1e-9)
    assert mine.best == pytest.approx(theirs.best, rel=1e-9)
    assert mine.weighted == pytest.approx(mine.fit, rel=1e-9)  # looks and factor still agree
    for certificate in learner.certificates():
        assert certificate.holds is not False, certificate


LEARNERS = [
    lambda: nr.Ridge(0.5),
    lambda: nr.Ridge(0.5, clip=2.0, fit_intercept=True),
    lambda: nr.BayesianRidge(0.5, noise_var=0.3),
    lambda: nr.AAR(0.5),
]
each_learner = pytest.mark.parametrize("make", LEARNERS, ids=["ridge", "clipped", "bayes", "aar"])
each_drift = pytest.mark.parametrize("drift", [0.05, lambda t: 1.0 / t], ids=["number", "function"])


# No round is lost ---------------------------------------------------------------------------


@each_learner
def test_threads_that_learn_from_arrays(make: Callable[[], Any]) -> None:
    parts, learner = shares(6), make()

    def learn(X: np.ndarray, y: np.ndarray) -> None:
        for x, outcome in zip(X, y.tolist(), strict=True):
            learner.predict_one(x)
            learner.learn_one(x, outcome)

    together(*(functools.partial(learn, *part) for part in parts))
    alone = serial(make(), parts)
    assert learner.n_samples_seen_ == THREADS * ROUNDS
    assert_allclose(learner.coef_, alone.coef_, rtol=1e-9)
    assert_allclose(learner.intercept_, alone.intercept_, rtol=1e-9, atol=1e-12)
    fixed_sums_agree(learner, alone)


def test_threads_that_learn_in_different_forms() -> None:
    """Arrays without a lock, lists and integers with one, and batches, at the same time."""
    parts, learner = shares(5, seed=1), nr.Ridge(0.5)
    parts[2] = (np.rint(parts[2][0] * 8), parts[2][1])

    def arrays() -> None:
        for x, y in zip(*parts[0], strict=True):
            learner.learn_one(x, float(y))

    def lists() -> None:
        for x, y in zip(*parts[1], strict=True):
            learner.learn_one(x.tolist(), np.float64(y))

    def integers() -> None:
        for x, y in zip(*parts[2], strict=True):
            learner.learn_one(x.astype(int), float(y))

    def batches() -> None:
        X, y = parts[3]
        for start in range(0, ROUNDS, 7):
            learner.replay(X[start : start + 7], y[start : start + 7])

    together(arrays, lists, integers, batches)
    alone = serial(nr.Ridge(0.5), parts)
    assert_allclose(learner.coef_, alone.coef_, rtol=1e-9)
    fixed_sums_agree(learner, alone)


@pytest.mark.parametrize("intercept", [False, True])
def test_threads_that_bring_in_new_names(intercept: bool) -> None:
    """Each thread has names of its own, which come one by one; they share a and b."""
    rng = np.random.default_rng(2)
    rows: list[list[dict[str, float]]] = []
    for k in range(THREADS):
        names = ["a", "b", *(f"t{k}.{i}" for i in range(6))]
        rows.append(
            [
                dict(zip(names[: 2 + t * 7 // ROUNDS], rng.normal(size=8).tolist()))
                for t in range(ROUNDS)
            ]
        )
    learner = nr.Ridge(0.5, fit_intercept=intercept)

    def learn(k: int) -> None:
        for x in rows[k]:
            learner.predict_one(x)
            learner.learn_one(x, sum(x.values()))

    together(*(functools.partial(learn, k) for k in range(THREADS)))
    alone = nr.Ridge(0.5, fit_intercept=intercept)
    every = [x for part in rows for x in part]
    alone.partial_fit(every, [sum(x.values()) for x in every])
    assert learner.n_features_in_ == 2 + 6 * THREADS
    mine = dict(zip(learner.feature_names_in_, learner.coef_, strict=True))
    theirs = dict(zip(alone.feature_names_in_, alone.coef_, strict=True))
    assert mine == pytest.approx(theirs, rel=1e-9, abs=1e-12)
    fixed_sums_agree(learner, alone)


@each_drift
def test_threads_that_share_a_learner_that_drifts(drift: Any) -> None:
    """The order shows in the weights; rounds, sums and the drift that went by do not."""
    parts, learner = shares(4, seed=3), nr.AAR(0.5, drift=drift)

    def learn(X: np.ndarray, y: np.ndarray) -> None:
        for x, outcome in zip(X, y.tolist(), strict=True):
            learner.predict_one(x)
            learner.learn_one(x, outcome)

    together(*(functools.partial(learn, *part) for part in parts))
    alone = serial(nr.AAR(0.5, drift=drift), parts)
    core, core_alone = learner._state.core, alone._state.core
    assert core.rounds == core_alone.rounds == learner.n_samples_seen_ == THREADS * ROUNDS
    assert core.prior_var() == pytest.approx(core_alone.prior_var(), rel=1e-12)
    sums_agree(learner, alone)
    assert all(c.holds is not False for c in learner.certificates())
    assert np.isfinite(learner.coef_).all()


@each_drift
def test_threads_that_bring_names_into_a_learner_that_drifts(drift: Any) -> None:
    learner = nr.Ridge(0.5, drift=drift)

    def learn(k: int) -> None:
        for t in range(200):
            learner.learn_one({"a": 1.0, "b": t % 3, f"t{k}.{t // 50}": 0.5}, 1.0)

    together(*(functools.partial(learn, k) for k in range(THREADS)))
    core = learner._state.core
    assert core.rounds == learner.n_samples_seen_ == 200 * THREADS
    assert learner.n_features_in_ == 2 + 4 * THREADS
    walked = 0.05 * core.rounds if drift == 0.05 else sum(1.0 / t for t in range(2, 802))
    assert core.prior_var() == pytest.approx(2.0 + walked, rel=1e-12)


def test_vectors_of_outcomes_from_several_threads() -> None:
    parts = shares(4, seed=4)
    learner, alone = nr.Ridge(0.5), nr.Ridge(0.5)

    def learn(X: np.ndarray, y: np.ndarray) -> None:
        for x, outcome in zip(X[:200], y[:200], strict=True):
            assert np.shape(learner.predict_one(x)) in {(), (2,)}  # () before the first round
            learner.learn_one(x, [outcome, -2.0 * outcome])

    together(*(functools.partial(learn, *part) for part in parts))
    for X, y in parts:
        alone.partial_fit(X[:200], np.column_stack([y[:200], -2.0 * y[:200]]))
    assert_allclose(learner.coef_, alone.coef_, rtol=1e-9)
    assert_allclose(learner.coef_[1], -2.0 * learner.coef_[0], rtol=1e-12)
    fixed_sums_agree(learner, alone)


def test_merge_and_replay_while_others_learn() -> None:
    """Two threads learn, one replays batches, one merges other learners in."""
    parts, learner = shares(5, seed=5), nr.Ridge(0.5)
    guests = [nr.Ridge(0.5).fit(X, y) for X, y in zip(*(np.split(v, 30) for v in parts[3]))]

    def learn(X: np.ndarray, y: np.ndarray) -> None:
        for x, outcome in zip(X, y.tolist(), strict=True):
            learner.learn_one(x, outcome)

    def replay() -> None:
        X, y = parts[2]
        for start in range(0, ROUNDS, 20):
            learner.replay(X[start : start + 20], y[start : start + 20])

    def merge() -> None:
        for guest in guests:
            learner.merge(guest)

    together(
        functools.partial(learn, *parts[0]), functools.partial(learn, *parts[1]), replay, merge
    )
    alone = serial(nr.Ridge(0.5), parts)
    assert learner.n_samples_seen_ == THREADS * ROUNDS
    assert_allclose(learner.coef_, alone.coef_, rtol=1e-9)
    sums_agree(learner, alone)
    best, best_alone = (totals(each._state.ledger).best for each in (learner, alone))
    assert best == pytest.approx(best_alone, rel=1e-9)


def test_learners_that_merge_each_other_do_not_wait_for_ever() -> None:
    """a.merge(b) and b.merge(a) at once: no deadlock, and each has what it took."""
    X = np.random.default_rng(6).normal(size=(50, 3))
    a, b = (nr.Ridge(0.5).fit(X, X @ [1.0, 2.0, 3.0]) for _ in range(2))
    together(*[lambda: a.merge(b), lambda: b.merge(a)] * 2)
    for each in (a, b):
        assert each.n_samples_seen_ >= 150
        assert each.n_samples_seen_ % 50 == 0
        assert_allclose(each.coef_, [1.0, 2.0, 3.0], rtol=0.02)


def test_merge_by_name_while_others_learn() -> None:
    learner = nr.AAR(0.5)
    guests = [nr.AAR(0.5).partial_fit([{"a": 1.0, f"g{k}": 2.0}] * 4, [1.0] * 4) for k in range(12)]

    def learn() -> None:
        for t in range(ROUNDS):
            learner.learn_one({"a": 1.0, "b": float(t % 5)}, 0.5)

    def merge() -> None:
        for guest in guests:
            learner.merge(guest)

    together(learn, merge, learn)
    alone = nr.AAR(0.5)
    for t in range(2 * ROUNDS):
        alone.learn_one({"a": 1.0, "b": float(t % ROUNDS % 5)}, 0.5)
    for guest in guests:
        alone.merge(guest)
    mine = dict(zip(learner.feature_names_in_, learner.coef_, strict=True))
    theirs = dict(zip(alone.feature_names_in_, alone.coef_, strict=True))
    assert mine == pytest.approx(theirs, rel=1e-9)
    sums_agree(learner, alone)


def test_a_fit_among_rounds_forgets_only_what_came_before() -> None:
    X = np.random.default_rng(7).normal(size=(40, 3))
    learner = nr.Ridge().fit(X, X[:, 0])

    def learn() -> None:
        for x in X[:30]:
            learner.learn_one(x, 1.0)

    together(learn, lambda: learner.fit(X, X[:, 0]), learn)
    assert 40 <= learner.n_samples_seen_ <= 100
    assert np.isfinite(learner.coef_).all()


def test_first_rounds_of_several_threads() -> None:
    """Who comes first makes the state; nobody's first round may vanish with it."""
    for _ in range(40):
        learner = nr.Ridge()
        x = np.array([1.0, 2.0])
        together(*[lambda: learner.learn_one(x, 1.0)] * THREADS)  # noqa: B023  # called at once
        assert learner.n_samples_seen_ == THREADS
        total = THREADS * 5.0
        assert_allclose(learner.coef_, np.array([1.0, 2.0]) * THREADS / (1.0 + total), rtol=1e-12)


def test_refusals_in_one_thread_do_not_disturb_another() -> None:
    parts, learner = shares(3, seed=8), nr.Ridge(0.5)
    learner.learn_one(parts[0][0][0], float(parts[0][1][0]))

    def learn() -> None:
        for x, y in zip(parts[0][0][1:], parts[0][1][1:].tolist(), strict=True):
            learner.predict_one(x)
            learner.learn_one(x, y)

    def provoke() -> None:
        for bad in (
            [np.nan, 1.0, 2.0],
            "abc",
            [1.0],
            {"a": 1.0},
            np.array([1.0, np.inf, 0.0]),
        ) * 60:
            with pytest.raises(nr.errors.FeatureError):
                learner.learn_one(bad, 1.0)
            with pytest.raises(nr.errors.OutcomeError):
                learner.learn_one(np.ones(3), np.nan)

    together(learn, provoke)
    alone = nr.Ridge(0.5)
    for x, y in zip(parts[0][0], parts[0][1].tolist(), strict=True):
        alone.learn_one(x, y)
    assert state_bytes(learner) == state_bytes(alone)


# Readers see whole rounds -------------------------------------------------------------------


def counted(learner: Any, rounds: int = ROUNDS * 4) -> Callable[[], None]:
    """A writer after whose t-th round everything follows from t: x = (1, 0, ...), y = 1, a = 1."""
    x = np.zeros(12)
    x[0] = 1.0
    learner.learn_one(x, 1.0)

    def learn() -> None:
        for _ in range(rounds):
            learner.learn_one(x, 1.0)

    return learn


def whole(t: float) -> bool:
    """w/(1 - w) is t, the number of rounds, only if R and z are of one round."""
    return abs(t - round(t)) < 1e-3


@pytest.mark.parametrize("what", ["coef_", "certificate", "pickle", "deepcopy", "predict", "look"])
def test_readers_see_whole_rounds(what: str) -> None:
    learner = nr.BayesianRidge(1.0)
    learn = counted(learner)
    x = np.eye(12)[0]

    def read() -> int:
        for _ in range(200):
            if what == "coef_":
                w = learner.coef_[0]
                assert whole(w / (1.0 - w))
            elif what == "certificate":
                best = learner.certificates()[1]  # ridge: min_w = t/(1 + t)
                assert best.comparator / (1.0 - best.comparator) == pytest.approx(best.rounds)
            elif what in {"pickle", "deepcopy"}:
                other = pickle.loads(pickle.dumps(learner)) if what == "pickle" else None
                other = other or copy.deepcopy(learner)
                w = other.coef_[0]
                assert w / (1.0 - w) == pytest.approx(other.n_samples_seen_, rel=1e-6)
                other.learn_one(x, 1.0)
            elif what == "predict":
                mean, std = learner.predict([x, x], return_std=True)
                assert mean[0] == mean[1]
                t = mean[0] / (1.0 - mean[0])
                assert std[0] ** 2 == pytest.approx(1.0 + 1.0 / (1.0 + t), rel=1e-9)
            else:
                look = learner.predictive(x)
                t = look.mean / (1.0 - look.mean)
                assert look.var == pytest.approx(1.0 + 1.0 / (1.0 + t), rel=1e-9)
        return learner.n_samples_seen_

    _, seen = together(learn, read)
    assert 1 <= seen <= 1 + ROUNDS * 4
    assert learner.n_samples_seen_ == 1 + ROUNDS * 4


def test_forecasts_of_many_threads_are_each_ones_own() -> None:
    """One scratch array serves all: nobody may get the answer to another's question."""
    learner = nr.BayesianRidge(1.0)
    eye = np.eye(8)
    for k in range(8):
        learner.learn_one(eye[k], 2.0 * k)  # then w_k = k

    def ask(k: int) -> int:
        wrong = 0
        for t in range(ROUNDS):
            if t % 3 == 0:
                answer = learner.predict_one(eye[k])
            elif t % 3 == 1:
                answer = learner.predictive(eye[k]).mean
            else:
                answer = learner.predict_one(eye[k].tolist())
            wrong += abs(answer - k) > 1e-9
        return wrong

    assert together(*(functools.partial(ask, k) for k in range(1, 8))) == [0] * 7


# Switches where they would hurt --------------------------------------------------------------


@contextlib.contextmanager
def switch_after(owner: Any, name: str, visit: Callable[[], Any]) -> Iterator[None]:
    """After the first call of owner.name, another thread gets its turn.

    If it must wait for the lock, this thread goes on; in the end both have finished.
    """
    visitors: list[threading.Thread] = []
    original = getattr(owner, name)

    @functools.wraps(original)
    def wrapper(*arguments: Any, **options: Any) -> Any:
        result = original(*arguments, **options)
        if not visitors:
            visitors.append(threading.Thread(target=visit, daemon=True))
            visitors[0].start()
            visitors[0].join(timeout=0.1)
        return result

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, name, wrapper)
        yield
        assert visitors, f"{name} was not called"
        visitors[0].join(timeout=60.0)
        assert not visitors[0].is_alive(), "deadlock"


def test_a_look_is_not_mixed_with_another_threads_look() -> None:
    """The other thread asks, without a lock, right after this one's look was computed."""
    learner = nr.BayesianRidge(1.0)
    eye = np.eye(3)
    for k in range(3):
        learner.learn_one(eye[k], 2.0 * k)
    with switch_after(rounds, "look_at", lambda: learner.predict_one(eye[2])):
        assert learner.predictive(eye[1]).mean == pytest.approx(1.0, rel=1e-12)
    with switch_after(rounds, "look_at", lambda: learner.predict_one(eye[2])):
        odd = np.array([0.0, 1.0, 0.0], dtype=np.float16)  # takes the careful way
        assert learner.predict_one(odd) == pytest.approx(1.0, rel=1e-12)


LONGER = [
    ("replay", "replay"),
    ("replay", "fit"),
    ("extended", "merge"),
    ("merge", "merge"),
    ("extended", "deepcopy"),
    ("coefficients", "coef_"),
]


@pytest.mark.parametrize(
    ("step", "call", "named"),
    [
        *((step, call, named) for step, call in LONGER for named in (False, True)),
        ("extended", "grow", True),
    ],
)
def test_a_round_in_the_midst_of_a_longer_call_waits(step: str, call: str, named: bool) -> None:
    """learn_one, which takes no lock, comes when the longer call is half done."""
    rows: Any = NAMED if named else X
    learner, alone = nr.Ridge(0.5), nr.Ridge(0.5)
    guest = nr.Ridge(0.5).partial_fit(rows[20:30], Y[20:30])
    for each in (learner, alone):
        each.partial_fit(rows[:10], Y[:10])
    extra = {**NAMED[31], "new": 2.0}

    def long_call(which: Any) -> None:
        if call == "replay":
            which.replay(rows[10:20], Y[10:20])
        elif call == "fit":
            which.fit(rows[10:20], Y[10:20])
        elif call == "grow":
            which.learn_one(extra, 0.5)
        elif call == "merge":
            which.merge(guest)
        elif call == "deepcopy":
            assert copy.deepcopy(which).n_samples_seen_ == 10
        else:
            assert which.coef_.shape == (3,)

    with switch_after(PrimalCore, step, lambda: learner.learn_one(rows[30], 1.0)):
        long_call(learner)
    if call == "fit":  # the round may have come before the fit, which forgets it
        assert learner.n_samples_seen_ in {10, 11}
        return
    alone.learn_one(rows[30], 1.0)
    if call not in {"deepcopy", "coef_"}:
        long_call(alone)
    assert learner.n_samples_seen_ == alone.n_samples_seen_
    assert_allclose(learner.coef_, alone.coef_, rtol=1e-9)
    sums_agree(learner, alone)


@pytest.mark.parametrize("reader", ["coef_", "intercept_", "certificate", "predict"])
def test_a_stream_that_was_replaced_stays_closed(reader: str) -> None:
    """A reader that got hold of a stream just before it was replaced must not reopen it.

    Else a third thread, which holds the old stream too, learns into a state that nobody will
    ever see: a lost round.
    """
    learner = nr.Ridge()
    learner.learn_one({"a": 1.0, "b": 2.0}, 1.0)
    old = learner._state
    with switch_after(
        type(learner),
        "_learned",
        lambda: learner.learn_one({"a": 1.0, "b": 2.0, "new": 3.0}, 1.0),
    ):
        if reader == "certificate":
            learner.certificate()
        elif reader == "predict":
            learner.predict([{"a": 1.0}])
        else:
            getattr(learner, reader)
    assert learner._state is not old
    assert old.core.work[layout.AT, layout.CLOSED] == 1.0
    assert learner._state.core.work[layout.AT, layout.CLOSED] == 0.0
    assert learner.n_samples_seen_ == 2


def test_an_error_does_not_leave_the_learner_closed() -> None:
    """A drift function that fails in the midst of a call: the next calls go on."""
    fail = {"now": False}

    def drift(_: int) -> float:
        if fail["now"]:
            raise RuntimeError("not now")
        return 0.1

    learner, twin = nr.Ridge(drift=drift), nr.Ridge(drift=drift)
    for each in (learner, twin):
        each.learn_one({"a": 1.0, "b": 2.0}, 1.0)
    before = state_bytes(learner)
    fail["now"] = True
    for call in (
        lambda: learner.learn_one({"a": 1.0, "b": 2.0}, 1.0),
        lambda: learner.learn_one({"a": 1.0, "new": 2.0}, 1.0),
        lambda: learner.replay([{"a": 1.0}] * 3, [1.0] * 3),
        lambda: learner.replay([{"other": 1.0}] * 3, [1.0] * 3),
    ):
        with pytest.raises(ParameterError, match="not now") as caught:
            call()
        assert isinstance(caught.value.__cause__, RuntimeError)
        assert state_bytes(learner) == before
    fail["now"] = False
    for each in (learner, twin):
        each.learn_one({"a": 1.0, "new": 2.0}, 1.0)
    assert state_bytes(learner) == state_bytes(twin)


# Copies -------------------------------------------------------------------------------------

HALF = 20
X = np.random.default_rng(9).normal(size=(2 * HALF, 3))
Y = np.random.default_rng(10).normal(size=2 * HALF)
NAMED = [dict(zip("abc", x)) for x in X.tolist()]


def schedule(t: int) -> float:
    return 0.5 / t


COPIED = {
    "ridge": lambda: nr.Ridge(0.4),
    "clipped with intercept": lambda: nr.Ridge(0.4, clip=0.7, fit_intercept=True),
    "bayes": lambda: nr.BayesianRidge(0.4, noise_var=0.2),
    "aar": lambda: nr.AAR(0.4),
    "drift": lambda: nr.AAR(0.4, drift=0.1),
    "drift by round": lambda: nr.AAR(0.4, drift=schedule, fit_intercept=True),
}
COPIES: dict[str, Callable[[Any], Any]] = {
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
    **{
        f"pickle {p}": lambda learner, p=p: pickle.loads(pickle.dumps(learner, p))
        for p in range(2, pickle.HIGHEST_PROTOCOL + 1)
    },
}


@pytest.mark.parametrize("named", [False, True], ids=["arrays", "names"])
@pytest.mark.parametrize("duplicate", COPIES.values(), ids=COPIES.keys())
@pytest.mark.parametrize("make", COPIED.values(), ids=COPIED.keys())
def test_a_copy_goes_on_bit_for_bit_and_shares_nothing(
    make: Callable[[], Any], duplicate: Callable[[Any], Any], named: bool
) -> None:
    rows: Any = NAMED if named else X
    learner = make()
    for x, y in zip(rows[:HALF], Y.tolist()):
        learner.learn_one(x, y)
    learner.predict_one(rows[HALF])  # a look is at hand
    before = state_bytes(learner)
    other = duplicate(learner)
    assert type(other) is type(learner)
    assert other.get_params() == learner.get_params()
    assert state_bytes(other) == before
    forecasts = []
    for x, y in zip(rows[HALF:], Y[HALF:].tolist(), strict=True):
        forecasts.append(other.predict_one(x))
        other.learn_one(x, y)
    if named:
        other.learn_one({"a": 1.0, "new": 2.0}, 1.0)
    assert state_bytes(learner) == before  # nothing of it was shared
    for x, y, forecast in zip(rows[HALF:], Y[HALF:].tolist(), forecasts, strict=True):
        assert bits(learner.predict_one(x)) == bits(forecast)
        learner.learn_one(x, y)
    if named:
        learner.learn_one({"a": 1.0, "new": 2.0}, 1.0)
    assert state_bytes(learner) == state_bytes(other)
    assert learner.certificate() == other.certificate()
    assert bits(learner.replay(rows, Y)) == bits(other.replay(rows, Y))


@pytest.mark.parametrize("duplicate", COPIES.values(), ids=COPIES.keys())
def test_a_copy_of_a_fresh_learner_is_fresh(duplicate: Callable[[Any], Any]) -> None:
    other = duplicate(nr.AAR(0.3, drift=0.2))
    assert other.get_params() == nr.AAR(0.3, drift=0.2).get_params()
    with pytest.raises(NotLearnedError):
        _ = other.coef_
    other.learn_one([1.0], 1.0)
    assert other.n_samples_seen_ == 1


def test_vectors_of_outcomes_survive_a_copy() -> None:
    learner = nr.Ridge(0.4).fit(X, np.column_stack([Y, -Y]))
    for duplicate in COPIES.values():
        other = duplicate(learner)
        assert bits(other.predict_one(X[0])) == bits(learner.predict_one(X[0]))
        assert bits(other.coef_) == bits(learner.coef_)


@pytest.mark.parametrize("make", COPIED.values(), ids=COPIED.keys())
def test_clone_takes_the_parameters_and_no_state(make: Callable[[], Any]) -> None:
    learner = make().fit(X, Y)
    before = state_bytes(learner)
    other = clone(learner)
    assert other.get_params() == learner.get_params()
    assert state_bytes(other) == b"fresh"
    with pytest.raises(NotLearnedError):
        _ = other.coef_
    other.fit(X, Y)
    assert state_bytes(other) == before == state_bytes(learner)
    other.learn_one(X[0], 1.0)
    assert state_bytes(learner) == before


def test_copies_can_be_used_in_other_threads() -> None:
    """A lock of its own each: a copy made while its original learns is free at once."""
    learner = nr.Ridge(1.0)
    learn = counted(learner, rounds=ROUNDS)
    x = np.eye(12)[0]

    def copies() -> list[int]:
        counts = []
        for _ in range(50):
            other = copy.deepcopy(learner)
            start = other.n_samples_seen_
            for _ in range(5):
                other.learn_one(x, 1.0)
            counts.append(other.n_samples_seen_ - start)
        return counts

    results = together(learn, copies, copies)
    assert results[1] == results[2] == [5] * 50
    assert learner.n_samples_seen_ == 1 + ROUNDS
