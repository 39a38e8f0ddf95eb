"""For those who test learners: streams that break recursions, and checks every learner must pass.

>>> from noregret.testing import HARD_STREAMS
>>> sorted(HARD_STREAMS)
['collinear', 'huge row', 'identical columns', 'offset', 'scaled', 'tiny prior']
"""

from __future__ import annotations

from noregret.testing.checks import CHECKS as CHECKS
from noregret.testing.streams import HARD_STREAMS as HARD_STREAMS
from noregret.testing.streams import HardStream as HardStream

__all__ = ["CHECKS", "HARD_STREAMS", "HardStream"]
