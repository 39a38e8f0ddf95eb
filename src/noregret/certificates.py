"""Certificates: a theorem with the numbers of one stream filled in.

A certificate never says more than is proved.  An assumption that the stream has broken is
named, the bound is withdrawn (None) and `holds` is None, not True.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["Assumption", "Certificate", "Kind"]

Kind = Literal["equality", "upper bound", "report"]

ROUNDING = 1e-9
"""Share of the largest term that rounding may take before a certificate is said to fail."""


@dataclass(frozen=True, slots=True)
class Assumption:
    """One condition of a theorem, and whether the stream so far meets it."""

    text: str
    met: bool

    def __str__(self) -> str:
        return f"[{'x' if self.met else ' '}] {self.text}"


@dataclass(frozen=True, slots=True)
class Certificate:
    """Both sides of a theorem on the user's own stream.

    loss: the side that the theorem bounds, for most the cumulative loss of the forecasts.
    comparator: the regularised loss of the best expert in hindsight.
    bound: the other side of the theorem; None once an assumption is broken.

    >>> certificate = Certificate.of(
    ...     name="a theorem", kind="upper bound", rounds=3, loss=2.0, comparator=1.5, bound=2.5,
    ...     statement="loss <= comparator + 1", assumptions=(Assumption("|y| <= 1", True),))
    >>> certificate.holds, certificate.slack, certificate.regret
    (True, 0.5, 0.5)
    """

    name: str
    kind: Kind
    rounds: int
    loss: float
    comparator: float
    bound: float | None
    statement: str
    assumptions: tuple[Assumption, ...]
    scale: float = 0.0  # size of the terms that the two sides are made of

    @classmethod
    def of(
        cls,
        *,
        name: str,
        kind: Kind,
        rounds: int,
        loss: float,
        comparator: float,
        bound: float,
        statement: str,
        assumptions: tuple[Assumption, ...] = (),
        scale: float = 0.0,
    ) -> Certificate:
        """Fill in a theorem; the bound is withdrawn where an assumption is broken."""
        if not all(map(math.isfinite, (loss, comparator, bound))):
            assumptions = (*assumptions, Assumption("every sum fits in float64", met=False))
        claimed = bound if all(a.met for a in assumptions) else None
        return cls(name, kind, rounds, loss, comparator, claimed, statement, assumptions, scale)

    @property
    def regret(self) -> float:
        """How much more was paid than by the best expert in hindsight."""
        return self.loss - self.comparator

    @property
    def slack(self) -> float | None:
        """bound - loss: what the theorem would still have allowed."""
        return None if self.bound is None else self.bound - self.loss

    @property
    def allowance(self) -> float:
        """What rounding may take: 1e-9 of the largest term on either side."""
        return ROUNDING * max(
            abs(self.loss), abs(self.bound or 0.0), abs(self.comparator), self.scale
        )

    @property
    def holds(self) -> bool | None:
        """Whether the theorem shows on this stream; None where it does not speak."""
        if self.slack is None or self.kind == "report":
            return None
        if self.kind == "equality":
            return abs(self.slack) <= self.allowance
        return self.slack >= -self.allowance

    def to_dict(self) -> dict[str, Any]:
        """Plain Python numbers and strings; a number that is not finite becomes None."""

        def plain(value: float | None) -> float | None:
            return value if value is None or math.isfinite(value) else None

        return {
            "name": self.name,
            "kind": self.kind,
            "statement": self.statement,
            "rounds": self.rounds,
            "loss": plain(self.loss),
            "comparator": plain(self.comparator),
            "regret": plain(self.regret),
            "bound": plain(self.bound),
            "slack": plain(self.slack),
            "holds": self.holds,
            "assumptions": [{"text": a.text, "met": a.met} for a in self.assumptions],
        }

    def to_json(self, indent: int | None = None) -> str:
        """Strict JSON: no NaN, no Infinity."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def __str__(self) -> str:
        verdict = {True: "holds", False: "FAILS", None: "no claim"}[self.holds]
        bound = "withdrawn" if self.bound is None else f"{self.bound:.6g}"
        slack = "" if self.slack is None else f" (slack {self.slack:.3g})"
        best = f"best in hindsight {self.comparator:.6g}"
        lines = [
            f"{self.name}: {verdict} after {self.rounds} rounds [{self.kind}]",
            f"  {self.statement}",
            f"  loss {self.loss:.6g}, {best}, bound {bound}{slack}",
        ]
        return "\n".join([*lines, *(f"  {a}" for a in self.assumptions)])
