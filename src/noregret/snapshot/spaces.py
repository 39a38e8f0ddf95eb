"""To be removed: what families that do not declare fields yet still import from here.

Family, the spaces that posteriors come through (SPACES), the maps of Auto (MAPS, width), and the
inputs of kernel LMS (`Points` of noregret.learner.fields is for them).
"""

from __future__ import annotations

from typing import Any

from noregret.budgets import FeatureMap, _Fourier, _Monomials
from noregret.errors import SnapshotError
from noregret.glm.families import FAMILIES, Family
from noregret.inputs.kernel_spaces import KernelInputs
from noregret.inputs.spaces import Names, Positions
from noregret.kernels import Inputs
from noregret.learner.fields import Mismatch, Points
from noregret.snapshot.fields import _read, _write
from noregret.snapshot.kinds import Fields, Writer, register

__all__ = ["MAPS", "SPACES", "read_points", "width", "write_points"]

SPACES = (Positions, Names)
MAPS = (_Fourier, _Monomials)


def width(map_: FeatureMap) -> tuple[int, int]:
    """How many inputs a map takes, and how many features it gives."""
    return map_.shape


def write_points(w: Writer, points: Inputs, inputs: KernelInputs) -> Any:
    """Inputs of a kernel: vectors as numbers, anything else as it is."""
    return _write(w, Points("points"), inputs.stored_points(points))


def read_points(f: Fields, name: str, inputs: KernelInputs) -> Inputs:
    """A matrix, or a list of objects, as the space has it."""
    try:
        return inputs.restored_points(_read(f, Points(name), {}))
    except Mismatch as wrong:
        raise f.wrong(str(wrong)) from None


def _write_family(_: Writer, family: Family) -> dict[str, Any]:
    if FAMILIES.get(family.name) != family:
        raise SnapshotError(f"family = {family!r} cannot be stored: it is none of noregret's own")
    return {"name": family.name}


def _read_family(f: Fields) -> Family:
    family = FAMILIES[f.text("name", FAMILIES)]
    f.done()
    return family


register(Family, _write_family, _read_family)
