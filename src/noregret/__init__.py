"""Competitive online regression: forecast as well as the best model in hindsight, and prove it.

>>> import noregret as nr
>>> learner = nr.AAR()
>>> learner.predict_one({"temperature": 20.0})
0.0
>>> learner.learn_one({"temperature": 20.0}, 3.0)
>>> print(f"{learner.predict_one({'temperature': 10.0}):.3f}")
1.198
>>> learner.certificate().holds
True

Names are imported when they are first used, so that `import noregret` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from noregret import plot as plot
    from noregret import report as report
    from noregret.budgets import Nystrom as Nystrom
    from noregret.budgets import Polynomial as Polynomial
    from noregret.budgets import RandomFourier as RandomFourier
    from noregret.budgets import Taylor as Taylor
    from noregret.budgets import Window as Window
    from noregret.certificates import Certificate as Certificate
    from noregret.delayed import Delayed as Delayed
    from noregret.experts.aggregating import AggregatingAlgorithm as AggregatingAlgorithm
    from noregret.experts.aggregating import BayesianAlgorithm as BayesianAlgorithm
    from noregret.experts.aggregating import ExponentialWeights as ExponentialWeights
    from noregret.experts.aggregation import Aggregation as Aggregation
    from noregret.experts.aggregation import aggregate as aggregate
    from noregret.experts.auto import Auto as Auto
    from noregret.experts.comparators import best_sequence as best_sequence
    from noregret.experts.grid import over as over
    from noregret.experts.safe import SafeLogistic as SafeLogistic
    from noregret.experts.safe import SafeOSLOG as SafeOSLOG
    from noregret.gaussian import AAR as AAR
    from noregret.gaussian import BayesianRidge as BayesianRidge
    from noregret.gaussian import Ridge as Ridge
    from noregret.glm.learners import BayesianLogistic as BayesianLogistic
    from noregret.glm.learners import ImproperLogistic as ImproperLogistic
    from noregret.glm.learners import MAPLogistic as MAPLogistic
    from noregret.hindsight import Hindsight as Hindsight
    from noregret.lagged import Lagged as Lagged
    from noregret.lms.comparators import Expansion as Expansion
    from noregret.lms.kernel_lms import KernelLMS as KernelLMS
    from noregret.lms.net import KLMSNet as KLMSNet
    from noregret.merging import merge as merge
    from noregret.replay import Replay as Replay
    from noregret.snapshot import from_bytes as from_bytes
    from noregret.snapshot import load as load
    from noregret.snapshot import save as save
    from noregret.snapshot import to_bytes as to_bytes
    from noregret.sparse.oslog import OSLOG as OSLOG
    from noregret.sparse.slog import SLOG as SLOG
    from noregret.types import Bernoulli as Bernoulli
    from noregret.types import Mixture as Mixture
    from noregret.types import Normal as Normal

__version__ = "0.1.0"

_HOMES = {
    "AggregatingAlgorithm": "experts.aggregating",
    "Aggregation": "experts.aggregation",
    "Auto": "experts.auto",
    "BayesianLogistic": "glm.learners",
    "Bernoulli": "types",
    "ImproperLogistic": "glm.learners",
    "MAPLogistic": "glm.learners",
    "BayesianAlgorithm": "experts.aggregating",
    "ExponentialWeights": "experts.aggregating",
    "Mixture": "types",
    "OSLOG": "sparse.oslog",
    "SLOG": "sparse.slog",
    "SafeLogistic": "experts.safe",
    "SafeOSLOG": "experts.safe",
    "aggregate": "experts.aggregation",
    "best_sequence": "experts.comparators",
    "over": "experts.grid",
    "Delayed": "delayed",
    "from_bytes": "snapshot",
    "load": "snapshot",
    "merge": "merging",
    "save": "snapshot",
    "to_bytes": "snapshot",
    "Expansion": "lms.comparators",
    "Hindsight": "hindsight",
    "KLMSNet": "lms.net",
    "KernelLMS": "lms.kernel_lms",
    "Lagged": "lagged",
    "Nystrom": "budgets",
    "Polynomial": "budgets",
    "RandomFourier": "budgets",
    "Taylor": "budgets",
    "Window": "budgets",
    "AAR": "gaussian",
    "BayesianRidge": "gaussian",
    "Certificate": "certificates",
    "Normal": "types",
    "Replay": "replay",
    "Ridge": "gaussian",
}

_ROOMS = ("plot", "report")

__all__ = [
    "AAR",
    "OSLOG",
    "SLOG",
    "AggregatingAlgorithm",
    "Aggregation",
    "Auto",
    "BayesianAlgorithm",
    "BayesianLogistic",
    "BayesianRidge",
    "Bernoulli",
    "Certificate",
    "Delayed",
    "Expansion",
    "ExponentialWeights",
    "Hindsight",
    "ImproperLogistic",
    "KLMSNet",
    "KernelLMS",
    "Lagged",
    "MAPLogistic",
    "Mixture",
    "Normal",
    "Nystrom",
    "Polynomial",
    "RandomFourier",
    "Replay",
    "Ridge",
    "SafeLogistic",
    "SafeOSLOG",
    "Taylor",
    "Window",
    "__version__",
    "aggregate",
    "best_sequence",
    "from_bytes",
    "load",
    "merge",
    "over",
    "plot",
    "report",
    "save",
    "to_bytes",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f"noregret.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'noregret' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"noregret.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
