"""Every guide and the README, run from top to bottom as a reader would."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pages import GUIDES, PAGES, ROOT, failures

LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")
whole = pytest.mark.skipif(not GUIDES.is_dir(), reason="a copy of the tests without docs/")


@pytest.fixture(autouse=True)
def steady_settings(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_does_what_it_says(page: Path, tmp_path: Path):
    assert not failures(page, tmp_path)


@whole
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path):
    links = [link for link in LINK.findall(page.read_text()) if "://" not in link]
    assert links
    assert not [link for link in links if not (page.parent / link).exists()]


@whole
def test_the_readme_leads_to_every_guide():
    linked = set(LINK.findall((ROOT / "README.md").read_text()))
    assert {f"docs/guides/{page.name}" for page in GUIDES.glob("*.md")} <= linked


@pytest.mark.parametrize(
    ("page", "wrong"),
    [
        ("```console\n$ noregret --version\nnoregret 99\n```\n", "noregret 99"),
        ("```console\n$ noregret run absent.csv --target y\n```\n", "absent.csv"),
        ("```pycon\n>>> 1 + 1\n3\n\n```\n", "Got:\n    2"),
    ],
)
def test_a_wrong_page_is_noticed(page, wrong, tmp_path):
    path = tmp_path / "page.md"
    path.write_text(page)
    assert wrong in failures(path, tmp_path)


def test_a_right_page_passes(tmp_path):
    path = tmp_path / "page.md"
    path.write_text(
        "```console\n$ make demo\n$ noregret --version\nnoregret ...\n"
        "$ noregret run absent.csv --target y\nnoregret: ...absent.csv...\n```\n"
    )
    assert not failures(path, tmp_path)
