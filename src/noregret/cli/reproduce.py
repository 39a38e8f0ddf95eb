"""noregret reproduce: published tables beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from noregret.reproduce.shown import Shown
    from noregret.types import Matrix, Vector

__all__ = ["command"]

FILES = {
    "oslog-table1": "ise.csv",
    "oslog-table2": "ise.csv",
    "oslog-figure2": "",
    "lower-bounds": "",
    "intervals": "elec2_demand_ar.csv",
    "river-track": "the folder of chick_weights.csv and trump_approval.csv",
    "opera-load": "the folder of opera_electric_load_experts.csv and opera_regional_experts.csv",
}

EXAMPLES = """\b
Examples:
  noregret reproduce oslog-table1 --data ise.csv
  noregret reproduce oslog-figure2 --out .        # two plots; a minute or two
  noregret reproduce lower-bounds
  noregret reproduce river-track --data folder/

\b
What there is, and the data that it needs:
  oslog-table1   losses of AAR, ORR and OSLOG (Jamil and Bouchachia 2020): ise.csv
  oslog-table2   their times, as ratios: ise.csv
  oslog-figure2  sparsity and multicollinearity, simulated, as plots
  lower-bounds   regret on the streams of the lower-bound proofs
  intervals      ACI, quantile tracker and SF-OGD beside nr.Intervals: elec2_demand_ar.csv
  river-track    river's regression track: folder of chick_weights.csv, trump_approval.csv
  opera-load     merging forecasts of French load: folder of opera_electric_load_experts.csv,
                 opera_regional_experts.csv; pandas must be installed
"""


@click.command("reproduce", epilog=EXAMPLES)
@click.argument("name", type=click.Choice(list(FILES)), metavar="NAME")
@click.option("--data", metavar="PLACE", help="The file or the folder that it needs.")
@click.option("--out", default=".", show_default=True, metavar="FOLDER", help="For plots.")
@click.option("--seeds", type=click.IntRange(2), default=3, show_default=True, help="For plots.")
def command(name: str, data: str | None, out: str, seeds: int) -> None:
    """Redo a published table or figure, and print it beside what was published."""
    from noregret.cli import show
    from noregret.errors import ParameterError

    if FILES[name] and data is None:
        raise ParameterError(f"{name} needs --data: {FILES[name]}")
    if not Path(out).is_dir():
        raise ParameterError(f"--out {out}: there is no such folder")
    screen = show.console()
    for shown in _tables(name, Path(data or "."), Path(out), seeds):
        screen.print(show.grid(shown.title, shown.head, shown.rows))
        for note in shown.notes:
            screen.print(note, markup=False)


def _tables(name: str, data: Path, out: Path, seeds: int) -> list[Shown]:
    if name == "lower-bounds":
        from noregret.reproduce import lower_bounds

        return lower_bounds.tables()
    if name == "oslog-figure2":
        from noregret.reproduce import simulation

        return simulation.figure2(out, seeds=seeds)
    if name == "opera-load":
        from noregret.errors import SourceError
        from noregret.reproduce import opera

        try:
            return opera.tables(data)
        except OSError as problem:
            raise SourceError(f"{data}: {problem}") from None
    if name == "river-track":
        from noregret.reproduce import river_track

        return river_track.tables({k: _read(p) for k, p in river_track.paths(data).items()})
    X, y = _read(data / FILES[name] if data.is_dir() else data)
    if name == "intervals":
        from noregret.reproduce import intervals

        return intervals.tables(X[:, 0].copy(), y)
    from noregret.reproduce import oslog

    return oslog.table1(X, y) if name == "oslog-table1" else oslog.table2(X, y)


def _read(path: Path) -> tuple[Matrix, Vector]:
    """Inputs and outcomes in file order; time stamps are no inputs."""
    import numpy as np

    from noregret.sources import Source
    from noregret.sources.encoding import Encoding

    source, encoding = Source(str(path)), Encoding("y")
    reading = source.reading()
    pieces = [p for block in source.blocks(reading) for p in encoding.pieces(block, reading)]
    return np.vstack([p.frame.values for p in pieces]), np.concatenate([p.y for p in pieces])
