# Compiled; written by native/stubs.py.  The equations are in native/.

from noregret.types import Matrix, Vector

BOOK_ROWS: int
BRIER: int
EXCESS: int
LOGDET: int
LONGEST: int
LOSS: int
PRICE: int
ROUNDS: int

def note(arg0: Matrix, arg1: Matrix, arg2: Vector, arg3: float, arg4: float, /) -> None: ...
