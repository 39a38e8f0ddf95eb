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

Each message names the field, the value and the remedy.  What a caller's own code raises (a kernel,
a drift, an expert) comes out as one of these too, with the original as its `__cause__`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

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
    "abbreviated",
    "first_of",
    "in_one_line",
    "suggestion",
    "wrapping",
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


class wrapping:  # noqa: N801  # a context manager, used like a function
    """Let what the caller's own code raises out as an error of ours, its cause kept.

    >>> with wrapping("the kernel", FeatureError):
    ...     [][0]
    Traceback (most recent call last):
    noregret.errors.FeatureError: the kernel raised IndexError: list index out of range
    """

    __slots__ = ("error", "name", "what")

    def __init__(self, what: str, error: type[NoRegretError], name: object = None) -> None:
        self.what, self.error, self.name = what, error, name

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, raised: BaseException | None, trace: object) -> None:
        if isinstance(raised, Exception) and not isinstance(raised, NoRegretError):
            what = self.what if self.name is None else f"{self.what} {self.name!r}"
            text = " ".join(str(raised).split())
            text = text if len(text) <= 200 else text[:197] + "..."
            raise self.error(f"{what} raised {type(raised).__name__}: {text}") from raised


def abbreviated(value: object) -> str:
    """The value for a message: one line, and not a long one."""
    if isinstance(value, int) and value.bit_length() > 200:
        return f"{'-' if value < 0 else ''}10^{value.bit_length() * math.log10(2.0):.0f} or so"
    if isinstance(value, list | tuple | str | bytes) and len(value) > 1000:
        value = value[:1000]  # the rest would be cut off all the same
    try:
        whole = repr(value)
    except Exception:  # noqa: BLE001  # a fraction of 5000 digits, or a stranger's class
        whole = f"a {type(value).__name__}"
    text = " ".join(whole[:1000].split())
    return text if len(text) <= 60 and len(whole) <= 1000 else text[:57] + "..."


def in_one_line(text: str, most: int = 60) -> str:
    """A name as it is, if it is not long; else how it begins.

    >>> in_one_line("load"), in_one_line("a" * 100, most=10)
    ('load', 'aaaaaaa...')
    """
    text = " ".join(text.split()) if "\n" in text else text
    return text if len(text) <= most else text[: most - 3] + "..."


def first_of(names: Sequence[str], most: int = 4) -> str:
    """The first few names, each in one short line.

    >>> first_of(["load", "wind", "a" * 100], most=2)
    'load, wind, ...'
    """
    return ", ".join(map(in_one_line, names[:most])) + (", ..." if len(names) > most else "")


def suggestion(word: str, known: Iterable[str]) -> str:
    """The known word that was probably meant, as a question to append; nothing if none is close.

    >>> suggestion("Lod", ["load", "temperature"]), suggestion("x", ["load"])
    ("; did you mean 'load'?", '')
    """
    from difflib import get_close_matches

    folded, given = {name.casefold(): name for name in reversed(list(known))}, word.casefold()
    swapped = [name for name in folded if sorted(name) == sorted(given)]
    close = swapped or get_close_matches(given, folded, 1, 0.6)
    return f"; did you mean {abbreviated(folded[close[0]])}?" if close else ""
