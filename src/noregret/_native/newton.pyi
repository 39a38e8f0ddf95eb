# Compiled; written by native/stubs.py.  The equations are in native/.

from noregret.types import Matrix, Vector

def mode(
    family: int,
    rows: Matrix,
    a: float,
    w: Vector,
    curve: Matrix,
    work: Matrix,
    kept: Matrix,
    known: int,
    /,
) -> tuple[float, float, float, float]: ...
def width(arg: int, /) -> int: ...
