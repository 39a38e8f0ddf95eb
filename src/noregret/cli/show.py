"""Tables for people, and a progress bar where somebody is looking."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as Bar
    from rich.table import Table

    from noregret.certificates import Certificate
    from noregret.running.player import Player

__all__ = ["Progress", "certificates", "console", "contest", "count", "exit_code", "grid", "number"]

HEAD = ["loss", "best in hindsight", "bound", "slack", "holds"]


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


def number(value: float | None) -> str:
    """Six digits, or - where there is no number."""
    return "-" if value is None or value != value else f"{value:,.6g}"


def grid(title: str, head: list[str], rows: list[list[str]]) -> Table:
    """A table; the first column is words, the others numbers."""
    from rich import box
    from rich.table import Table

    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left", title_style="bold")
    for k, name in enumerate(head):
        table.add_column(name, justify="left" if not k else "right", overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table


def sides(one: Certificate) -> list[str]:
    """Both sides of a theorem, and whether they agree."""
    values = (one.loss, one.comparator, one.bound, one.slack)
    return [*map(number, values), {True: "yes", False: "NO", None: "no claim"}[one.holds]]


def certificates(found: Sequence[Certificate]) -> Table:
    """Both sides of every theorem."""
    rows = [[one.name, one.kind, *sides(one)] for one in found]
    return grid("", ["certificate", "kind", *HEAD], rows)


def contest(players: Sequence[Player]) -> Table:
    """Learners side by side, the best first, each with its first upper bound."""
    binary = players[0].binary

    def paid(player: Player) -> float:
        return player.loss if binary else player.errors

    rows = []
    for player in sorted(players, key=paid):
        shown, found = [*["-"] * 3, "nothing proved"], player.certificates()
        if found:
            main = next((one for one in found if one.kind == "upper bound"), found[0])
            if main.kind != "report":  # whose numbers claim nothing, and may have no comparator
                shown = sides(main)[1:]
            shown[-1] = "NO" if exit_code(found) else sides(main)[-1]
        rows.append([player.name, number(player.rmse), number(paid(player)), *shown])
    loss = "log loss" if binary else "square loss"
    return grid("", ["learner", "RMSE", loss, *HEAD[1:]], rows)


class Progress:
    """Rounds, rounds per second, running loss and bound; on a terminal only, once per piece."""

    def __init__(self) -> None:
        self.bar: Bar | None = None
        self.begin = perf_counter()
        if sys.stderr is not None and sys.stderr.isatty():
            from rich.progress import BarColumn, TextColumn
            from rich.progress import Progress as Bar

            self.bar = Bar(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.fields[words]}"),
                console=console(err=True),
                transient=True,
            )
            self.task = self.bar.add_task("forecasting", total=None, words="")
            self.bar.start()

    def tell(self, rounds: int, loss: float, bound: float | None) -> None:
        """How far it is."""
        if self.bar is not None:
            speed = rounds / max(perf_counter() - self.begin, 1e-9)
            words = f"{rounds:,} rounds, {speed:,.0f}/s, loss {loss:,.6g}, bound {number(bound)}"
            self.bar.update(self.task, words=words)

    def close(self) -> None:
        """Leave no trace."""
        if self.bar is not None:
            self.bar.stop()
