# Compiled; written by native/stubs.py.  The equations are in native/.

from noregret.types import Matrix, Vector

FAINT: float

def absorb(arg0: Matrix, arg1: Matrix, /) -> float: ...
def fading(
    arg0: Matrix,
    arg1: Matrix,
    arg2: Matrix,
    arg3: Matrix,
    arg4: Matrix,
    arg5: Vector,
    arg6: Vector,
    /,
) -> int: ...
def look(arg0: Matrix, arg1: Matrix, /) -> int: ...
def remove(arg0: Matrix, arg1: Matrix, /) -> float: ...
def stream(
    arg0: Matrix,
    arg1: Matrix,
    arg2: Matrix,
    arg3: Matrix,
    arg4: Matrix,
    arg5: Vector,
    arg6: Vector,
    /,
) -> int: ...
