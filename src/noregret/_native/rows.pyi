# Compiled; written by native/stubs.py.  The equations are in native/.

from typing import Any, overload

from noregret.types import Matrix, Vector

class AutoRounds(Rounds):
    def __init__(
        self,
        arg0: Reader,
        arg1: object,
        arg2: float,
        arg3: object,
        arg4: object,
        arg5: object,
        arg6: object,
        arg7: object,
        arg8: object,
        arg9: object,
        arg10: object,
        arg11: float,
        /,
    ) -> None: ...

class CountRounds(Rounds):
    def __init__(self, arg0: Reader, arg1: object, /) -> None: ...

class EnsembleRounds(Rounds):
    def __init__(
        self,
        reader: Reader,
        scale: object,
        constant: float,
        linear: Any,
        features: object,
        outcomes: object,
        groups: list[Any],
        boosted: list[Any],
        waves: object,
        team: Any,
        last: Any,
        tree: object,
        pool: object,
        guard: Any,
        span: object,
        limits: Any,
    ) -> None: ...

class ForestRounds(Rounds):
    def __init__(self, arg0: Reader, arg1: object, /) -> None: ...

class GaussianRounds(Rounds):
    def __init__(
        self, arg0: Reader, arg1: object, arg2: object, arg3: object, arg4: bool, /
    ) -> None: ...

class MarginRounds(Rounds):
    def __init__(
        self,
        arg0: Reader,
        arg1: int,
        arg2: int,
        arg3: float,
        arg4: object,
        arg5: object,
        arg6: object,
        arg7: object,
        /,
    ) -> None: ...

class NamedRounds(Rounds):
    def __init__(
        self, pool: object, binary: bool, largest: float, places: dict[Any, int], /
    ) -> None: ...

class NetRounds(Rounds):
    def __init__(
        self,
        arg0: Reader,
        arg1: object,
        arg2: object,
        arg3: object,
        arg4: object,
        arg5: object,
        arg6: object,
        arg7: object,
        arg8: object,
        arg9: object,
        arg10: object,
        arg11: object,
        arg12: object,
        arg13: object,
        /,
    ) -> None: ...

class PoolRounds(Rounds):
    def __init__(
        self, pool: object, binary: bool, largest: float, models: list[Any], locks: list[Any], /
    ) -> None: ...

class Reader:
    @overload
    def __init__(self, arg: int, /) -> None: ...
    @overload
    def __init__(self, slots: dict[Any, int], /) -> None: ...
    def read(self, x: object, /) -> Vector | None: ...

class RenewedRounds(Rounds):
    def __init__(self) -> None: ...
    def renew(self, rounds: Rounds | None, /) -> None: ...

class Rounds:
    def predict(self, x: object, /) -> float | None: ...
    def learn(self, x: object, y: object, /) -> bool: ...

class SparseRounds(Rounds):
    def __init__(self, arg0: Reader, arg1: object, arg2: object, /) -> None: ...

class TrackedRounds(Rounds):
    def __init__(
        self,
        model: Any,
        work: Matrix | None,
        scale: Matrix,
        track: Matrix,
        book: Matrix,
        ring: Matrix,
        /,
    ) -> None: ...

def number(value: object, /) -> float | None: ...
