# Compiled; written by native/stubs.py.  The equations are in native/.

from noregret.types import Matrix, Vector

def absorb(arg0: Matrix, arg1: Matrix, /) -> float: ...
def diffuse(arg0: Matrix, arg1: Matrix, arg2: float, /) -> None: ...
def look(arg0: Matrix, arg1: Matrix, /) -> int: ...
def stream(
    arg0: Matrix,
    arg1: Matrix,
    arg2: Matrix,
    arg3: Matrix,
    arg4: Vector,
    arg5: Matrix,
    arg6: Vector,
    arg7: Vector,
    /,
) -> int: ...
