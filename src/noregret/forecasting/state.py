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
from noregret.forecasting.design import Design, reach_of
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

    __slots__ = ("aheads", "bands", "blocks", "design", "history", "tally")

    FIELDS = (
        Part("history", ("Forecaster.History",)),
        Groups("aheads", Ahead),
        Groups("blocks", Block),
        Group("bands", Bands),
        Group("tally", Tally),
    )
    SCRATCH = ("design",)  # as the parameters, the grid and the features say

    def __init__(
        self,
        history: History,
        aheads: Sequence[Ahead],
        blocks: Sequence[Block],
        bands: Bands,
        tally: Tally,
    ) -> None:
        self.history, self.aheads, self.blocks = history, list(aheads), list(blocks)
        self.bands, self.tally = bands, tally
        self.design: Design

    @classmethod
    def start(
        cls,
        design: Design,
        horizon: int,
        learners: Sequence[Learner],
        coverages: Sequence[float] = (0.9,),
    ) -> Running:
        """Nothing has been learned."""
        periods = [s.steps for s in design.means]
        echoes = [e.steps for e in design.echoes]
        history = History(periods, echoes, len(design.features), reach_of(design, horizon))
        n = len(design.names(1))
        B = len(design.baselines)
        aheads = [Ahead(h, n, B) for h in range(1, horizon + 1)]
        blocks = [Block(k, learner) for k, learner in zip(blocks_of(horizon), learners)]
        skip = max([20, *(s.steps for s in design.seasons[:1])]) + horizon
        tally = Tally.start(horizon, B + 1, stretch_of(design.every)[0], skip)
        running = cls(history, aheads, blocks, Bands.start(horizon, coverages), tally)
        running.design = design
        return running

    def accept(self, design: Design, horizon: int, coverages: int) -> None:
        """Go on with this design, which must be the one that all was learned with."""
        new = self.start(design, 1, ())
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

    def copy(self) -> Running:
        """One that shares nothing with this one."""
        new = Running(
            self.history.copy(),
            [a.copy() for a in self.aheads],
            [b.copy() for b in self.blocks],
            self.bands.copy(),
            self.tally.copy(),
        )
        new.design = self.design
        return new

    @property
    def horizon(self) -> int:
        """H."""
        return len(self.aheads)

    @property
    def experts(self) -> list[str]:
        """The names of the experts at every horizon."""
        cells = [
            f"linear a={a:g}" + (f" drift={q:g}" if q else "") for q in DRIFTS for a in PRECISIONS
        ]
        return [*self.design.baselines, *cells, "learner"]

    # Steps that are known -------------------------------------------------------------------

    def run(self, ys: Vector, xs: Matrix, offsets: Vector, coverages: Sequence[float]) -> Played:
        """Forecast, then learn these steps, in place; NaN is a step without an outcome."""
        history, first = self.history.copy(), self.history.size
        history.extend(ys, xs, offsets)
        blocks = [block if block.sure else block.copy() for block in self.blocks]
        said = {block.horizon: block.run(self.design, history, first) for block in blocks}
        self.history, self.blocks = history, blocks
        T, H = len(ys), self.horizon
        issued, errors = np.empty((T, H)), np.empty((T, H))
        steps = np.arange(first, first + T)
        for ahead in self.aheads:
            h = ahead.horizon
            learner = said[next(k for k in said if k >= h)]
            forecast, naive = ahead.run(self.design, history, first, learner)
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
        learner = float(block.said(self.design, self.history, target, given)[0])
        return self.aheads[h - 1].forecast(self.design, self.history, learner, given)

    def certificates(self) -> list[Certificate]:
        """One for each horizon."""
        return [ahead.certificate(self.experts, self.history) for ahead in self.aheads]
