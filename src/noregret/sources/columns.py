"""Columns that are not there, with what was meant; columns that do not fit their use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from noregret.errors import SourceError, abbreviated, suggestion
from noregret.sources.block import NUMBER, OTHER, TIME, Block, Reading
from noregret.sources.dialect import DELIMITERS, looks_like_data

__all__ = ["absent", "check_features", "check_target", "require"]

SHOWN = 300  # characters of the names that a message shows


def require(wanted: Iterable[str], names: Sequence[str], reading: Reading) -> None:
    """Refuse columns that are not there."""
    there = set(names)
    for name in wanted:
        if name not in there:
            raise absent(name, names, reading)


def absent(name: str, names: Sequence[str], reading: Reading) -> SourceError:
    """There is no such column: which one was meant, or what is wrong with the header."""
    known = ", ".join(names)
    known = known if len(known) <= SHOWN else f"{known[:SHOWN]}..."
    said = f"there is no column {abbreviated(name)}"
    if (
        not reading.header
        and len(names) == 1
        and (found := next((d for d in DELIMITERS if d in names[0]), None))
    ):
        shown = "tab" if found == "\t" else found
        only = abbreviated(names[0])
        return reading.fail(f"{said}; the only one is {only}: try --delimiter '{shown}'")
    if reading.header:
        return reading.fail(f"{said}{reading.header}")
    if looks_like_data(names):
        return reading.fail(
            f"{said}; the first line looks like a row ({known}): name the columns with --names"
        )
    meant = suggestion(name, names)
    chosen = f"; {reading.said}" if reading.said else ""
    return reading.fail(f"{said}{meant or ';'} the columns are {known}{chosen}")


def check_target(block: Block, target: str, reading: Reading) -> None:
    """Refuse a target that is not numbers."""
    kinds = block.kinds
    if kinds.get(target, NUMBER) == NUMBER:
        return
    if asked := reading.undecided(target):
        raise reading.fail(f"column {abbreviated(target)}: {asked}")
    values = block.columns[target]
    row = next((i for i, v in enumerate(values) if v is not None), None)
    if row is None:  # only lines that were left out had text
        return
    shown = f" ({abbreviated(values[row])} in it)"
    remedy = "code it as numbers first, or give another --target"
    if kinds[target] == TIME:
        remedy = "it holds times; give another --target"
    elif len({v for v in values if v is not None}) == 2:
        remedy = "it has two labels: noregret run --binary forecasts them"
    raise reading.fail(
        f"the target {abbreviated(target)} is not a column of numbers{shown}: {remedy}",
        int(block.places[row]),
    )


def check_features(names: Iterable[str], kinds: dict[str, str], reading: Reading) -> None:
    """Refuse columns that were asked for and cannot be features."""
    for name in names:
        if kinds.get(name) in (OTHER, TIME):
            what = "times" if kinds[name] == TIME else "neither numbers nor text"
            raise reading.fail(
                f"column {abbreviated(name)} holds {what}: leave it out of --features"
            )
        if name in reading.found and (why := reading.found[name].unique):
            raise reading.fail(
                f"column {abbreviated(name)} {why}: leave it out of --features, or name it in "
                "--text if it must be a feature"
            )
