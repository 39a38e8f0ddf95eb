"""Reports: curves keep their extremes, memory is bounded, nothing from data becomes markup."""

from __future__ import annotations

import itertools
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noregret as nr
from commands import forecasts, noregret, stream, write
from noregret import report
from noregret.certificates import Assumption, Certificate
from noregret.errors import InputError, OutcomeError
from noregret.report.words import certificate as in_words
from noregret.running import recording as recordings
from noregret.running.calibration import Intervals
from noregret.running.traces import Tail, Trace

HOSTILE = "</script><img src=x onerror=alert(1)>&\"'\u2028{{ ${x} }}"


def rounds(T: int = 300, n: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((T, n))
    return X, X @ np.arange(1.0, n + 1.0) + 0.3 * rng.standard_normal(T)


class Tags(HTMLParser):
    """The tags of a page, their attributes, and what is inside scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.scripts: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag, attributes) -> None:
        self.tags.append((tag, dict(attributes)))

    def handle_data(self, data) -> None:
        if self.tags and self.tags[-1][0] == "script":
            self.scripts.append(data)
        self.text += data


def charts_of(page: str) -> list[dict]:
    return json.loads(Tags(page).scripts[0])


def same(ours, theirs) -> None:
    """The same certificates; sums over rows may be rounded otherwise."""
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs):
        assert (one.name, one.kind, one.rounds, one.holds) == (
            *(other.name, other.kind, other.rounds, other.holds),
        )
        for key in ("loss", "comparator", "bound"):
            assert getattr(one, key) == pytest.approx(getattr(other, key), rel=1e-12), key


def places(series: dict) -> np.ndarray:
    return np.cumsum(series["dx"])


# Curves -------------------------------------------------------------------------------------


@given(
    values=st.lists(st.floats(-1e6, 1e6) | st.just(np.nan) | st.just(np.inf), max_size=200),
    cuts=st.lists(st.integers(0, 200), max_size=6),
    buckets=st.integers(2, 12),
)
def test_a_trace_keeps_the_extremes_of_every_bucket_however_it_is_cut(
    values, cuts, buckets
) -> None:
    whole = np.array(values, dtype=float)
    trace = Trace(buckets)
    edges = sorted({0, len(whole), *(c for c in cuts if c < len(whole))})
    for start, stop in itertools.pairwise(edges):
        trace.add(start, whole[start:stop])
    kept = np.flatnonzero(np.isfinite(whole))
    rows, drawn = trace.points()
    assert len(rows) <= 2 * trace.buckets + 2
    assert len(trace) == kept.size
    assert np.array_equal(whole[rows - 1], drawn), "every point is a point of the stream"
    assert np.all(np.diff(rows) > 0)
    if not kept.size:
        assert not rows.size
        return
    assert rows[0] == kept[0] + 1
    assert rows[-1] == kept[-1] + 1
    assert trace.width == 1 or kept[-1] // (trace.width // 2) >= trace.buckets, "no wider than must"
    for b in np.unique(kept // trace.width):
        inside = whole[kept[kept // trace.width == b]]
        shown = drawn[(rows - 1) // trace.width == b]
        assert inside.min() == shown.min()
        assert inside.max() == shown.max()
    np.testing.assert_allclose(
        trace.means()[1],
        [whole[kept[kept // trace.width == b]].mean() for b in np.unique(kept // trace.width)],
        rtol=1e-9,
        atol=1e-9,
    )


def test_a_short_trace_leaves_nothing_out_and_a_tail_has_the_last_rows() -> None:
    values = np.random.default_rng(0).standard_normal(1000)
    trace, tail = Trace(1000), Tail(300, columns=2)
    for t in range(0, 1000, 7):
        trace.add(t, values[t : t + 7])
        tail.add(t, np.column_stack([values, -values])[t : t + 7])
    assert np.array_equal(trace.points()[1], values)
    assert np.array_equal(tail.table()[:, 1], -values[700:])
    assert tail.rows().tolist() == list(range(701, 1001))


def test_a_spike_of_one_row_in_a_million_is_drawn() -> None:
    values = np.zeros(1_000_000)
    values[654_321] = 9.0
    trace = Trace(1000)
    for t in range(0, len(values), 65_536):
        trace.add(t, values[t : t + 65_536])
    rows, drawn = trace.points()
    assert len(rows) <= 2002
    assert drawn[rows == 654_322] == [9.0]


# Recordings ---------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "learner",
    [
        nr.AAR(0.3, drift=0.01),
        nr.BayesianRidge(noise_var=0.1, fit_intercept=True),
        nr.Auto(),
        nr.SafeOSLOG(start=0.01),
        nr.Lagged(nr.AAR(0.1), lags=[1, 3]),
    ],
    ids=["aar", "bayesian", "auto", "safe", "lagged"],
)
def test_play_is_a_replay_to_the_last_bit(learner) -> None:
    X, y = rounds(700)
    run = report.play(learner, X, y)
    other = nr.from_bytes(nr.to_bytes(type(learner)(**learner.get_params(deep=False))))
    expected = other.replay(X, y)
    assert np.array_equal(run.curves["forecast"].points()[1], expected.forecast)
    same(run.certificates(), other.certificates())
    assert run.squares == pytest.approx(((y - expected.forecast) ** 2).sum(), rel=1e-12)
    assert [one.row for one in run.path()] == list(range(2, 701, 2))
    same(run.path()[-1].certificates[:1], [other.certificate()])


def test_moments_are_the_learner_as_it_was(monkeypatch) -> None:
    monkeypatch.setattr(recordings, "CHECKPOINTS", 8)
    X, y = rounds(50)
    run = report.play(nr.Ridge(0.5, fit_intercept=True), X, y)
    assert [one.row for one in run.path()] == [8, 16, 24, 32, 40, 48, 50]
    assert run.names() == ["(constant)", "feature 1", "feature 2", "feature 3"]
    for one in run.path():
        then = nr.Ridge(0.5, fit_intercept=True).fit(X[: one.row], y[: one.row])
        assert np.array_equal(one.coefficients, [then.intercept_, *then.coef_])
        same(one.certificates[:1], [then.certificate()])


def test_rows_one_by_one_or_at_once_give_the_same_recording(monkeypatch) -> None:
    monkeypatch.setattr(recordings, "CHECKPOINTS", 10)
    X, y = rounds(97)
    at_once = report.play(nr.AAR(), X, y)
    learner, one_by_one = nr.AAR(), report.Recording("AAR")
    for t in range(97):
        one_by_one.expect(1)
        replay = learner.replay(X[t : t + 1], y[t : t + 1])
        nothing = np.array([np.nan])
        one_by_one.take(
            learner,
            y=y[t : t + 1],
            forecast=replay.forecast,
            std=nothing,
            loss=replay.loss,
            spread=replay.spread,
            low=nothing,
            high=nothing,
        )
    assert [one.row for one in one_by_one.path()] == [one.row for one in at_once.path()]
    for key in at_once.curves:
        for ours, theirs in zip(one_by_one.curves[key].points(), at_once.curves[key].points()):
            np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_pit_and_coverage_of_the_right_distribution() -> None:
    rng = np.random.default_rng(1)
    counted = Intervals()
    counted.add(
        2.0 + 3.0 * rng.standard_normal(100_000), np.full(100_000, 2.0), np.full(100_000, 3.0)
    )
    assert counted.pit.sum() == counted.rounds == 100_000
    low, high = counted.band()
    assert np.abs(counted.pit / 5000.0 - 1.0).max() < 2.0 * (high - low)
    np.testing.assert_allclose(counted.coverage(), [0.5, 0.8, 0.9, 0.95, 0.99], atol=0.005)


def test_several_outcomes_are_refused() -> None:
    with pytest.raises(OutcomeError, match="one outcome per round"):
        report.play(nr.AAR(), np.ones((3, 1)), np.ones((3, 2)))
    with pytest.raises(InputError, match="at least one recording"):
        report.page([])


# The page -----------------------------------------------------------------------------------


def test_what_a_learner_does_not_have_is_left_out() -> None:
    X, y = rounds(60)
    page = report.page([report.play(nr.AAR(), X, y)], title="plain")
    keys = [chart["key"] for chart in charts_of(page)]
    assert keys == ["forecasts", "losses", "certificate", "coefficients", "leverage"]
    assert 'id="weights"' not in page
    assert 'href="#calibration"' not in page
    both = [report.play(nr.BayesianRidge(), X, y), report.play(nr.Auto(), X, y)]
    keys = [chart["key"] for chart in charts_of(report.page(both))]
    assert keys == [
        *("forecasts", "losses", "certificate", "certificate", "intervals", "calibration"),
        *("coefficients", "weights", "leverage"),
    ]


def test_the_certificate_is_drawn_as_it_was_at_every_moment() -> None:
    X, y = rounds(60)
    run = report.play(nr.AAR(0.3), X, y)
    (chart,) = (c for c in charts_of(report.page([run])) if c["key"] == "certificate")
    loss, regret = chart["choices"][0]["views"]
    series = {one["name"]: one for one in loss["series"]}
    assert list(series) == ["slack", "best in hindsight", "loss", "bound"]
    main = [one.certificates[0] for one in run.path()]
    assert places(series["bound"]).tolist() == list(range(1, 61))
    for name, key in (("loss", "loss"), ("best in hindsight", "comparator"), ("bound", "bound")):
        np.testing.assert_allclose(series[name]["y"], [getattr(c, key) for c in main], rtol=1e-5)
    above = {one["name"]: one for one in regret["series"]}
    np.testing.assert_allclose(above["loss"]["y"], [c.regret for c in main], rtol=1e-5, atol=1e-5)


def test_a_learner_far_off_is_drawn_on_request_and_named() -> None:
    X, y = rounds(2000)
    good, lost = nr.AAR(), nr.AAR(1e9)
    runs = [report.play(lost, X, y, name="lost"), report.play(good, X, y, name="good")]
    (chart,) = (c for c in charts_of(report.page(runs)) if c["key"] == "losses")
    series = chart["choices"][0]["views"][0]["series"]
    assert [(one["name"], one["off"]) for one in series] == [
        *(("good", False), ("lost", True)),
        *(("mean so far", True), ("last value", True)),
    ]
    assert chart["choices"][0]["note"].endswith("shown on a click: lost.")


def test_weights_are_bands_that_add_up_to_one() -> None:
    X, y = rounds(60)
    page = report.page([report.play(nr.Auto(), X, y)])
    (chart,) = (c for c in charts_of(page) if c["key"] == "weights")
    bands = chart["choices"][0]["views"][0]["series"]
    assert bands[-1]["name"].endswith(" others")
    np.testing.assert_allclose(bands[-1]["y"], 1.0, rtol=1e-6)
    for below, above in itertools.pairwise(bands):
        assert below["y"] == above["y2"]


def test_yes_or_no_has_log_loss_and_reliability() -> None:
    X, y = rounds(200)
    run = report.play(nr.BayesianLogistic(method="adf"), X, (y > 0).astype(float))
    made = {chart["key"]: chart for chart in charts_of(report.page([run]))}
    assert made["losses"]["choices"][0]["views"][0]["y"] == "cumulative log loss"
    assert [v["label"] for v in made["calibration"]["choices"][0]["views"]] == [
        "reliability",
        "how often",
    ]
    assert run.paid == pytest.approx(run.path()[-1].certificates[0].loss)


def test_certificates_in_words_say_no_more_than_is_proved() -> None:
    def one(kind: str, bound: float | None, *, met: bool = True) -> Certificate:
        tick = (Assumption("|y| <= 1", met),)
        return Certificate("T", kind, 5, 2.0, 1.0, bound, "a <= b", tick)

    holds = in_words(one("upper bound", 3.0))
    assert "The theorem allows 3; 1 of that was not needed." in holds
    assert "☑</b> |y| &lt;= 1" in holds
    assert "nothing is claimed" in in_words(one("upper bound", None, met=False))
    assert "☐</b> |y| &lt;= 1 (not met)" in in_words(one("upper bound", None, met=False))
    assert "FAILS" in in_words(one("upper bound", 1.5))
    assert "broken by 0.5" in in_words(one("upper bound", 1.5))
    assert "equals 2, to rounding" in in_words(one("equality", 2.0))
    assert "not a claim. The formula gives 3." in in_words(one("report", 3.0))
    assert "loss 2. Nothing is claimed." in in_words(one("report", 2.0))


def test_a_report_without_a_theorem_is_not_drawn_as_one() -> None:
    X, y = rounds(60)
    online = report.play(nr.MAPLogistic(history=False), X, (y > 0) * 1.0)
    keys = [chart["key"] for chart in charts_of(report.page([online]))]
    assert "certificate" not in keys
    published = report.play(nr.OSLOG(), X, y)
    (chart,) = (c for c in charts_of(report.page([published])) if c["key"] == "certificate")
    names = [one["name"] for one in chart["choices"][0]["views"][0]["series"]]
    assert names == ["best in hindsight", "loss", "the formula, not a claim"]


def test_nothing_from_data_becomes_markup(tmp_path: Path) -> None:
    """Column names, values, file names, learners' names: all are text, wherever they appear."""
    frame = stream(60).rename({"a": HOSTILE, "y": f"y{HOSTILE}"})
    frame = frame.with_columns(pl.Series("colour", [HOSTILE, "red"] * 30))
    data = tmp_path / "<b>&amp;.csv"
    frame.write_csv(data)
    page = tmp_path / "page.html"
    assert noregret("run", data, "-y", f"y{HOSTILE}", "--report", page) == 0
    X, y = rounds(30)
    names = {HOSTILE: X[:, 0], "onload=alert(1)": X[:, 1]}
    run = report.play(nr.AAR(), pl.DataFrame(names), y, name=HOSTILE)
    ours = report.page([run], title=HOSTILE, about={HOSTILE: HOSTILE})
    plain = report.page([report.play(nr.AAR(), pl.DataFrame({"a": X[:, 0], "b": X[:, 1]}), y)])
    for text in (page.read_text(), ours):
        found = Tags(text)
        assert "img" not in [tag for tag, _ in found.tags]
        assert not [a for _, have in found.tags for a in have if a.startswith("on")]
        assert [tag for tag, _ in found.tags].count("script") == 3
        assert HOSTILE in json.dumps(charts_of(text), ensure_ascii=False).replace('\\"', '"')
    skeleton = [tag for tag, _ in Tags(plain).tags if tag not in ("dt", "dd")]
    assert [tag for tag, _ in Tags(ours).tags if tag not in ("dt", "dd")] == skeleton


def test_the_page_refers_to_nothing_outside_and_its_policy_allows_nothing() -> None:
    X, y = rounds(30)
    page = report.page([report.play(nr.AAR(), X, y)])
    urls = set(re.findall(r"(?:https?:)?//[\w.-]+\.[a-z]+[^\s\"']*", page))
    assert urls == {"http://www.w3.org/2000/svg"}, "a name, never fetched"
    for tag, have in Tags(page).tags:
        assert "src" not in have
        assert tag not in ("link", "iframe", "object", "embed", "base", "form")
        assert have.get("href", "#").startswith("#")
    assert "default-src 'none'" in page
    assert "@import" not in page
    assert "url(http" not in page


@pytest.mark.slow
def test_a_hundred_thousand_rounds_stay_under_five_megabytes(tmp_path: Path) -> None:
    X, y = rounds(100_000, n=6)
    y[77_777] = 1e4  # one row
    learners = [nr.AAR(), nr.AAR(drift=1e-3), nr.Ridge(), nr.BayesianRidge(), nr.Ridge(clip=9.0)]
    runs = [report.play(learner, X, y, name=f"{k}") for k, learner in enumerate(learners)]
    path = tmp_path / "page.html"
    report.write(path, runs)
    assert path.stat().st_size < 5_000_000
    made = {chart["key"]: chart for chart in charts_of(path.read_text())}
    choice = made["forecasts"]["choices"][0]
    outcome = next(s for s in choice["views"][0]["series"] if s["name"] == "outcomes")
    assert outcome["y"][places(outcome).tolist().index(77_778)] == 1e4
    assert choice["note"] == "Drawn of every 64 rows: the least, the greatest and the mean."
    assert choice["views"][1]["label"] == "the last 500"


def test_the_command_line_records_while_it_runs(tmp_path: Path, capsys) -> None:
    """The forecasts with a report are those without; rows without outcome are drawn too."""
    frame = stream(300).with_columns(
        y=pl.when(pl.int_range(300) >= 290).then(None).otherwise(pl.col("y"))
    )
    data = write(frame, tmp_path / "data.csv")
    chosen = ("-y", "y", "--model", "bayesian-ridge", "--noise-var", "0.1")
    assert noregret("run", data, *chosen, "--out", tmp_path / "plain.csv") == 0
    page, out = tmp_path / "page.html", tmp_path / "out.csv"
    assert noregret("run", data, *chosen, "--out", out, "--report", page) == 0
    assert np.array_equal(forecasts(out), forecasts(tmp_path / "plain.csv"))
    made = {chart["key"]: chart for chart in charts_of(page.read_text())}
    series = {s["name"]: s for s in made["forecasts"]["choices"][0]["views"][0]["series"]}
    assert places(series["outcome"])[-1] == 290
    assert places(series["forecast"])[-1] == 300
    assert {"colour=red", "a", "b"} <= {
        s["name"] for s in made["coefficients"]["choices"][0]["views"][0]["series"]
    }
    assert noregret("run", data, *chosen, "--report", tmp_path / "no" / "page.html") == 2
    assert "there is no folder" in capsys.readouterr().err


def test_a_report_of_next_to_nothing(tmp_path: Path, capsys) -> None:
    """No rows; one row; only rows without outcome; a file name that is no text."""
    page = report.page([report.Recording("nobody")])
    assert charts_of(page) == []
    assert "Nothing is proved" in page
    one = report.play(nr.AAR(), [[1.0]], [1.0])
    assert [chart["key"] for chart in charts_of(report.page([one]))] == [
        *("forecasts", "losses", "leverage"),
    ]
    frame = stream(5).with_columns(y=pl.lit(None, dtype=pl.Float64))
    data, path = write(frame, tmp_path / "data.csv"), tmp_path / "page.html"
    assert noregret("run", data, "-y", "y", "--report", path) == 2
    assert "the target 'y' has no value in any row" in capsys.readouterr().err
    state = ("--state", tmp_path / "s.nr")
    known = write(stream(5, seed=1), tmp_path / "known.csv")
    assert noregret("run", known, "-y", "y", "-q", *state) == 0
    assert noregret("run", data, *state, "--report", path) == 0
    assert capsys.readouterr().out.rstrip().endswith("page.html")
    assert "forecasts" in [chart["key"] for chart in charts_of(path.read_text())]
    report.write(path, [one], title="caf\udce9.csv")
    assert "caf&#56553;.csv" in path.read_text(encoding="utf-8")


def test_demo_ends_by_naming_its_report(tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert noregret("demo", "--rounds", "50") == 0
    assert capsys.readouterr().out.rstrip().endswith("Report: noregret-demo.html")
    assert (tmp_path / "noregret-demo.html").read_text().startswith("<!doctype html>")
