"""What model files keep of pools is declared beside the classes, with no slot forgotten."""

from __future__ import annotations

from typing import Any

import pytest

from noregret.experts.auto import AutoState
from noregret.experts.convex import ConvexLoss
from noregret.experts.core_grid import CoreGrid
from noregret.experts.guarded import GuardedState
from noregret.experts.guarded_pool import GuardedPool
from noregret.experts.pool import Pool
from noregret.experts.regret_pool import RegretPool
from noregret.experts.rules import GradientState
from noregret.experts.safe import BinaryPoolState
from noregret.experts.state import PoolState
from noregret.experts.units import Units
from noregret.losses import Game


@pytest.mark.parametrize(
    "kind",
    [
        AutoState,
        BinaryPoolState,
        ConvexLoss,
        CoreGrid,
        Game,
        GradientState,
        GuardedPool,
        GuardedState,
        Pool,
        PoolState,
        RegretPool,
        Units,
    ],
)
def test_every_slot_is_a_field_or_scratch(kind: Any) -> None:
    declared = set(getattr(kind, "SCRATCH", ()))
    for field in kind.FIELDS:
        of = field.name if field.of is None else field.of
        declared |= {of} if isinstance(of, str) else set(of)
    assert declared == {slot for base in kind.__mro__ for slot in getattr(base, "__slots__", ())}
