# Compiled; written by native/stubs.py.  The equations are in native/.

from noregret.types import Matrix, Vector

def forecast(arg0: Matrix, arg1: Matrix, arg2: Vector, arg3: Matrix, arg4: Vector, /) -> bool: ...
def learn(
    arg0: Matrix, arg1: Matrix, arg2: Vector, arg3: Matrix, arg4: Vector, arg5: Vector, /
) -> float: ...
def replay(
    arg0: Matrix,
    arg1: Matrix,
    arg2: Vector,
    arg3: Matrix,
    arg4: Matrix,
    arg5: Matrix,
    arg6: Vector,
    arg7: Matrix,
    /,
) -> int: ...
def weights(arg0: Matrix, arg1: Matrix, arg2: Vector, arg3: Matrix, arg4: Vector, /) -> None: ...
