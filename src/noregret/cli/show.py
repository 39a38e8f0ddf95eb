"""Tables for people, and a progress bar where somebody is looking."""

from __future__ import annotations

import sys
from time import perf_counter
from typing import Any

__all__ = ["Progress", "certificates", "console", "contest", "count", "grid", "number"]


def console(*, err: bool = False) -> Any:
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


def number(value: float | None) -> str:
    """Short, but telling."""
    return "-" if value is None or value != value else f"{value:,.6g}"


def grid(title: str, head: list[str], rows: list[list[str]]) -> Any:
    """A table; the first column is words, the others numbers."""
    from rich import box
    from rich.table import Table

    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left", title_style="bold")
    for k, name in enumerate(head):
        table.add_column(name, justify="left" if not k else "right", overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table


def certificates(found: list[Any]) -> Any:
    """Both sides of every theorem."""
    verdicts = {True: "yes", False: "NO", None: "no claim"}
    rows = [
        [
            one.name,
            one.kind,
            number(one.loss),
            number(one.comparator),
            number(one.bound),
            number(one.slack),
            verdicts[one.holds],
        ]
        for one in found
    ]
    head = ["certificate", "kind", "loss", "best in hindsight", "bound", "slack", "holds"]
    return grid("", head, rows)


def contest(players: list[Any], *, yes_no: bool) -> Any:
    """Learners side by side, the best first, each with its first upper bound."""

    def paid(player: Any) -> float:
        return float(player.loss if yes_no else player.errors)

    rows = []
    for player in sorted(players, key=paid):
        sides, verdict = ["-"] * 3, "nothing proved"
        found = player.learner.certificates() if player.certificate is not None else []
        if found:
            main = next((one for one in found if one.kind == "upper bound"), found[0])
            if main.kind != "report":  # whose numbers claim nothing, and may have no comparator
                sides = [number(value) for value in (main.comparator, main.bound, main.slack)]
            failed = any(one.holds is False for one in found)
            verdict = "NO" if failed else {True: "yes", None: "no claim"}[main.holds]
        rows.append([player.name, number(player.rmse), number(paid(player)), *sides, verdict])
    loss = "log loss" if yes_no else "square loss"
    return grid("", ["learner", "RMSE", loss, "best in hindsight", "bound", "slack", "holds"], rows)


class Progress:
    """Rounds, rounds a second, running loss and bound; on a terminal only, once a piece."""

    def __init__(self) -> None:
        self.bar: Any = None
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
