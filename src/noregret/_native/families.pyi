"""Compiled; written by native/stubs.py.  The equations are in native/."""

LOGISTIC: int
PROBIT: int

def loss_and_derivatives(arg0: int, arg1: float, /) -> tuple: ...
