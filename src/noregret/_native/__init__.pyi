# Compiled; written by native/stubs.py.  The equations are in native/.

from noregret._native import account as account
from noregret._native import audit as audit
from noregret._native import continuum as continuum
from noregret._native import drift as drift
from noregret._native import dual as dual
from noregret._native import families as families
from noregret._native import fleet as fleet
from noregret._native import grid as grid
from noregret._native import layout as layout
from noregret._native import leaders as leaders
from noregret._native import learner as learner
from noregret._native import ledger as ledger
from noregret._native import lms as lms
from noregret._native import margin as margin
from noregret._native import mixing as mixing
from noregret._native import newton as newton
from noregret._native import particles as particles
from noregret._native import primal as primal
from noregret._native import regrets as regrets
from noregret._native import rounds as rounds
from noregret._native import rows as rows
from noregret._native import sequence as sequence
from noregret._native import sparse as sparse
from noregret._native import tracker as tracker
from noregret._native import triangles as triangles
from noregret._native import vectors as vectors
