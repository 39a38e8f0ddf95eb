"""Fleets: rates, memory, files, and Parquet beside a bare scan.

    python benchmarks/fleet.py [tick] [others] [large] [parquet] [prior] [--keys N] [--rows N]

Each part writes its figures between its marks in docs/scale.md; without a name, all of them run.
`large` takes 6 GB of memory and as much of disk, `parquet` 3.6 GB of disk, in a temporary folder.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import tempfile
import time
from pathlib import Path

import data
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from marks import put
from page import table as lined
from river.linear_model import BayesianLinearRegression

import noregret as nr

PAGE = Path(__file__).resolve().parents[1] / "docs" / "scale.md"
N = 8


def resident() -> int:
    """Bytes that this process holds."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def table(head: list[str], lines: list[list[str]]) -> str:
    return "\n".join(lined(head, lines))


def river_tick(models, rows, ys) -> None:
    """A forecast with its spread, as our rounds have it too, then the outcome."""
    for key, x, y in zip(models, rows, ys, strict=True):
        models[key].predict_one(x, with_dist=True)
        models[key].learn_one(x, y)


def tick(keys: int) -> None:
    """One event per key: CPU time of one thread, and wall time of all."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(keys, N)), rng.normal(size=keys)
    few = 1000
    peers = {k: BayesianLinearRegression() for k in range(few)}
    rows = [dict(enumerate(x)) for x in X[:few].tolist()]
    ys = y[:few].tolist()
    orders = {"in the order of keys": np.arange(keys), "in random order": rng.permutation(keys)}
    lines = []
    for learner in (nr.BayesianRidge(), nr.AAR(), nr.AAR(drift=1e-3)):
        for name, order in orders.items():
            one, all_ = nr.Fleet(learner, threads=1), nr.Fleet(learner)
            for fleet in (one, all_):
                fleet.learn(np.arange(keys), X, y)
            cpu, wall, theirs, their_wall = [], [], [], []
            for _ in range(7):  # side by side
                for fleet, spent, clock in (
                    (one, cpu, time.thread_time),
                    (all_, wall, time.perf_counter),
                ):
                    begin = clock()
                    fleet.round(order, X, y)
                    spent.append((clock() - begin) / keys)
                begin, begun = time.thread_time(), time.perf_counter()
                river_tick(peers, rows, ys)
                theirs.append((time.thread_time() - begin) / few)
                their_wall.append((time.perf_counter() - begun) / few)
            ours, both, river, river_wall = map(statistics.median, (cpu, wall, theirs, their_wall))
            lines.append(
                [
                    f"`{learner!r}` {name}",
                    f"{ours * 1e9:,.0f} ns",
                    f"{river * 1e6:,.0f} us",
                    f"{river / ours:,.0f}x",
                    f"{1 / both / 1e6:.1f} M",
                    f"{river_wall / both:,.0f}x",
                ]
            )
    head = ["", "CPU per event", "river", "one thread", "events/s, all threads", "beside river"]
    put(PAGE, "tick", f"{keys:,} keys, {N} features.\n\n" + table(head, lines))


OTHERS = (
    nr.BayesianLogistic(method="adf"),
    nr.ImproperLogistic(),
    nr.AAR(discount=0.99),
    nr.Intervals(nr.AAR(), 0.9),
    nr.Auto(effort="linear"),
)


def others(keys: int) -> None:
    """Learners that have their own rounds: CPU time per event, in slots and by themselves."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(keys, N))
    y = (X[:, 0] + rng.normal(size=keys) > 0.0).astype(float)
    few, ours = 2000, np.arange(keys)
    rows, outcomes = list(X[:few]), y[:few].tolist()
    lines = []
    for learner in OTHERS:
        many = keys // 10 if isinstance(learner, nr.Auto) else keys
        fleet = nr.Fleet(learner, threads=1)
        fleet.learn(ours[:many], X[:many], y[:many])
        spent, single = [], []
        for _ in range(5):
            begin = time.thread_time()
            fleet.round(ours[:many], X[:many], y[:many])
            spent.append((time.thread_time() - begin) / many)
            alone = type(learner)(**learner.get_params(deep=False))
            begin = time.thread_time()
            for x, outcome in zip(rows, outcomes, strict=True):
                alone.predict_one(x)
                alone.learn_one(x, outcome)
            single.append((time.thread_time() - begin) / few)
        in_slot, by_itself = statistics.median(spent), statistics.median(single)
        size = f"{8 * fleet._store.packing.wide:,}"
        times = f"{in_slot * 1e6:.2f} us", f"{by_itself * 1e6:.2f} us"
        lines.append([f"`{learner!r}`", f"{many:,}", size, *times])
    head = ["", "keys", "bytes per key", "CPU per event", "one learner, predict and learn"]
    put(PAGE, "others", table(head, lines))


def large(keys: int) -> None:
    """Very many keys: made, saved, opened, continued."""
    rng = np.random.default_rng(1)
    chunk = 1_000_000
    X, y = rng.normal(size=(chunk, N)), rng.normal(size=chunk)
    before = resident()
    fleet = nr.Fleet(nr.AAR())
    lines = []

    def pass_over(fleet: nr.Fleet) -> float:
        begin = time.perf_counter()
        for start in range(0, keys, chunk):
            part = np.arange(start, min(start + chunk, keys))
            fleet.round(part, X[: len(part)], y[: len(part)])
        return time.perf_counter() - begin

    lines.append(["made, one round each", f"{keys / pass_over(fleet):,.0f} keys/s"])
    held = (resident() - before) / keys
    lines.append(["memory per key, as the system counts it", f"{held:,.0f} bytes"])
    lines.append(["a second round each", f"{keys / pass_over(fleet):,.0f} rows/s"])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fleet.nr"
        begin = time.perf_counter()
        fleet.save(path)
        spent, size = time.perf_counter() - begin, path.stat().st_size
        lines.append(["saved", f"{size / 1e9:.2f} GB in {spent:.1f} s"])
        said = fleet.predict(np.arange(1000), X[:1000])
        del fleet
        gc.collect()
        begin = time.perf_counter()
        fleet = nr.Fleet.open(path)
        lines.append(["opened", f"{time.perf_counter() - begin:.1f} s"])
        assert fleet.predict(np.arange(1000), X[:1000]).tobytes() == said.tobytes()
        lines.append(
            ["a third round each, from the file", f"{keys / pass_over(fleet):,.0f} rows/s"]
        )
        assert len(fleet) == keys
    put(
        PAGE,
        "large",
        f"{keys:,} keys, {N} features, `AAR()`, whole numbers as keys.\n\n"
        + table(["", ""], lines),
    )


def parquet(rows: int, keys: int) -> None:
    """A file of many rows: replay beside Polars, which only reads it and adds up by key."""
    rng = np.random.default_rng(2)
    with tempfile.TemporaryDirectory() as folder:
        path, step = Path(folder) / "rows.parquet", 1_000_000
        names = [f"x{j}" for j in range(N)]
        schema = pa.schema([("key", pa.int64()), *((n, pa.float64()) for n in (*names, "y"))])
        with pq.ParquetWriter(path, schema, compression="snappy") as writer:
            for start in range(0, rows, step):
                count = min(step, rows - start)
                columns = [pa.array(rng.integers(0, keys, count))]
                columns += [pa.array(rng.normal(size=count)) for _ in range(N + 1)]
                writer.write_table(pa.table(columns, schema=schema))
        size = path.stat().st_size

        begin, begun = time.perf_counter(), time.process_time()
        sums = pl.scan_parquet(path).group_by("key").agg(pl.all().sum()).collect()
        bare, bare_cpu = time.perf_counter() - begin, time.process_time() - begun
        begin, begun = time.perf_counter(), time.process_time()
        fleet = nr.Fleet(nr.AAR())
        done = fleet.replay(path, key="key", target="y")
        spent, cpu = time.perf_counter() - begin, time.process_time() - begun
        assert done.rows == rows
        assert len(fleet) == len(sums)
    lines = [
        [name, f"{wall:.1f} s", f"{of_cores:.1f} s", f"{rows / wall:,.0f}"]
        for name, wall, of_cores in (
            ("Polars: scan, group by key, sum of 9 columns", bare, bare_cpu),
            ("`fleet.replay`: forecast, learn, book", spent, cpu),
        )
    ]
    lines.append(["ratio", f"{spent / bare:.1f}", f"{cpu / bare_cpu:.1f}", ""])
    head = ["", "time", "CPU", "rows/s"]
    what = f"{rows:,} rows x {N} features, {len(sums):,} keys at random, {size / 1e9:.2f} GB.\n\n"
    put(PAGE, "parquet", what + table(head, lines))


def prior() -> None:
    """Chicks one after the other: the first 20 rounds of each, with and without a prior."""
    if not data.there(data.FOLDER):
        return
    frame = pd.read_csv(data.FOLDER / "chick_weights.csv")
    frame = frame.sort_values(["chick", "age_days"], kind="stable")
    lines = []
    for learner in (nr.Ridge(), nr.Ridge(0.01), nr.AAR(), nr.BayesianRidge(noise_var=None)):
        losses = []
        for chosen in (None, "fleet"):
            fleet, paid = nr.Fleet(learner, prior=chosen), []
            for key, rows in frame.groupby("chick"):
                age = rows.age_days.to_numpy() / 10.0
                X = np.column_stack([np.ones_like(age), age, age**2])
                y = rows.y.to_numpy(dtype=float)
                said = fleet.round([int(key)] * len(y), X, y)
                paid.append(((y - said)[:20] ** 2).sum())
            losses.append(sum(paid))
        root = [f"{np.sqrt(loss / len(frame)):.1f}" for loss in losses]
        lines.append([f"`{learner!r}`", *root, f"{losses[1] / losses[0]:.2f}"])
    head = ["", "RMSE without", 'with `prior="fleet"`', "ratio of losses"]
    put(PAGE, "prior", table(head, lines))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*")
    parser.add_argument("--keys", type=int, default=10_000_000, help="of `large`")
    parser.add_argument("--rows", type=int, default=50_000_000, help="of `parquet`")
    given = parser.parse_args()
    chosen = given.parts or ["tick", "others", "large", "parquet", "prior"]
    if "tick" in chosen:
        tick(100_000)
    if "others" in chosen:
        others(20_000)
    if "large" in chosen:
        large(given.keys)
    if "parquet" in chosen:
        parquet(given.rows, 1_000_000)
    if "prior" in chosen:
        prior()
