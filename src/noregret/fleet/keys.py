"""Keys: whatever column of them the caller holds, as whole numbers or as texts.

All keys of a fleet are of one kind.  What could be taken for another key later is refused: None and
NaN, True (which equals 1), 1.0 (which is not "1"), bytes, and texts that UTF-8 cannot hold.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import numpy as np

from noregret._native.fleet import Numbers, Texts, all_texts
from noregret.errors import InputError, abbreviated
from noregret.types import Integers

__all__ = ["Index", "Keys", "index_for", "key_error", "read_keys", "settled"]

Keys: TypeAlias = "Integers | list[str]"
LARGEST = 2**24 - 1  # bytes of a text


class Index(Protocol):
    """From keys of one kind to slots; Numbers and Texts of native/keys.hpp."""

    def find(self, keys: Any, /) -> Integers:
        """The slot of every key, -1 for one that is new."""
        ...

    def give(self, keys: Any, /) -> Integers:
        """The slot of every key; a new one is given the next that is free."""
        ...

    def keys(self, slots: Integers, /) -> Any:
        """The keys of slots."""
        ...

    def hashes(self, slots: Integers, /) -> Integers:
        """Their hashes, the same on every machine."""
        ...

    def drop(self, slots: Integers, /) -> None:
        """Forget the keys of slots."""
        ...

    def taken(self) -> Integers:
        """The slots that have a key."""
        ...

    def size(self) -> int:
        """How many keys there are."""
        ...

    def room(self) -> int:
        """Bytes of memory."""
        ...


def read_keys(keys: Any) -> Keys:
    """A column of keys, all of them whole numbers or all of them texts.

    >>> read_keys([3, 1, 3])
    array([3, 1, 3])
    >>> read_keys(["north", "south"])
    ['north', 'south']
    >>> read_keys([1, None])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    noregret.errors.InputError: row 1: key = None is no key: ...
    """
    if isinstance(keys, str | bytes):
        raise InputError(f"keys = {abbreviated(keys)}: give a list of keys, one per row of X")
    if hasattr(keys, "to_pylist"):  # Arrow, in one piece or in several
        keys = (
            keys.to_pylist() if keys.null_count or not _plain(str(keys.type)) else keys.to_numpy()
        )
    elif not isinstance(keys, np.ndarray | list | tuple) and hasattr(keys, "to_numpy"):
        keys = keys.to_numpy()
    if isinstance(keys, np.ndarray):
        if keys.ndim != 1:
            raise InputError(f"keys has shape {keys.shape}: give one key per row of X")
        if keys.dtype.kind in "iu" and (keys.dtype != np.uint64 or not (keys >> 63).any()):
            return np.require(keys, np.int64, ["C", "A"])
        keys = keys.tolist()
    listed = keys if type(keys) is list else _listed(keys)
    if listed and all_texts(listed):
        return listed
    if set(map(type, listed)) == {int} and all(-(2**63) <= key < 2**63 for key in listed):
        return np.array(listed, dtype=np.int64)
    return _one_by_one(listed)


def _plain(kind: str) -> bool:
    return kind.startswith(("int", "uint"))


def _listed(keys: Any) -> list[Any]:
    try:
        return list(keys)
    except TypeError:
        raise InputError(f"keys = {abbreviated(keys)}: give a list of keys, one per row") from None


def _unwritable(text: str) -> bool:
    return (not text.isascii() and any("\ud800" <= c <= "\udfff" for c in text)) or len(
        text
    ) > LARGEST


def _one_by_one(listed: list[Any]) -> Keys:
    """The keys, each looked at; the first that will not do is named."""
    texts = bool(listed) and isinstance(listed[0], str)
    found: list[Any] = []
    for t, key in enumerate(listed):
        if isinstance(key, np.integer):
            key = int(key)  # noqa: PLW2901  # the same number
        if isinstance(key, str):
            key = str(key)  # noqa: PLW2901  # without what a child of it adds
        if type(key) not in (str, int):
            raise key_error(
                t, key, "is no key: give texts or whole numbers, and leave out the rest"
            )
        if isinstance(key, str) != texts:
            raise key_error(t, key, f"but key 0 was {listed[0]!r}: give all texts, or all numbers")
        if texts and _unwritable(key):
            raise key_error(t, key, "is not a text that UTF-8 can hold in 16 MB")
        if not texts and not -(2**63) <= key < 2**63:
            raise key_error(t, key, "is beyond 64 bits: give it as a text")
        found.append(key)
    return found if texts else np.array(found, dtype=np.int64)


def key_error(t: int, key: object, why: str) -> InputError:
    """The refusal of one key."""
    return InputError(f"row {t}: key = {abbreviated(key)} {why}")


def index_for(keys: Keys) -> Index:
    """An empty index for keys of this kind."""
    return Texts() if isinstance(keys, list) else Numbers()


def settled(index: Index | None, keys: Keys) -> Index:
    """The index that keys of this kind go to: the one that there is, or a new one."""
    if index is None:
        return index_for(keys)
    if len(keys) and isinstance(keys, list) != isinstance(index, Texts):
        kind = "texts" if isinstance(index, Texts) else "whole numbers"
        raise key_error(0, keys[0], f"but this fleet's keys are {kind}: keep to that")
    return index
