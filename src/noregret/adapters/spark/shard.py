"""What Spark calls for each shard of a stream that has rows: its `StatefulProcessor`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from noregret.adapters.spark.columns import Columns, Rows
from noregret.adapters.spark.packets import opened, packed
from noregret.adapters.spark.replaying import results, rounds
from noregret.declare.extras import module
from noregret.errors import InputError
from noregret.fleet.fleet import Fleet
from noregret.types import Integers

__all__ = ["NEVER", "Shard"]

NEVER = -(2**63)
STATE = "block binary, newest long, shards int"


@dataclass(slots=True)
class Shard:
    """The rounds of one shard at a time; nothing is kept here from one to the next.

    A shard's state is the fleet of its keys as bytes, the newest time that it has learned, and
    the number of shards, which says where its keys live.
    """

    columns: Columns
    learner: Any
    shards: int
    strict: bool
    late_after: int | None
    expire_after: int | None
    state: Any = field(default=None, init=False)

    def init(self, handle: Any) -> None:
        """Spark's: name the state."""
        self.state = handle.getValueState("shard", STATE)

    def close(self) -> None:
        """Spark's: nothing is open."""

    def handleInitialState(self, key: Any, initialState: Any, timerValues: Any) -> None:  # noqa: ARG002
        """Spark's: blocks of the fleet to go on from."""
        fleet, newest = self._opened()
        for block in initialState["block"]:
            fleet.merge(Fleet.from_bytes(bytes(block)))
        self.state.update((fleet.to_bytes(), newest, self.shards))

    def handleExpiredTimer(self, key: Any, timerValues: Any, info: Any) -> Iterator[Any]:  # noqa: ARG002
        """Spark's: no timers are set."""
        return iter(())

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:  # noqa: ARG002
        """Spark's: learn the rows of a micro-batch, and give their forecasts."""
        pandas = module("pandas", "noregret.adapters.spark")
        batch = opened(bytes(packet) for frame in rows for packet in frame["packet"])
        fleet, newest = self._opened()
        read, times = self.columns.read(batch), self._times(batch)
        self._refuse_late(read, batch, times, newest)
        newest = max(newest, int(times[read.right()].max(initial=NEVER)))
        now = None if self.expire_after is None else float(newest)
        found = rounds(self.columns, fleet, read, self.strict, _order(times, read), now)
        if self.expire_after is not None:
            fleet.expire(self.expire_after)
        self.state.update((fleet.to_bytes(), newest, self.shards))
        yield pandas.DataFrame({"packet": [packed(results(self.columns, batch, *found))]})

    def _opened(self) -> tuple[Fleet, int]:
        """The fleet of this shard, and the newest time that it has learned."""
        fleet, stored = Fleet(self.learner, threads=1), self.state.get()
        if stored is None:
            return fleet, NEVER
        block, newest, shards = stored
        if shards != self.shards:
            raise InputError(
                f"shards = {self.shards}, but this checkpoint was begun with {shards}: its keys "
                "live where that number put them; give it again, or begin a new checkpoint from "
                "the fleet of this one (states, initial)"
            )
        return fleet.merge(Fleet.from_bytes(bytes(block))), newest  # of one learner, or refused

    def _times(self, batch: Any) -> Integers:
        """The times as whole numbers, 0 where there is none (such rows are wrong)."""
        arrow = module("pyarrow", "noregret.adapters.spark")
        column = batch.column(batch.schema.get_field_index(self.columns.order[0]))
        times: Integers = column.cast(arrow.int64()).fill_null(0).to_numpy()
        return times

    def _refuse_late(self, read: Rows, batch: Any, times: Integers, newest: int) -> None:
        """Add rows that come too late to those that are wrong."""
        if self.late_after is None or newest == NEVER:
            return
        for i in np.flatnonzero(times < newest - self.late_after).tolist():
            behind = f"late: {newest - int(times[i])} behind the newest row of its shard, and"
            message = f"{behind} late_after = {self.late_after}"
            read.wrong.setdefault(i, f"{self.columns.where(batch, i)}: {message}")


def _order(times: Integers, read: Rows) -> Integers:
    """By time; where times are equal by features and outcomes, however the rows came here."""
    order = np.argsort(times, kind="stable")
    sorted_times = times[order]
    if (sorted_times[1:] == sorted_times[:-1]).any():
        order = np.lexsort((read.y, *read.X.T[::-1], times))
    return order
