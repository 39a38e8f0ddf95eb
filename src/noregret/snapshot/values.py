"""Plain values as JSON and back, exactly: numbers, text, containers, NumPy's scalars and arrays.

None, True, False, text, whole numbers and finite floats stand for themselves; all else is a list
that begins with its kind.  Anything that is not listed here is refused by name, when it is stored
and when it is read: nothing is looked up, imported or called.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from noregret.declare.fields import Mismatch, require_spread
from noregret.errors import SnapshotError
from noregret.inputs.values import abbreviated

__all__ = ["Decoder", "Encoder", "decoded", "encoded", "forged", "spread"]

DTYPES = re.compile(r"[<|](b1|[iu][1248]|f[248]|U\d{1,6}|S\d{1,6}|M8\[\w{1,8}\]|m8\[\w{1,8}\])")
DEPTH = 50  # of containers within containers

Encoder = Callable[[object, str], object]
Decoder = Callable[[object, str], object]


def forged(where: str, what: str) -> SnapshotError:
    """The error for contents that no learner of ours would have written."""
    where, what = (text if len(text) <= 500 else f"{text[:500]}..." for text in (where, what))
    return SnapshotError(f"the model file makes no sense: {where} {what}")


def _portable(dtype: Any) -> str | None:
    """The dtype as text, the same on every machine; None if it has none."""
    text = np.dtype(dtype).newbyteorder("<").str
    return text if DTYPES.fullmatch(text) else None


def encoded(value: Any, where: str, beyond: Encoder | None = None, depth: int = DEPTH) -> object:
    """The value as JSON; what is no plain value goes to `beyond`, or is refused.

    >>> encoded((1, -0.0, float("inf")), "x")
    ['tuple', 1, -0.0, ['float', '7ff0000000000000']]
    """
    if depth < 0:
        raise SnapshotError(f"{where} is nested too deeply to be stored, or contains itself")
    kind = type(value)
    if value is None or kind in (bool, int, str):
        return value
    if kind is float:
        return value if math.isfinite(value) else ["float", struct.pack(">d", value).hex()]
    if kind in (tuple, list):
        inner = [encoded(v, f"{where}[{k}]", beyond, depth - 1) for k, v in enumerate(value)]
        return [kind.__name__, *inner]
    if kind is dict:
        return [
            "dict",
            *(
                [
                    encoded(k, f"a key of {where}", beyond, depth - 1),
                    encoded(v, f"{where}[{k!r}]", beyond, depth - 1),
                ]
                for k, v in value.items()
            ),
        ]
    if kind is bytes:
        return ["bytes", value.hex()]
    if kind is Fraction:
        return ["fraction", value.numerator, value.denominator]
    if isinstance(value, np.generic) or kind is np.ndarray:
        dtype = _portable(value.dtype)
        if dtype is not None:
            data = np.asarray(value, dtype=dtype).tobytes().hex()
            shape = list(value.shape) if kind is np.ndarray else None
            return ["numpy", dtype, shape, data]
    if beyond is not None:
        return beyond(value, where)
    raise SnapshotError(
        f"{where} = {abbreviated(value)} cannot be stored ({kind.__name__}): numbers, text and "
        "containers of them can"
    )


def decoded(stored: Any, where: str, beyond: Decoder | None = None) -> object:
    """The value that `encoded` stored.

    >>> decoded(["tuple", 1, -0.0, ["float", "7ff0000000000000"]], "x")
    (1, -0.0, inf)
    """
    kind = type(stored)
    if stored is None or kind in (bool, int, str, float):
        return stored
    if kind is list and stored and type(stored[0]) is str:
        tag, *rest = stored
        reader = _READERS.get(tag)
        try:
            if tag in ("tuple", "list"):
                inner = [decoded(v, f"{where}[{k}]", beyond) for k, v in enumerate(rest)]
                return tuple(inner) if tag == "tuple" else inner
            if tag == "dict":
                pairs = [
                    (
                        decoded(k, f"a key of {where}", beyond),
                        decoded(v, f"{where}[{abbreviated(k)}]", beyond),
                    )
                    for k, v in rest
                ]
                spread(k for k, _ in pairs)
                found = dict(pairs)
                if len(found) != len(pairs):
                    raise forged(where, "has the same key twice")
                return found
            if reader is not None:
                return reader(*rest)
        except SnapshotError:
            raise
        except (TypeError, ValueError, OverflowError, ArithmeticError, struct.error) as wrong:
            raise forged(where, f"is no {tag}: {wrong}") from None
    if beyond is not None:
        return beyond(stored, where)
    raise forged(where, f"= {abbreviated(stored)} is no value")


def spread(keys: Iterable[object]) -> None:
    """Refuse names in a file that were made to have one hash; unhashable: TypeError."""
    try:
        require_spread(keys, "names")
    except Mismatch as wrong:
        raise forged("the file", str(wrong)) from None


def _float(bits: str) -> float:
    (value,) = struct.unpack(">d", bytes.fromhex(bits))
    return float(value)


def _fraction(above: object, below: object) -> Fraction:
    if type(above) is not int or type(below) is not int:
        raise TypeError("a fraction is of whole numbers")
    return Fraction(above, below)


def _numpy(dtype: object, shape: Any, data: str) -> object:
    if type(dtype) is not str or not DTYPES.fullmatch(dtype):
        raise TypeError(f"dtype {abbreviated(dtype)}")
    kind, raw = np.dtype(dtype), bytes.fromhex(data)
    sides = [] if shape is None else shape
    if not all(type(side) is int and 0 <= side <= 2**31 for side in sides):
        raise TypeError(f"shape {abbreviated(shape)}")
    if len(sides) > 8 or math.prod(sides) * kind.itemsize != len(raw):
        raise ValueError(f"shape {abbreviated(shape)} for {len(raw)} bytes")
    array = np.frombuffer(raw, dtype=kind).astype(kind.newbyteorder("=")).reshape(sides)
    return array[()] if shape is None else array


_READERS: dict[str, Callable[..., object]] = {
    "bytes": bytes.fromhex,
    "float": _float,
    "fraction": _fraction,
    "numpy": _numpy,
}
