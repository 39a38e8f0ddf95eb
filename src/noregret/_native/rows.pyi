# Compiled; written by native/stubs.py.  The equations are in native/.

from typing import Any, overload

from noregret.types import Vector

class AutoRounds:
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
        arg9: PoolRounds,
        /,
    ) -> None: ...
    def predict(self, x: object, /) -> float | None: ...
    def learn(self, x: object, y: object, /) -> bool: ...

class GaussianRounds:
    def __init__(
        self, arg0: Reader, arg1: object, arg2: object, arg3: object, arg4: bool, /
    ) -> None: ...
    def predict(self, x: object, /) -> float | None: ...
    def learn(self, x: object, y: object, /) -> bool: ...

class MarginRounds:
    def __init__(
        self,
        arg0: Reader,
        arg1: int,
        arg2: int,
        arg3: float,
        arg4: float,
        arg5: object,
        arg6: object,
        arg7: object,
        arg8: object,
        /,
    ) -> None: ...
    def predict(self, x: object, /) -> float | None: ...
    def learn(self, x: object, sign: float, /) -> bool: ...

class NetRounds:
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
    def predict(self, x: object, /) -> float | None: ...
    def learn(self, x: object, y: object, /) -> bool: ...

class PoolRounds:
    def __init__(self, arg0: object, arg1: object, arg2: float, arg3: float, /) -> None: ...
    def forecast(self, arg: Vector, /) -> float: ...
    def learn(self, arg0: Vector, arg1: float, /) -> bool: ...

class Reader:
    @overload
    def __init__(self, arg: int, /) -> None: ...
    @overload
    def __init__(self, slots: dict[Any, int], /) -> None: ...
    def read(self, x: object, /) -> Vector | None: ...

class SparseRounds:
    def __init__(self, arg0: Reader, arg1: object, arg2: object, /) -> None: ...
    def predict(self, x: object, /) -> float | None: ...
    def learn(self, x: object, y: object, /) -> bool: ...

def number(value: object, /) -> float | None: ...
