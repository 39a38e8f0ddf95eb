# Compiled; written by native/stubs.py.  The equations are in native/.

from noregret.types import Matrix, Vector

def admit_and_look(arg0: Matrix, arg1: Matrix, arg2: Vector, /) -> int: ...
def book(arg0: Matrix, arg1: Matrix, arg2: float, /) -> float: ...
def book_rows(
    arg0: Matrix,
    arg1: Matrix,
    arg2: Matrix,
    arg3: Matrix,
    arg4: Matrix,
    arg5: Vector,
    arg6: Matrix,
    arg7: Vector,
    /,
) -> None: ...
def learn_any(arg0: Matrix, arg1: Matrix, arg2: Matrix, arg3: Vector, arg4: Vector, /) -> int: ...
def look_at(arg0: Matrix, arg1: Matrix, arg2: Vector, arg3: Vector, /) -> int: ...
def look_rows(arg0: Matrix, arg1: Matrix, arg2: Matrix, arg3: Matrix, arg4: Vector, /) -> int: ...
