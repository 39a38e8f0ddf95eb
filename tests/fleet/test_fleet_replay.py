"""Rounds from frames, batches and files are those of calls, whatever they are read from."""

from __future__ import annotations

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

import noregret as nr
from noregret.errors import InputError, SourceError
from noregret.fleet import replay as replays


def sales(T: int = 500) -> pd.DataFrame:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"hot": rng.normal(size=T), "wet": rng.integers(0, 9, T).astype(float)})
    frame["shop"] = rng.choice(["north", "south", "007", "4.5"], T)
    frame["units"] = frame.hot * 2.0 + rng.normal(size=T)
    return frame


def expected(frame: pd.DataFrame) -> tuple[np.ndarray, nr.Fleet]:
    fleet = nr.Fleet(nr.AAR(0.5))
    said = fleet.round(frame.shop.tolist(), frame[["hot", "wet"]], frame.units.to_numpy())
    return said, fleet


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "reader", "duckdb", "batches"])
def test_frames_and_batches(kind) -> None:
    frame = sales()
    said, separate = expected(frame)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    data = {
        "pandas": lambda: frame,
        "polars": lambda: pl.from_pandas(frame),
        "arrow": lambda: table,
        "reader": lambda: table.to_reader(max_chunksize=77),
        "duckdb": lambda: duckdb.from_arrow(table),
        "batches": lambda: table.to_batches(max_chunksize=33),
    }[kind]()
    fleet, seen = nr.Fleet(nr.AAR(0.5)), []
    done = fleet.replay(
        data, key="shop", target="units", features=["hot", "wet"], each=lambda _, f: seen.append(f)
    )
    assert np.concatenate(seen).tobytes() == said.tobytes()
    assert (done.rows, done.learned) == (500, 500)
    assert done.square_loss == pytest.approx(((frame.units - said) ** 2).sum(), rel=1e-12)
    assert (done.forecast is not None) == (kind in ("pandas", "polars", "arrow"))
    assert all(fleet[k].certificate() == separate[k].certificate() for k in separate)


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv", "jsonl", "duckdb"])
def test_files(tmp_path, monkeypatch, ending) -> None:
    monkeypatch.setattr(replays, "ROWS", 64)
    frame, path, query = sales(), tmp_path / f"sales.{ending}", None
    said, _ = expected(frame)
    if ending == "parquet":
        frame.to_parquet(path)
    elif ending == "arrow":
        feather.write_feather(pa.Table.from_pandas(frame), path)
    elif ending == "csv":
        frame.to_csv(path, index=False)
    elif ending == "jsonl":
        frame.to_json(path, orient="records", lines=True, double_precision=15)
        said, _ = expected(pd.read_json(path, lines=True, dtype={"shop": str}))
    else:
        with duckdb.connect(path) as base:
            base.sql("CREATE TABLE sales AS SELECT * FROM frame")
        path, query = f"duckdb:{path}", "SELECT * FROM sales"
    fleet, seen = nr.Fleet(nr.AAR(0.5)), []
    fleet.replay(path, key="shop", target="units", query=query, each=lambda _, f: seen.append(f))
    assert sorted(fleet.keys()) == ["007", "4.5", "north", "south"]
    np.testing.assert_allclose(np.concatenate(seen), said, rtol=1e-9, atol=1e-12)


def test_whole_numbers_of_a_table_stay_numbers(tmp_path) -> None:
    path = tmp_path / "sales.parquet"
    pq.write_table(pa.table({"k": [2**60, 7], "x": [1.0, 2.0], "y": [1, 2]}), path)
    fleet = nr.Fleet(nr.AAR())
    fleet.replay(path, key="k", target="y")
    assert fleet.keys() == [2**60, 7]


def test_rows_without_an_outcome_are_forecast() -> None:
    frame = sales(40)
    whole, _ = expected(frame)
    gaps = frame.copy()
    gaps.loc[[0, 20, 39], "units"] = np.nan
    fleet = nr.Fleet(nr.AAR(0.5))
    done = fleet.replay(gaps, key="shop", target="units")
    assert (done.rows, done.learned) == (40, 37)
    known, _ = expected(frame.drop([0, 20, 39]))
    np.testing.assert_array_equal(np.delete(done.forecast, [0, 20, 39]), known)
    assert done.forecast[0] == whole[0] == 0.0


def test_refusals(tmp_path) -> None:
    fleet, frame = nr.Fleet(nr.AAR()), sales(20)
    with pytest.raises(InputError, match="no column 'shp'; did you mean 'shop'"):
        fleet.replay(frame, key="shp", target="units")
    with pytest.raises(InputError, match="give a frame"):
        fleet.replay(5, key="shop", target="units")
    frame.loc[7, "hot"] = np.nan
    with pytest.raises(InputError, match="row 7, X\\['hot'\\] = nan"):
        fleet.replay(frame, key="shop", target="units")
    assert len(fleet) == 0
    frame = sales(20)
    frame.loc[3, "shop"] = None
    frame.to_csv(tmp_path / "sales.csv", index=False)
    with pytest.raises(SourceError, match="line 5, column 'shop': the value is missing"):
        fleet.replay(tmp_path / "sales.csv", key="shop", target="units")
