"""What Spark calls for every shard of a stream that has rows: a `StatefulProcessor` by its methods.

The rows come through pandas, which has no nulls in whole numbers: Spark puts zeros in their place,
and says where in two columns more (`_nulls`, `_missing`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from noregret.adapters.spark.columns import Columns, Rows
from noregret.adapters.spark.replaying import rounds
from noregret.declare.extras import module
from noregret.errors import InputError, abbreviated
from noregret.fleet.fleet import Fleet
from noregret.types import Integers

__all__ = ["NEVER", "NO_KEY", "NO_TARGET", "NO_TIME", "Shard"]

NEVER = -(2**63)
NO_KEY, NO_TIME, NO_TARGET = 1, 2, 4  # bits of `_nulls`
STATE = "block binary, newest long, shards int"


@dataclass(slots=True)
class Shard:
    """The rounds of one shard at a time; nothing is kept here from one to the next."""

    columns: Columns
    learner: Any
    shards: int
    strict: bool
    timed: bool
    late_after: int | None
    expire_after: int | None
    state: Any = field(default=None, init=False)

    def init(self, handle: Any) -> None:
        """Spark's: name the state."""
        self.state = handle.getValueState("shard", STATE)

    def close(self) -> None:
        """Spark's: nothing is open."""

    def handleInitialState(self, key: Any, initialState: Any, timerValues: Any) -> None:  # noqa: N802, ARG002
        """Spark's: a shard of the fleet to go on from."""
        fleet, newest = self._opened()
        for block in initialState["block"]:
            fleet.merge(Fleet.from_bytes(bytes(block)))
        self.state.update((fleet.to_bytes(), newest, self.shards))

    def handleExpiredTimer(self, key: Any, timerValues: Any, info: Any) -> Iterator[Any]:  # noqa: N802, ARG002
        """Spark's: no timers are set."""
        return iter(())

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:  # noqa: N802, ARG002
        """Spark's: learn the rows of a micro-batch, and give their forecasts."""
        frame = module("pandas", "stream").concat(list(rows), ignore_index=True)
        columns, times = self.columns, frame[self.columns.order[0]].to_numpy(np.int64)
        fleet, newest = self._opened()
        read = columns.read(self._batch(frame, times))
        self._refuse_late(read, times, newest)
        newest = max(newest, int(times[read.right()].max(initial=NEVER)))
        now = None if self.expire_after is None else float(newest)
        order = _order(times, read)
        forecast, errors = rounds(columns, fleet, read, self.strict, order, now)
        if self.expire_after is not None:
            fleet.expire(self.expire_after)
        self.state.update((fleet.to_bytes(), newest, self.shards))
        kept = frame[[columns.key, columns.order[0], columns.target, "_nulls"]]
        yield kept.assign(forecast=forecast, error=errors)

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
        return fleet.merge(Fleet.from_bytes(bytes(block))), newest  # of the same learner, or refused

    def _batch(self, frame: Any, times: Integers) -> Any:
        """The rows as Arrow has them, with their nulls."""
        arrow = module("pyarrow", "stream")
        key, order, target = self.columns.key, self.columns.order[0], self.columns.target
        nulls, missing = frame["_nulls"].to_numpy(), frame["_missing"].to_numpy()
        bits = {key: NO_KEY, order: NO_TIME, target: NO_TARGET}
        arrays = {}
        for name in self.columns.used:
            absent = nulls & bits[name] != 0 if name in bits else missing == name
            kind = arrow.timestamp("us", "UTC") if name == order and self.timed else None
            values = times if name == order else frame[name].to_numpy()
            if name == self.columns.features[0] and self.columns.width is not None:
                absent, kind = None, arrow.list_(arrow.float64())
            arrays[name] = arrow.array(values, kind, mask=absent)
        return arrow.RecordBatch.from_pydict(arrays)

    def _refuse_late(self, read: Rows, times: Integers, newest: int) -> None:
        """Add rows that come too late to those that are wrong."""
        if self.late_after is None or newest == NEVER:
            return
        for i in np.flatnonzero(times < newest - self.late_after).tolist():
            told = f"key {abbreviated(read.keys[i])}, row with {self._told(times[i])}"
            message = f"{told}: late, by more than late_after behind {self._told(newest)}"
            read.wrong.setdefault(i, message)

    def _told(self, time: int) -> str:
        value = np.datetime64(int(time), "us") if self.timed else time
        return f"{self.columns.order[0]} = {value}"


def _order(times: Integers, read: Rows) -> Integers:
    """By time; where times are equal by features and outcomes, however the rows came here."""
    order = np.argsort(times, kind="stable")
    sorted_times = times[order]
    if (sorted_times[1:] == sorted_times[:-1]).any():
        order = np.lexsort((read.y, *read.X.T[::-1], times))
    return order
