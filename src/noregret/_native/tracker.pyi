# Compiled; written by native/stubs.py.  The equations are in native/.

from noregret.types import Matrix, Vector

ALPHA: int
APART: int
BITS: int
BOOK_COLUMNS: int
CALM: float
COUNT: int
CROSSED: int
EARLY: float
ETA: float
FIXED: int
HIGH: int
INVERSE: int
LAST: int
LATE: int
LEVEL: int
LIVES: int
LONG: int
LOSS: int
LOW: int
MEAN: int
MERGED: int
MISSES: int
MIX: int
MOST_LONG: int
MOST_SHORT: int
NESTED: int
OPEN: int
OWN: int
PAID: int
PEAK: int
PLACE: int
PRICE: int
PUSH: int
REACH: int
REGRET: int
RING: int
SAID: int
SCALE_ROWS: int
SHORT: int
SIDE: int
SIZE: int
START: int
STEADY: int
STEADY_STEP: float
STEPS: int
THETA: int
TRACKERS: int
TRACK_ROWS: int
WEIGHT: int
WORTH: int

def fits(arg0: Matrix, arg1: float, arg2: float, /) -> bool: ...
def issue(
    arg0: Matrix, arg1: Matrix, arg2: Matrix, arg3: float, arg4: float, arg5: Vector, /
) -> None: ...
def learn(
    arg0: Matrix,
    arg1: Matrix,
    arg2: Matrix,
    arg3: Matrix,
    arg4: float,
    arg5: float,
    arg6: float,
    arg7: Vector,
    /,
) -> bool: ...
def replay(
    arg0: Matrix,
    arg1: Matrix,
    arg2: Matrix,
    arg3: Matrix,
    arg4: Vector,
    arg5: Vector,
    arg6: Vector,
    arg7: Matrix,
    /,
) -> int: ...
