# Compiled; written by native/stubs.py.  The equations are in native/.

from noregret.types import Matrix, Vector

def absorb(
    arg0: Matrix,
    arg1: Matrix,
    arg2: Matrix,
    arg3: Matrix,
    arg4: Matrix,
    arg5: Matrix,
    arg6: Vector,
    arg7: float,
    /,
) -> None: ...
def late(
    arg0: Matrix,
    arg1: Matrix,
    arg2: Matrix,
    arg3: Matrix,
    arg4: Matrix,
    arg5: Matrix,
    arg6: Vector,
    arg7: Matrix,
    arg8: Vector,
    arg9: int,
    arg10: Matrix,
    arg11: Vector,
    /,
) -> int: ...
def look(
    arg0: Matrix,
    arg1: Matrix,
    arg2: Matrix,
    arg3: Matrix,
    arg4: Vector,
    arg5: Vector,
    arg6: Vector,
    /,
) -> int: ...
def measure(arg0: Matrix, arg1: Vector, arg2: float, arg3: Matrix, /) -> None: ...
def replay(
    arg0: Matrix,
    arg1: Matrix,
    arg2: Matrix,
    arg3: Matrix,
    arg4: Matrix,
    arg5: Matrix,
    arg6: Vector,
    arg7: Matrix,
    arg8: Vector,
    arg9: Matrix,
    /,
) -> int: ...
def within(arg0: Vector, arg1: float, /) -> bool: ...
