"""The page about a fleet: what is proved of all keys together, and the keys to look at first."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path

import numpy as np

from noregret.certificates import Certificate
from noregret.fleet.certified import Certificates
from noregret.report import words
from noregret.report.page import frame_of, section
from noregret.types import Integers, Vector

__all__ = ["fleet_page", "write_fleet"]

SHOWN = 25  # keys in each table
HEAD = ("key", "rounds", "mean loss", "loss", "best in hindsight", "bound", "slack", "recent")
TABLES = (
    ("loss", "Most lost", "Keys by what their learners have paid: where to look first."),
    ("slack", "Closest to their bounds", "Keys by what their theorems would still have allowed."),
    (
        "drift",
        "Worse of late",
        "Keys by the mean loss of some 32 last rounds beside that of all: above 1, try a drift.",
    ),
)


def write_fleet(
    path: str | Path,
    table: Certificates,
    recent: Vector,
    *,
    title: str,
    about: Mapping[str, str],
) -> None:
    """Write the page of a fleet as one HTML file that needs no network."""
    text = fleet_page(table, recent, title=title, about=about)
    Path(path).write_bytes(text.encode("utf-8", "xmlcharrefreplace"))


def fleet_page(table: Certificates, recent: Vector, *, title: str, about: Mapping[str, str]) -> str:
    """The page as text; `recent` says of every key how its last rounds went, NaN if not known."""
    total = table.total()
    sections = {("proof", "In total"): _total(total)}
    orders = {
        "loss": np.argsort(-table.loss, kind="stable"),
        "slack": np.argsort(table.slack, kind="stable"),
        "drift": np.argsort(-np.where(np.isnan(recent), -1.0, recent), kind="stable"),
    }
    for key, head, lead in TABLES:
        body = _table(table, recent, orders[key][:SHOWN])
        sections[key, head] = section(key, head, lead, body)
    run = f'<section id="run">{words.facts(about)}</section>'
    return frame_of(title, run, sections)


def _total(total: Certificate) -> str:
    lead = "Losses, comparators and bounds add over keys: each has a best expert of its own."
    return section("proof", "All keys together", lead, words.certificate(total, opened=True))


def _table(table: Certificates, recent: Vector, order: Integers) -> str:
    rows = []
    for i in order.tolist():
        rounds = int(table.rounds[i])
        numbers = (table.loss[i] / max(rounds, 1), table.loss[i], table.comparator[i])
        cells = [words.number(float(v)) for v in (*numbers, table.bound[i], table.slack[i])]
        cells.append("-" if np.isnan(recent[i]) else f"{recent[i]:.2f}")
        shown = "".join(f"<td>{escape(cell)}</td>" for cell in [f"{rounds:,}", *cells])
        rows.append(f'<tr><th scope="row">{escape(str(table.keys[i]))}</th>{shown}</tr>')
    head = "".join(f'<th scope="col">{name}</th>' for name in HEAD)
    body = f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody>"
    return f'<div class="wide"><table>{body}</table></div>'
