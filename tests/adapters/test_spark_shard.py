"""A shard of a stream by itself: what Spark calls, called without Spark."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

import noregret as nr
from noregret.adapters.spark.columns import Columns
from noregret.adapters.spark.packets import opened, packed, packets, rows_in
from noregret.adapters.spark.shard import Shard
from noregret.adapters.spark.streaming import span
from noregret.errors import InputError, MergeError

COLUMNS = Columns(("a", "b"), "y", None, "shop", ("at",))


class Kept:
    """A state of Spark, for one shard."""

    def __init__(self) -> None:
        self.value: Any = None

    def get(self) -> Any:
        return self.value

    def update(self, value: Any) -> None:
        self.value = value


def shard(kept: Kept, **options: Any) -> Shard:
    given = {"learner": nr.AAR(), "shards": 4, "strict": True}
    given |= {"late_after": None, "expire_after": None, **options}
    made = Shard(COLUMNS, **given)
    made.init(SimpleNamespace(getValueState=lambda *_: kept))
    return made


def batch(*rows: Any, time: Any = None) -> Any:
    """Rows (key, time, a, b, y) as Arrow has them."""
    kinds = [pa.string(), time or pa.int64(), pa.float64(), pa.float64(), pa.float64()]
    parts = [pa.array(part, kind) for part, kind in zip(zip(*rows, strict=True), kinds)]
    return pa.RecordBatch.from_arrays(parts, ["shop", "at", "a", "b", "y"])


def run(one: Shard, *batches: Any) -> Any:
    frames = (pd.DataFrame({"packet": [packed(rows)]}) for rows in batches)
    found = [
        packet for frame in one.handleInputRows((0,), frames, None) for packet in frame["packet"]
    ]
    return opened(found).to_pydict()


def fleet_of(kept: Kept) -> nr.Fleet:
    return nr.Fleet.from_bytes(kept.value[0])


def test_rows_are_learned_in_the_order_of_their_times() -> None:
    rows = [("s", 3, 1.0, 0.0, 2.0), ("t", 1, 1.0, 1.0, 5.0), ("s", 1, 1.0, 1.0, 1.0)]
    kept, fleet = Kept(), nr.Fleet(nr.AAR())
    found = run(shard(kept), batch(*rows[:2]), batch(*rows[2:]))
    expected = fleet.round(
        ["t", "s", "s"],
        [{"a": 1.0, "b": 1.0}, {"a": 1.0, "b": 1.0}, {"a": 1.0, "b": 0.0}],
        [5.0, 1.0, 2.0],
    )
    assert_array_equal(found["forecast"], expected[[2, 0, 1]])
    assert found["shop"] == ["s", "t", "s"]
    assert kept.value[1:] == (3, 4)
    assert fleet_of(kept)["s"].to_bytes() == fleet["s"].to_bytes()


def test_equal_times_in_one_order_however_they_come() -> None:
    rng = np.random.default_rng(0)
    rows = [
        ("s", int(t), *x, y)
        for t, x, y in zip(
            rng.integers(0, 3, 40), rng.integers(0, 3, (40, 2)).astype(float), rng.normal(size=40)
        )
    ]
    states = []
    for seed in range(4):
        kept = Kept()
        run(shard(kept), batch(*[rows[i] for i in np.random.default_rng(seed).permutation(40)]))
        states.append(fleet_of(kept)["s"].to_bytes())
    assert len(set(states)) == 1


def test_it_goes_on_from_its_state() -> None:
    rows = [("s", t, 1.0, float(t), 2.0) for t in range(6)]
    whole, cut = Kept(), Kept()
    every = run(shard(whole), batch(*rows))
    parts = [run(shard(cut), batch(row)) for row in rows]
    assert [part["forecast"][0] for part in parts] == every["forecast"]
    assert fleet_of(cut)["s"].to_bytes() == fleet_of(whole)["s"].to_bytes()


def test_late_rows_are_refused_or_reported_and_teach_nothing() -> None:
    first, late, right = (
        ("s", 100, 1.0, 1.0, 1.0),
        ("s", 89, 1.0, 2.0, 9.0),
        ("s", 90, 1.0, 3.0, 1.0),
    )
    why = "key 's', row with at = 89: late: 11 behind the newest row of its shard, and late_after"
    why += " = 10"
    kept = Kept()
    run(shard(kept, late_after=10), batch(first))
    before = kept.value
    with pytest.raises(InputError, match=why):
        run(shard(kept, late_after=10), batch(late, right))
    assert kept.value is before
    found = run(shard(kept, late_after=10, strict=False), batch(late, right))
    assert found["error"] == [why, None]
    assert [value is None for value in found["forecast"]] == [True, False]
    assert fleet_of(kept)["s"].n_samples_seen_ == 2
    learned = Kept()
    run(shard(learned), batch(first))
    run(shard(learned), batch(late, right))
    assert fleet_of(learned)["s"].n_samples_seen_ == 3


def test_keys_expire_by_the_newest_row_of_their_shard() -> None:
    kept = Kept()
    run(shard(kept, expire_after=5), batch(("old", 1, 1.0, 1.0, 1.0), ("new", 3, 1.0, 1.0, 1.0)))
    run(shard(kept, expire_after=5), batch(("new", 8, 1.0, 1.0, 1.0)))
    assert fleet_of(kept).keys() == ["old", "new"]  # both learned when the newest was 3
    run(shard(kept, expire_after=5), batch(("new", 9, 1.0, 1.0, 1.0)))
    assert fleet_of(kept).keys() == ["new"]
    found = run(shard(kept, expire_after=5), batch(("old", 9, 1.0, 1.0, 1.0)))
    assert found["forecast"] == [0.0]


def test_wrong_rows_are_reported_with_their_nulls() -> None:
    rows = [
        ("s", 0, 1.0, 1.0, 1.0),
        (None, 1, 1.0, 1.0, 1.0),
        ("s", None, 1.0, 1.0, 1.0),
        ("s", 3, 1.0, 1.0, None),
        ("s", 4, 1.0, None, 1.0),
    ]
    kept = Kept()
    found = run(shard(kept, strict=False), batch(*rows))
    assert [text and text.partition(": leave")[0] for text in found["error"]] == [
        None,
        "key None, row with at = 1: 'shop' is null",
        "key 's', row with at = None: 'at' is null",
        "key 's', row with at = 3: 'y' is null",
        "key 's', row with at = 4: X['b'] is null",
    ]
    assert (found["shop"], found["at"]) == (["s", None, "s", "s", "s"], [0, 1, None, 3, 4])
    assert fleet_of(kept)["s"].n_samples_seen_ == 1
    with pytest.raises(InputError, match="key None, row with at = 1: 'shop' is null"):
        run(shard(Kept()), batch(*rows))


def test_times_are_told_as_times() -> None:
    rows = batch(("s", 10**15, 1.0, float("nan"), 1.0), time=pa.timestamp("us", "UTC"))
    found = run(shard(Kept(), strict=False), rows)
    assert "row with at = 2001-09-09 01:46:40+00:00: X['b'] = nan" in found["error"][0]


def test_packets_by_shard_and_back() -> None:
    rng = np.random.default_rng(0)
    rows = pa.RecordBatch.from_pydict(
        {
            "shard": pa.array(rng.integers(0, 5, 100), pa.int32()),
            "day": pa.array([None if i % 7 == 0 else i for i in range(100)]),
            "x": pa.array([[1.0, float(i)] for i in range(100)]),
        }
    )
    sent = list(packets([rows.slice(0, 60), rows.slice(60), rows.slice(0, 0)]))
    assert [batch.num_rows for batch in sent] == [5, 5, 0]
    for part in sent:
        for place, packet in zip(part["shard"].to_pylist(), part["packet"].to_pylist()):
            days = opened([packet])["day"].to_pylist()
            assert all(rows["shard"][day].as_py() == place for day in days if day is not None)
    back = list(rows_in(pa.RecordBatch.from_arrays([part["packet"]], ["packet"]) for part in sent))
    found = sorted(row["x"][1] for part in back for row in part.to_pylist())
    assert found == list(range(100))


def test_a_fleet_as_initial_state_in_pieces() -> None:
    fleet = nr.Fleet(nr.AAR())
    fleet.learn(["s", "t"], [{"a": 1.0, "b": 1.0}] * 2, [1.0, 2.0])
    kept = Kept()
    one = shard(kept)
    for key in ("s", "t"):
        blocks = pd.DataFrame({"block": [fleet.take([key]).to_bytes()]})
        one.handleInitialState((0,), blocks, None)
    assert sorted(fleet_of(kept).keys()) == ["s", "t"]
    found = run(one, batch(("s", 1, 1.0, 1.0, 1.0)))
    assert found["forecast"] == fleet.predict(["s"], [{"a": 1.0, "b": 1.0}]).tolist()


def test_a_checkpoint_of_other_shards_or_another_learner_is_refused() -> None:
    kept = Kept()
    run(shard(kept), batch(("s", 1, 1.0, 1.0, 1.0)))
    with pytest.raises(InputError, match="shards = 8, but this checkpoint was begun with 4"):
        run(shard(kept, shards=8), batch(("s", 2, 1.0, 1.0, 1.0)))
    with pytest.raises(MergeError, match="give a fleet of the same learner"):
        run(shard(kept, learner=nr.AAR(2.0)), batch(("s", 2, 1.0, 1.0, 1.0)))


def test_spans_are_in_the_units_of_the_times() -> None:
    assert span("late_after", None, timed=True) is None
    assert span("late_after", timedelta(seconds=2), timed=True) == 2_000_000
    assert span("late_after", 7, timed=False) == 7
    for value, timed in ((7, True), (timedelta(1), False), (timedelta(-1), True), (-1, False)):
        with pytest.raises(InputError, match=r"expire_after = .* as order_by is"):
            span("expire_after", value, timed=timed)
