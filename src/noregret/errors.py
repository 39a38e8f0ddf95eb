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
