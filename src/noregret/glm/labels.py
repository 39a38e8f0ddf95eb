"""Labels of binary rounds: 0 and 1, or any two numbers or words."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from noregret.errors import OutcomeError
from noregret.inputs.values import abbreviated, warn_of_column
from noregret.types import Outcomes

__all__ = ["classes_of", "column", "label_of", "sign_of"]


def label_of(y: object) -> object:
    """A label as plain Python has it: a string, bytes or a number; None for all else."""
    if isinstance(y, np.generic | np.ndarray) and y.ndim == 0:
        y = y.item()
    if isinstance(y, str | bytes):
        return y
    if not isinstance(y, Real | Decimal):
        return None
    try:
        return y if math.isfinite(y) else None
    except (OverflowError, ValueError):  # beyond float64, or a signalling NaN
        return None


def sign_of(y: object, classes: tuple[object, object]) -> float:
    """+1 for the second class, -1 for the first."""
    label = label_of(y)
    if label is not None and (type(label) is not bool or classes == (0, 1)):
        for known, sign in zip(classes, (-1.0, 1.0)):
            if label == known:
                return sign
    raise OutcomeError(
        f"y = {abbreviated(y)}: the labels are {classes[0]!r} and {classes[1]!r}, give one"
    )


def column(y: Outcomes) -> list[object]:
    """The labels of many rounds, one per row."""
    if y is None:
        raise OutcomeError(
            "y is missing: every round needs its label; "
            "learning requires y to be passed, but the target y is None"
        )
    try:
        found = np.asarray(y, dtype=object if isinstance(y, list | tuple) else None)
    except ValueError as refusal:
        raise OutcomeError(f"y cannot be read as labels, one per row: {refusal}") from None
    if found.ndim == 2 and found.shape[1] == 1:
        warn_of_column()
        found = found[:, 0]
    if found.ndim != 1:
        raise OutcomeError(f"y has shape {found.shape}: give one label per row")
    if found.dtype.kind == "c":
        raise OutcomeError("y holds complex numbers. Complex data not supported: give labels")
    labels: list[object] = found.tolist()
    for t, label in enumerate(labels):
        if label_of(label) is None:
            raise OutcomeError(
                f"y[{t}] = {abbreviated(label)}: a label is a number or a word; "
                "leave out rows without one"
            )
    return labels


def classes_of(labels: Iterable[object], given: Outcomes) -> tuple[object, object]:
    """The two labels: 0 and 1, or those given, or the two that y has."""
    seen: set[Any] = {label_of(label) for label in (labels if given is None else column(given))}
    if seen <= {0, 1}:
        return (0, 1)
    words = {type(label) for label in seen} & {str, bytes}
    if words and len({type(label) for label in seen}) > 1:
        raise OutcomeError(f"y has the labels {some(seen)}: words and numbers at once; take one")
    found = sorted(seen)
    if any(not words and label != int(label) for label in found):
        raise OutcomeError(
            f"Unknown label type: y has {some(seen)}, and numbers that are not whole are no "
            "labels; forecast them with a regression learner"
        )
    if len(found) != 2:
        kind = "multiclass" if len(found) > 2 else "one class"
        raise OutcomeError(
            f"y has the labels {some(seen)}: two are needed, or classes=. "
            f"Only binary classification is supported. The type of the target is {kind}"
        )
    return (found[0], found[1])


def some(labels: set[object]) -> str:
    return ", ".join(repr(label) for label in sorted(labels, key=repr)[:5])
