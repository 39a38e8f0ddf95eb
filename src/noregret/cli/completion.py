"""Completion of commands, options, models and columns in bash, zsh and fish."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import click
from click.shell_completion import CompletionItem

__all__ = ["column_names", "complete_columns", "show"]

HOW = {
    "bash": 'eval "$(_NOREGRET_COMPLETE=bash_source noregret)"     # in ~/.bashrc',
    "zsh": 'eval "$(_NOREGRET_COMPLETE=zsh_source noregret)"      # in ~/.zshrc',
    "fish": "_NOREGRET_COMPLETE=fish_source noregret | source    # in ~/.config/fish/config.fish",
}


def show(shell: str | None = None) -> str:
    """The line that switches completion on, for one shell or for each."""
    own = shell or Path(os.environ.get("SHELL", "")).name
    chosen = {own: HOW[own]} if own in HOW else HOW
    lines = "\n".join(f"  {line}" for line in chosen.values())
    return f"Add this line to the file named beside it, then open a new shell:\n\n{lines}\n"


def column_names(data: str | None) -> list[str]:
    """The columns of a CSV file, if they can be had in no time."""
    from noregret.errors import NoRegretError
    from noregret.sources import Source

    if not data or data == "-":
        return []
    try:
        source = Source(data)
        reading = source.reading()
        source.peek(reading)
    except (NoRegretError, OSError):
        return []
    return reading.names


def _file_in(line: str) -> str | None:
    """The first file on a command line; Click has no arguments before a line is whole."""
    try:
        words = shlex.split(line)
    except ValueError:  # a quote is open
        words = line.split()
    return next((word for word in words[2:] if Path(word).is_file()), None)


def complete_columns(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Columns that begin like this; in a list, the one that is being written."""
    before, comma, begun = incomplete.rpartition(",")
    head = before + comma if getattr(param.type, "name", "") == "a,b,..." else ""
    begun = begun if head else incomplete
    found = column_names(ctx.params.get("data") or _file_in(os.environ.get("COMP_WORDS", "")))
    return [CompletionItem(head + name) for name in found if name.startswith(begun)]
