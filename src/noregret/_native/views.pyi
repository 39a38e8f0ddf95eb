# Compiled; written by native/stubs.py.  The equations are in native/.

from noregret.types import Matrix, Vector

BEFORE: int
BOTH: int
FEATURE: int
FIRST: int
HINGE: int
IS: int
KINDS: int
MOST_VALUES: int
ONE: int
OUTCOMES: int
PAST: int
PLAN: int
ROBUST: int
ROUNDS: int
RUN: int
STANDARD: int
VALUES: int
WAVE: int

def fill(
    arg0: Matrix,
    arg1: Matrix,
    arg2: Matrix,
    arg3: Matrix,
    arg4: Matrix,
    arg5: Matrix,
    arg6: Matrix,
    /,
) -> None: ...
def observe(
    arg0: Matrix,
    arg1: Vector,
    arg2: Matrix,
    arg3: Vector,
    arg4: Matrix,
    arg5: Matrix,
    arg6: Matrix,
    arg7: Matrix,
    arg8: Vector,
    /,
) -> None: ...
