"""Everything that noregret raises on purpose.

    NoRegretError
    ├── ParameterError     a constructor argument makes no sense        (also a ValueError)
    ├── InputError         a call was refused; the state did not change (also a ValueError)
    │   ├── FeatureError   ... because of x; FeatureTypeError where an entry is no number at all
    │   └── OutcomeError   ... because of y
    ├── SourceError        a file or a pipe could not be read           (also a ValueError)
    ├── NotLearnedError    asked for what only data can give            (also an AttributeError)
    ├── MergeError         two learners that cannot become one          (also a ValueError)
    ├── SnapshotError      a model file cannot be written or read       (also a ValueError)
    └── NumericalError     float64 cannot hold the result               (also an ArithmeticError)

Each message names the field, the value and the remedy.
"""

from __future__ import annotations

import math
from typing import Any

__all__ = [
    "FeatureError",
    "FeatureTypeError",
    "InputError",
    "MergeError",
    "NoRegretError",
    "NotLearnedError",
    "NumericalError",
    "OutcomeError",
    "ParameterError",
    "SnapshotError",
    "SourceError",
    "short",
]


class NoRegretError(Exception):
    """The root of every error that noregret raises on purpose."""


class ParameterError(NoRegretError, ValueError):
    """A constructor argument makes no sense."""


class InputError(NoRegretError, ValueError):
    """A call was refused and the state did not change."""


class FeatureError(InputError):
    """The features x were refused."""


class FeatureTypeError(FeatureError, TypeError):
    """An entry of the features x is no number at all."""


class OutcomeError(InputError):
    """The outcome y was refused."""


class SourceError(NoRegretError, ValueError):
    """A file, a pipe or a query could not be read; the message has the place."""


class NotLearnedError(NoRegretError, ValueError, AttributeError):
    """Something was asked for that exists only after learning."""


class MergeError(NoRegretError, ValueError):
    """Two learners cannot be merged exactly."""


class SnapshotError(NoRegretError, ValueError):
    """A learner cannot be stored, or a model file is damaged, forged or newer than this release."""


class NumericalError(NoRegretError, ArithmeticError):
    """A result does not fit in float64; the state did not change."""


def short(value: Any) -> str:
    """The value for a message: one line, and not a long one."""
    if isinstance(value, int) and value.bit_length() > 200:
        return f"{'-' if value < 0 else ''}10^{value.bit_length() * math.log10(2.0):.0f} or so"
    try:
        text = " ".join(repr(value).split())
    except Exception:  # noqa: BLE001  # a fraction of 5000 digits, or a stranger's class
        text = f"a {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."
