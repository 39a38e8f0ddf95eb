"""Trees that count labels against every pruning written out, and what is proved of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from noregret._native import counting
from noregret._native.mondrian import GAIN, HEIGHT, LEFT, PAID, ROUNDS
from noregret.reference.mondrian import Cell, mondrian_labels, prunings

settings = st.fixed_dictionaries(
    {
        "trees": st.integers(1, 3),
        "price": st.sampled_from([0.05, 0.3, 2.0]),
        "prior_count": st.sampled_from([0.1, 0.5, 3.0]),
        "seed": st.sampled_from([0, 1, 12345]),
    }
)


def labelled(T: int, n: int = 3, seed: int = 0, *, coarse: bool = False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(T, n))
    X = np.round(X) if coarse else X
    return X, (np.sin(3.0 * X[:, 0]) + 0.5 * rng.normal(size=T) > 0.0).astype(float)


def twin(X, y, how, cap=10**9):
    given_ = {k: how[k] for k in ("trees", "price", "seed")}
    return mondrian_labels(X, y, a=how["prior_count"], cap=cap, **given_)


def arrays(learner):
    return learner._state.forest.arrays()


def depth(cell: Cell) -> int:
    return 1 + max((depth(c) for c in cell.children()), default=-1)


@given(st.integers(0, 10**6), st.integers(1, 10), st.booleans(), settings)
def test_forecasts_and_bounds_are_those_of_every_pruning_written_out(seed, T, coarse, how) -> None:
    X, y = labelled(T, 2, seed, coarse=coarse)
    p, trees, mixes = twin(X, y, how)
    learner = nr.MondrianClassifier(**how)
    np.testing.assert_allclose(_run(learner, X, y), p, rtol=1e-9)
    assert learner.nodes_ == sum(tree.size for tree in trees)
    best, mixture, telescoping = learner.certificates()
    exact = {"rtol": 1e-9, "atol": 1e-9}
    np.testing.assert_allclose(best.bound, np.mean([t.best(1.0, y) for t in trees]), **exact)
    np.testing.assert_allclose(mixture.bound, np.mean([t.evidence(1.0, y) for t in trees]), **exact)
    np.testing.assert_allclose(telescoping.loss, mixes.mean(axis=1).sum(), **exact)
    assert all(c.holds for c in (best, mixture, telescoping))


def _run(learner, X, y) -> list[float]:
    said = []
    for x, label in zip(X, y.tolist()):
        said.append(learner.predict_one(x))
        learner.learn_one(x, int(label))
    return said


def test_brute_force_over_all_prunings_of_trees_up_to_depth_4() -> None:
    """Enough small trees that some have every depth from 0 to 4."""
    found = set()
    for seed in range(30):
        how = {"trees": 1, "price": 0.4, "prior_count": 0.5, "seed": seed}
        X, y = labelled(2 + seed % 9, 2, seed)
        _, (tree,), _ = twin(X, y, how)
        deep = depth(tree.root)
        if deep > 4:
            continue
        found.add(deep)
        learner = nr.MondrianClassifier(**how)
        _run(learner, X, y)
        every = prunings(tree.root, 0.4)
        losses = [sum(tree._lost(c, y) for c in P) for P, _ in every]
        prior = [w for _, w in every]
        assert math.fsum(map(math.exp, prior)) == pytest.approx(1.0, rel=1e-12)
        wanted = -math.log(math.fsum(math.exp(w - L) for w, L in zip(prior, losses)))
        best, mixture, telescoping = learner.certificates()
        assert mixture.bound == pytest.approx(wanted, rel=1e-9)
        assert telescoping.loss == pytest.approx(wanted, rel=1e-9)
        assert best.bound == pytest.approx(min(L - w for w, L in zip(prior, losses)), rel=1e-9)
        assert best.comparator in [pytest.approx(L, rel=1e-9) for L in losses]
        assert learner.log_loss_ <= best.bound + 1e-9
    assert found >= {1, 2, 3, 4}


@given(st.integers(0, 10**6), settings, st.sampled_from([6, 30, 1000]), st.booleans())
def test_every_certificate_holds(seed, how, cap, coarse) -> None:
    X, y = labelled(60, 3, seed, coarse=coarse)
    learner = nr.MondrianClassifier(max_nodes=cap, **how)
    p = _run(learner, X, y)
    assert learner.log_loss_ == pytest.approx(-np.log(np.where(y == 1, p, 1 - np.array(p))).sum())
    for certificate in learner.certificates():
        assert certificate.holds, str(certificate)
    assert learner.nodes_ <= max(cap, how["trees"])


def test_one_by_one_is_the_replay_and_asking_changes_nothing() -> None:
    X, y = labelled(150)
    labels = y.astype(int)
    whole, single = nr.MondrianClassifier(seed=3), nr.MondrianClassifier(seed=3)
    said = whole.replay(X, labels).forecast
    for x, label, wanted in zip(X, labels.tolist(), said):
        for other in X[:3]:
            single.predict_one(other)
        assert single.predict_one(x) == wanted
        single.learn_one(list(x), label)
    for mine, theirs in zip(arrays(single), arrays(whole)):
        np.testing.assert_array_equal(mine, theirs)
    assert single.to_bytes() == whole.to_bytes()
    again = nr.from_bytes(single.to_bytes())
    assert again.predict_one(X[0]) == single.predict_one(X[0])


def test_words_are_labels() -> None:
    X, y = labelled(60)
    words = np.where(y == 1, "yes", "no")
    model = nr.MondrianClassifier().fit(X, words)
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.predict_proba(X[:4])[:, 1].tolist() == [model.predict_one(x) for x in X[:4]]
    before = model.to_bytes()
    with pytest.raises(nr.errors.OutcomeError):
        model.learn_one(X[0], 1)
    assert model.to_bytes() == before
    assert not hasattr(model, "coef_")
    model.learn_one(X[0], "yes")
    assert model.n_samples_seen_ == 61


def test_a_new_feature_has_been_0_all_along() -> None:
    X, y = labelled(60)
    X[:30, 2] = 0.0
    known, late = nr.MondrianClassifier(), nr.MondrianClassifier()
    for t, (x, v) in enumerate(zip(X.tolist(), y.astype(int).tolist())):
        row = dict(zip("abc", x))
        known.learn_one(row, v)
        late.learn_one(row if t >= 30 else {"a": x[0], "b": x[1]}, v)
    for mine, theirs in zip(arrays(late), arrays(known)):
        np.testing.assert_array_equal(mine, theirs)


def test_full_trees_go_on_learning_in_constant_memory() -> None:
    X, y = labelled(400)
    learner = nr.MondrianClassifier(trees=3, max_nodes=40)
    learner.replay(X[:200], y[:200].astype(int))
    nodes = learner.nodes_
    learner.replay(X[200:], y[200:].astype(int))
    assert learner.nodes_ == nodes <= 40
    assert arrays(learner)[0][:3, ROUNDS].tolist() == [400.0] * 3


def test_units_do_not_matter() -> None:
    """A power of 2 changes no bit."""
    X, y = labelled(100)
    plain = _run(nr.MondrianClassifier(), X, y)
    assert _run(nr.MondrianClassifier(), X * [2.0**-9, 1.0, 2.0**7], y) == plain


def test_features_that_tell_labels_apart_are_cut_more_often() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 10))
    learner = nr.MondrianClassifier().fit(X, (X[:, 4] > 0.0).astype(int))
    nodes = arrays(learner)[0]
    cuts = nodes[nodes[:, LEFT] > 0.0, 2]
    assert (cuts == 4).mean() > 0.5


def test_a_state_that_is_not_what_was_booked_fails() -> None:
    X, y = labelled(100)
    learner = nr.MondrianClassifier().fit(X, y.astype(int))
    state = learner._state
    nodes, *others = state.forest.arrays()
    nodes[0, PAID] *= 0.5
    state.forest = state.growth.forest(3, nodes, *others)
    assert learner.certificate().holds is False


@pytest.mark.parametrize(
    ("column", "value"),
    [
        (LEFT, 0.0),
        (LEFT, 1.5),
        (HEIGHT, 70.0),
        (GAIN, math.nan),
        (counting.YES, -1.0),
        (counting.START, 1.0),
    ],
)
def test_nodes_that_are_no_trees_are_refused(column: int, value: float) -> None:
    X, y = labelled(40)
    state = nr.MondrianClassifier().fit(X, y.astype(int))._state
    values = list(state.stored())
    values[3] = values[3].copy()
    values[3][0, column] = value
    with pytest.raises(ValueError, match="has"):
        type(state).restored(*values)


def test_numbers_that_do_not_fit_are_refused_and_leave_no_trace() -> None:
    X, y = labelled(30)
    learner = nr.MondrianClassifier().fit(X, y.astype(int))
    before = learner.to_bytes()
    for x, v in [([1e200, 0.0, 0.0], 1), ([0.0, 0.0, 0.0], 2), ([math.nan, 0.0, 0.0], 0)]:
        with pytest.raises(nr.errors.NoRegretError):
            learner.learn_one(x, v)
    assert learner.to_bytes() == before
