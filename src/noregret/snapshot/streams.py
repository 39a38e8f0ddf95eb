"""To be removed: the cores of pools and of posteriors, until their families declare fields.

`StoredCore` says what a file keeps of a core.  A family that holds one has
`Group("core", StoredCore)` among its FIELDS, `StoredCore.of(core)` in `stored()`, and
`.fixed(...)` or `.core(...)` in `restored()`.
"""

from __future__ import annotations

from typing import Any

from noregret.gaussian.cores import DriftCore, PrimalCore
from noregret.gaussian.cores.schedule import Drift
from noregret.gaussian.cores.stored import StoredCore
from noregret.learner.fields import Mismatch
from noregret.snapshot.fields import read_fields, write_fields
from noregret.snapshot.kinds import Fields, Writer

__all__ = ["read_drifting", "read_fixed", "write_core"]


def write_core(w: Writer, core: PrimalCore | DriftCore) -> dict[str, Any]:
    """The factor, and how it is to be read."""
    return write_fields(w, StoredCore.of(core))


def read_fixed(f: Fields, precision: float, n: int, m: int) -> PrimalCore:
    """Fixed experts."""
    stored: StoredCore = read_fields(f, StoredCore)
    try:
        return stored.fixed(precision, n, m)
    except Mismatch as wrong:
        raise f.wrong(str(wrong)) from None


def read_drifting(f: Fields, precision: float, drift: Drift, n: int, m: int) -> DriftCore:
    """Experts that change."""
    stored: StoredCore = read_fields(f, StoredCore)
    try:
        return stored.drifting(precision, drift, n, m)
    except Mismatch as wrong:
        raise f.wrong(str(wrong)) from None
