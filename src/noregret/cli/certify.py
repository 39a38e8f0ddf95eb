"""noregret certify: the certificates of a state file."""

from __future__ import annotations

import json

import click

__all__ = ["command"]

EXAMPLES = """\b
Examples:
  noregret run data.csv --target y --state model.nr
  noregret certify model.nr
  noregret certify model.nr --json

Exit codes: 0 no certificate fails, 1 one does, 2 the file cannot be read.
"""


@click.command("certify", epilog=EXAMPLES)
@click.argument("state")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def command(state: str, *, as_json: bool) -> int:
    """Both sides of every theorem that speaks of the learner in STATE, and whether they agree."""
    import noregret
    from noregret.cli import show

    learner = noregret.load(state)
    found = learner.certificates()
    if as_json:
        click.echo(json.dumps([one.to_dict() for one in found], indent=2))
    else:
        click.echo(f"{learner!r}\n")
        for one in found:
            click.echo(f"{one}\n")
    return show.exit_code(found)
