"""Triangles in pieces: the same as LAPACK's, at every size around the pieces and on odd scales."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg

from noregret._native import dual
from noregret.numerics import triangles

SIZES = [1, 2, 63, 64, 65, 129]


def lower(n: int, seed: int = 0) -> np.ndarray:
    """A well conditioned triangle, with what must not be read above it."""
    rng = np.random.default_rng(seed)
    L = rng.normal(size=(n, n)) / np.sqrt(n)
    L[np.diag_indices(n)] = 1.0 + rng.uniform(size=n)
    return L


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("columns", [1, 5])
@pytest.mark.parametrize("turned", [False, True])
def test_solving(n, columns, turned):
    L, B = lower(n), np.random.default_rng(n).normal(size=(n, columns))
    B.flags.writeable = False
    L = np.asfortranarray(L) if turned else L
    found = triangles.solve_lower(L, B)
    np.testing.assert_allclose(found, linalg.solve_triangular(L, B, lower=True), rtol=1e-10)
    found = triangles.solve_upper(L, B)
    np.testing.assert_allclose(found, linalg.solve_triangular(L, B), rtol=1e-10)


@pytest.mark.parametrize("n", SIZES)
def test_a_factor(n):
    L = np.tril(lower(n))
    A = L @ L.T
    A[np.triu_indices(n, 1)] = np.nan  # not read
    assert triangles.factor(A) == -1
    np.testing.assert_allclose(A, L, rtol=1e-9, atol=1e-12)
    assert (np.triu(A, 1) == 0.0).all()


@pytest.mark.parametrize("bad", [0, 3, 63, 64, 100])
@pytest.mark.parametrize("value", [-1e3, np.nan, np.inf])
def test_the_first_bad_pivot_is_told(bad, value):
    L = np.tril(lower(129))
    A = L @ L.T
    A[bad, bad] = value
    assert triangles.factor(A) == bad


@pytest.mark.parametrize("n", [1, 31, 32, 33, 70])
@pytest.mark.parametrize("rows", [1, 8, 40])
@pytest.mark.parametrize("scale", [1e-170, 1.0, 1e150])
def test_rows_reflected_into_a_triangle(n, rows, scale):
    rng = np.random.default_rng(n + rows)
    R, z = np.triu(rng.normal(size=(n, n))), rng.normal(size=(n, 2))
    X, y = rng.normal(size=(rows, n)), rng.normal(size=(rows, 2))
    top, columns = np.hstack([R * scale, z]), np.hstack([X * scale, y]).T.copy()
    triangles.absorb_rows(top, columns, 32)
    right, reflectors, T, _ = linalg.lapack.dtpqrt(0, min(32, n), R, X)
    turned, left, _ = linalg.lapack.dtpmqrt(0, reflectors, T, z, y, trans="T")
    close = {"rtol": 1e-9, "atol": 1e-11}
    np.testing.assert_allclose(np.triu(top[:, :n]) / scale, np.triu(right), **close)
    np.testing.assert_allclose(top[:, n:], turned, **close)
    np.testing.assert_allclose(columns[n:].T, left, **close)


def test_a_column_of_zeros_is_left_alone():
    top, columns = np.array([[0.0, 2.0]]), np.array([[0.0], [3.0]])
    triangles.absorb_rows(top, columns, 32)
    assert (top.tolist(), columns[1:].tolist()) == ([[0.0, 2.0]], [[3.0]])


@pytest.mark.parametrize("t", [1, 2, 9, 40])
def test_packed_triangles(t):
    L = np.tril(lower(t))
    packed = np.concatenate([L[np.tril_indices(t)], [np.nan]])  # room to grow
    full = np.empty((t, t))
    dual.unpack(packed, full)
    assert np.array_equal(full, L)
    side = np.random.default_rng(t).normal(size=t)
    right = linalg.solve_triangular(L, side, lower=True)
    dual.solve(packed, side)
    np.testing.assert_allclose(side, right, rtol=1e-10)
