"""Sweeps: the replays of learners alone, whatever the number of threads."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import noregret as nr
from noregret.errors import FeatureError, InputError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3000, 4))
Y = (X[:, 0] > 0).astype(float)
KINDS = {
    "ridge": lambda: nr.Ridge(0.5),
    "aar": lambda: nr.AAR(drift=0.01),
    "auto": nr.Auto,
    "bayes": lambda: nr.BayesianRidge(2.0),
    "oslog": nr.OSLOG,
    "logistic": nr.BayesianLogistic,
    "improper": lambda: nr.ImproperLogistic(2.0),
}


@pytest.mark.parametrize("threads", [1, 3])
def test_each_is_as_if_alone(threads) -> None:
    learners = {name: make() for name, make in KINDS.items()}
    found = nr.parallel(learners, X, Y, threads=threads, progress=False)
    assert list(found) == list(KINDS)
    for name, make in KINDS.items():
        one = make()
        alone = one.replay(X, Y)
        assert found[name].forecast.tobytes() == alone.forecast.tobytes()
        assert found[name].certificate == alone.certificate
        assert learners[name].predict_one(X[0]) == one.predict_one(X[0])


def test_a_list_and_a_frame(capsys) -> None:
    frame = pd.DataFrame(X[:50], columns=list("abcd"))
    found = nr.parallel([nr.AAR(a) for a in (0.1, 1.0)], frame, Y[:50], progress=True)
    assert [len(replay.forecast) for replay in found] == [50, 50]
    assert "2/2 learners" in capsys.readouterr().err


def test_a_refusal_stops_no_other() -> None:
    good, wide = nr.AAR(), nr.AAR().fit(X[:5, :2], Y[:5])
    with pytest.raises(FeatureError):
        nr.parallel([wide, good], X, Y)
    assert good.n_samples_seen_ == 3000
    assert wide.n_samples_seen_ == 5


def test_mistakes() -> None:
    one = nr.AAR()
    with pytest.raises(InputError, match="twice"):
        nr.parallel([one, one], X, Y)
    with pytest.raises(InputError, match="has no replay"):
        nr.parallel([5], X, Y)
    with pytest.raises(InputError, match="threads"):
        nr.parallel([one], X, Y, threads=0)
