"""nr.merge: N workers over parts of a stream equal one worker over the whole."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.gaussian_process.kernels import RBF

import noregret as nr
from noregret.errors import MergeError, NoRegretError
from noregret.gaussian.ledger import totals
from stored import CASES, extended

MERGEABLE = {
    "ridge": lambda: nr.Ridge(0.3),
    "ridge, clipped": lambda: nr.Ridge(0.3, clip=3.0, fit_intercept=True),
    "bayes": lambda: nr.BayesianRidge(0.1, noise_var=0.5),
    "aar": lambda: nr.AAR(2.0, fit_intercept=True),
    "aar, taylor": lambda: nr.AAR(0.5, budget=nr.Taylor(2, 1.5)),
    "bayes, fourier": lambda: nr.BayesianRidge(0.5, budget=nr.RandomFourier(10, 2.0)),
}


def data(T: int = 240, n: int = 4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(T, n)) * [1.0, 3.0, 0.1, 1.0]
    return X, X @ [1.0, -0.5, 2.0, 0.0] + 0.3 * rng.normal(size=T)


def near(found: object, wanted: object) -> None:
    assert_allclose(found, wanted, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("workers", [2, 5, 16])
@pytest.mark.parametrize("name", MERGEABLE)
def test_workers_equal_one(name: str, workers: int) -> None:
    X, y = data()
    whole = MERGEABLE[name]().fit(X, y)
    lots = np.random.default_rng(workers).integers(0, workers, len(X))
    parts = [MERGEABLE[name]().fit(X[lots == k], y[lots == k]) for k in range(workers)]
    before = [part.to_bytes() for part in parts]
    merged = nr.merge(parts)
    assert [part.to_bytes() for part in parts] == before  # left alone
    near(merged.coef_, whole.coef_)
    near(merged.predict(X), whole.predict(X))
    near(merged._state.core.log_determinant(), whole._state.core.log_determinant())
    assert merged.n_samples_seen_ == whole.n_samples_seen_ == len(X)
    one, all_ = totals(whole._state.ledger), totals(merged._state.ledger)
    near(all_.best, one.best)
    for c, d in zip(whole.certificates(), merged.certificates(), strict=True):
        near(d.comparator, c.comparator)
        assert d.holds is not False
        # Columns that depend on the order are sums of what each worker paid, and are marked so.
        marked = f"{workers} merged learners, each in its own rounds"
        assert d.kind == "report" or any(marked in a.text for a in d.assumptions)
    assert all_.loss == pytest.approx(
        sum(totals(part._state.ledger).loss for part in parts), rel=1e-12
    )


def bayesian_log_loss(learner: nr.BayesianRidge) -> float:
    """T/2 ln(2 pi s^2) + ln det/2 + min/(2 s^2): the loss of the whole in any order."""
    sums, s2 = totals(learner._state.ledger), learner.noise_var
    log_det = learner._state.core.log_determinant()
    return 0.5 * (sums.rounds * np.log(2.0 * np.pi * s2) + log_det + sums.best / s2)


@pytest.mark.parametrize("workers", [2, 7])
def test_the_bayesian_log_loss_does_not_depend_on_order(workers: int) -> None:
    X, y = data()
    whole = nr.BayesianRidge(0.1, noise_var=0.5).fit(X, y)
    parts = [
        nr.BayesianRidge(0.1, noise_var=0.5).fit(X[k::workers], y[k::workers])
        for k in range(workers)
    ]
    merged = nr.merge(parts)
    paid = whole.certificates()[0].loss
    near(bayesian_log_loss(whole), paid)
    near(bayesian_log_loss(merged), paid)
    near(merged.log_loss_, paid)
    near(whole.log_loss_, paid)
    assert merged.certificates()[0].loss != pytest.approx(paid, rel=1e-6)  # the workers' own


def test_names_and_several_outcomes() -> None:
    rng = np.random.default_rng(0)
    names = list("abcde")
    rounds = [
        ({k: float(rng.normal()) for k in names if rng.random() < 0.5} or {"a": 1.0}, v)
        for v in rng.normal(size=(40, 2))
    ]
    whole, parts = nr.AAR(0.5), [nr.AAR(0.5) for _ in range(4)]
    for t, (x, v) in enumerate(rounds):
        whole.learn_one(x, v)
        parts[t % 4].learn_one(x, v)
    merged = nr.merge(parts)
    for x, _ in rounds:
        near(merged.predict_one(x), whole.predict_one(x))


def test_one_learner_and_learners_that_learned_nothing() -> None:
    X, y = data(20)
    one = nr.Ridge().fit(X, y)
    alone = nr.merge([one])
    assert alone is not one
    assert alone.to_bytes() == one.to_bytes()
    near(nr.merge([nr.Ridge(), one, nr.Ridge()]).coef_, one.coef_)
    assert not nr.merge(iter([nr.Ridge(), nr.Ridge()])).__sklearn_is_fitted__()


@pytest.mark.parametrize("name", CASES)
def test_every_learner_merges_or_says_why(name: str) -> None:
    """Nothing but MergeError, which names the learner or the reason; and nothing changes."""
    one, other = extended(CASES[name], 6), extended(CASES[name], 6)
    before = one.to_bytes()
    try:
        nr.merge([one, other])
    except MergeError as refusal:
        assert len(str(refusal)) > 40  # noqa: PT017  # a reason, not a shrug
        with pytest.raises(MergeError):
            one.merge(other)
        assert one.to_bytes() == before
    else:
        assert isinstance(one, nr.Ridge | nr.BayesianRidge | nr.AAR)
        assert one.drift == 0.0


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: nr.AAR(drift=0.1), "drift cannot be merged"),
        (lambda: nr.AAR(kernel=RBF()), "factor depends on the order"),
        (lambda: nr.AAR(kernel=RBF(), budget=nr.Nystrom(5)), "a dictionary of its own"),
        (nr.OSLOG, "OSLOG cannot be merged exactly: its weights are the end of a path"),
        (nr.SLOG, "SLOG cannot be merged exactly: it keeps its weights"),
        (nr.Auto, "Auto cannot be merged exactly: it is a pool"),
        (nr.SafeOSLOG, "SafeOSLOG cannot be merged exactly: its weights rest on losses"),
        (lambda: nr.AggregatingAlgorithm([nr.AAR()]), "AggregatingAlgorithm cannot be merged"),
    ],
)
def test_reasons(make, words: str) -> None:
    X, y = data(12)
    with pytest.raises(MergeError, match=words):
        nr.merge([make().fit(X, y), make().fit(X, y)])


def test_labels_and_tickets_do_not_merge() -> None:
    X, y = data(12)
    for make in (nr.MAPLogistic, nr.BayesianLogistic, nr.ImproperLogistic):
        with pytest.raises(MergeError, match=f"{make.__name__} cannot be merged exactly: its post"):
            nr.merge([make().fit(X, y > 0.0), make().fit(X, y > 0.0)])
    with pytest.raises(MergeError, match="tickets of two issuers"):
        nr.merge([nr.Delayed(nr.AAR()), nr.Delayed(nr.AAR())])


def test_what_is_no_list_of_learners() -> None:
    for wrong in ("text", 3, [], [1, 2], None):
        with pytest.raises(MergeError):
            nr.merge(wrong)
    with pytest.raises(NoRegretError, match="kinds must agree"):
        nr.merge([nr.AAR(), nr.Ridge()])
