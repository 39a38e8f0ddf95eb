# Compiled; written by native/stubs.py.  The equations are in native/.

from noregret.types import Matrix, Vector

BOOK_ROWS: int
COUNTS: int
EVEN: float
MIX: int
NO: int
START: int
UNIT_ROWS: int
YES: int

class Counts:
    def __init__(
        self,
        arg0: int,
        arg1: int,
        arg2: int,
        arg3: float,
        arg4: float,
        arg5: int,
        arg6: Matrix,
        arg7: Matrix,
        arg8: Matrix,
        arg9: Matrix,
        /,
    ) -> None: ...
    def copy(self) -> Counts: ...
    def size(self) -> int: ...
    def arrays(self) -> tuple[Matrix, Matrix, Matrix, Matrix]: ...
    def look(self, arg: Vector, /) -> float: ...
    def log_odds(self, arg: Vector, /) -> float: ...
    def settle(self, arg: float, /) -> float: ...
    def book(self) -> Matrix: ...
    def replay(self, arg0: Matrix, arg1: Vector, arg2: Vector, arg3: Vector, /) -> int: ...
    def reckoned(self) -> tuple[float, float, float, float, float]: ...
