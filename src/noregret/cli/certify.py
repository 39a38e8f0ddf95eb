"""noregret certify: the certificates of a state file."""

from __future__ import annotations

import json
from pathlib import Path

import click

from noregret.errors import ParameterError

__all__ = ["command"]

EXAMPLES = """\b
Examples:
  noregret run data.csv --target y --state model.nr
  noregret certify model.nr
  noregret certify model.nr --json

Exit codes: 0 no certificate fails, 1 one does, 2 the file cannot be read.
"""


@click.command("certify", epilog=EXAMPLES)
@click.argument("state", nargs=-1, required=True, metavar="STATE")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def command(state: tuple[str, ...], *, as_json: bool) -> int:
    """Both sides of every theorem that speaks of the learner in STATE, and whether they agree."""
    import noregret
    from noregret.cli import show

    learner = noregret.load(_only(state))
    found = learner.certificates()
    if as_json:
        click.echo(json.dumps([one.to_dict() for one in found], indent=2))
    else:
        click.echo(f"{learner!r}\n")
        for one in found:
            click.echo(f"{one}\n")
    return show.exit_code(found)


def _only(places: tuple[str, ...]) -> str:
    """The one model file that is named, or the reason why it cannot be."""
    if len(places) > 1:
        raise click.UsageError(
            f"certify takes one model file at a time, and here are {len(places)}"
        )
    place = places[0]
    if "://" in place:
        raise ParameterError(f"{place}: a model file is read from this machine: download it first")
    if Path(place).is_dir():
        raise ParameterError(f"{place} is a folder: name a model file in it")
    if not Path(place).exists():
        from noregret.sources import near

        raise ParameterError(
            f"{place}: there is no such file{near(Path(place))}; noregret run DATA --target COLUMN "
            "--state FILE writes one"
        )
    return place
