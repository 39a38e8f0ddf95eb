"""Dense, slow, obvious twins, written from the formulas, for tests and audits.

`linear` and `kernel` solve over the whole history every round in float64; `exact` does so in
rational arithmetic, where nothing is rounded.  Nothing here shares code with the learners.
"""

from __future__ import annotations

from noregret.reference import exact as exact
from noregret.reference import kernel as kernel
from noregret.reference import linear as linear

__all__ = ["exact", "kernel", "linear"]
