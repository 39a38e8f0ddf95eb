"""Families of binary models: what a margin z = s w'x costs, s = +-1 the label.

All that the algorithms and their theorems use is l(z) = -ln P, its first two derivatives, and c,
a bound on the second.  A new family is a number and a branch in native/families.hpp, and a
line here.
"""

from __future__ import annotations

from dataclasses import dataclass

from noregret._native import families as ops
from noregret.declare.fields import Mismatch, Word
from noregret.errors import ParameterError, SnapshotError, abbreviated

__all__ = ["LOGISTIC", "PROBIT", "Family", "family_of"]


@dataclass(frozen=True, slots=True)
class Family:
    """A family by name; `curvature` is the least c with l'' <= c.

    >>> LOGISTIC.loss_and_derivatives(0.0)
    (0.6931471805599453, -0.5, 0.25)
    """

    name: str
    code: int
    curvature: float

    FIELDS = (Word("name"),)
    SCRATCH = ("code", "curvature")  # they follow from the name

    def stored(self) -> tuple[str]:
        """The name, if the family is one of ours."""
        if FAMILIES.get(self.name) != self:
            raise SnapshotError(f"family = {self!r} cannot be stored: it is none of noregret's own")
        return (self.name,)

    @classmethod
    def restored(cls, name: str) -> Family:
        """The family of that name."""
        if name not in FAMILIES:
            raise Mismatch(f"has the unknown name {abbreviated(name)}")
        return FAMILIES[name]

    def loss_and_derivatives(self, z: float) -> tuple[float, float, float]:
        """l(z), l'(z), l''(z)."""
        return ops.loss_and_derivatives(self.code, z)


LOGISTIC = Family("logistic", ops.LOGISTIC, 0.25)
PROBIT = Family("probit", ops.PROBIT, 1.0)
FAMILIES = {family.name: family for family in (LOGISTIC, PROBIT)}


def family_of(value: object) -> Family:
    """A family, or the family of that name."""
    if isinstance(value, Family):
        return value
    if isinstance(value, str) and value in FAMILIES:
        return FAMILIES[value]
    raise ParameterError(
        f"family = {abbreviated(value)}: give one of {', '.join(map(repr, FAMILIES))}"
    )
