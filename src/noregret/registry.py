"""Learners by name, for whoever takes names: what each promises, what it costs.

Importing this costs nothing: a learner's module is loaded when one is made.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from noregret.declare.parameters import PARAMETERS, Parameter
from noregret.errors import ParameterError, suggestion

if TYPE_CHECKING:
    from noregret.learner.base import OnlineLearner
    from noregret.learner.state import State

__all__ = ["MODELS", "PARAMETERS", "Model", "Parameter", "make", "settings"]


@dataclass(frozen=True, slots=True)
class Model:
    """A learner: where it is, what is proved of it, what it costs."""

    home: str
    guarantee: str
    cost: str
    parameters: tuple[str, ...]
    binary: bool = False  # outcomes are 0 and 1, forecasts are probabilities
    needs: tuple[str, ...] = ()  # parameters without a default
    quantiles: bool = False  # forecasts are quantiles, the loss is pinball loss


# Learners of one forecast per round under square or log loss, which the command compares; and of
# several quantiles under pinball loss, which it runs.
_GAUSSIAN = ("prior_precision", "drift", "fit_intercept", "kernel", "budget")

MODELS = {
    "aar": Model(
        "gaussian.learners.AAR",
        "loss <= best expert + Y^2 ln det(I + X'X/a), any data",
        "3.5 n^2 flops per round, n^2 numbers",
        (*_GAUSSIAN, "discount", "hint"),
    ),
    "ridge": Model(
        "gaussian.learners.Ridge",
        "sum (y - m)^2/d = best expert's loss, exactly; clipped: loss <= best + 4Y^2 ln det",
        "3.5 n^2 flops per round, n^2 numbers",
        (*_GAUSSIAN, "discount", "clip"),
    ),
    "bayesian-ridge": Model(
        "gaussian.learners.BayesianRidge",
        "log loss = best expert's + 1/2 ln det(I + X'X/a), exactly",
        "3.5 n^2 flops per round, n^2 numbers",
        (*_GAUSSIAN, "noise_var"),
    ),
    "prior-free-aar": Model(
        "gaussian.prior_free.PriorFreeAAR",
        "loss <= min_w sum (y - w'x)^2 + Y^2 sum (1 - 1/d), no prior; features in any unit",
        "4 n^2 flops per round, n^2 numbers",
        ("hint", "fit_intercept"),
    ),
    "auto": Model(
        "experts.auto.Auto",
        "close to the best of linear experts and groups (lags, hinges, values, ...); no knobs",
        "45 cores of 3.5 m^2 flops per round, m = n + 1 to 100 columns, or 300; boosted trees",
        ("outcome_range", "kernels", "effort"),
    ),
    "mondrian": Model(
        "experts.mondrian.Mondrian",
        "loss <= mean over trees of the best pruning's + (hi - lo)^2/2 ln 1/p, ridge in each cell",
        "7 n^2 flops per node on a path, some 75 a round; n^2 numbers per node",
        ("outcome_range", "trees", "node", "prior_precision", "price", "max_nodes", "seed"),
    ),
    "ridge-mixture": Model(
        "experts.ridge_mixture.RidgeMixture",
        "loss <= L(f) + 2.13 Y c|f| sqrt(T) + c^2|f|^2 + 2Y^2 ln(k(k+1)) for every f, any T",
        "16 cores of 3.5 n^2 flops per round; with a kernel t^2 flops in round t each",
        ("norm_bound", "outcome_range", "precisions", "kernel"),
    ),
    "kernel-lms": Model(
        "lms.kernel_lms.KernelLMS",
        "loss <= L(h)/(1 - eta) + |h|^2/eta for every function h of the kernel's space",
        "t kernel values in round t, t inputs and numbers",
        ("kernel", "learning_rate", "budget"),
        needs=("kernel",),
    ),
    "klms-net": Model(
        "lms.net.KLMSNet",
        "loss <= that of kernel LMS at any Gaussian width + 2(hi - lo)^2 ln 1/w",
        "nodes x t flops in round t, as many numbers; inputs scaled to [0, 1]",
        ("outcome_range", "scale", "learning_rate", "nodes", "substitution", "budget"),
        needs=("outcome_range",),
    ),
    "oslog": Model(
        "sparse.oslog.OSLOG",
        "none that is true: the published bound is shown as a report",
        "k^3/3 + 6 n^2 flops per round for k live weights, 2 n^2 numbers",
        ("shrinkage", "passes", "start", "floor", "noise_var"),
    ),
    "safe-oslog": Model(
        "experts.safe.SafeOSLOG",
        "AAR's bound + (hi - lo)^2/2 ln 2, as sparse as OSLOG where that wins",
        "that of OSLOG and of AAR",
        ("shrinkage", "prior_precision", "outcome_range", "start", "floor"),
    ),
    "linear-quantiles": Model(
        "gradient.quantiles.LinearQuantiles",
        "pinball loss <= that of u + sum (stake - W) - u'G for all weights u; no rate to choose",
        "48 logarithms per level and feature in a round, 60 numbers each",
        ("levels", "fit_intercept"),
        quantiles=True,
    ),
    "bayesian-logistic": Model(
        "glm.learners.BayesianLogistic",
        "log loss <= best expert + 1/2 ln det(I + v/4 X'X) (exact averaging)",
        "by method: adf 5 n^2 flops per round; the others keep all rounds",
        ("prior_var", "method", "family"),
        binary=True,
    ),
    "map-logistic": Model(
        "glm.learners.MAPLogistic",
        "log loss <= a factor times the best expert's",
        "t n^2 flops in round t, t n numbers",
        ("prior_var", "history", "family"),
        binary=True,
    ),
    "improper-logistic": Model(
        "glm.learners.ImproperLogistic",
        "log loss <= best expert with |w'x| <= B + O(B n ln T)",
        "5 n^2 flops per round, n^2 numbers",
        ("margin_bound", "regularisation"),
        binary=True,
    ),
    "auto-classifier": Model(
        "experts.classifier.AutoClassifier",
        "log loss close to the best of 14 experts: adf, AIOLI, trees, a stack, naive; no knobs",
        "120 n^2 flops per round, 24 n^2 numbers; boosted trees every so often",
        (),
        binary=True,
    ),
    "mondrian-classifier": Model(
        "experts.mondrian_classifier.MondrianClassifier",
        "log loss <= mean over trees of the best pruning's + ln 1/p, labels counted in each cell",
        "4 n flops per node on a path, some 150 a round; 2 n numbers per node",
        ("trees", "prior_count", "price", "max_nodes", "seed"),
        binary=True,
    ),
    "safe-logistic": Model(
        "experts.safe.SafeLogistic",
        "the best of averaging and mode, + ln 2",
        "that of both",
        ("prior_var", "method"),
        binary=True,
    ),
}


def settings(name: str, given: Mapping[str, object] | None = None) -> dict[str, object]:
    """The parameters of a learner, read and checked; its module is not loaded.

    >>> settings("aar", {"prior_precision": "0.5"})
    {'prior_precision': 0.5}
    """
    model = MODELS.get(name)
    if model is None:
        meant = suggestion(name, MODELS) or f"; the models are {', '.join(MODELS)}"
        raise ParameterError(f"model {name!r}: there is none of that name{meant}")
    chosen = {}
    for key, value in (given or {}).items():
        if key not in model.parameters:
            meant = suggestion(key, model.parameters)
            takes = f"it takes {', '.join(model.parameters)}"
            raise ParameterError(f"{name} has no {key}: {takes}{meant}")
        parameter = PARAMETERS[key]
        chosen[key] = parameter.read(key, value) if isinstance(value, str) else value
        parameter.kind.check(key, chosen[key])
    for key in model.needs:
        if key not in chosen:
            raise ParameterError(f"{name} needs {key}: {PARAMETERS[key].help}")
    return chosen


def make(name: str, given: Mapping[str, object] | None = None) -> OnlineLearner[State]:
    """A learner by name; parameters by their names, as text or as what the constructor takes.

    >>> make("aar", {"prior_precision": "0.5"})
    AAR(prior_precision=0.5)
    >>> make("aar", {"clip": 1.0})
    Traceback (most recent call last):
    noregret.errors.ParameterError: aar has no clip: it takes prior_precision, drift, ...
    """
    chosen = settings(name, given)
    module, _, maker = MODELS[name].home.rpartition(".")
    made: OnlineLearner[State] = getattr(importlib.import_module(f"noregret.{module}"), maker)(
        **chosen
    )
    return made
