"""Plots from Python: what is drawn is what was recorded, and what is not there is refused."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import noregret as nr
from noregret.errors import InputError, NoRegretError

figures = pytest.importorskip("matplotlib.figure")


def axes():
    return figures.Figure().subplots()


def rounds(T: int = 120) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((T, 3))
    return X, X @ [1.0, -2.0, 0.5] + 0.3 * rng.standard_normal(T)


@pytest.fixture(scope="module")
def runs() -> dict[str, nr.report.Recording]:
    X, y = rounds()
    learners = {
        "aar": nr.AAR(0.3),
        "bayesian": nr.BayesianRidge(noise_var=0.1),
        "auto": nr.Auto(effort="linear"),
        "logistic": nr.BayesianLogistic(method="adf"),
    }
    outcomes = {name: (y > 0) * 1.0 if name == "logistic" else y for name in learners}
    return {n: nr.report.play(one, X, outcomes[n], name=n) for n, one in learners.items()}


def test_certificate_draws_both_sides_at_every_moment(runs) -> None:
    ax = nr.plot.certificate(runs["aar"], ax=axes())
    drawn = {line.get_label(): line for line in ax.lines}
    main = [one.certificates[0] for one in runs["aar"].path()]
    assert drawn["bound"].get_ydata().tolist() == [c.bound for c in main]
    assert drawn["loss"].get_ydata().tolist() == [c.loss for c in main]
    assert drawn["best in hindsight"].get_ydata().tolist() == [c.comparator for c in main]
    other = nr.plot.certificate(runs["aar"], name="AAR, exact loss", ax=axes())
    assert "the other side" in {line.get_label() for line in other.lines}
    with pytest.raises(InputError, match="that can be drawn are Busuttil-Kalnishkan Theorem 1, "):
        nr.plot.certificate(runs["aar"], name="no such theorem", ax=axes())


def test_replays_are_drawn_too() -> None:
    X, y = rounds()
    replay = nr.AAR(0.3).replay(X, y)
    by_hand, by_method = nr.plot.certificate(replay, ax=axes()), replay.plot(axes())
    for ours, theirs in zip(by_hand.lines, by_method.lines):
        assert np.array_equal(ours.get_ydata(), theirs.get_ydata())
    average = nr.plot.losses(replay, average=True, ax=axes()).lines[0].get_ydata()
    np.testing.assert_allclose(average, np.cumsum(replay.loss) / np.arange(1, 121))
    new = nr.plot.leverage(replay, ax=axes()).lines[0].get_ydata()
    np.testing.assert_allclose(new, 1.0 - 1.0 / replay.spread)
    pool = nr.aggregate(
        np.column_stack([y + 0.1, y - 1.0]), y, rule="aggregating", outcome_range=9.0
    )
    assert len(nr.plot.weights(pool, ax=axes()).collections) == 2
    with pytest.raises(InputError, match="take the replay of a pool"):
        nr.plot.weights(replay, ax=axes())
    with pytest.raises(InputError, match="take a Gaussian learner"):
        nr.plot.leverage(nr.Auto().replay(X, y), ax=axes())


def test_losses_forecasts_and_leverage(runs) -> None:
    X, y = rounds()
    several = [runs["aar"], runs["auto"]]
    ax = nr.plot.losses(several, ax=axes())
    assert [line.get_ydata()[-1] for line in ax.lines] == [run.paid for run in several]
    assert nr.plot.losses(runs["logistic"], ax=axes()).get_ylabel() == "cumulative log loss"
    ax = nr.plot.forecasts(runs["bayesian"], ax=axes())
    assert ax.lines[0].get_ydata().tolist() == y.tolist()
    assert len(ax.patches) == 1
    ax = nr.plot.forecasts(runs["bayesian"], last=20, ax=axes())
    assert ax.lines[0].get_ydata().tolist() == y[-20:].tolist()
    assert ax.lines[0].get_xdata().tolist() == list(range(101, 121))
    assert len(ax.collections) == 1
    assert not nr.plot.forecasts(runs["aar"], ax=axes()).patches
    replay = nr.AAR(0.3).replay(X, y)
    drawn = nr.plot.leverage(runs["aar"], ax=axes()).lines[0].get_ydata()
    np.testing.assert_allclose(drawn, 1.0 - 1.0 / replay.spread)


def test_calibration_coefficients_and_weights(runs) -> None:
    bars = nr.plot.calibration(runs["bayesian"], ax=axes()).patches
    heights = [bar.get_height() for bar in bars if bar.get_width() < 0.1]
    assert np.mean(heights) == pytest.approx(1.0)
    assert nr.plot.calibration(runs["logistic"], ax=axes()).get_ylabel() == "share of outcomes 1"
    ax = nr.plot.coefficients(runs["aar"], most=2, ax=axes())
    assert [line.get_label() for line in ax.lines] == ["feature 2", "feature 1"]
    X, y = rounds()
    learned = nr.AAR(0.3).fit(X, y).coef_
    assert [line.get_ydata()[-1] for line in ax.lines] == [learned[1], learned[0]]
    ax = nr.plot.weights(runs["auto"], most=3, ax=axes())
    assert [t.get_text() for t in ax.get_legend().get_texts()][-1] == "37 others"


@pytest.mark.parametrize(
    ("plot", "name", "remedy"),
    [
        (nr.plot.calibration, "aar", "such as BayesianRidge"),
        (nr.plot.coefficients, "auto", "take a linear learner"),
        (nr.plot.weights, "aar", "such as Auto"),
        (nr.plot.leverage, "auto", "such as AAR"),
    ],
    ids=["calibration", "coefficients", "weights", "leverage"],
)
def test_what_is_not_there_is_refused_by_name(runs, plot, name, remedy) -> None:
    with pytest.raises(InputError, match=f"{name} has no .*{remedy}"):
        plot(runs[name], ax=axes())


def test_bad_arguments(runs) -> None:
    for last in (0, 501, 2.5):
        with pytest.raises(InputError, match="last = "):
            nr.plot.forecasts(runs["aar"], last=last, ax=axes())
    with pytest.raises(InputError, match="runs is empty"):
        nr.plot.losses([], ax=axes())
    with pytest.raises(InputError, match="two rounds"):
        nr.plot.certificate(nr.report.play(nr.AAR(), [[1.0]], [1.0]), ax=axes())


def test_without_matplotlib_one_line_says_what_to_install(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    replay = nr.AAR().replay([[1.0]], [1.0])
    with pytest.raises(NoRegretError, match=r"plot.certificate needs matplotlib: pip install"):
        replay.plot()


def test_importing_plot_does_not_import_matplotlib() -> None:
    code = "import sys, noregret as nr; nr.plot; nr.report; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
