"""The commands as Click has them, and what becomes of errors."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from pathlib import Path

import click

from noregret.cli import COMMANDS, HELP
from noregret.errors import NoRegretError, suggestion

__all__ = ["invoke"]

NUMBERS = {"is not a valid integer range": "is not a whole number"}  # Click's words, and ours
NUMBERS |= {"is not a valid integer": "is not a whole number"}


class Left(Exception):  # noqa: N818  # nothing went wrong
    """Whoever read our output has left; Click would make a broken pipe an exit code 1."""


class Lazy(click.Group):
    """A group whose commands are modules of their own."""

    def invoke(self, ctx: click.Context) -> object:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise Left from None

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # Click's signature
        """In the order of a first visit."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Load a command."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"noregret.cli.{cmd_name}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command; where there is none of that name, say which was meant."""
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            meant = suggestion(args[0], COMMANDS) or f"; the commands are {', '.join(COMMANDS)}"
            file = Path(args[0]).is_file() or args[0].endswith((".csv", ".parquet", ".jsonl"))
            meant = (
                f"; to forecast a file: noregret run {args[0]} --target COLUMN" if file else meant
            )
            ctx.fail(f"there is no command {args[0]!r}{meant}")
        return super().resolve_command(ctx, args)

    def get_help(self, ctx: click.Context) -> str:  # noqa: ARG002
        """The same as without Click."""
        return HELP.rstrip()


@click.group(
    cls=Lazy, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80}
)
def group() -> None:
    """Forecast now as well as the best model in hindsight, and prove it as you go."""


def invoke(arguments: list[str]) -> int:
    """Run a command; its exit code."""
    try:
        result = group.main(args=arguments, prog_name="noregret", standalone_mode=False)
    except click.ClickException as wrong:
        where = getattr(wrong, "ctx", None)
        hint = f" (see {where.command_path} --help)" if where is not None else ""
        said = " ".join(wrong.format_message().split())
        for theirs, ours in NUMBERS.items():
            said = said.replace(theirs, ours)
        return _complain(f"{said}{hint}")
    except (KeyboardInterrupt, click.Abort):
        return 130
    except Left:
        with contextlib.suppress(OSError, ValueError):  # Python flushes once more at its end
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as wrong:
        if not isinstance(wrong, NoRegretError | OSError | MemoryError):
            raise
        return _complain(" ".join(str(wrong).split()) or type(wrong).__name__)
    return int(result or 0)


def _complain(message: str) -> int:
    """One line on standard error; the exit code of bad input."""
    click.echo(f"noregret: {message}", err=True)
    return 2
