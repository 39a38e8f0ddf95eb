"""Plain values of model files: what no encoder would have written is refused, by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from noregret.errors import SnapshotError
from noregret.snapshot.values import DEPTH, decoded, encoded


def test_values_may_be_nested_so_deeply_and_no_deeper() -> None:
    value: Any = 1
    for _ in range(DEPTH):
        value = [value]
    assert decoded(encoded(value, "x"), "x") == value
    with pytest.raises(SnapshotError, match="nested too deeply"):
        encoded([value], "x")


def test_what_contains_itself_is_refused() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(SnapshotError, match="or contains itself"):
        encoded(value, "x")


@pytest.mark.parametrize("order", ["<", ">"])
def test_numbers_are_stored_alike_on_every_machine(order: str) -> None:
    stored = encoded(np.array([1.5, -2.0], dtype=f"{order}f8"), "x")
    assert stored == ["numpy", "<f8", [2], "000000000000f83f00000000000000c0"]
    assert decoded(stored, "x").tolist() == [1.5, -2.0]


@pytest.mark.parametrize(
    ("stored", "why"),
    [
        (["dict", ["a", 1], ["a", 2]], "has the same key twice"),
        (["fraction", 1.0, 2], "a fraction is of whole numbers"),
        (["fraction", "1/2", None], "a fraction is of whole numbers"),
        (["numpy", "<f8", [2], "000000000000f83f"], r"shape \[2\] for 8 bytes"),
        (["numpy", "<f8", [-1], "000000000000f83f"], r"shape \[-1\]$"),
        (["numpy", "<f8", [-1, -1], "000000000000f83f"], r"shape \[-1, -1\]$"),
        (["numpy", "<f8", [-1, 0], ""], r"shape \[-1, 0\]$"),
        (["numpy", "<f8", [True], "000000000000f83f"], r"shape \[True\]"),
        (["numpy", "<f8", [1] * 9, "000000000000f83f"], "for 8 bytes"),
        (["numpy", ">f8", [1], "3ff8000000000000"], "dtype '>f8'"),
        (["numpy", "|O", [1], "000000000000f83f"], "dtype '|O'"),
        (["numpy", "f8,f8", [1], "00" * 16], "dtype 'f8,f8'"),
        (["float", "7ff0"], "is no float"),
        (["bytes", "0"], "is no bytes"),
        (["set", 1], "is no value"),
        ([], "is no value"),
    ],
)
def test_forged_values_are_refused(stored: Any, why: str) -> None:
    with pytest.raises(SnapshotError, match=why):
        decoded(stored, "the parameter")
