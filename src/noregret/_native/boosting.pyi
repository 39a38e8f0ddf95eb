# Compiled; written by native/stubs.py.  The equations are in native/.

from noregret.types import Matrix, Vector

BINS: int
COLUMNS: int
FEWEST: int
FIRST: int

class Booster:
    def __init__(
        self,
        arg0: int,
        arg1: int,
        arg2: int,
        arg3: float,
        arg4: float,
        arg5: bool,
        arg6: int,
        arg7: Matrix,
        arg8: Vector,
        arg9: Matrix,
        arg10: float,
        /,
    ) -> None: ...
    def copy(self) -> Booster: ...
    def arrays(self) -> tuple[Matrix, Vector, Matrix, float]: ...
    def look(self, arg: Vector, /) -> float: ...
    def learn(self, arg0: Vector, arg1: float, /) -> None: ...
    def replay(self, arg0: Matrix, arg1: Vector, arg2: Vector, /) -> None: ...
