# Compiled; written by native/stubs.py.  The equations are in native/.

from noregret.types import Matrix

def add(arg0: Matrix, arg1: int, arg2: float, /) -> None: ...
