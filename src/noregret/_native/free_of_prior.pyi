# Compiled; written by native/stubs.py.  The equations are in native/.

from noregret.types import Matrix, Vector

BOOK_ROWS: int
CHARGE: int
ENDS: int
ENERGY: int
FIT: int
LOSS: int
RELIEF: int
ROUNDS: int
SHARE: int
SMALL: float
WIDEST: int

def predict(arg0: Matrix, arg1: Matrix, arg2: Vector, /) -> float: ...
def replay(
    arg0: int, arg1: Matrix, arg2: Matrix, arg3: Matrix, arg4: Vector, arg5: Vector, arg6: Vector, /
) -> int: ...
