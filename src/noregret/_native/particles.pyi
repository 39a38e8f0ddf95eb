# Compiled; written by native/stubs.py.  The equations are in native/.

from noregret.types import Matrix, Vector

def bearable(
    arg0: int, arg1: Matrix, arg2: Vector, arg3: Vector, arg4: float, arg5: float, /
) -> float: ...
def heights(arg0: int, arg1: Matrix, arg2: float, arg3: Matrix, arg4: Vector, /) -> None: ...
def move(
    arg0: int,
    arg1: Matrix,
    arg2: float,
    arg3: float,
    arg4: Matrix,
    arg5: Matrix,
    arg6: Matrix,
    arg7: Matrix,
    /,
) -> int: ...
def price(arg0: int, arg1: Matrix, arg2: Vector, arg3: Vector, /) -> float: ...
def weigh(arg0: int, arg1: Matrix, arg2: Vector, arg3: Vector, arg4: float, /) -> float: ...
