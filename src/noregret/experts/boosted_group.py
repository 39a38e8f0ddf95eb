"""Groups of Auto that are boosted trees on a window of the last rows, of one expert each.

They learn the outcomes from the features; or the change since the last outcome, from the
features, that outcome and how far from it earlier ones were.  Nothing is proved of them.  See
native/boosting.hpp.
"""

from __future__ import annotations

import numpy as np

from noregret._native import boosting
from noregret._native.boosting import Booster
from noregret.declare.fields import Array, Real, Word, require
from noregret.experts.boosted import Shape
from noregret.experts.views import Seen
from noregret.learner.saving import revived
from noregret.types import Matrix, Vector

__all__ = ["BOOSTED", "BoostedGroup"]

TREES, CHANGES = "boosted trees", "boosted changes"
SHAPES = {"normal": Shape(40, 16, 2048, 0.33, 0.2), "high": Shape(100, 31, 8192, 0.15, 0.1)}
BOOSTED = {"normal": (TREES,), "high": (TREES, CHANGES)}
EARLIER = (1, 4, 5, 6)  # of the past in `views`: lags 2, 7, 12 and 24
MOST = 2**21  # numbers that are kept, some


class BoostedGroup:
    """The trees of a group, and the rows that they were made of.

    >>> group = BoostedGroup.of("boosted trees", "normal", 1)
    >>> x, said = np.arange(100.0)[:, None] % 10.0, np.empty(100)
    >>> group.booster.replay(x, np.where(x[:, 0] > 4.0, 1.0, 3.0), said)
    >>> said[[0, 93, 99]].round(2)  # before the first trees, and with them
    array([nan,  3.,  1.])
    """

    __slots__ = ("booster", "effort", "name")

    FIELDS = (
        Word("name", (TREES, CHANGES)),
        Word("effort", SHAPES),
        Array("rows", ("m", "columns"), of="booster"),
        Array("targets", ("m",), of="booster"),
        Array("nodes", ("N", boosting.COLUMNS), of="booster"),
        Real("since", 0.0, 2.0**53, of="booster"),
    )

    def __init__(self, name: str, effort: str, booster: Booster) -> None:
        self.name, self.effort, self.booster = name, effort, booster

    @classmethod
    def of(cls, name: str, effort: str, n: int) -> BoostedGroup:
        """A group that has seen nothing, of n features."""
        columns = n + _more(name)
        nothing = np.zeros((0, columns)), np.zeros(0), np.zeros((0, boosting.COLUMNS))
        return cls.restored(name, effort, *nothing, 0.0)

    def stored(self) -> tuple[str, str, Matrix, Vector, Matrix, float]:
        """The values of FIELDS."""
        return self.name, self.effort, *self.booster.arrays()

    @classmethod
    def restored(
        cls, name: str, effort: str, rows: Matrix, targets: Vector, nodes: Matrix, since: float
    ) -> BoostedGroup:
        """The group of these values."""
        columns, shape = rows.shape[1], SHAPES[effort]
        require(columns >= _more(name), "has trees on other columns")
        window = min(shape.window, max(MOST // max(columns, 1), 256))
        rows, targets = rows[-window:], targets[-window:]  # fewer where features were added
        shape = shape._replace(window=window)
        try:
            trees = Booster(
                *shape, False, columns, np.ascontiguousarray(rows), targets, nodes, since
            )
        except ValueError:
            require(possible=False, wrong="has nodes that are no trees")
            raise
        return cls(name, effort, trees)

    def __reduce__(self) -> tuple[object, ...]:
        return revived, (BoostedGroup.restored, *self.stored())

    def fits(self, n: int, rounds: int) -> bool:
        """Whether this is a group of n features that has seen so many rounds, or fewer."""
        _, _, rows, _, _, _ = self.stored()
        return rows.shape[1] == n + _more(self.name) and len(rows) <= rounds

    def copy(self) -> BoostedGroup:
        """A group that shares nothing that changes with this one."""
        return BoostedGroup(self.name, self.effort, self.booster.copy())

    def extended(self, k: int) -> BoostedGroup:
        """With k features more, which have been 0 so far."""
        name, effort, rows, targets, nodes, since = self.stored()
        rows = np.hstack([rows, np.zeros((len(rows), k))])
        return BoostedGroup.restored(name, effort, rows, targets, nodes, since)

    # Rounds ---------------------------------------------------------------------------------

    @property
    def asleep(self) -> bool:
        """Whether there are no trees yet."""
        return not len(self.booster.arrays()[2])

    @property
    def compiled(self) -> tuple[object, ...]:
        """What compiled rounds ask for: trees, and what they see of the past beside the last."""
        return self.booster, EARLIER if self.name == CHANGES else ()

    def rows(self, seen: Seen) -> tuple[Matrix, Vector]:
        """The columns of every row, and from where outcomes are counted."""
        if self.name == TREES:
            return seen.x, np.zeros(len(seen.x))
        last = seen.naive[:, 0]
        past = seen.naive[:, EARLIER] - last[:, None]
        return np.ascontiguousarray(np.column_stack([last, past, seen.x])), last

    def replay(self, seen: Seen, ys: Vector) -> Matrix:
        """What the trees say in every row, learning as the rows go; NaN: they sleep."""
        (rows, origin), said = self.rows(seen), np.empty(len(ys))
        self.booster.replay(rows, ys - origin, said)
        return (origin + said)[:, None]

    def look(self, seen: Seen) -> Vector:
        """What the trees say of one row."""
        rows, origin = self.rows(seen)
        return np.array([origin[0] + self.booster.look(rows[0])])

    def learn(self, seen: Seen, y: float) -> None:
        """Learn that a row had the outcome y."""
        rows, origin = self.rows(seen)
        self.booster.learn(rows[0], y - float(origin[0]))


def _more(name: str) -> int:
    """How many columns there are besides the features."""
    return 1 + len(EARLIER) if name == CHANGES else 0
