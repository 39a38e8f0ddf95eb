"""Certificates: a theorem with the numbers of one stream filled in.

A certificate never says more than is proved.  An assumption that the stream has broken is
named, the bound is withdrawn (None) and `holds` is None, not True.  Where a state can be checked
against sums booked apart, it is (`audit`): a state that is not what was booked makes `holds` False.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Literal

from noregret.types import Json

__all__ = ["Assumption", "Audit", "Certificate", "Kind", "rounding"]

Kind = Literal["equality", "upper bound", "report"]

EPS = math.ulp(1.0)
LEAST = sys.float_info.min
STEPS = 16.0
"""Roundings in a term of a sum: what a round's loss and its price are computed with."""

# What the loss of a certificate is; a pool joins its bound with those about the same.
SQUARE = "square loss of the forecasts"
MEANS = "square loss of ridge means, each over its spread"
LOG = "log loss of the forecasts"


def rounding(size: float, additions: float = 0.0) -> float:
    """What rounding may take from a sum of terms whose absolute values add up to `size`.

    A compensated sum is right to 2 eps of them, and each term to STEPS eps of itself; a plain
    one of k additions loses at most k eps more.  Underflow takes at most LEAST from each.

    >>> rounding(1.0) < 1e-14
    True
    """
    return EPS * (STEPS + 2.0 + additions) * size + (1.0 + additions) * LEAST


@dataclass(frozen=True, slots=True)
class Assumption:
    """One condition of a theorem, and whether the stream so far meets it."""

    text: str
    met: bool

    def __str__(self) -> str:
        return f"[{'x' if self.met else ' '}] {self.text}"


@dataclass(frozen=True, slots=True)
class Audit:
    """One check of a state against what was booked apart from it.

    discrepancy: by how much they differ; for an inequality, by how much it is broken.
    allowance: what rounding may do.

    >>> Audit("|z|^2 + V = sum y^2", 1e-3, 1e-12).ok, Audit("not booked", math.nan, 0.0).ok
    (False, None)
    """

    name: str
    discrepancy: float
    allowance: float

    @property
    def ok(self) -> bool | None:
        """Whether the check is passed; None where it cannot be made."""
        if not (math.isfinite(self.discrepancy) and math.isfinite(self.allowance)):
            return None
        return self.discrepancy <= self.allowance

    def __str__(self) -> str:
        word = {True: "ok", False: "FAILS", None: "cannot be checked"}[self.ok]
        found = "" if self.ok is None else f": off by {self.discrepancy:.3g}"
        return f"audit {word}: {self.name}{found}"


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
    about: str = ""  # what the loss is: SQUARE, MEANS, LOG, or nothing that others speak of
    taken: float | None = None  # what rounding may take, where a theorem knows better
    audit: tuple[Audit, ...] = ()
    beside: str = ""  # whose loss the comparator is, in words; empty: the best of a whole class

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
        about: str = "",
        taken: float | None = None,
        audit: tuple[Audit, ...] = (),
        beside: str = "",
    ) -> Certificate:
        """Fill in a theorem; the bound is withdrawn where an assumption is broken."""
        if not all(map(math.isfinite, (loss, comparator, bound, taken or 0.0))):
            assumptions = (*assumptions, Assumption("every sum fits in float64", met=False))
        claimed = bound if all(a.met for a in assumptions) else None
        sides = loss, comparator, claimed, statement, assumptions
        return cls(name, kind, rounds, *sides, scale, about, taken, audit, beside)

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
        """What rounding may take: so many eps of what was added up (docs/theory.md, 18)."""
        if self.taken is not None:
            return self.taken
        size = max(abs(self.loss), abs(self.bound or 0.0), abs(self.comparator), self.scale)
        return rounding(size, self.rounds)

    @property
    def holds(self) -> bool | None:
        """Whether the theorem shows on this stream and the state is what was booked.

        None where the theorem does not speak.
        """
        if self.slack is None or self.kind == "report":
            return None
        if any(check.ok is False for check in self.audit):
            return False
        if self.kind == "equality":
            return abs(self.slack) <= self.allowance
        return self.slack >= -self.allowance

    @property
    def words(self) -> str:
        """What a bound on the loss says to a forecaster; empty where nothing is claimed of it.

        >>> c = Certificate.of(
        ...     name="a theorem", kind="upper bound", rounds=100, loss=90.0, comparator=100.0,
        ...     bound=121.0, statement="", about=SQUARE, beside="the best of 5 experts")
        >>> c.words
        'at most 10 % more RMSE than the best of 5 experts'
        """
        claimed = self.kind == "upper bound" and self.holds and self.bound is not None
        if not claimed or self.about not in (SQUARE, LOG) or not self.rounds:
            return ""
        whom, bound = self.beside or "the best of its class", self.bound or 0.0
        if self.about == LOG:
            more = (bound - self.comparator) / self.rounds
            return f"at most {more:.3g} more log loss per row than {whom}"
        if not self.comparator > 0.0:
            return f"RMSE at most {math.sqrt(max(bound, 0.0) / self.rounds):.3g}, of {whom} 0"
        more = 100.0 * (math.sqrt(max(bound / self.comparator, 1.0)) - 1.0)
        return f"at most {more:.3g} % more RMSE than {whom}"

    def to_dict(self) -> Json:
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
            "about": self.about,
            "words": self.words,
            "audit": [
                {
                    "name": a.name,
                    "discrepancy": plain(a.discrepancy),
                    "allowance": plain(a.allowance),
                    "ok": a.ok,
                }
                for a in self.audit
            ],
        }

    def to_json(self, indent: int | None = None) -> str:
        """Strict JSON: no NaN, no Infinity."""
        import json

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
        wrong = [check for check in self.audit if not check.ok]
        return "\n".join([*lines, *(f"  {a}" for a in (*self.assumptions, *wrong))])
