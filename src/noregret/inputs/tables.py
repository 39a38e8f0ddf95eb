"""A table of float64 with named columns: the least that a learner takes for a frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from noregret.types import Matrix, Vector

__all__ = ["Frame", "TimedFrame"]


class Frame:
    """Rows of numbers and the names of their columns; learners read it as they read pandas.

    >>> import numpy as np
    >>> frame = Frame(["hot", "wet"], np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> frame["wet"]
    array([2., 4.])
    >>> frame.part(1, 2).to_numpy()
    array([[3., 4.]])
    """

    __slots__ = ("columns", "shape", "slots", "values")

    def __init__(self, columns: Sequence[object], values: Matrix) -> None:
        self.columns = list(columns)
        self.values = values
        self.shape = values.shape
        self.slots = {name: slot for slot, name in enumerate(self.columns)}

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, name: object) -> Vector:
        column: Vector = self.values[:, self.slots[name]]
        return column

    def to_numpy(self) -> Matrix:
        """The numbers."""
        return self.values

    def part(self, start: int, stop: int) -> Frame:
        """Some of the rows."""
        return Frame(self.columns, self.values[start:stop])

    def repeated(self, times: int) -> Frame:
        """The rows, so many times over."""
        return Frame(self.columns, np.tile(self.values, (times, 1)))


class TimedFrame(Frame):
    """A frame with one column more, of times, which are not numbers.

    >>> import numpy as np
    >>> frame = TimedFrame(["hot"], np.array([[1.0], [3.0]]), "at", ["2024-01-01", "2024-01-02"])
    >>> frame["at"], frame["hot"]
    (['2024-01-01', '2024-01-02'], array([1., 3.]))
    """

    __slots__ = ("name", "times")

    def __init__(
        self, columns: Sequence[object], values: Matrix, name: str, times: Sequence[object]
    ) -> None:
        super().__init__(columns, values)
        self.columns.append(name)
        self.shape = (len(values), values.shape[1] + 1)
        self.name, self.times = name, times

    def __getitem__(self, name: object) -> Any:
        return self.times if name == self.name else super().__getitem__(name)
