"""Hostile features of one round, by position and by name, in mid-stream and at the start."""

from __future__ import annotations

import contextlib

import pytest

import noregret as nr
from hostile import (
    BY_NAME,
    BY_POSITION,
    DIGITS,
    Case,
    Kind,
    Refused,
    bad_x,
    call_one,
    cases,
    check,
    check_one_round,
    every_kind,
    first_calls,
    fresh,
    go_on,
    one_at_a_time,
    refused,
    some_kinds,
    started,
    state_bytes,
    stays_fresh,
)
from hostile_cases_names import MAPPINGS
from hostile_cases_rows import ROWS
from hostile_inputs import GOOD, named
from noregret.errors import FeatureError


@some_kinds(BY_POSITION)
@cases(ROWS)
def test_one_round_by_position(case: Case, kind: Kind) -> None:
    check_one_round(case, kind)


@some_kinds(BY_NAME)
@cases(MAPPINGS)
def test_one_round_by_name(case: Case, kind: Kind) -> None:
    check_one_round(case, kind)


@one_at_a_time
@every_kind
@pytest.mark.parametrize("big", [2**53 + 1, -(2**53) - 1, 2**54 + 1, 2**63 + 1])
def test_an_integer_that_float64_cannot_hold(big: int, kind: Kind, method: str) -> None:
    """2^53 + 1 rounds to 2^53, which no look at the rounded value can tell from the real one."""
    x = named(a=big) if kind.named else [big, *GOOD[1:]]
    check(kind, bad_x("= " + str(big), DIGITS), call_one(method, kind), x)


@one_at_a_time
@some_kinds(BY_NAME)
def test_an_inexact_integer_after_its_exact_neighbour(kind: Kind, method: str) -> None:
    """The look at 2^60 that is still at hand is not a look at 2^60 + 1."""
    learner, twin = started(kind), started(kind)
    for each in (learner, twin):
        each.predict_one(named(a=2**60))
    outcome = bad_x("x['a'] = 1152921504606846977", DIGITS)
    refused(outcome, lambda: call_one(method, kind)(learner, named(a=2**60 + 1)))
    assert go_on(learner, kind) == go_on(twin, kind)


FIRST = first_calls({**ROWS, **{f"by name: {k}": v for k, v in MAPPINGS.items()}})


@cases(FIRST)
def test_a_refused_first_call_leaves_the_learner_fresh(case: Case) -> None:
    hostile, outcome = case
    learner, twin = nr.AAR(0.5), nr.AAR(0.5)
    refused(outcome, lambda: learner.predict_one(fresh(hostile)))
    refused(outcome, lambda: learner.learn_one(fresh(hostile), 1.0))
    refused(outcome, lambda: learner.learn_one(fresh(hostile), [1.0, 2.0]))
    stays_fresh(learner, twin)


@every_kind
def test_many_refusals_in_a_row_change_nothing(kind: Kind) -> None:
    """All of them, one after another, on one learner."""
    learner, twin = started(kind), started(kind)
    table = MAPPINGS if kind.named else ROWS
    before, refusals = state_bytes(learner), 0
    for hostile, outcome in table.values():
        if isinstance(outcome, Refused):
            for call in (learner.predict_one, lambda x: learner.learn_one(x, kind.y(1.0))):
                with contextlib.suppress(FeatureError):
                    call(fresh(hostile))
                    pytest.fail(f"not refused: {outcome}")
                refusals += 1
    assert refusals > 40
    assert state_bytes(learner) == before
    assert go_on(learner, kind) == go_on(twin, kind)
