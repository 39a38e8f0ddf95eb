"""noregret models: every learner, what is proved of it, what it costs, and which to take when."""

from __future__ import annotations

import json

import click

from noregret.cli.names import PAPERS, WHEN, known_as, names
from noregret.errors import ParameterError, suggestion
from noregret.registry import MODELS, PARAMETERS

__all__ = ["command"]

EXAMPLES = """\b
Examples:
  noregret models
  noregret models aar          # one learner and its parameters
  noregret models kaar         # by a paper's name: VAW, RLS, Kalman, ...
  noregret models --json
"""


@click.command("models", epilog=EXAMPLES)
@click.argument("name", required=False, metavar="[NAME]")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def command(name: str | None, *, as_json: bool) -> None:
    """The learners by name: when to take it, guarantee in one line, cost, parameters."""
    key = None if name is None else "-".join(name.lower().replace("_", " ").split())
    if key is not None and key not in MODELS and key not in PAPERS:
        meant = suggestion(key, names()) or f"; the models are {', '.join(MODELS)}"
        raise ParameterError(f"model {name!r}: there is none of that name{meant}")
    paper = PAPERS.get(key or "") if key not in MODELS else None
    one = paper.model if paper else key
    chosen = {one: MODELS[one]} if one else MODELS
    if as_json:
        found = {
            key: {
                "guarantee": model.guarantee,
                "cost": model.cost,
                "when": WHEN.get(key, ""),
                "yes_no": model.binary,
                "parameters": {p: PARAMETERS[p].help for p in model.parameters},
            }
            for key, model in chosen.items()
        }
        click.echo(json.dumps(found, indent=2))
        return
    if paper:
        options = f" {paper.options}" if paper.options else ""
        click.echo(f"{name} is {paper.words}:")
        click.echo(f"    noregret run data.csv --target y --model {paper.model}{options}\n")
    for key, model in chosen.items():
        kind = "binary outcomes, log loss" if model.binary else "numbers"
        click.echo(f"{key}  ({kind})")
        if key in WHEN:
            click.echo(f"    when: {WHEN[key]}")
        click.echo(f"    {model.guarantee}")
        click.echo(f"    cost: {model.cost}")
        if also := known_as(key):
            click.echo(f"    also found as: {also}")
        if one:
            for parameter in model.parameters:
                flag = "--" + parameter.replace("_", "-")
                click.echo(f"    {flag:<18} {PARAMETERS[parameter].help}")
