"""Records: what a dataclass is, at a tenth of its price when a module is imported.

A dataclass compiles five functions of its own, which takes half a millisecond a class.  Classes of
declarations are many, all come with the first learner, and nobody makes their objects in a loop.
"""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn, dataclass_transform

__all__ = ["Record"]


@dataclass_transform(frozen_default=True)
class Record:
    """Values by the names that a class annotates, set once; a default is a class attribute.

    With `kw_only=True` a class's own names are given by keyword.

    >>> class Point(Record):
    ...     x: float
    ...     y: float = 0.0
    >>> Point(1.0), Point(1.0, y=2.0) == Point(1.0, 2.0)
    (Point(x=1.0, y=0.0), True)
    >>> Point()
    Traceback (most recent call last):
    TypeError: Point needs x
    """

    _order: ClassVar[tuple[str, ...]] = ()  # by position
    _by_name: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, *, kw_only: bool = False) -> None:
        own = tuple(n for n, kind in cls.__annotations__.items() if not kind.startswith("ClassVar"))
        if kw_only:
            cls._by_name += own
        else:
            cls._order += own

    def __init__(self, *values: Any, **named: Any) -> None:
        given = dict(zip(self._order, values)) | named
        names = (*self._order, *self._by_name)
        if len(values) > len(self._order) or len(given) < len(values) + len(named):
            raise TypeError(f"{type(self).__name__} takes {', '.join(names)}, each once")
        if unknown := given.keys() - {*names}:
            raise TypeError(f"{type(self).__name__} has no {', '.join(sorted(unknown))}")
        if missing := [name for name in names if name not in given and not hasattr(self, name)]:
            raise TypeError(f"{type(self).__name__} needs {', '.join(missing)}")
        self.__dict__.update(given)

    def _values(self) -> tuple[object, ...]:
        return tuple(getattr(self, name) for name in (*self._order, *self._by_name))

    def __repr__(self) -> str:
        pairs = zip((*self._order, *self._by_name), self._values())
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in pairs)})"

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._values() == other._values()

    def __hash__(self) -> int:
        return hash((type(self), self._values()))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is set once: {name} cannot change")
