"""AutoClassifier: any two labels, a proof of its log loss, and figures that add up."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import noregret as nr
from noregret.errors import OutcomeError
from stored import CASES

GOLDEN = Path(__file__).parents[1] / "golden" / "v1"


def rounds(T: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(T, 3)) * [1.0, 1e3, 1e-3] + [0.0, 1e4, 0.0]
    score = X[:, 0] + (X[:, 1] - 1e4) / 1e3
    return X, (score + 0.5 * rng.normal(size=T) > 0.0).astype(int)


def test_figures_are_those_of_the_forecasts():
    X, y = rounds(400)
    model = nr.AutoClassifier()
    p = model.replay(X, y).forecast
    happened = np.where(y == 1, p, 1.0 - p)
    assert model.log_loss_ == pytest.approx(-np.log(happened).sum())
    assert model.brier_ == pytest.approx(((y - p) ** 2).sum())
    assert model.accuracy_ == pytest.approx(((p > 0.5) == y).mean())
    assert model.auc_ == pytest.approx(roc_auc_score(y, p), abs=2e-3)
    assert model.certificate().loss == pytest.approx(model.log_loss_)
    assert model.log_loss_ <= min(model.losses_.values()) + np.log(14) + 400 * 1.1e-3
    assert model.accuracy_ > 0.85


def test_certificates_hold_and_reach_the_best_regressor():
    X, y = rounds(300, 1)
    model = nr.AutoClassifier()
    model.replay(X, y)
    found = model.certificates()
    assert all(c.holds for c in found)
    assert any(c.name.startswith("the pool and") for c in found)


def test_the_loop_is_the_replay():
    X, y = rounds(120, 2)
    whole, single = nr.AutoClassifier(), nr.AutoClassifier()
    replay = whole.replay(X, y)
    said = []
    for x, label in zip(X, y.tolist()):
        said.append(single.predict_one(x))
        single.learn_one(x, label)
    assert said == replay.forecast.tolist()
    assert single.to_bytes() == whole.to_bytes()


def test_naive_experts_win_where_features_say_nothing():
    """Labels that come in runs: the last label is the forecast."""
    y = np.repeat(np.random.default_rng(3).integers(0, 2, 40), 25)
    X = np.random.default_rng(4).normal(size=(1000, 2))
    model = nr.AutoClassifier()
    model.replay(X, y)
    losses = model.losses_
    assert losses["last label"] < 0.3 * losses["base rate"]
    assert model.log_loss_ < losses["last label"] + 5.0


def test_words_are_labels_and_others_are_refused():
    X, y = rounds(50, 5)
    model = nr.AutoClassifier().fit(X, np.where(y, "yes", "no"))
    assert model.classes_.tolist() == ["no", "yes"]
    assert set(model.predict(X[:5])) <= {"no", "yes"}
    assert model.predict_proba(X[:5]).sum(axis=1) == pytest.approx(1.0)
    before = model.to_bytes()
    with pytest.raises(OutcomeError, match="the labels are 'no' and 'yes'"):
        model.learn_one(X[0], "maybe")
    assert model.to_bytes() == before
    assert not hasattr(model, "coef_")


def test_a_replay_prints_a_summary():
    X, y = rounds(60, 6)
    text = str(nr.AutoClassifier().replay(X, y))
    assert text.startswith("Replay of 60 rounds: mean loss 0.")
    assert "Fixed Share: holds" in text


def test_an_older_file_goes_on_with_its_eight_experts() -> None:
    """No tree, no stack, and the same words and weights as then."""
    model = nr.load(GOLDEN / "auto-for-labels.npz")
    assert len(model.weights_) == 8
    for t, x in enumerate(CASES["auto for labels"].xs(30)):
        model.predict_one(x)
        model.learn_one(x, t % 2)
    assert len(model.losses_) == 8
    assert "boosted trees" not in model.weights_
    assert all(c.holds for c in model.certificates())
    assert nr.from_bytes(model.to_bytes()).weights_ == model.weights_


def test_a_new_feature_has_been_0_all_along() -> None:
    X, y = rounds(80, 7)
    X[:40, 2] = 0.0
    known, late = nr.AutoClassifier(), nr.AutoClassifier()
    for t, (x, label) in enumerate(zip(X.tolist(), y.tolist())):
        row = dict(zip("abc", x))
        known.learn_one(row, label)
        late.learn_one(row if t >= 40 else {"a": x[0], "b": x[1]}, label)
    assert late.weights_ == known.weights_
    assert late.log_loss_ == known.log_loss_


def test_trees_win_where_no_line_can() -> None:
    X = np.random.default_rng(8).normal(size=(600, 2))
    y = (X[:, 0] * X[:, 1] > 0.0).astype(int)
    model = nr.AutoClassifier()
    p = model.replay(X, y).forecast
    assert ((p > 0.5) == y)[300:].mean() > 0.9
    losses = model.losses_
    assert losses["boosted trees"] < 0.7 * losses["base rate"]
    assert losses["Mondrian trees"] < 0.9 * losses["base rate"]
    assert all(c.holds for c in model.certificates())
    assert model.log_loss_ <= min(losses.values()) + np.log(14) + 600 * 1.1e-3


def test_a_refused_round_leaves_no_trace() -> None:
    X, y = rounds(40, 9)
    model = nr.AutoClassifier().fit(X, y)
    before = model.to_bytes()
    for x, label in [([1e200, 0.0, 0.0], 1), ([0.0, 0.0, 0.0], 2), ([np.nan, 0.0, 0.0], 0)]:
        with pytest.raises(nr.errors.NoRegretError):
            model.learn_one(x, label)
    assert model.to_bytes() == before


def test_trees_for_other_features_and_half_a_state_are_refused() -> None:
    X, y = rounds(30, 10)
    state = nr.AutoClassifier().fit(X, y)._state
    values = [getattr(state, f.of or f.name) for f in state.FIELDS]
    for place, other in ((8, None), (9, None), (9, state.boosted.extended(1))):
        changed = [*values[:place], other, *values[place + 1 :]]
        with pytest.raises(ValueError, match="has"):
            type(state).restored(*changed)
