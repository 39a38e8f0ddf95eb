# Compiled; written by native/stubs.py.  The equations are in native/.

from noregret.types import Matrix, Vector

def guard(
    arg0: Vector,
    arg1: Vector,
    arg2: Vector,
    arg3: Vector,
    arg4: Vector,
    arg5: float,
    arg6: int,
    arg7: Vector,
    arg8: Vector,
    arg9: Vector,
    /,
) -> None: ...
def late(
    arg0: Matrix, arg1: Vector, arg2: int, arg3: Matrix, arg4: Vector, arg5: Matrix, arg6: Matrix, /
) -> None: ...
def pay(arg0: Vector, arg1: Vector, arg2: Matrix, arg3: Vector, /) -> None: ...
