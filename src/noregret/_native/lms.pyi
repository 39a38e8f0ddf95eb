# Compiled; written by native/stubs.py.  The equations are in native/.

from noregret.types import Integers, Matrix, Vector

COUNT: int
FACTS: int
LAST: int
MEAN: int
SPREAD: int
STEPS: int
TILE: int

def follow(arg0: Matrix, arg1: Vector, arg2: float, arg3: Matrix, /) -> None: ...
def oldest(arg0: Matrix, arg1: int, /) -> int: ...
def outputs(
    arg0: Matrix,
    arg1: Matrix,
    arg2: int,
    arg3: Vector,
    arg4: Matrix,
    arg5: Integers,
    arg6: Matrix,
    arg7: Vector,
    /,
) -> int: ...
def remember(arg0: Matrix, arg1: int, arg2: float, /) -> None: ...
