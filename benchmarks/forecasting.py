"""Day-ahead and week-ahead forecasts, walked forward, beside naive forecasts, ridge, statsforecast.

    python benchmarks/forecasting.py [--data FOLDER] [--keep FOLDER] [--only NAME ...] [--page]
                                     [--ours]

Writes docs/forecasting.md.  With --keep the figures of each series are kept in a folder and
read from there the next time; with --only no page is written, with --page nothing is run.  With
--ours the Forecaster alone is run anew: the figures of the others, which take most of the time and
do not change with it, are those that are kept.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from time import perf_counter

import data
import forecasting_peers as peers
import numpy as np
import pandas as pd
from page import table
from threadpoolctl import threadpool_limits

import noregret as nr

PAGE = Path(__file__).resolve().parents[1] / "docs" / "forecasting.md"
NEAR = 1.05
PEERS = ("ridge", "AutoETS", "MSTL", "AutoARIMA")


@dataclass(frozen=True, slots=True)
class Series:
    """A file, how its rows become a series, and what is forecast."""

    file: str
    every: str  # pandas' word for the step
    horizon: int
    seasons: tuple[int, ...]
    daily: str | None = None  # how hours become days
    test: int = 84  # days at the end, half of the series at most


HOUR, DAYS = (24, 168, 8736), (7, 364)
SERIES = {
    "bike, hourly": Series("bike_sharing_hour", "h", 24, HOUR),
    "metro, hourly": Series("metro_traffic", "h", 24, HOUR),
    "beijing, hourly": Series("beijing_pm25", "h", 24, HOUR),
    "air quality, hourly": Series("air_quality", "h", 24, HOUR),
    "water flow, hourly": Series("water_flow", "h", 24, HOUR),
    "elec2 demand, half-hourly": Series("elec2_demand_ar", "30min", 48, (48, 336)),
    "france 20:00, daily": Series("france_load_8pm", "D", 7, DAYS, test=364),
    "trump approval, daily": Series("trump_approval", "D", 7, DAYS, test=364),
    "bike, daily sums": Series("bike_sharing_hour", "D", 7, DAYS, "sum", 364),
    "metro, daily means": Series("metro_traffic", "D", 7, DAYS, "mean", 364),
    "beijing, daily means": Series("beijing_pm25", "D", 7, DAYS, "mean", 364),
}

WORDS = """\
# Day-ahead and week-ahead forecasts

Written by `make forecasting`. Every shared file that has times (elec2: half-hours, as its source
says) is walked forward: 24 hours or 48 half-hours from one origin a day, 7 days from every day;
hourly files of two years and more also as days. Left out: returns (`ise`, `sp500_stocks`), where
the mean is all there is, and `appliances_energy_scaled`, whose order is not stated. Test: the last
84 days of hourly files, the last 364 of daily ones, at most half of the series. Files
were chosen by this rule, not by result; features of the Forecaster were chosen while some of these
figures were known (that of last year on days after the daily metro file).

`Forecaster(time="time", horizon=H)`, with no setting and no feature but the time, learns row by
row from the first on. The others are helped: gaps interpolated (also with what comes after); ridge
is a RidgeCV per horizon on lags and an indicator for every phase of the week, fitted weekly on up
to 8,000 rows; AutoETS and MSTL are fitted weekly, AutoARIMA weekly on days and every four weeks on
hours (a fit takes a minute there), on the last 56 days of hours (AutoARIMA 28) or two years of
days, and updated with every row in between. RMSE is on the same rows for all; steps without a row
are not scored. The others take most of the time and do not change with the Forecaster: where it is
run anew alone (`--ours`), their figures are those of the run before.
"""


def read(folder: Path, chosen: Series) -> pd.Series:
    """The series on its grid, NaN in gaps."""
    path = next(p for p in folder.glob(f"{chosen.file}.csv*"))
    frame = pd.read_csv(path)
    if "time" in frame:
        times = pd.to_datetime(frame["time"], utc=True)
    elif "ordinal_date" in frame:
        times = pd.to_datetime([date.fromordinal(int(day)) for day in frame["ordinal_date"]])
    else:
        times = pd.date_range("1996-05-07", periods=len(frame), freq=chosen.every)
    series = pd.Series(frame["y"].to_numpy(float), index=pd.DatetimeIndex(times))
    series = series[~series.index.duplicated()]
    if chosen.daily:
        series = series.groupby(series.index.floor("D")).agg(chosen.daily)
    return series.asfreq(chosen.every)


def measured(series: pd.Series, chosen: Series) -> dict[str, object]:
    """RMSE by horizon of every forecaster, and the time that each took."""
    found = ours(series, chosen)
    y, H, seconds = series.to_numpy(), chosen.horizon, found["seconds"]
    origins, per_day = origins_of(series, chosen)
    target = origins[:, None] + np.arange(1, H + 1)
    said = {}
    full, seasons = peers.filled(y), list(chosen.seasons)
    said |= peers.naive(full, origins, H, seasons)
    hours = chosen.every != "D"
    said["ridge"], seconds["ridge"] = peers.timed(lambda: peers.ridge(full, origins, H, seasons, 7))
    for name in ("AutoETS", "MSTL", "AutoARIMA"):
        slow = hours and name == "AutoARIMA"
        window = (28 if slow else 56) * per_day if hours else 730
        refit = 28 if slow else 7
        said[name], seconds[name] = peers.timed(
            lambda name=name, refit=refit, window=window: peers.statistical(
                name, full, origins, H, seasons, refit, window
            )
        )
    found["rmse"] |= {k: errors(y[target], g) for k, g in said.items()}
    return found


def origins_of(series: pd.Series, chosen: Series) -> tuple[np.ndarray, int]:
    """The last steps known, one for each day of the test; and how many steps a day has."""
    per_day, T = {"h": 24, "30min": 48, "D": 1}[chosen.every], len(series)
    test = min(chosen.test * per_day, T // 2)
    return np.arange(T - 1 - chosen.horizon, T - 1 - test, -per_day)[::-1], per_day


def errors(truth: np.ndarray, said: np.ndarray) -> list[float]:
    """RMSE by horizon, on the steps that have a row."""
    return np.sqrt(np.nanmean((truth - said) ** 2, axis=0)).tolist()


def ours(series: pd.Series, chosen: Series) -> dict[str, object]:
    """The Forecaster over the whole series, and what it makes of the test."""
    y, H = series.to_numpy(), chosen.horizon
    origins, _ = origins_of(series, chosen)
    target, known = origins[:, None] + np.arange(1, H + 1), ~np.isnan(y)
    start = perf_counter()
    model = nr.Forecaster(time="time", horizon=H)
    replay = model.replay(pd.DataFrame({"time": series.index[known]}), y[known])
    seconds = perf_counter() - start
    row = np.cumsum(known) - 1
    ahead = np.where(known[target], replay.ahead[row[target], np.arange(H)], np.nan)
    return {
        "rmse": {"forecast": errors(y[target], ahead)},
        "seconds": {"forecast": seconds},
        "rows": int(known.sum()),
        "gaps": int((~known).sum()),
        "origins": len(origins),
        "holds": all(c.holds for c in model.certificates()),
        "coverage": model.coverage_.tolist(),
    }


def renewed(before: dict, now: dict) -> dict:
    """What was kept, with the Forecaster's figures of now."""
    both = {name: before[name] | now[name] for name in ("rmse", "seconds")}
    return before | now | both


def is_naive(name: str) -> bool:
    return name in ("mean so far", "last value") or name.endswith("before")


def summary(results: dict[str, dict]) -> list[str]:
    """Means over horizons, and what was reached."""
    header = ["series", "rows", "H", "forecast", "best naive", *PEERS, "/ naive", "/ best of all"]
    rows, below, near = [], 0, 0
    for name, found in results.items():
        mean = {k: float(np.mean(v)) for k, v in found["rmse"].items()}
        naive = min((k for k in mean if is_naive(k)), key=mean.get)
        best = min((k for k in mean if k != "forecast" and not is_naive(k)), key=mean.get)
        best = min(best, naive, key=mean.get)
        a, b = mean["forecast"] / mean[naive], mean["forecast"] / mean[best]
        below, near = below + (a < 1.0), near + (b <= NEAR)
        peers_ = [f"{mean[k]:.4g}" for k in PEERS]
        rows.append([name, f"{found['rows']:,}", str(len(found["rmse"]["forecast"])),
                     f"**{mean['forecast']:.4g}**", f"{mean[naive]:.4g} ({naive})", *peers_,
                     f"{a:.3f}", f"{b:.3f} ({best})"])  # fmt: skip
    cover = [100 * share for f in results.values() for share in f["coverage"]]
    words = (
        f"Below the best naive forecast on {below} of {len(results)}; within 5 % of the best of "
        f"the others, or better, on {near}. Certificates hold at every horizon of every series: "
        f"{'yes' if all(f['holds'] for f in results.values()) else '**no**'}. 90 % intervals "
        f"covered {min(cover):.1f} to {max(cover):.1f} % of the outcomes, by series and horizon."
    )
    absent = [name for name in SERIES if name not in results]
    words += f" Not yet run for this page: {'; '.join(absent)}." if absent else ""
    return ["## Mean RMSE over the horizons", "", *table(header, rows), "", words, ""]


def details(results: dict[str, dict]) -> list[str]:
    """RMSE at every horizon."""
    lines = ["## RMSE at every horizon", ""]
    for name, found in results.items():
        rmse = found["rmse"]
        H = len(rmse["forecast"])
        lines += [
            f"### {name}",
            "",
            f"{found['origins']} origins, {found['gaps']:,} steps without a row.",
        ]
        rows = [[str(h + 1), *(f"{v[h]:.4g}" for v in rmse.values())] for h in range(H)]
        lines += ["", *table(["h", *rmse], rows), ""]
    return lines


def times(results: dict[str, dict]) -> list[str]:
    header = ["seconds", *next(iter(results.values()))["seconds"]]
    rows = [[name, *(f"{s:.0f}" for s in f["seconds"].values())] for name, f in results.items()]
    words = (
        "Forecaster: the whole stream, forecasts from every row. The others: the test alone. On a "
        "machine that was busy with other work: orders of magnitude."
    )
    return ["## Time", "", words, "", *table(header, rows), ""]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=data.FOLDER)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--page", action="store_true", help="from what is kept, run nothing")
    parser.add_argument("--ours", action="store_true", help="the Forecaster anew, others as kept")
    options = parser.parse_args()
    if not data.there(options.data):
        return
    results = {}
    for name, chosen in SERIES.items():
        kept = options.keep / f"{name}.json" if options.keep else None
        wanted = not options.only or name in options.only
        if kept and kept.exists():
            results[name] = json.loads(kept.read_text())
            if options.ours and wanted:
                now = ours(read(options.data, chosen), chosen)
                results[name] = renewed(results[name], now)
                kept.write_text(json.dumps(results[name]))
                print(name, round(float(np.mean(now["rmse"]["forecast"])), 4), flush=True)
        elif not options.page and wanted:
            with threadpool_limits(1):
                results[name] = measured(read(options.data, chosen), chosen)
            print(
                name,
                {k: round(float(np.mean(v)), 4) for k, v in results[name]["rmse"].items()},
                flush=True,
            )
            if kept:
                kept.parent.mkdir(parents=True, exist_ok=True)
                kept.write_text(json.dumps(results[name]))
    if not options.only:
        parts = [WORDS, *summary(results), *times(results), *details(results)]
        PAGE.write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
