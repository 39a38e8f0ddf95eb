"""noregret models: every learner, what is proved of it, what it costs."""

from __future__ import annotations

import json

import click

from noregret.registry import MODELS, PARAMETERS

__all__ = ["command"]

EXAMPLES = """\b
Examples:
  noregret models
  noregret models aar          # one learner and its parameters
  noregret models --json
"""


@click.command("models", epilog=EXAMPLES)
@click.argument("name", required=False, type=click.Choice(list(MODELS)), metavar="[NAME]")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def command(name: str | None, *, as_json: bool) -> None:
    """The learners by name: guarantee in one line, cost, parameters."""
    chosen = {name: MODELS[name]} if name else MODELS
    if as_json:
        found = {
            key: {
                "guarantee": model.guarantee,
                "cost": model.cost,
                "yes_no": model.binary,
                "parameters": {p: PARAMETERS[p].help for p in model.parameters},
            }
            for key, model in chosen.items()
        }
        click.echo(json.dumps(found, indent=2))
        return
    for key, model in chosen.items():
        kind = "binary outcomes, log loss" if model.binary else "numbers"
        click.echo(f"{key}  ({kind})")
        click.echo(f"    {model.guarantee}")
        click.echo(f"    cost: {model.cost}")
        if name:
            for parameter in model.parameters:
                flag = "--" + parameter.replace("_", "-")
                click.echo(f"    {flag:<18} {PARAMETERS[parameter].help}")
