"""The report in a real browser: it draws, it loads nothing, it does not complain.

Needs Chromium and Playwright for Python: `make browser` installs the latter, CI both; without them
it skips.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import noregret as nr
from commands import noregret, stream
from noregret import report

pytestmark = pytest.mark.slow

FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
HOSTILE = "</script><img src=x onerror=alert(1)>"
CURVES = ["losses", "certificate", "forecasts", "calibration", "coefficients", "weights"]


@pytest.fixture(scope="module")
def browser() -> Iterator:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("no Chromium here: install one to open the report in a real browser")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        pytest.skip("no Playwright here: pip install playwright to drive the browser")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def demo(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("report") / "demo.html"
    assert noregret("demo", "--rounds", "1500", "--report", path) == 0
    return path


@contextmanager
def opened(browser, path: Path, **settings):
    """A page, watched: any complaint, and any request but for the file itself, is an error."""
    tab = browser.new_page(**settings)
    trouble: list[str] = []
    tab.on("console", lambda message: trouble.append(message.text))
    tab.on("pageerror", lambda error: trouble.append(str(error)))
    tab.on("dialog", lambda dialog: (trouble.append(dialog.message), dialog.dismiss()))

    def watch(route) -> None:
        if route.request.url == path.as_uri():
            route.continue_()
        else:
            trouble.append(f"request: {route.request.url}")
            route.abort()

    tab.route("**/*", watch)
    tab.goto(path.as_uri())
    tab.wait_for_function(
        "[...document.querySelectorAll('figure')].every(f => f.querySelector('.series'))"
    )
    yield tab
    tab.close()
    assert not trouble


def charts_of(tab) -> list[dict]:
    return json.loads(tab.inner_text("#data") or tab.text_content("#data"))


def drawn(tab, figure: int, name: str) -> np.ndarray:
    """The corners of a curve as they are on the screen."""
    path = tab.get_attribute(f'figure[data-chart="{figure}"] path[data-name="{name}"]', "d")
    return np.array(
        [tuple(map(float, p.split(","))) for p in re.split("[ML]", path.strip("Z"))[1:]]
    )


def test_every_curve_is_drawn_where_its_data_say(browser, demo: Path) -> None:
    with opened(browser, demo, viewport={"width": 1200, "height": 900}) as tab:
        charts = charts_of(tab)
        assert set(CURVES) < {chart["key"] for chart in charts}
        for k, chart in enumerate(charts):
            for one in chart["choices"][chart["start"]]["views"][0]["series"]:
                where = f'figure[data-chart="{k}"] [data-name="{one["name"]}"]'
                assert one.get("off") or tab.locator(where).count() > 0, (chart["key"], one["name"])
        place = next(k for k, chart in enumerate(charts) if chart["key"] == "losses")
        losses = charts[place]["choices"][0]["views"][0]["series"]
        losses = [one for one in losses if not one.get("off")]
        for one in losses:
            corners = drawn(tab, place, one["name"])
            x, y = np.cumsum(one["dx"]), np.array(one["y"], dtype=float)
            assert len(corners) == len(x)
            for found, true in ((corners[:, 0], x), (-corners[:, 1], y)):
                line = np.polyfit(true, found, 1)  # pixels are an affine map of the data
                assert line[0] > 0
                assert np.abs(np.polyval(line, true) - found).max() < 0.2
        tops = {one["name"]: drawn(tab, place, one["name"])[-1, 1] for one in losses}
        last = {one["name"]: one["y"][-1] for one in losses}
        assert sorted(tops, key=tops.get, reverse=True) == sorted(last, key=last.get)


def test_zoom_menus_views_and_legend(browser, demo: Path) -> None:
    with opened(browser, demo, viewport={"width": 1200, "height": 900}) as tab:
        k = next(k for k, chart in enumerate(charts_of(tab)) if chart["key"] == "forecasts")
        figure = tab.locator(f'figure[data-chart="{k}"]')
        figure.scroll_into_view_if_needed()
        glass = figure.locator(".glass").bounding_box()
        before = drawn(tab, k, "forecast")
        middle = glass["y"] + glass["height"] / 2
        tab.mouse.move(glass["x"] + glass["width"] * 0.5, middle)
        assert re.search(r"row [\d,]+", figure.locator(".legend").inner_text())
        tab.mouse.down()
        tab.mouse.move(glass["x"] + glass["width"] * 0.6, middle, steps=5)
        assert figure.locator(".pick").count() == 1
        tab.mouse.up()
        after = drawn(tab, k, "forecast")
        assert len(after) < len(before) / 5
        tab.mouse.dblclick(glass["x"] + 50, middle)
        assert np.array_equal(drawn(tab, k, "forecast"), before)
        figure.get_by_role("button", name="the last 500").click()
        assert len(drawn(tab, k, "forecast")) == 500
        figure.locator("select").select_option("aar")
        assert figure.locator('[data-name="90% interval"]').count() == 0
        figure.get_by_role("button", name="forecast").click()
        assert figure.locator('path[data-name="forecast"]').count() == 0
        k = next(k for k, chart in enumerate(charts_of(tab)) if chart["key"] == "losses")
        straight = drawn(tab, k, "auto")
        tab.locator(f'figure[data-chart="{k}"]').get_by_role("button", name="log").click()
        assert not np.array_equal(drawn(tab, k, "auto"), straight)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_dark_and_the_button(browser, demo: Path, tmp_path: Path, scheme: str) -> None:
    with opened(browser, demo, color_scheme=scheme, viewport={"width": 1200, "height": 900}) as tab:

        def lightness() -> float:
            colour = tab.evaluate("getComputedStyle(document.body).backgroundColor")
            return sum(map(int, re.findall(r"\d+", colour)[:3])) / 765.0

        first = lightness()
        assert (first > 0.9) == (scheme == "light")
        tab.screenshot(path=tmp_path / f"{scheme}.png", full_page=True)
        tab.click("#theme")
        assert (lightness() > 0.9) != (scheme == "light")
        tab.emulate_media(media="print")
        assert lightness() > 0.9, "paper is white"


def test_a_narrow_window_does_not_scroll_sideways(browser, demo: Path) -> None:
    with opened(browser, demo, viewport={"width": 360, "height": 700}) as tab:
        assert tab.evaluate("document.documentElement.scrollWidth") <= 360


def test_on_paper_every_certificate_is_open(browser, demo: Path) -> None:
    with opened(browser, demo) as tab:
        tab.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert tab.locator("details:not([open])").count() == 0
        tab.evaluate("dispatchEvent(new Event('afterprint'))")
        assert tab.locator("details:not([open])").count() > 0
        assert len(tab.pdf(format="A4")) > 10_000


def test_hostile_names_stay_names(browser, tmp_path: Path) -> None:
    frame = stream(100).rename({"a": HOSTILE, "y": f"y{HOSTILE}"})
    frame = frame.with_columns(pl.Series("colour", [HOSTILE, "red"] * 50))
    data, page = tmp_path / "data.csv", tmp_path / "page.html"
    frame.write_csv(data)
    assert noregret("compare", data, "-y", f"y{HOSTILE}", "--report", page) == 0
    with opened(browser, page) as tab:
        assert tab.locator("img").count() == 0
        assert HOSTILE in tab.locator("h1").inner_text()
        assert HOSTILE in "".join(tab.locator(".legend").all_inner_texts())


def test_a_hundred_thousand_rounds(browser, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100_000, 5))
    y = X.sum(axis=1) + rng.standard_normal(100_000)
    y[54_321] = 300.0
    path = tmp_path / "page.html"
    report.write(path, [report.play(nr.BayesianRidge(), X, y), report.play(nr.AAR(), X, y)])
    assert path.stat().st_size < 5_000_000
    with opened(browser, path) as tab:
        k = next(k for k, chart in enumerate(charts_of(tab)) if chart["key"] == "forecasts")
        peak = drawn(tab, k, "outcomes")
        assert (peak[:, 1] < peak[:, 1].min() + 1.0).sum() == 1, "the one outlier is drawn"
