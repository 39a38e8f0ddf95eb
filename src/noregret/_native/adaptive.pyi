# Compiled; written by native/stubs.py.  The equations are in native/.

MASS: int
PRIOR: int
WEIGHT: int
