"""The `noregret` command.  Importing this loads Click and nothing heavier."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import Any

import click

from noregret import __version__

__all__ = ["main"]

# Each command is loaded when it is used; --help needs these lines only.
COMMANDS = {
    "run": "Forecast a stream with one learner, round by round.",
    "compare": "Several learners side by side, in one pass.",
    "models": "The learners: what is proved of each, what it costs.",
    "certify": "The certificates of a state file.",
    "demo": "A stream made up here, several learners, their proofs.",
    "adversary": "Play a learner against the stream of a lower-bound proof.",
    "reproduce": "Published tables beside ours.",
    "bench": "How fast the learners are on this machine.",
}


class Lazy(click.Group):
    """A group whose commands are modules of their own."""

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

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Names and lines, without loading anything."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=Lazy,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="\b\nA first try:\n  noregret demo\n  noregret run data.csv --target y\n"
    "  noregret compare data.csv --target y\n\n"
    "Every command has examples: noregret run --help.\n\n"
    "Exit codes: 0 well, 1 a certificate fails, 2 bad input, 130 interrupted.",
)
@click.version_option(__version__, prog_name="noregret")
def group() -> None:
    """Forecast now as well as the best model in hindsight, and prove it as you go."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; ends the process with its exit code."""
    sys.exit(call(arguments))


def call(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; its exit code.  What goes wrong is one line, never a traceback."""
    try:
        result: Any = group.main(args=arguments, prog_name="noregret", standalone_mode=False)
    except click.ClickException as wrong:
        where = getattr(wrong, "ctx", None)
        hint = f" (see {where.command_path} --help)" if where is not None else ""
        return complain(f"{' '.join(wrong.format_message().split())}{hint}")
    except (KeyboardInterrupt, click.Abort):
        return 130
    except BrokenPipeError:  # whoever read our output has left
        sys.stderr.close()
        return 0
    except Exception as wrong:
        from noregret.errors import NoRegretError

        if not isinstance(wrong, NoRegretError | OSError | MemoryError):
            raise
        return complain(" ".join(str(wrong).split()) or type(wrong).__name__)
    return int(result or 0)


def complain(message: str) -> int:
    """One line on standard error; the exit code of bad input."""
    click.echo(f"noregret: {message}", err=True)
    return 2
