"""Cores: Gaussian states that turn x into a look and absorb y.

`PrimalCore` is fixed experts with weights in R^n, `DriftCore` experts that change with time.
Both keep what they learned in one array, `factor`, and share one scratch array, `work`
(see noregret._native.layout), so that a round is a single compiled call.
"""

from noregret.gaussian.cores.core import Core as Core
from noregret.gaussian.cores.drift import DriftCore as DriftCore
from noregret.gaussian.cores.primal import PrimalCore as PrimalCore

__all__ = ["Core", "DriftCore", "PrimalCore"]
