"""The certificates of a fleet: one line per key, and their sum.

Both sides of a theorem add over keys: each key's loss is bounded by its own comparator and price,
so the fleet's loss is bounded by their sums.  The fleet is compared with a best expert per key.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from noregret._native.fleet import BLOCK
from noregret.certificates import Assumption, Certificate, rounding
from noregret.errors import InputError, abbreviated, suggestion
from noregret.fleet.desks import main_of
from noregret.fleet.keys import Keys
from noregret.fleet.laid import Laid
from noregret.fleet.loose import Loose
from noregret.fleet.packed import Packed
from noregret.fleet.packing import drift_of
from noregret.gaussian.facts import StreamFacts
from noregret.gaussian.ledger import totals
from noregret.gaussian.theorems import theorems_of
from noregret.types import Integers, Vector

__all__ = ["Certificates", "certified"]

COLUMNS = ("rounds", "loss", "comparator", "bound", "slack")
OWN = re.compile(r": coverage [\d.]+ of T rounds|; here \d+ switch(es)?")  # of one key alone
ARRAYS = ("rounds", "loss", "comparator", "bound", "allowance", "holds")


@dataclass(frozen=True, slots=True, eq=False)
class Certificates:
    """One line per key: what it paid, the best expert in hindsight, and the bound of its theorem.

    bound and slack are NaN where the theorem does not speak; `holds` is then None.  `as_dict` is
    for pandas.DataFrame, polars.DataFrame and pyarrow.table.
    """

    name: str
    kind: str
    statement: str
    keys: list[int] | list[str]
    rounds: Integers
    loss: Vector
    comparator: Vector
    bound: Vector
    allowance: Vector  # what rounding may take
    holds: npt.NDArray[np.object_]

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def slack(self) -> Vector:
        """What the theorem would still have allowed."""
        return self.bound - self.loss

    def as_dict(self) -> dict[str, Any]:
        """The columns by name."""
        columns = {name: getattr(self, name) for name in COLUMNS}
        return {"key": self.keys, **columns, "holds": self.holds}

    def worst(self, count: int = 10, by: str = "loss") -> Certificates:
        """The lines with the largest loss (or another column), those that do not hold before all.

        By slack, the smallest come first.

        >>> import noregret as nr
        >>> fleet = nr.Fleet(nr.AAR())
        >>> fleet.learn(["a", "b"], [[1.0], [1.0]], [1.0, 2.0])
        >>> fleet.certificates().worst(1).keys
        ['b']
        """
        if by not in COLUMNS:
            raise InputError(
                f"by = {abbreviated(by)}: one of {', '.join(COLUMNS)}{suggestion(by, COLUMNS)}"
            )
        column = getattr(self, by).astype(np.float64)
        failed = np.array([held is False for held in self.holds], dtype=bool)
        order = np.lexsort((column if by == "slack" else -column, ~failed))[:count]
        keys: Any = [self.keys[i] for i in order.tolist()]
        arrays = {name: getattr(self, name)[order] for name in ARRAYS}
        return replace(self, keys=keys, **arrays)

    def total(self) -> Certificate:
        """All lines added up."""
        if not self.keys:
            raise InputError("this fleet has learned nothing yet: it has nothing to certify")
        count, silent = len(self), int(np.isnan(self.bound).sum())
        broken = f"what the theorem assumes is so for every key ({silent} of {count} broke it)"
        assumptions = (
            Assumption(broken if silent else "what it assumes is so for every key", met=not silent),
        )
        bounds = np.where(np.isnan(self.bound), 0.0, self.bound)
        size = math.fsum(np.abs(self.loss)) + math.fsum(np.abs(bounds))
        return Certificate.of(
            name=f"{self.name}, summed over {count} {'key' if count == 1 else 'keys'}",
            kind=self.kind,  # type: ignore[arg-type]  # as a certificate has it
            rounds=int(self.rounds.sum()),
            loss=math.fsum(self.loss),
            comparator=math.fsum(self.comparator),
            bound=math.fsum(bounds),
            statement=f"over each key's own rounds, added up: {self.statement}",
            assumptions=assumptions,
            taken=math.fsum(self.allowance) + rounding(size),
        )


def certified(
    store: Packed | Laid | Loose, keys: Keys, where: Integers, *, audit: bool, inside: bool
) -> Certificates:
    """The main certificate of every slot, or of the learner inside."""
    every = _audited(store, where, inside=inside)
    if not audit and isinstance(store, Packed):
        every = _booked(store, where)
    elif not audit and isinstance(store, Laid):
        every = (main_of(store.state(slot), inside=inside) for slot in where.tolist())
    lines, name, kind, statement = [], "nothing", "report", ""
    for c in every:
        bound = math.nan if c.bound is None else c.bound
        lines.append((c.rounds, c.loss, c.comparator, bound, c.allowance, c.holds))
        name, kind, statement = c.name, c.kind, OWN.sub("", c.statement)
    if getattr(store, "priors", None) is not None:
        statement = statement.replace("a|w|^2", "(w - m)'P(w - m)").replace("X'X/a", "X'X/P")
        statement += (
            ", where Y bounds |y - m'x| and m, P are what the key began with, fleet.prior(key)"
        )
    columns = list(zip(*lines, strict=True)) or [()] * len(ARRAYS)
    kinds = np.int64, np.float64, np.float64, np.float64, np.float64, object
    arrays: Any = dict(zip(ARRAYS, map(np.array, columns, kinds), strict=True))
    named: Any = keys if isinstance(keys, list) else keys.tolist()
    return Certificates(name, kind, statement, named, **arrays)


def _audited(
    store: Packed | Laid | Loose, where: Integers, *, inside: bool
) -> Iterator[Certificate]:
    for slot in where.tolist():
        learner: Any = store.learner(slot)
        yield (learner.learner_ if inside else learner).certificate()


def _booked(store: Packed, where: Integers) -> Iterator[Certificate]:
    """From the ledgers alone, which is ten times faster than making learners of slots."""
    plan, packing = store.plan, store.packing
    for start in range(0, len(where), BLOCK):
        assert packing is not None
        rows = store.take(where[start : start + BLOCK])
        ledgers, passed = packing.ledgers(rows)
        for ledger, rounds in zip(ledgers, passed.tolist(), strict=True):
            facts = StreamFacts(
                totals=totals(ledger),
                features=packing.features,
                prior_precision=plan.prior_precision,
                prior_var=1.0 / plan.prior_precision + drift_of(plan) * rounds,
                drifting=packing.drifts,
                rule=plan.rule.code,
                noise_var=plan.rule.noise_var,
                clip=plan.rule.clip,
            )
            yield theorems_of(facts)[0](facts)
