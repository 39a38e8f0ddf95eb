# Compiled; written by native/stubs.py.  The equations are in native/.

from noregret.types import Vector

AGILE: int
AGILE_CELLS: int
AT: int
FACTOR: int
MERGER_CELLS: int
MLPOL: int
PASSED: int
PLAYING: int
PRECISION: float
REGRET_BOOK: int
REGRET_CELLS: int
ROOTED: int
RULES: int
SCALARS: int
SPOKEN: int
STACK: int
STEADY: int
STEADY_CELLS: int
WORK: int

def part(N: int, k: int, i: int, /) -> tuple[int, int, int]: ...
def size(arg0: int, arg1: int, /) -> int: ...
def start(arg0: Vector, arg1: Vector, arg2: Vector, arg3: int, /) -> None: ...
