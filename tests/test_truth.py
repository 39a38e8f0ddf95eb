"""docs/truth.md: every statement has one row, every row its test, and the page is up to date."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

import truth

PRINTED = re.compile(
    r"^(?:\*\*)?(Theorem|Lemma|Corollary|Definition|Remark) (\d+(?:\.\d+)?)\b|\\tag\{(\d+)\}"
    r"|\((\d+)\)\s*\$?\$?\s*$",
    re.MULTILINE,
)
FILES = {
    "ZV": "zhdanov-vovk-gaussian-linear-experts.txt",
    "H": "herbster-k-lms-net.txt",
    "KN": "kakade-ng-online-bounds-bayesian.txt",
    "BK": "busuttil-kalnishkan-kaarch.txt",
    "JB": "jamil-bouchachia-oslog.txt",
}


@pytest.mark.parametrize("paper", truth.PAPERS)
def test_every_statement_has_one_row(paper: str) -> None:
    found = Counter(number for row in truth.ROWS[paper] for number in truth.numbers_of(row))
    assert sorted(found) == sorted(truth.STATEMENTS[paper])
    assert set(found.values()) == {1}


@pytest.mark.parametrize("paper", truth.PAPERS)
def test_every_row_has_its_test_and_says_something(paper: str) -> None:
    for row in truth.ROWS[paper]:
        assert truth.exists(row.test), row
        assert all(row), row


def test_a_test_that_is_not_there_is_missed() -> None:
    assert not truth.exists("test_truth.py::test_of_nothing")
    assert not truth.exists("nowhere.py::test_every_statement_has_one_row")


@pytest.mark.data
@pytest.mark.parametrize("paper", truth.PAPERS)
def test_what_is_numbered_in_the_papers_is_listed(paper: str, shared_data: Path) -> None:
    """Of the texts themselves, where they are at hand."""
    path = shared_data.parent / "papers" / FILES[paper]
    if not path.exists():
        pytest.skip("the papers are not beside the data")
    text = path.read_text(encoding="utf-8").split("\nReferences\n")[0]
    for kind, number, tag, bare in PRINTED.findall(text):
        wanted = f"{kind} {number}" if kind else f"({tag or bare})"
        assert wanted in truth.STATEMENTS[paper], wanted


def test_the_page_is_what_the_table_says() -> None:
    assert truth.PAGE.read_text(encoding="utf-8") == truth.page()
