"""Objects by their declared fields: one way to write and one to read, for every kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from noregret.learner.fields import (
    Array,
    Count,
    Field,
    Group,
    Mismatch,
    Part,
    Parts,
    Real,
    Special,
    Truth,
    Value,
    Word,
)

if TYPE_CHECKING:
    from noregret.snapshot.kinds import Fields, Writer

__all__ = ["read_fields", "read_learner", "write_fields", "write_learner"]


def values_of(thing: Any) -> list[Any]:
    """The values of an object's fields, in order."""
    if hasattr(thing, "stored"):
        return list(thing.stored())
    return [getattr(thing, field.of or field.name) for field in thing.FIELDS]  # each of one slot


def write_fields(w: Writer, thing: Any) -> dict[str, Any]:
    """The fields of an object, as JSON has them; its numbers go to the writer in that order."""
    values = values_of(thing)
    return {
        field.name: _write(w, field, value)
        for field, value in zip(thing.FIELDS, values, strict=True)
    }


def _write(w: Writer, field: Any, value: Any) -> Any:
    if isinstance(field, Array):
        return None if value is None else w.numbers(value)
    if isinstance(field, Part):
        return w.thing(value)
    if isinstance(field, Parts):
        return [w.thing(one) for one in value]
    if isinstance(field, Group):
        return write_fields(w, value)
    if isinstance(field, Value):
        return w.value(value, field.called or field.name)
    if isinstance(field, Special):
        form: Any = field.form
        return form.write(w, value)
    return value  # numbers, flags and words as they are


def read_fields(f: Fields, type_: Any) -> Any:
    """The object of a type whose fields these are, every one checked."""
    sizes: dict[str, int] = {}
    values = [_read(f, field, sizes) for field in type_.FIELDS]
    f.done()
    make = getattr(type_, "restored", type_)
    try:
        return make(*values)
    except Mismatch as wrong:
        raise f.wrong(str(wrong)) from None


def _read(f: Fields, field: Field, sizes: dict[str, int]) -> Any:
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
    if isinstance(field, Count):
        return f.whole(field.name, field.low, field.high)
    if isinstance(field, Real):
        return f.number(field.name, field.low, field.high)
    if isinstance(field, Truth):
        return f.flag(field.name)
    if isinstance(field, Word):
        return f.text(field.name, field.choices)
    if isinstance(field, Value):
        return f.value(field.name)
    assert isinstance(field, Special)
    form: Any = field.form
    return form.read(f, field.name)


def _numbers(f: Fields, field: Array, sizes: dict[str, int]) -> Any:
    """An array whose lettered sides agree with all others of the same letter."""
    if field.optional and f.absent(field.name):
        return None
    found = f.shape(field.name, len(field.shape))
    for side, length in zip(field.shape, found):
        due = side if isinstance(side, int) else sizes.setdefault(side, length)
        if length != due:
            raise f.wrong(f"has {field.name} of shape {list(found)}, where {side} is {due}")
    return f.numbers(field.name, *found, finite=field.finite)


# Learners: parameters as the user gave them, and the state, which may have been learned with others


def write_learner(w: Writer, one: Any) -> dict[str, Any]:
    """A learner: its parameters and its state."""
    with one._lock:
        chosen = {name: w.value(getattr(one, name), name) for name in parameters_of(type(one))}
        beside = {name: w.value(getattr(one, f"_{name}"), name) for name in one.BESIDE}
        return {"parameters": chosen, "state": _write_state(w, one.STATE, one._state)} | beside


def _write_state(w: Writer, declared: Part | Group, state: Any) -> Any:
    if state is None:
        return None
    if isinstance(declared, Group):
        return write_fields(w, state)
    return {declared.name: w.thing(state)}


def read_learner(f: Fields, type_: Any) -> Any:
    """A learner with its parameters, which are checked when they are used."""
    chosen = f.values("parameters")
    if set(chosen) != set(parameters_of(type_)):
        raise f.wrong(f"has the parameters {', '.join(sorted(chosen))}")
    one, inner = type_(**chosen), f.optional("state")
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


_PARAMETERS: dict[Any, list[str]] = {}
