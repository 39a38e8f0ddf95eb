"""Packets: rows of a shard as Arrow's bytes in one cell, so that Spark hands them over at once.

Spark passes rows to a stateful operator one by one, as Python objects; a packet is one of them,
whatever it holds, with its types and its nulls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from noregret.declare.extras import module

__all__ = ["PACKED", "opened", "packed", "packets", "rows_in"]

PACKED = "shard int, packet binary"


def packed(batch: Any) -> bytes:
    """A batch of Arrow as bytes."""
    arrow = module("pyarrow", "noregret.adapters.spark")
    sink = arrow.BufferOutputStream()
    with arrow.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def opened(packets_: Iterable[bytes]) -> Any:
    """The rows of several packets as one batch."""
    arrow = module("pyarrow", "noregret.adapters.spark")
    tables = [arrow.ipc.open_stream(packet).read_all() for packet in packets_]
    table = arrow.concat_tables(tables).combine_chunks()
    return table.to_batches()[0]


def packets(batches: Iterable[Any]) -> Iterator[Any]:
    """On an executor: rows whose first column is their shard, as packets."""
    arrow = module("pyarrow", "noregret.adapters.spark")
    for batch in batches:
        shards = batch.column(0).to_numpy(zero_copy_only=False)
        order = np.argsort(shards, kind="stable")
        sorted_rows = batch.take(arrow.array(order))
        sorted_rows = arrow.RecordBatch.from_arrays(
            sorted_rows.columns[1:], sorted_rows.schema.names[1:]
        )
        cuts = [0, *(np.flatnonzero(np.diff(shards[order])) + 1).tolist(), len(order)]
        places = shards[order[cuts[:-1]]] if len(order) else []
        found = [packed(sorted_rows.slice(i, j - i)) for i, j in pairwise(cuts) if j > i]
        columns = [arrow.array(places, arrow.int32()), arrow.array(found, arrow.binary())]
        yield arrow.RecordBatch.from_arrays(columns, ["shard", "packet"])


def rows_in(batches: Iterable[Any]) -> Iterator[Any]:
    """On an executor: the rows of packets."""
    for batch in batches:
        for packet in batch.column(0).to_pylist():
            yield opened([packet])
