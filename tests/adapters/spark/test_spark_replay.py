"""`replay`: one fleet, whatever the partitions; on executors that die, too."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from traffic import NAMES, expected, learner, same_states, traffic

import noregret as nr
from noregret.adapters import spark
from noregret.adapters.spark.blocks import shard_column, shards_of
from noregret.errors import InputError

NAN = float("nan")


def test_a_thousand_keys_bit_for_bit(session: Any) -> None:
    frame = traffic(keys=1_000, rows=200)
    df = session.createDataFrame(frame.sample(frac=1.0, random_state=0)).repartition(3)
    found = spark.replay(df, "shop", NAMES, "y", "at", learner())
    found.rows.persist()
    rows = found.forecasts.toPandas().sort_values("at")
    forecasts, fleet = expected(frame)
    assert list(rows.columns) == ["shop", "at", "y", "forecast", "error"]
    for name in ("shop", "at", "y"):
        assert_array_equal(rows[name], frame[name])
    assert_array_equal(rows["forecast"], forecasts)
    assert rows["error"].isna().all()
    assert same_states(found.fleet, fleet)
    table = found.certificates.toPandas().sort_values("key")
    lines = fleet.certificates()
    order = np.argsort(lines.keys)
    assert table["key"].tolist() == sorted(lines.keys)
    assert_array_equal(table["loss"], lines.loss[order])
    assert_array_equal(table["bound"], lines.bound[order])
    assert table["holds"].all()
    found.rows.unpersist()


def test_on_executors_of_their_own_one_of_which_is_killed() -> None:
    job = Path(__file__).parent / "cluster_job.py"
    done = subprocess.run(
        [sys.executable, str(job)], capture_output=True, text=True, timeout=600, check=False
    )
    assert "an executor was killed; all is equal" in done.stdout, done.stdout + done.stderr[-3000:]


def test_rows_that_nothing_tells_apart_come_in_one_order(session: Any) -> None:
    rows = [("a", 1, x, y) for x, y in [(1.0, 2.0), (3.0, 1.0), (1.0, 5.0), (2.0, 0.0)] * 3]
    schema = "shop string, day int, x double, y double"
    found = []
    for turned in (rows, rows[::-1]):
        df = session.createDataFrame(turned, schema).repartition(2)
        result = spark.replay(df, "shop", ["x"], "y", "day", nr.AAR())
        found.append(result.forecasts.orderBy("y", "forecast").collect())
    assert found[0] == found[1]


WRONG = [
    (("a", 2, None, 1.0), "key 'a', row with day = 2: X['x'] is null"),
    (("b", 3, NAN, 1.0), "key 'b', row with day = 3: X['x'] = nan: only finite numbers"),
    (("a", 4, 1.0, None), "key 'a', row with day = 4: 'y' is null"),
    ((None, 5, 1.0, 1.0), "key None, row with day = 5: 'shop' is null"),
    (("a", None, 1.0, 1.0), "key 'a', row with day = None: 'day' is null"),
]


def test_a_wrong_row_ends_the_job_by_key_and_row(session: Any) -> None:
    schema = "shop string, day int, x double, y double"
    df = session.createDataFrame([("a", 1, 1.0, 1.0), WRONG[0][0]], schema)
    with pytest.raises(Exception) as refusal:  # Spark's, around ours
        spark.replay(df, "shop", ["x"], "y", "day", nr.AAR()).forecasts.collect()
    assert WRONG[0][1] in str(refusal.value)


def test_wrong_rows_are_reported_on_request_and_teach_nothing(session: Any) -> None:
    schema = "shop string, day int, x double, y double"
    right = [("a", 1, 1.0, 1.0), ("b", 1, 1.0, 2.0), ("a", 9, 1.0, 3.0)]
    df = session.createDataFrame([*right, *(row for row, _ in WRONG)], schema)
    found = spark.replay(df, "shop", ["x"], "y", "day", nr.AAR(), bad_rows="report")
    rows = found.forecasts.collect()
    assert len(rows) == len(right) + len(WRONG)
    told = sorted(row["error"] for row in rows if row["error"] is not None)
    assert [text.partition(": only")[0].partition(": leave")[0] for text in told] == sorted(
        why.partition(": only")[0] for _, why in WRONG
    )
    assert all((row["forecast"] is None) == (row["error"] is not None) for row in rows)
    fleet = nr.Fleet(nr.AAR())
    keys, _, x, y = zip(*right)
    fleet.learn(list(keys), [{"x": value} for value in x], list(y))
    assert same_states(found.fleet, fleet)


def test_vectors_and_keys_that_are_texts(session: Any) -> None:
    rows = [("ä", 1, [1.0, 2.0], 3.0), ("ä", 2, [2.0, 1.0], 1.0), ("b c", 1, [1.0, 1.0], 1.0)]
    df = session.createDataFrame(rows, "shop string, day int, x array<double>, y double")
    found = spark.replay(df, "shop", "x", "y", "day", nr.AAR(), width=2, partitions=2)
    fleet = nr.Fleet(nr.AAR())
    keys, _, x, y = zip(*rows)
    forecasts = fleet.round(list(keys), np.array(x), list(y))
    assert [row.forecast for row in found.forecasts.orderBy("shop", "day").collect()] == [
        forecasts[2],
        forecasts[0],
        forecasts[1],
    ]
    assert same_states(found.fleet, fleet)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"bad_rows": "drop"}, "give 'fail' or 'report'"),
        ({"learner": "AAR"}, "give a learner of noregret"),
        ({"target": "error"}, "results have a column of that name"),
    ],
)
def test_wrong_options_are_named(session: Any, options: Any, why: str) -> None:
    schema = "shop string, day int, x double, y double, error double"
    df = session.createDataFrame([("a", 1, 1.0, 1.0, 1.0)], schema)
    given = {"key": "shop", "target": "y", "order_by": "day", "learner": nr.AAR(), **options}
    with pytest.raises(InputError) as refusal:
        spark.replay(df, features=["x"], **given)
    assert why in str(refusal.value)


def test_shards_are_the_same_here_and_there(session: Any) -> None:
    texts = ["", "a", "store 7", "ä", "北京", "0"]
    numbers = [0, -1, 7, 2**63 - 1, -(2**63)]
    for keys, kind in ((texts, "string"), (numbers, "bigint")):
        df = session.createDataFrame([(key,) for key in keys], f"key {kind}")
        found = df.select("key", shard_column("key", 97)).collect()
        assert shards_of([row[0] for row in found], 97).tolist() == [row[1] for row in found]
