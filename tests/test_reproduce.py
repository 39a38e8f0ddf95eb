"""noregret reproduce: published figures beside ours, and those that must agree do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from commands import noregret
from noregret.reproduce import intervals, lower_bounds, opera, simulation, timing
from noregret.reproduce.oslog import table1


def test_lower_bounds(capsys) -> None:
    assert noregret("reproduce", "lower-bounds") == 0
    shown = capsys.readouterr().out
    assert "Doubling" in shown
    for T in (10, 30):
        regret = lower_bounds.on_opponent(T)
        assert regret["BayesianRidge"] == pytest.approx(lower_bounds.margin(T), rel=1e-9)
        assert min(regret.values()) >= lower_bounds.margin(T) * (1 - 1e-9)


def test_what_is_missing_is_said(tmp_path: Path, capsys) -> None:
    assert noregret("reproduce", "oslog-table1") == 2
    assert "needs --data: ise.csv" in capsys.readouterr().err
    assert noregret("reproduce", "oslog-table1", "--data", tmp_path / "none.csv") == 2
    assert noregret("reproduce", "opera-load", "--data", tmp_path) == 2
    assert noregret("reproduce", "river-track", "--data", tmp_path) == 2
    assert noregret("reproduce", "oslog-figure2", "--out", tmp_path / "none") == 2
    assert noregret("reproduce", "nothing") == 2


@pytest.mark.data
def test_oslog_table1(shared_data: Path, capsys) -> None:
    """AAR's and ORR's losses to the printed digits."""
    assert noregret("reproduce", "oslog-table1", "--data", shared_data / "ise.csv") == 0
    assert "The gaze data are not to be had" in capsys.readouterr().out
    rows = np.genfromtxt(shared_data / "ise.csv", delimiter=",", skip_header=1)[:, 1:]
    (shown,) = table1(np.ascontiguousarray(rows[:, :-1]), rows[:, -1].copy())
    loss = {row[0]: row[2] for row in shown.rows}
    assert float(loss["AAR, ours"]) == pytest.approx(float(loss["AAR, published"]), abs=5e-4)
    assert loss["ORR, ours"] == loss["ORR, published"]
    assert loss["OSLOG, ours"] != loss["OSLOG, published"]


@pytest.mark.data
def test_intervals(shared_data: Path, capsys) -> None:
    """ACI, the tracker and SF-OGD to all digits given; ours has the lowest score."""
    path = shared_data / "elec2_demand_ar.csv"
    assert noregret("reproduce", "intervals", "--data", path) == 0
    assert "nr.Intervals" in capsys.readouterr().out
    g, y = np.genfromtxt(path, delimiter=",", skip_header=1).T.copy()
    (shown,) = intervals.tables(g, y)
    redone = {row[0]: row[2] for row in shown.rows}
    for name, given in intervals.GIVEN.items():
        assert redone[name] == given or not given
    scores = {name: float(figures.split(" / ")[2]) for name, figures in redone.items()}
    assert min(scores, key=scores.get) == "nr.Intervals"


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("name", ["oslog-table2", "river-track", "opera-load"])
def test_tables_on_data(name: str, shared_data: Path, capsys) -> None:
    place = shared_data / "ise.csv" if name.startswith("oslog") else shared_data
    assert noregret("reproduce", name, "--data", place) == 0
    assert "published" in capsys.readouterr().out


@pytest.mark.data
def test_pinball_on_opera(shared_data: Path) -> None:
    regional = opera.files(shared_data)[1]
    found = opera.pinball(regional)
    for name, given in opera.PINBALL.items():
        assert [round(value, 1) for value in found[name]] == list(given), name
    assert opera.band(regional) == opera.BAND
    g = opera.RULES["MLpol, opera's default"](regional)[0]
    assert regional.rmse(g) == pytest.approx(1056.95, abs=5e-3)
    assert regional.mape(g) == pytest.approx(1.383, abs=5e-4)


@pytest.mark.data
def test_the_default_on_opera(shared_data: Path) -> None:
    """Below MLpol's 1457.48 and 1.383 %, with every certificate."""
    weekly, regional = opera.files(shared_data)
    rule = opera.RULES["nr.aggregate, its default"]
    (first, held), (second, too) = rule(weekly), rule(regional)
    assert held == too == "hold"
    assert weekly.rmse(first) < 1440.0
    assert regional.mape(second) < 1.25


@pytest.mark.slow
def test_figure2(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(simulation, "ACTIVE", (2, 100))
    monkeypatch.setattr(simulation, "CORRELATIONS", (0.1, 0.9))
    assert noregret("reproduce", "oslog-figure2", "--seeds", "2", "--out", tmp_path) == 0
    assert "Sparsity" in capsys.readouterr().out
    assert (tmp_path / "oslog-sparsity.svg").stat().st_size > 10_000
    assert (tmp_path / "oslog-collinearity.svg").stat().st_size > 10_000


def test_a_slow_first_round_does_not_set_the_pace() -> None:
    """A learner that makes its state in the first round is raced over as many rounds as others."""
    now, seen = [0.0], []

    def job(rounds: int) -> None:
        seen.append(rounds)
        now[0] += 0.001 * rounds + (5.0 if len(seen) == 1 else 0.0)

    timing.race({"late": job}, seconds=0.0, slot=0.1, clock=lambda: now[0])
    assert seen[-1] == 100
