"""What Auto's chain says, read word by word with plain NumPy; what its clipped experts pay."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import noregret as nr

GOLDEN = Path(__file__).parents[1] / "golden" / "v1"


def chains(auto: nr.Auto) -> list[nr.Certificate]:
    return [c for c in auto.certificates() if c.name.startswith("the pool and")]


def stream(seed: int, T: int = 120) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(T, 2)) * [3.0, 0.2] + [5.0, 0.0]
    return X, X @ [1.0, -4.0] + 7.0 + 0.3 * rng.normal(size=T)


def test_the_features_that_the_chain_speaks_of_are_stated_and_right() -> None:
    """It said min_w (sum (y - w'x)^2 + a|w|^2), which is another number for the user's own x."""
    X, y = stream(0)
    auto = nr.Auto(effort="linear").fit(X, y)
    (chain,) = chains(auto)
    assert "w'x" not in chain.statement
    assert "z = (30, x_1/c_1, x_2/c_2, ...)" in chain.statement
    a = float(re.search(r"a=([-+.e0-9]+)", chain.statement).group(1))
    units = np.array(list(auto.units_.values()))
    assert units.tolist() == np.abs(X[0]).tolist()
    Z = np.column_stack([np.full(len(y), 30.0), X / units])
    w = np.linalg.solve(a * np.eye(3) + Z.T @ Z, Z.T @ y)
    spoken_of = ((y - Z @ w) ** 2).sum() + a * w @ w
    own = np.linalg.solve(a * np.eye(2) + X.T @ X, X.T @ y)
    misread = ((y - X @ own) ** 2).sum() + a * own @ own
    assert chain.comparator == pytest.approx(spoken_of, rel=1e-2)  # a is printed with 3 digits
    assert abs(misread / spoken_of - 1.0) > 0.5


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_clipped_experts_have_a_bound_that_holds(seed: int, kernels: bool) -> None:
    X, y = stream(seed, 30)
    y[seed % 30] *= 50.0
    auto = nr.Auto(kernels=kernels, effort="linear").fit(X, y)
    for group in auto._state.cells:
        cells = group.certificates()
        said = {name: c for name, (c,) in cells}
        clipped = {n: c for n, c in said.items() if c.name == "clipped ridge, range seen"}
        assert len(clipped) == group.size
        for name, c in said.items():
            assert c.holds is True, c
            assert c.loss == pytest.approx(auto.losses_[name], rel=1e-9)


def test_the_clipped_bound_is_the_formula() -> None:
    X, y = stream(3, 40)
    auto = nr.Auto(effort="linear").fit(X, y)
    cells = dict(auto._state.cells[0].certificates())
    (c,) = cells["ridge a=0.1"]
    Z = np.column_stack([np.full(40, 30.0), X / np.abs(X[0])])
    A, b, lo, hi = 0.1 * np.eye(3), np.zeros(3), 0.0, 0.0
    V = price = over = loss = 0.0
    for z, v in zip(Z, y):
        m, d = z @ np.linalg.solve(A, b), 1.0 + z @ np.linalg.solve(A, z)
        g = min(max(m, lo), hi)
        V += (v - m) ** 2 / d
        price += (hi - lo) ** 2 * (1.0 - 1.0 / d)
        loss += (v - g) ** 2
        if not lo <= v <= hi:
            over += max((v - g) ** 2 - (v - m) ** 2 / d - (hi - lo) ** 2 * (1.0 - 1.0 / d), 0.0)
        lo, hi = (v, v) if not b.any() else (min(lo, v), max(hi, v))
        A, b = A + np.outer(z, z), b + v * z
    assert c.loss == pytest.approx(loss, rel=1e-6)
    assert c.bound == pytest.approx(V + price + over, rel=1e-6)
    assert c.comparator == pytest.approx(V, rel=1e-6)


def test_files_of_before_make_no_statement_about_their_clipped_experts() -> None:
    before = nr.load(GOLDEN / "auto.npz")
    names = list(before.units_)
    for t in range(30):
        before.learn_one({name: 1.0 + t % (3 + j) for j, name in enumerate(names)}, t % 7.0)
    found = [c.name for _, cs in before._state.cells[0].certificates() for c in cs]
    assert found
    assert "clipped ridge, range seen" not in found
    assert all(c.holds is not False for c in before.certificates())
