"""The page that a run writes: sections of plain Markdown tables."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from os import cpu_count
from pathlib import Path

from noregret.reproduce.timing import Ratio

PACKAGES = ("numpy", "scipy", "scikit-learn", "river", "padasip", "filterpy")

INTRODUCTION = """\
# Benchmarks

Written by `make bench`; run it again to get the figures of your machine.

Contestants take turns in one process, with one BLAS thread, on the same rows. A speed is a
multiple of the other side's, from the processor time of both within one repetition: the median
over all repetitions, and in brackets the quartiles. Microseconds are medians on a machine that
was not idle: trust ratios, not microseconds. Before a race starts, contestants that solve the
same problem must have reached the same weights (to 1e-8), or the run stops.
"""


@dataclass(slots=True)
class Section:
    """A table with a few words before it, and after it why a target was missed."""

    title: str
    words: str
    header: Sequence[str]
    rows: list[Sequence[str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def markdown(self) -> str:
        lines = [f"## {self.title}", "", self.words.strip(), "", *table(self.header, self.rows)]
        for note in self.notes:
            lines += ["", note.strip()]
        return "\n".join(lines) + "\n"


def missed(what: str, ratio: Ratio, target: float | None) -> list[str]:
    """A note, if the target was missed; and whether that may be noise of this run."""
    if target is None or ratio.median >= target:
        return []
    reach = "reaches" if ratio.high >= target else "does not reach"
    return [
        f"Missed, {what}: {ratio.median:.3g} against {target:g}; the upper quartile {reach} it."
    ]


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [header, ["---"] + ["---:"] * (len(header) - 1), *rows]
    return ["| " + " | ".join(line) + " |" for line in lines]


def verdict(value: float, target: float | None, *, at_most: bool = False) -> tuple[str, str]:
    """The target, and whether the value meets it."""
    if target is None:
        return "", ""
    met = value <= target if at_most else value >= target
    return f"{target:g}", "met" if met else "**missed**"


def microseconds(value: float) -> str:
    return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f}"


def machine() -> str:
    """The kind of machine and the versions, nothing that names it."""
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return (
        f"Machine: {_processor()}, {cpu_count()} cores, {platform.system()} "
        f"{platform.machine()}. Python {platform.python_version()}, {versions}.\n"
    )


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown processor"


def write(path: Path, sections: Iterable[Section]) -> None:
    parts = [INTRODUCTION, machine(), *(section.markdown() for section in sections)]
    path.write_text("\n".join(parts), encoding="utf-8")
