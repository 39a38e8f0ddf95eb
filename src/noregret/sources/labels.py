"""Two labels of any kind as 0 and 1: no and yes, -1 and +1, cat and dog."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from noregret.errors import SourceError, abbreviated
from noregret.sources.block import NUMBER, Block, Column, Reading
from noregret.sources.cells import NUMERIC
from noregret.sources.survey import ROWS
from noregret.types import Vector

__all__ = ["Labels"]

YES = frozenset(
    (
        "1",
        "yes",
        "y",
        "true",
        "t",
        "on",
        "up",
        "high",
        "positive",
        "pos",
        "good",
        "win",
        "spam",
        "fraud",
        "fault",
        "failure",
        "alarm",
        "open",
        "ja",
        "oui",
        "si",
        "active",
        "abnormal",
        "present",
        "bad",
    )
)
NO = frozenset(
    (
        "0",
        "no",
        "n",
        "false",
        "f",
        "off",
        "down",
        "low",
        "negative",
        "neg",
        "lose",
        "ham",
        "normal",
        "ok",
        "closed",
        "nein",
        "non",
        "inactive",
        "absent",
        "-1",
    )
)

PLAIN = {"0", "1"}


@dataclass(slots=True)
class Labels:
    """Which label counts as 0, which as 1; numbers 0 and 1 stay as they are."""

    positive: str | None = None  # as given
    zero: str | None = None
    one: str | None = None
    plain: bool = False  # the outcomes are the numbers 0 and 1
    said: str = field(default="", compare=False)

    def memory(self) -> list[str | bool | None]:
        """What a later run needs."""
        return [self.zero, self.one, self.plain]

    def recall(self, memory: tuple[str | None, str | None, bool]) -> None:
        """Go on from an earlier run."""
        self.zero, self.one, self.plain = memory

    def block(self, block: Block, target: str, reading: Reading) -> Block:
        """The same rows with outcomes that are 0 and 1; rows with a third label are bad."""
        column = block.columns.get(target)
        if column is None:
            return block
        texts = _texts(column)
        if not self.plain and self.one is None and self.zero is None:
            known = (text for text in texts if text is not None)
            seen = dict.fromkeys(islice(known, ROWS))
            numbers = isinstance(column, np.ndarray) and self.positive is None and bool(seen)
            self.plain = numbers and (seen.keys() <= PLAIN or seen.keys() >= PLAIN)
            if not self.plain:
                self._choose(seen, reading, target)
        if self.plain:
            return block
        y, keep = self._numbers(texts, block, reading, target)
        columns: dict[str, Column] = dict(block.columns) | {target: y}
        kinds = block.kinds | {target: NUMBER}
        made = Block(columns, kinds, block.places, block.open, block.whole - {target})
        return made if all(keep) else made.kept(np.array(keep, dtype=bool))

    def _choose(self, seen: dict[str, None], reading: Reading, target: str) -> None:
        """Which label of a sample counts as 1."""
        if not seen:
            return
        shown = ", ".join(abbreviated(text) for text in list(seen)[:4])
        if len(seen) > 2:
            raise reading.fail(
                f"the target {target!r} has {len(seen)} different values ({shown}): "
                "--binary takes two labels"
            )
        yes = [text for text in seen if text.lower() in YES]
        no = [text for text in seen if text.lower() in NO]
        if self.positive is not None:
            self.one = self.positive
        elif len(seen) == 1:
            self.one, self.zero = next(iter(yes), None), next(iter(no), None)
        elif all(NUMERIC.fullmatch(text) for text in seen):
            self.one = max(seen, key=float)
        elif len(yes) == 1:
            self.one = yes[0]
        else:
            self.one = next(t for t in seen if t not in no) if len(no) == 1 else max(seen)
        if self.one is None and self.zero is None:
            raise reading.fail(
                f"the target {target!r} has only one label so far ({shown}): give --positive LABEL"
            )
        if len(seen) == 2 and self.one not in seen:
            raise reading.fail(f"--positive {self.one}: the labels of {target!r} are {shown}")
        if self.one is not None:
            self.zero = next((text for text in seen if text != self.one), None)
            zero = "the other" if self.zero is None else abbreviated(self.zero)
            self.said = f"target {target}: {abbreviated(self.one)} counts as 1, {zero} as 0"

    def _numbers(
        self, texts: list[str | None], block: Block, reading: Reading, target: str
    ) -> tuple[Vector, list[bool]]:
        y, keep = np.full(len(texts), np.nan), [True] * len(texts)
        for i, text in enumerate(texts):
            if text is None:
                continue
            if self.zero is None and text != self.one:
                self.zero = text
            elif self.one is None and text != self.zero:
                self.one = text
            if text in (self.zero, self.one):
                y[i] = float(text == self.one)
                continue
            keep[i] = False
            pair = f"neither {abbreviated(self.zero)} nor {abbreviated(self.one)}"
            try:
                reading.skip(int(block.places[i]), f"{abbreviated(text)} is {pair}", target)
            except SourceError as refused:
                raise SourceError(f"{refused}: --binary takes two labels") from None
        return y, keep


def _texts(column: Column) -> list[str | None]:
    if isinstance(column, np.ndarray):
        return [None if v != v else f"{v:g}" for v in column.tolist()]
    return column
