"""Tables for people, and a progress bar where somebody is looking."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as Bar
    from rich.table import Table

    from noregret.certificates import Certificate
    from noregret.running.player import Player

__all__ = [
    "Progress",
    "certificates",
    "console",
    "contest",
    "count",
    "exit_code",
    "grid",
    "number",
    "paid",
    "progress",
]

ROUNDING = 1e-9  # of the largest side of a theorem
SLOW = 10.0  # seconds after which a run without a terminal says how far it is, and then
AGAIN = 60.0  # seconds
HEAD = ["loss", "best", "bound", "slack", "holds"]  # best: in hindsight
KINDS = {"equality": "=", "upper bound": "<=", "lower bound": ">="}


def console(*, err: bool = False) -> Console:
    """Rich's console on standard output or standard error."""
    from rich.console import Console

    class Screen(Console):
        def on_broken_pipe(self) -> None:
            """Rich would end the process with 1, which here means that a certificate fails."""
            raise BrokenPipeError

    stream = sys.stderr if err else sys.stdout
    width = None if stream is not None and stream.isatty() else 160
    return Screen(stderr=err, width=width, highlight=False, soft_wrap=False)


def count(number: int, one: str) -> str:
    """1 row, 2 rows."""
    return f"{number:,} {one}{'' if number == 1 else 's'}"


def exit_code(found: Sequence[Certificate]) -> int:
    """1 if one of these certificates fails."""
    return 1 if any(one.holds is False for one in found) else 0


def number(value: float | None, scale: float = 0.0) -> str:
    """Three digits, or all before the point; - where there is no number.

    What is nothing but rounding beside `scale` is 0.

    >>> number(1559.7), number(0.0123456), number(-3.6e-12, 40.0), number(None)
    ('1,560', '0.0123', '0', '-')
    """
    if value is None or value != value:
        return "-"
    if abs(value) <= ROUNDING * scale or value == 0.0:
        return "0"
    return f"{value:,.0f}" if 999.5 <= abs(value) < 1e10 else f"{value:.3g}"


def grid(title: str, head: list[str], rows: list[list[str]]) -> Table:
    """A table; the first column is words, the others numbers."""
    from rich import box
    from rich.table import Table

    table = Table(
        title=title,
        box=box.SIMPLE_HEAD,
        title_justify="left",
        title_style="bold",
        padding=(0, 0, 0, 1),
    )
    for k, name in enumerate(head):
        table.add_column(name, justify="left" if not k else "right", overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table


def sides(one: Certificate) -> list[str]:
    """Both sides of a theorem, and whether they agree."""
    values = (one.loss, one.comparator, one.bound, one.slack)
    scale = max(
        (abs(value) for value in values[:3] if value is not None and value == value), default=0.0
    )
    return [
        *(number(value, scale) for value in values),
        {True: "yes", False: "NO", None: "no claim"}[one.holds],
    ]


def certificates(found: Sequence[Certificate]) -> Table:
    """Both sides of every theorem."""
    rows = [[one.name, KINDS.get(one.kind, one.kind), *sides(one)] for one in found]
    return grid("", ["certificate", "", *HEAD], rows)


def contest(players: Sequence[Player]) -> Table:
    """Both sides of each learner's first upper bound, the least loss first."""
    rows = []
    for player in sorted(players, key=paid):
        shown, found = [*["-"] * 3, "nothing proved"], player.of_loss()
        if found:
            main = next((one for one in found if one.kind == "upper bound"), found[0])
            if main.kind != "report":  # whose numbers claim nothing, and may have no comparator
                shown = sides(main)[1:]
            shown[-1] = sides(main)[-1]
        shown[-1] = "NO" if exit_code(player.certificates()) else shown[-1]
        rows.append([player.name, number(paid(player)), *shown])
    loss = "log loss" if players[0].binary else "square loss"
    return grid("", ["learner", loss, *HEAD[1:]], rows)


def paid(player: Player) -> float:
    """What is least where a learner is best: log loss of labels, square loss of numbers."""
    return player.loss if player.binary else player.errors


class Progress:
    """How far a run is: a line on a terminal; where there is none, now and then if it is slow."""

    def __init__(self, *, quiet: bool = False) -> None:
        self.bar: Bar | None = None
        self.begin = perf_counter()
        self.due = None if quiet or sys.stderr is None else self.begin + SLOW
        if sys.stderr is not None and sys.stderr.isatty():
            from rich.progress import BarColumn, TextColumn
            from rich.progress import Progress as Bar

            self.due = None
            self.bar = Bar(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.fields[words]}"),
                console=console(err=True),
                transient=True,
            )
            self.task = self.bar.add_task("forecasting", total=None, words="")
            self.bar.start()

    def tell(self, words: Callable[[float], str]) -> None:
        """How far it is, in words about so many seconds."""
        now = perf_counter()
        if self.bar is not None:
            self.bar.update(self.task, words=words(now - self.begin))
        elif self.due is not None and now > self.due:
            self.due = now + AGAIN
            sys.stderr.write(
                f"noregret: {words(now - self.begin)} after {now - self.begin:,.0f} s\n"
            )
            sys.stderr.flush()

    def close(self) -> None:
        """Leave no trace."""
        if self.bar is not None:
            self.bar.stop()


def progress(rounds: int, seconds: float, player: Player) -> str:
    """Rounds, rounds per second, RMSE; and both sides of the theorem, where it bounds the loss."""
    words = f"{rounds:,} rows, {rounds / max(seconds, 1e-9):,.0f}/s, RMSE {number(player.rmse)}"
    one = player.certificate
    if one is None or one.bound is None or one.kind != "upper bound":
        return words
    return f"{words}, loss {number(one.loss)} of at most {number(one.bound)}"
