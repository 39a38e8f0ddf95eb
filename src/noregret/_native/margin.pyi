# Compiled; written by native/stubs.py.  The equations are in native/.

from noregret.types import Matrix, Vector

ADF: int
AIOLI: int
LAPLACE: int

def learn(
    arg0: int,
    arg1: int,
    arg2: float,
    arg3: Matrix,
    arg4: Matrix,
    arg5: Matrix,
    arg6: Matrix,
    arg7: Vector,
    arg8: float,
    arg9: float,
    /,
) -> float: ...
def predict(
    arg0: int, arg1: int, arg2: Matrix, arg3: Matrix, arg4: Vector, arg5: float, /
) -> float: ...
def price_of(
    arg0: int, arg1: int, arg2: Matrix, arg3: Matrix, arg4: Vector, arg5: float, arg6: float, /
) -> float: ...
def replay(
    arg0: int,
    arg1: int,
    arg2: float,
    arg3: Matrix,
    arg4: Matrix,
    arg5: Matrix,
    arg6: Matrix,
    arg7: Matrix,
    arg8: Vector,
    arg9: Vector,
    arg10: Vector,
    /,
) -> int: ...
def smooth_logistic(mu: float, q: float, /) -> tuple[float, float, float]: ...
