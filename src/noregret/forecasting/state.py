"""What a Forecaster has learned: its history, the state of each horizon, scores and intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from noregret.certificates import Certificate
from noregret.declare.fields import (
    Group,
    Groups,
    Mismatch,
    Part,
)
from noregret.forecasting.ahead import DRIFTS, PRECISIONS, Ahead
from noregret.forecasting.bands import Bands
from noregret.forecasting.design import AsTheyAre, Design, reach_of
from noregret.forecasting.history import History
from noregret.forecasting.learners import Block, blocks_of
from noregret.forecasting.scores import Tally
from noregret.forecasting.seasons import stretch_of
from noregret.learner.base import Learner
from noregret.types import Matrix, Vector

__all__ = ["Played", "Running"]


@dataclass(slots=True)
class Played:
    """What a run of steps gave: issued forecasts (T, H), widths of intervals (T, H, C, 2)."""

    ahead: Matrix
    widths: Matrix


class Running:
    """The forecaster at work, on a grid of times that is known."""

    __slots__ = ("aheads", "bands", "blocks", "design", "history", "plain", "tally")

    FIELDS = (
        Part("history", ("Forecaster.History",)),
        Groups("aheads", Ahead),
        Groups("blocks", Block),
        Group("bands", Bands),
        Group("tally", Tally),
        Group("plain", Block, later=True),
    )
    SCRATCH = ("design",)  # as the parameters, the grid and the features say

    def __init__(
        self,
        history: History,
        aheads: Sequence[Ahead],
        blocks: Sequence[Block],
        bands: Bands,
        tally: Tally,
        plain: Block | None = None,  # one step ahead, a learner of features as they are
    ) -> None:
        self.history, self.aheads, self.blocks = history, list(aheads), list(blocks)
        self.bands, self.tally, self.plain = bands, tally, plain
        self.design: Design

    @classmethod
    def start(
        cls,
        design: Design,
        horizon: int,
        learners: Sequence[Learner],
        plain: Learner | None = None,
        coverages: Sequence[float] = (0.9,),
    ) -> Running:
        """Nothing has been learned; `plain` is the learner of features as they are."""
        periods = [s.steps for s in design.means]
        echoes = [e.steps for e in design.echoes]
        history = History(periods, echoes, len(design.features), reach_of(design, horizon))
        n = len(design.names(1))
        B = len(design.baselines)
        both = 1 if plain is None else 2
        aheads = [Ahead(h, n, B, both if h == 1 else 1) for h in range(1, horizon + 1)]
        blocks = [Block(k, learner) for k, learner in zip(blocks_of(horizon), learners)]
        skip = max([20, *(s.steps for s in design.seasons[:1])]) + horizon
        tally = Tally.start(horizon, B + 1, stretch_of(design.every)[0], skip)
        own = None if plain is None else Block(1, plain)
        bands = Bands.start(horizon, coverages)
        running = cls(history, aheads, blocks, bands, tally, own)
        running.design = design
        return running

    def accept(self, design: Design, horizon: int, coverages: int) -> None:
        """Go on with this design, which must be the one that all was learned with."""
        new = self.start(design, 1, (), None if self.plain is None else self.plain.learner)
        same = (
            self.history.features == new.history.features
            and self.history.seasons.tolist() == new.history.seasons.tolist()
            and self.history.echoes.tolist() == new.history.echoes.tolist()
            and self.history.table.shape[1] == reach_of(design, horizon)
            and [a.horizon for a in self.aheads] == list(range(1, horizon + 1))
            and [b.horizon for b in self.blocks] == blocks_of(horizon)
            and self.aheads[0].grid.features == new.aheads[0].grid.features
            and self.aheads[0].discounted.shape == new.aheads[0].discounted.shape
            and self.tally.sums.shape[:2] == (horizon, len(design.baselines) + 1)
            and self.bands.issued.shape[:2] == (horizon, coverages * horizon)
        )
        if not same:
            raise Mismatch(
                "was learned with other lags, features, seasons or intervals, or another horizon"
            )
        self.design = design

    def copy(self, *, asked: bool = False) -> Running:
        """One that shares nothing with this one; `asked`: it will see no outcome."""
        copied = Block.asked if asked else Block.copy
        new = Running(
            self.history.copy(),
            [a.copy() for a in self.aheads],
            [copied(b) for b in self.blocks],
            self.bands.copy(),
            self.tally.copy(),
            None if self.plain is None else copied(self.plain),
        )
        new.design = self.design
        return new

    @property
    def horizon(self) -> int:
        """H."""
        return len(self.aheads)

    @property
    def sure(self) -> bool:
        """Whether every step is sure to be learned, so that no copy need be gone back to."""
        return all(b.sure for b in (*self.blocks, *([] if self.plain is None else [self.plain])))

    def experts(self, h: int) -> list[str]:
        """The names of the experts at a horizon."""
        cells = [
            f"linear a={a:g}" + (f" drift={q:g}" if q else "") for q in DRIFTS for a in PRECISIONS
        ]
        plain = ["learner, features as they are"] if h == 1 and self.plain is not None else []
        return [*self.design.baselines, *cells, "learner", *plain]

    # Steps that are known -------------------------------------------------------------------

    def run(self, ys: Vector, xs: Matrix, offsets: Vector, coverages: Sequence[float]) -> Played:
        """Forecast, then learn these steps, in place; NaN is a step without an outcome."""
        history, first = self.history.copy(), self.history.size
        history.extend(ys, xs, offsets)
        blocks = [block if block.sure else block.copy() for block in self.blocks]
        said = {block.horizon: block.run(self.design, history, first) for block in blocks}
        plain = []
        if self.plain is not None:
            plain = [self.plain.run(AsTheyAre(self.design), history, first)]
        self.history, self.blocks = history, blocks
        T, H = len(ys), self.horizon
        issued, errors = np.empty((T, H)), np.empty((T, H))
        steps = np.arange(first, first + T)
        for ahead in self.aheads:
            h = ahead.horizon
            learner = said[next(k for k in said if k >= h)]
            learners = [learner, *(plain if h == 1 else ())]
            forecast, naive = ahead.run(self.design, history, first, learners)
            scored = steps >= max(h, self.design.warm)
            y = np.where(scored, ys, np.nan)
            errors[:, h - 1] = y - forecast
            issued[:, h - 1] = np.where(scored, forecast, np.nan)
            both = np.column_stack([forecast, naive])
            self.tally.book(h, steps, y[:, None] - both)
        widths = self.bands.run(errors, coverages)
        history.trimmed(reach_of(self.design, H))
        return Played(issued, widths)

    # Steps to come --------------------------------------------------------------------------

    def forecast(self, h: int, given: Matrix | None = None) -> float:
        """The forecast h steps after the last step."""
        if self.history.size == 0:
            return 0.0
        target = np.array([self.history.size - 1 + h])
        block = next(block for block in self.blocks if block.horizon >= h)
        learners = [block.said(self.design, self.history, target, given)[0]]
        if h == 1 and self.plain is not None:
            learners += [self.plain.said(AsTheyAre(self.design), self.history, target, given)[0]]
        return self.aheads[h - 1].forecast(self.design, self.history, learners, given)

    def certificates(self) -> list[Certificate]:
        """One for each horizon."""
        return [self.certificate(h) for h in range(1, self.horizon + 1)]

    def certificate(self, h: int) -> Certificate:
        """That of a horizon."""
        return self.aheads[h - 1].certificate(self.experts(h), self.history)
