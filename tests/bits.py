"""The bits of every learner's forecasts and state after a made-up stream, as digests, one a line.

    python tests/bits.py

Two machines, builds or releases of NumPy that print the same do the same, to the last bit.  KLMSNet
and rows of 700 features (`wide`) go through NumPy's BLAS, whose bits may depend on its threads;
LinearQuantiles, AutoClassifier and particles (`smc`) through NumPy's exp and log, which are others
on processors with AVX-512, and others again in NumPy 1.26.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

import noregret as nr
from noregret.registry import MODELS, make

DRIFTING = {"prior_precision": 0.3, "drift": 0.01, "fit_intercept": True}


def learners() -> dict[str, Any]:
    """Every model of the registry but kernel LMS, whose kernel is somebody else's; and pools."""
    needs = {"klms-net": {"outcome_range": 30.0}}
    found: dict[str, Any] = {
        name: make(name, needs.get(name)) for name in MODELS if name != "kernel-lms"
    }
    found |= {f"{name}, drift": make(name, DRIFTING) for name in ("aar", "ridge", "bayesian-ridge")}
    found["adf"] = nr.BayesianLogistic(method="adf")
    found["smc"] = nr.BayesianLogistic(method="smc", particles=50, seed=1)
    found["pool"] = nr.AggregatingAlgorithm(nr.over(nr.AAR, prior_precision=[0.1, 1, 9]), share=0.1)
    found["window"] = nr.AAR(kernel=lambda X, Z: (1.0 + X @ Z.T) ** 2, budget=nr.Window(20))
    return found


def stream(rounds: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """A stream of sums and products alone, so that it has the same bits everywhere."""
    steps = np.arange(1, rounds * n + 1, dtype=np.float64)
    X = (steps * 0.7548776662466927 % 1.0 - 0.5).reshape(rounds, n)
    return X, np.cumsum(X[:, ::-1], axis=1)[:, -1] + 0.25 * X[:, 0]


def digest(learner: Any, rounds: int, n: int, *, binary: bool) -> str:
    """Rounds one by one, then many at once."""
    X, y = stream(rounds, n)
    y = (y > 0.0).astype(float) if binary else y
    half, found = rounds // 2, hashlib.sha256()
    for x, outcome in zip(X[:half], y[:half]):
        forecast = learner.predict_one(x)
        found.update(np.float64(getattr(forecast, "probability", forecast)).tobytes())
        learner.learn_one(x, outcome)
    found.update(learner.replay(X[half:], y[half:]).forecast.tobytes())
    if callable(getattr(learner, "kernel", None)):
        return found.hexdigest()  # a function is not kept in files
    return found.hexdigest()[:32] + hashlib.sha256(learner.to_bytes()).hexdigest()[:32]


def main() -> dict[str, str]:
    """Every digest by name."""
    found = {}
    for name, learner in learners().items():
        binary = hasattr(learner, "predict_proba")
        found[name] = digest(learner, 120, 5 if binary else 13, binary=binary)
    found["wide"] = digest(nr.AAR(), 600, 700, binary=False)
    return found


if __name__ == "__main__":
    for name, digest_ in main().items():
        print(digest_, name)
