# Compiled; written by native/stubs.py.  The equations are in native/.

from noregret.types import Matrix, Vector

BIRTH: int
BOOK_ROWS: int
CHARGE: int
COLUMNS: int
CUT: int
DEEPEST: int
FEATURE: int
FIRST: int
FIT: int
GAIN: int
HEIGHT: int
LEFT: int
PAID: int
RIGHT: int
ROUNDS: int
TIME: int
WIDENED: int

class Forest:
    def __init__(
        self,
        arg0: int,
        arg1: int,
        arg2: int,
        arg3: bool,
        arg4: float,
        arg5: float,
        arg6: int,
        arg7: Matrix,
        arg8: Matrix,
        arg9: Matrix,
        arg10: Matrix,
        arg11: Matrix,
        /,
    ) -> None: ...
    def copy(self) -> Forest: ...
    def size(self) -> int: ...
    def arrays(self) -> tuple[Matrix, Matrix, Matrix, Matrix, Matrix]: ...
    def look(self, arg: Vector, /) -> float: ...
    def settle(self, arg: float, /) -> float: ...
    def book(self) -> Matrix: ...
    def replay(self, arg0: Matrix, arg1: Vector, arg2: Vector, arg3: Vector, /) -> int: ...
    def reckoned(self) -> tuple[float, float, float, float, float]: ...

def draws(arg0: int, arg1: int, arg2: int, arg3: Vector, /) -> None: ...
