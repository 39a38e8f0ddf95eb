"""A replay of OSLOG, with the path that its weights took."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from noregret.declare.extras import module
from noregret.learner.replay import Replay
from noregret.types import Matrix, Vector

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from noregret.sparse.state import OSLOGState

__all__ = ["ShrinkageReplay"]


@dataclass(frozen=True, eq=False)
class ShrinkageReplay(Replay):
    """A replay of OSLOG: also the path of its weights."""

    before: OSLOGState | None = field(default=None, repr=False)
    xs: Matrix = field(default_factory=lambda: np.empty((0, 0)), repr=False)
    ys: Vector = field(default_factory=lambda: np.empty(0), repr=False)

    @property
    def weights(self) -> Matrix:
        """The weights after each round, one row per round; worked out anew at each call."""
        assert self.before is not None
        path = np.empty(self.xs.shape)
        self.before.copy().run(self.xs, self.ys, path)
        return path

    def plot_weights(self, ax: Axes | None = None) -> Axes:
        """The weights over the rounds, one line per feature; returns the axes."""
        if ax is None:
            _, ax = module("matplotlib.pyplot", "plot_weights").subplots()
        ax.plot(np.arange(1, len(self) + 1), self.weights, linewidth=0.8)
        ax.axhline(0.0, color="grey", linewidth=0.5)
        ax.set(xlabel="round", ylabel="weight", title="weights of OSLOG")
        return ax
