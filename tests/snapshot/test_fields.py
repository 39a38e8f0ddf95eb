"""Every attribute of what is stored is declared: as a field, or as scratch that is made anew."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from noregret.declare.fields import Group
from noregret.learner.base import Stateful
from stored import every_kind


def declared() -> dict[str, type]:
    """All types that declare their fields, by name: kinds, states of learners, groups within."""
    found: dict[str, type] = {}

    def visit(type_: Any) -> None:
        fields = [type_.STATE] if issubclass(type_, Stateful) else getattr(type_, "FIELDS", ())
        if not issubclass(type_, Stateful) and fields:
            found[type_.__qualname__] = type_
        for field in fields:
            if isinstance(field, Group) and field.type_.__qualname__ not in found:
                visit(field.type_)

    for kind in every_kind():
        visit(kind.type)
    return found


DECLARED = declared()


def slots_of(type_: type) -> set[str]:
    """The attributes that an object has: its slots, or the fields of its dataclass."""
    if dataclasses.is_dataclass(type_):
        return {field.name for field in dataclasses.fields(type_)}
    found = [base.__dict__.get("__slots__") for base in type_.__mro__[:-1]]
    assert None not in found, (
        f"{type_.__qualname__} has no __slots__: attributes could be forgotten"
    )
    return {name for slots in found for name in ((slots,) if isinstance(slots, str) else slots)}


def attributes_of(field: Any) -> tuple[str, ...]:
    """The attributes that a field comes from."""
    of = field.of or field.name
    return (of,) if isinstance(of, str) else tuple(of)


@pytest.mark.parametrize("name", DECLARED)
def test_no_attribute_is_forgotten(name: str) -> None:
    type_: Any = DECLARED[name]
    fields = {name for field in type_.FIELDS for name in attributes_of(field)}
    scratch = set(getattr(type_, "SCRATCH", ()))
    slots = slots_of(type_)
    assert slots <= fields | scratch, f"neither stored nor scratch: {slots - fields - scratch}"
    assert scratch <= slots, f"scratch that does not exist: {scratch - slots}"
    assert not fields & scratch, f"both stored and scratch: {fields & scratch}"
    odd = {name for name in fields - slots if not hasattr(type_, name)}
    assert not odd, f"fields of no attribute; say which one by `of`: {odd}"
    names = [field.name for field in type_.FIELDS]
    assert len(set(names)) == len(names)


def test_the_states_of_wrappers_and_sparse_learners_are_among_them() -> None:
    assert {"LagBuffer", "PendingForecasts", "OSLOGState", "SLOGState"} <= set(DECLARED)
