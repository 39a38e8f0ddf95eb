"""Boosted trees on a window: what they fit, that they forget, and that files keep them."""

from __future__ import annotations

import numpy as np
import pytest

from noregret._native.boosting import COLUMNS
from noregret.experts.boosted import LABELS, Boosted

TREES, WINDOW = LABELS.trees, LABELS.window


def ran(X: np.ndarray, signs: np.ndarray, trees: Boosted | None = None) -> tuple[Boosted, list]:
    trees, said = trees or Boosted.start(X.shape[1]), []
    for x, sign in zip(X, signs.tolist()):
        said.append(trees.log_odds(x))
        trees.learn(x, sign)
    return trees, said


def checkers(T: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(seed).normal(size=(T, 3))
    return X, np.where(X[:, 0] * X[:, 1] > 0.0, 1.0, -1.0)


def test_a_first_fit_is_newtons_step_on_the_best_cut() -> None:
    """One feature, one cut: every leaf's value by hand, tree after tree."""
    x = np.repeat([0.0, 1.0], 8)[:, None]
    signs = np.array([-1.0] * 7 + [1.0] + [1.0] * 8)
    trees, _ = ran(x, signs)
    score = np.full(16, np.log(9.5) - np.log(7.5))
    for _ in range(TREES):
        p = 1.0 / (1.0 + np.exp(-score))
        for side in (slice(8), slice(8, 16)):
            g, h = (p - (signs > 0.0))[side].sum(), (p * (1.0 - p))[side].sum()
            score[side] -= 0.1 * g / (h + 1.0)
    assert trees.log_odds(np.array([0.0])) == pytest.approx(score[0], rel=1e-12)
    assert trees.log_odds(np.array([1.0])) == pytest.approx(score[-1], rel=1e-12)
    assert trees.log_odds(np.array([0.4])) == trees.log_odds(np.array([-5.0]))


def test_they_learn_what_no_line_can() -> None:
    X, signs = checkers(800)
    _, said = ran(X, signs)
    assert (np.sign(said[400:]) == signs[400:]).mean() > 0.9
    assert said[:16] == [0.0] * 16


def test_the_window_is_all_they_know_and_memory_is_constant() -> None:
    T = WINDOW + 500
    X, signs = checkers(T)
    late, _ = ran(X, signs)
    rows, labels, _, since = late.stored()
    np.testing.assert_array_equal(rows, X[-WINDOW:])
    np.testing.assert_array_equal(labels, signs[-WINDOW:])
    assert since < 0.1 * WINDOW


def test_copies_files_and_new_features() -> None:
    X, signs = checkers(200)
    trees, _ = ran(X[:100], signs[:100])
    again = Boosted.restored(*trees.stored())
    other = trees.copy()
    more = trees.extended(1)
    wide = np.column_stack([X, np.zeros(200)])
    _, wanted = ran(X[100:], signs[100:], trees)
    assert ran(X[100:], signs[100:], again)[1] == wanted
    assert ran(X[100:], signs[100:], other)[1] == wanted
    assert ran(wide[100:], signs[100:], more)[1] == wanted


@pytest.mark.parametrize(("column", "value"), [(0, 3.0), (0, 0.5), (2, 1e9), (2, 0.0), (2, 101.5)])
def test_nodes_that_are_no_trees_are_refused(column: int, value: float) -> None:
    X, signs = checkers(100)
    rows, labels, nodes, since = ran(X, signs)[0].stored()
    assert nodes.shape[1] == COLUMNS
    assert nodes[0, 0] >= 0.0
    nodes[0, column] = value
    with pytest.raises(ValueError, match="no trees"):
        Boosted.restored(rows, labels, nodes, since)
    nodes[0, :3] = -1.0, 0.0, 0.0
    inner = int(np.flatnonzero(nodes[TREES:, 0] >= 0.0)[0]) + TREES
    kept, nodes[inner, 2] = nodes[inner, 2], float(inner)  # its own child
    with pytest.raises(ValueError, match="no trees"):
        Boosted.restored(rows, labels, nodes, since)
    nodes[inner, 2] = kept
    with pytest.raises(ValueError, match="none"):
        Boosted.restored(rows, 2.0 * labels, nodes, since)
