"""The text of a learner, as scikit-learn has it: its name and the parameters that are not defaults.

One line where it fits, else lines filled up to WIDTH; long lists and long texts are cut.
"""

from __future__ import annotations

import inspect
import re

from noregret.learner.estimator import Estimator

__all__ = ["shown"]

WIDTH = 80
ITEMS = 30  # of one list
LETTERS = 700  # blanks not counted
Around = tuple[int, ...]
"""The objects around one, which it must not show again."""


def shown(learner: Estimator) -> str:
    """The text of a learner."""
    text = _laid_out(learner, 0, 0, ())
    if len("".join(text.split())) <= LETTERS:
        return text
    half = rf"(\s*\S){{{LETTERS // 2}}}"
    first, last = re.match(half, text), re.match(half, text[::-1])
    assert first is not None  # there are more letters than that
    assert last is not None
    start, end = first.end(), len(text) - last.end()
    if "\n" in text[start:end]:
        end = text.rindex("\n", start, end)
    return f"{text[:start]}...{text[end:]}" if start + 3 < end else text


def _changed(learner: Estimator) -> dict[str, object]:
    """The parameters that are not the defaults, sorted by name."""
    defaults = {n: p.default for n, p in inspect.signature(type(learner)).parameters.items()}
    return {
        name: value
        for name, value in sorted(learner.get_params(deep=False).items())
        if name not in defaults
        or (isinstance(value, Estimator) and type(value) is not type(defaults[name]))
        or repr(value) != repr(defaults[name])
    }


def _items(value: object) -> tuple[str, list[tuple[str, object]], str] | None:
    """What stands before, between and after: None if the value is no learner and no collection."""
    if isinstance(value, Estimator):
        named = [(f"{name}=", held) for name, held in _changed(value).items()]
        return f"{type(value).__name__}(", named, ")"
    if type(value) is dict:
        return "{", [(f"{key!r}: ", held) for key, held in value.items()], "}"
    if type(value) in (list, tuple):
        end = ",)" if type(value) is tuple and len(value) == 1 else ")"
        listed: list[tuple[str, object]] = [("", held) for held in value]  # type: ignore[attr-defined]
        return ("[", listed, "]") if type(value) is list else ("(", listed, end)
    return None


def _flat(value: object, around: Around) -> str:
    """The text on one line."""
    if id(value) in around:
        return f"<Recursion on {type(value).__name__} with id={id(value)}>"
    found = _items(value)
    if found is None:
        return repr(value)
    start, items, end = found
    inside = (*around, id(value))
    return start + ", ".join(name + _flat(held, inside) for name, held in items) + end


def _laid_out(value: object, indent: int, after: int, around: Around) -> str:
    """The text from column `indent` on, with room for `after` letters behind it."""
    whole = _flat(value, around)
    found = None if len(whole) <= WIDTH - indent - after else _items(value)
    if found is None or id(value) in around:
        return whole
    start, items, end = found
    inside, indent = (*around, id(value)), indent + len(start)
    full = WIDTH - indent + 1
    room, text, between = full, start, ""
    for i, (name, held) in enumerate(items):
        if i == ITEMS:
            text += ", ..."
            break
        last = i == len(items) - 1
        if last:
            full, room = full - after - len(end), room - after - len(end)
        one = name + _flat(held, inside)
        size = len(one) + 2
        if room < size:
            room, between = full, between and ",\n" + " " * indent
        text += between
        if room >= size:
            room, between = room - size, ", "
            text += one
        else:
            behind = after + len(end) if last else 1
            text += name + _laid_out(held, indent + len(name), behind, inside)
            between = ",\n" + " " * indent
    return text + end
