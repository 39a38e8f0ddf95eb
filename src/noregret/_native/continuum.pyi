# Compiled; written by native/stubs.py.  The equations are in native/.

from noregret.types import Integers, Matrix, Vector

AT: int
BOOK: int
BOX: int
BUDGETS: int
CELLS: int
CLIPPED: int
COUNTS: int
ERROR: int
FORECAST: int
FRESH: int
FULL: int
GAME: int
LIMIT: int
LOGS: int
LOSS: int
MATCH: int
MIX: int
OK: int
OUTSIDE: int
PAID: int
PEAK: int
PRIOR: int
RANGE: int
RATE: int
RAW: int
SAID: int
WEIGHT: int
WIDTH: int
WORST: int

def clip(arg0: Matrix, arg1: Matrix, /) -> None: ...
def learn(
    arg0: Matrix,
    arg1: Matrix,
    arg2: Matrix,
    arg3: Matrix,
    arg4: Matrix,
    arg5: Matrix,
    arg6: Matrix,
    arg7: Integers,
    arg8: Matrix,
    arg9: Matrix,
    arg10: Matrix,
    arg11: Matrix,
    arg12: Vector,
    arg13: Vector,
    arg14: float,
    /,
) -> int: ...
def merged(arg0: Matrix, arg1: Matrix, arg2: float, /) -> float: ...
def predict(
    arg0: Matrix,
    arg1: Matrix,
    arg2: Matrix,
    arg3: Matrix,
    arg4: Matrix,
    arg5: Integers,
    arg6: Matrix,
    arg7: Matrix,
    arg8: Vector,
    arg9: Vector,
    /,
) -> float: ...
def replay(
    arg0: Matrix,
    arg1: Matrix,
    arg2: Matrix,
    arg3: Matrix,
    arg4: Matrix,
    arg5: Matrix,
    arg6: Matrix,
    arg7: Integers,
    arg8: Matrix,
    arg9: Matrix,
    arg10: Matrix,
    arg11: Matrix,
    arg12: Vector,
    arg13: Matrix,
    arg14: Vector,
    arg15: Vector,
    /,
) -> int: ...
def settle_all(
    arg0: Matrix,
    arg1: Matrix,
    arg2: Matrix,
    arg3: Matrix,
    arg4: Matrix,
    arg5: Matrix,
    arg6: Matrix,
    arg7: Vector,
    arg8: Vector,
    /,
) -> None: ...
def weigh(arg0: Matrix, arg1: Matrix, arg2: Matrix, /) -> float: ...
