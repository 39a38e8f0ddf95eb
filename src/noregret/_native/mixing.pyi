# Compiled; written by native/stubs.py.  The equations are in native/.

from noregret.types import Matrix, Vector

AVERAGED: int
AWAKE: int
BEST: int
BOOK_ROWS: int
CHANGES: int
COST: int
COURSE: int
EXCESS: int
FALLING: float
GAME: int
LIKELIHOOD: int
LOSS: int
MASS: int
MIX: int
NARROW: float
OVER: int
PAID: int
POOL_ROWS: int
PRIOR: int
RANGE: int
RATE: int
REACH: int
ROUNDS: int
SAID: int
SEEN: int
STAY: int
SUBSTITUTED: int
TRACK: int
TURNS: int
WIDTH: int
WORST: int

def beyond(arg0: Matrix, arg1: float, /) -> int: ...
def forecast(arg0: Matrix, arg1: Matrix, /) -> float: ...
def leader(arg0: Matrix, arg1: float, /) -> int: ...
def normal_losses(arg0: Vector, arg1: Vector, arg2: Vector, arg3: Vector, /) -> None: ...
def replay(
    arg0: Matrix,
    arg1: Matrix,
    arg2: Matrix,
    arg3: Matrix,
    arg4: Vector,
    arg5: Vector,
    arg6: Vector,
    arg7: Matrix,
    /,
) -> int: ...
def settle(arg0: Matrix, arg1: Matrix, arg2: float, arg3: float, arg4: int, /) -> float: ...
def shares(arg0: Matrix, arg1: Matrix, arg2: Vector, /) -> None: ...
def survey(arg0: Matrix, arg1: Matrix, arg2: Matrix, arg3: Vector, /) -> None: ...
def wake(arg: Matrix, /) -> int: ...
