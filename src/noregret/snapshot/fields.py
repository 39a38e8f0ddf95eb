"""Objects by their declared fields: one way to write and one to read, for every kind."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.declare.fields import (
    AnyLearner,
    Array,
    Count,
    Field,
    Group,
    Groups,
    Labels,
    Mismatch,
    Part,
    Parts,
    Points,
    Real,
    Records,
    Special,
    Truth,
    Value,
    Word,
)
from noregret.kernels import chosen_in, kernel_of
from noregret.snapshot.values import spread

if TYPE_CHECKING:
    from noregret.snapshot.kinds import Fields, Writer

__all__ = [
    "read_fields",
    "read_kernel",
    "read_learner",
    "write_fields",
    "write_kernel",
    "write_learner",
]


def values_of(thing: Any) -> list[object]:
    """The values of an object's fields, in order."""
    if hasattr(thing, "stored"):
        return list(thing.stored())
    return [getattr(thing, field.of or field.name) for field in thing.FIELDS]  # each of one slot


def write_fields(w: Writer, thing: Any) -> dict[str, object]:
    """The fields of an object, as JSON has them; its numbers go to the writer in that order."""
    values = values_of(thing)
    return {
        field.name: _write(w, field, value)
        for field, value in zip(thing.FIELDS, values, strict=True)
        if value is not None or not field.later
    }


def _write(w: Writer, field: object, value: Any) -> object:
    if isinstance(field, Array):
        return None if value is None else w.numbers(value)
    if isinstance(field, Part):
        return w.thing(value)
    if isinstance(field, Parts):
        return [w.thing(one) for one in value]
    if isinstance(field, Group):
        return write_fields(w, value)
    if isinstance(field, Groups):
        return [write_fields(w, one) for one in value]
    if isinstance(field, Value):
        return w.value(value, field.called or field.name)
    if isinstance(field, Labels):
        return ["list", *(w.value(label, f"{field.called} {label!r}") for label in value)]
    if isinstance(field, Points):
        if isinstance(value, np.ndarray) and len(value):
            return {"as": "vectors", "points": w.numbers(value)}
        listed = [w.value(x, f"input {t}") for t, x in enumerate(value)]
        return {"as": "objects", "points": listed}
    if isinstance(field, AnyLearner):
        return w.value(value, field.name)
    if isinstance(field, Records):
        return [[w.value(v, name) for name, v in zip(field.called, one)] for one in value]
    if isinstance(field, Special):
        return field.form.write(w, value)
    return value  # numbers, flags and words as they are


def read_fields(f: Fields, type_: Any) -> object:
    """The object of a type whose fields these are, every one checked."""
    sizes: dict[str, int] = {}
    values = [_read(f, field, sizes) for field in type_.FIELDS]
    f.done()
    make = getattr(type_, "restored", type_)
    try:
        return make(*values)
    except Mismatch as wrong:
        raise f.wrong(str(wrong)) from None


def _read(f: Fields, field: Field, sizes: dict[str, int]) -> object:
    if field.later and not f.has(field.name):  # type: ignore[attr-defined]  # every field has one
        return None
    if isinstance(field, Array):
        return _numbers(f, field, sizes)
    if isinstance(field, Part):
        part = f.part(field.name, field.kinds, optional=field.optional)
        if field.size is not None and part is not None:
            sizes[field.size] = int(part.size)
        return part
    if isinstance(field, Parts):
        return f.parts(field.name, field.kinds)
    if isinstance(field, Group):
        return read_fields(f.inner(field.name), field.type_)
    if isinstance(field, Groups):
        return [read_fields(inner, field.type_) for inner in f.inners(field.name)]
    if isinstance(field, Count):
        most = math.isqrt(f.reader.left) if field.squared else field.high
        return f.whole(field.name, field.low, min(field.high, most))
    if isinstance(field, Real):
        return f.number(field.name, field.low, field.high)
    if isinstance(field, Truth):
        return f.flag(field.name)
    if isinstance(field, Word):
        return f.text(field.name, field.choices)
    if isinstance(field, Value):
        return f.value(field.name)
    if isinstance(field, Labels):
        return _labels(f, field.name)
    if isinstance(field, Points):
        return _points(f, field.name)
    if isinstance(field, AnyLearner):
        return f.learner(field.name, optional=field.optional)
    if isinstance(field, Records):
        return f.records(field.name, len(field.called))
    assert isinstance(field, Special)
    return field.form.read(f, field.name)


def _numbers(f: Fields, field: Array, sizes: dict[str, int]) -> object:
    """An array whose lettered sides agree with all others of the same letter."""
    if field.optional and f.absent(field.name):
        return None
    found = f.shape(field.name, len(field.shape))
    for side, length in zip(field.shape, found):
        due = side if isinstance(side, int) else sizes.setdefault(side, length)
        if length != due:
            raise f.wrong(f"has {field.name} of shape {list(found)}, where {side} is {due}")
    return f.numbers(field.name, *found, finite=field.finite)


def _labels(f: Fields, name: str) -> list[object]:
    """A list of names that a dictionary takes, and takes fast."""
    labels = f.value(name)
    if type(labels) is not list:
        raise f.wrong("has no list of names")
    try:
        spread(labels)
        distinct = len(set(labels)) == len(labels)
    except TypeError as unhashable:
        raise f.wrong(f"has a name that cannot be one: {unhashable}") from None
    if not distinct:
        raise f.wrong("has a name twice")
    return labels


def _points(f: Fields, name: str) -> object:
    """A matrix, or a list of objects; whether it fits its space is for the caller to see."""
    inner = f.inner(name)
    if inner.text("as", ("vectors", "objects")) == "vectors":
        points = inner.numbers("points", *inner.shape("points", 2))
        inner.done()
        return points
    listed, where = inner.kept("points")
    inner.done()
    if type(listed) is not list:
        raise f.wrong("has no list of inputs")
    return [f.reader.value(x, f"{where}[{t}]") for t, x in enumerate(listed)]


# scikit-learn's kernels: their parameters


def write_kernel(w: Writer, kernel: object) -> dict[str, object]:
    """A kernel of scikit-learn: its parameters."""
    return {"parameters": {name: w.value(v, name) for name, v in chosen_in(kernel).items()}}


def read_kernel(f: Fields, type_: Any) -> object:
    """A kernel of scikit-learn with its parameters, each checked."""
    chosen = f.values("parameters")
    f.done()
    try:
        return kernel_of(type_, chosen)
    except Mismatch as wrong:
        raise f.wrong(str(wrong)) from None


# Learners: parameters as the user gave them, and the state, which may have been learned with others


def write_learner(w: Writer, one: Any) -> dict[str, object]:
    """A learner: its parameters and its state."""
    with one._lock:
        given = {name: getattr(one, name) for name in parameters_of(type(one))}
        plain = one.LATER.items()
        later = {name for name, default in plain if _same(given[name], default)}
        chosen = {name: w.value(v, name) for name, v in given.items() if name not in later}
        beside = {name: w.value(getattr(one, f"_{name}"), name) for name in one.BESIDE}
        return {"parameters": chosen, "state": _write_state(w, one.STATE, one._state)} | beside


def _same(value: object, default: object) -> bool:
    """Whether a parameter is its default: the very object, or an equal text."""
    return value is default or (isinstance(value, str) and value == default)


def _write_state(w: Writer, declared: Part | Group, state: object) -> object:
    if state is None:
        return None
    if isinstance(declared, Group):
        return write_fields(w, state)
    return {declared.name: w.thing(state)}


def read_learner(f: Fields, type_: Any) -> object:
    """A learner with its parameters, which are checked when they are used."""
    chosen = f.values("parameters")
    if set(chosen) | set(type_.LATER) != set(parameters_of(type_)):
        raise f.wrong(f"has the parameters {', '.join(sorted(chosen))}")
    one, inner = type_(**(dict(type_.LATER) | chosen)), f.optional("state")
    beside = {name: f.value(name) for name in type_.BESIDE}
    f.done()
    if inner is None:
        return one
    declared = type_.STATE
    if isinstance(declared, Group):
        state = read_fields(inner, declared.type_)
    else:
        state = inner.part(declared.name, declared.kinds)
        inner.done()
    try:
        one._accept(state, **beside)
    except Mismatch as wrong:
        raise inner.wrong(str(wrong)) from None
    return one


def parameters_of(type_: Any) -> list[str]:
    """The names of a learner's parameters; scikit-learn would look them up each time."""
    if type_ not in _PARAMETERS:
        _PARAMETERS[type_] = list(type_._get_param_names())
    return _PARAMETERS[type_]


_PARAMETERS: dict[object, list[str]] = {}
