# Compiled; written by native/stubs.py.  The equations are in native/.

from noregret.types import Matrix, Vector

def best(arg0: Matrix, arg1: int, arg2: Vector, /) -> float: ...
