# Compiled; written by native/stubs.py.  The equations are in native/.

LOGISTIC: int
PROBIT: int

def loss_and_derivatives(family: int, z: float, /) -> tuple[float, float, float]: ...
