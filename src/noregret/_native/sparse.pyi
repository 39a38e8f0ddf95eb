# Compiled; written by native/stubs.py.  The equations are in native/.

from noregret.types import Matrix, Vector

BOOK_ROWS: int
IDLE: int
KEPT: int
LARGEST: float
LARGEST_SEEN: int
LIST: int
LIVE: float
LOSS: int
MOMENT: int
NEW: int
PASSES: int
ROOTS: int
SCALES: int
SETTINGS: int
SIDE: int
SQUARE: int
STATE_ROWS: int
SWEEPS: int
WEIGHTS: int

def factor(arg0: Matrix, arg1: Matrix, arg2: Matrix, arg3: Vector, arg4: float, /) -> int: ...
def learn(
    arg0: Matrix,
    arg1: Matrix,
    arg2: Matrix,
    arg3: Vector,
    arg4: float,
    arg5: float,
    arg6: float,
    arg7: float,
    /,
) -> int: ...
def predict(arg0: Matrix, arg1: Vector, /) -> float: ...
def refine(
    arg0: Matrix, arg1: Matrix, arg2: Matrix, arg3: float, arg4: float, arg5: float, /
) -> int: ...
def replay(
    arg0: Matrix, arg1: Matrix, arg2: Matrix, arg3: Vector, arg4: Vector, arg5: Matrix, /
) -> int: ...
def round_(arg0: Matrix, arg1: Matrix, arg2: Vector, arg3: float, /) -> int: ...
