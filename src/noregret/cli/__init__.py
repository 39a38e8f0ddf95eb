"""The `noregret` command.  Its own help needs nothing but this file; a command needs Click."""

from __future__ import annotations

import gc
import os
import sys

TYPE_CHECKING = False  # importing typing takes longer than all of this file
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["COMMANDS", "HELP", "call", "main"]

# Each command is a module of its own, loaded when it is used.
COMMANDS = {
    "run": "Forecast a stream with one learner, round by round.",
    "forecast": "The next steps of a series, with intervals.",
    "merge": "The forecasts of others, merged into one.",
    "fleet": "One learner per key: thousands of streams in one file.",
    "compare": "Several learners side by side, in one pass.",
    "models": "The learners: what is proved of each, what it costs.",
    "certify": "The certificates of a state file.",
    "demo": "A stream made up here, several learners, their proofs.",
    "adversary": "Play a learner against the stream of a lower-bound proof.",
    "reproduce": "Published tables beside ours.",
    "bench": "How fast the learners are on this machine.",
}
_LINES = "\n".join(f"  {name:<10} {words}" for name, words in COMMANDS.items())
HELP = f"""\
Usage: noregret [OPTIONS] COMMAND [ARGS]...

  Forecast now as well as the best model in hindsight, and prove it as you go.

Options:
  --version   Show the version and exit.
  -h, --help  Show this message and exit.
  --show-completion [bash|zsh|fish]  How to complete commands, models and columns with TAB.

Commands:
{_LINES}

  A first try:
    noregret demo
    noregret run data.csv --target y
    noregret forecast data.csv --target y --steps 24

  Every command has examples: noregret run --help.

  Exit codes: 0 well, 1 a certificate fails, 2 bad input, 130 interrupted.
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; ends the process with its exit code."""
    code = call(arguments)
    gc.freeze()  # nothing is collected at the end: that would take half a second, a small run one
    sys.exit(code)


def call(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; its exit code.  What goes wrong is one line, never a traceback.

    >>> call(["--version"])
    noregret 0.1.0
    0
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    completing = "_NOREGRET_COMPLETE" in os.environ  # a shell asks
    if given in ([], ["--help"], ["-h"]) and not completing:
        sys.stdout.write(HELP)
        return 0
    if given == ["--version"]:
        from noregret import __version__

        sys.stdout.write(f"noregret {__version__}\n")
        return 0
    if given[:1] == ["--show-completion"]:
        from noregret.cli.completion import show

        sys.stdout.write(show(given[1] if len(given) > 1 else None))
        return 0
    from noregret.cli.group import invoke

    return invoke(given)
