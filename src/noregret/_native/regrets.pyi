# Compiled; written by native/stubs.py.  The equations are in native/.

from noregret.types import Matrix, Vector

ABSOLUTE: int
BOA: int
BOOK_ROWS: int
CELL_ROWS: int
EDGE: int
GAME: int
GIVEN: int
HUBER: int
LEVEL: int
LOSS: int
MLPOL: int
PAID: int
PINBALL: int
PRICE: int
PRIOR: int
REGRET: int
ROUNDS: int
SQUARE: int
STEP: float
UNIT: int
WEIGHT: int
WORTH: int

def forecast(arg0: Matrix, arg1: Matrix, arg2: Matrix, arg3: Vector, /) -> int: ...
def learn(
    arg0: Matrix,
    arg1: Matrix,
    arg2: Matrix,
    arg3: Vector,
    arg4: Vector,
    arg5: Vector,
    arg6: Vector,
    /,
) -> float: ...
def replay(
    arg0: Matrix,
    arg1: Matrix,
    arg2: Matrix,
    arg3: Matrix,
    arg4: Matrix,
    arg5: Vector,
    arg6: Matrix,
    /,
) -> int: ...
def settle(
    arg0: Matrix,
    arg1: Matrix,
    arg2: Matrix,
    arg3: Vector,
    arg4: Vector,
    arg5: float,
    arg6: Vector,
    /,
) -> bool: ...
