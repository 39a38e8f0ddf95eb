"""Compiled; written by native/stubs.py.  The equations are in native/."""

from noregret.types import Matrix, Vector

def mode(
    arg0: int, arg1: Matrix, arg2: float, arg3: Vector, arg4: Matrix, arg5: Matrix, /
) -> tuple: ...
