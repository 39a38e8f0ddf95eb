"""Learners by the names that papers give them, and which to take when."""

from __future__ import annotations

from typing import NamedTuple

from noregret.registry import MODELS

__all__ = ["PAPERS", "WHEN", "Known", "known_as", "names"]


class Known(NamedTuple):
    """A name of the literature: which model it is here, with which options, what it stands for."""

    model: str
    options: str
    words: str


PAPERS = {
    "kaar": Known("aar", "--kernel rbf", "Kernel Aggregating Algorithm for Regression"),
    "aarch": Known("aar", "--drift 0.01", "AAR with changing dependencies"),
    "kaarch": Known("aar", "--kernel rbf --drift 0.01", "kernel AAR with changing dependencies"),
    "vaw": Known("aar", "", "the Vovk-Azoury-Warmuth forecaster"),
    "vovk-azoury-warmuth": Known("aar", "", "the Vovk-Azoury-Warmuth forecaster"),
    "aggregating-algorithm-regression": Known("aar", "", "the Aggregating Algorithm Regression"),
    "forward": Known("aar", "", "the Forward algorithm (Azoury and Warmuth)"),
    "orr": Known("ridge", "", "online ridge regression"),
    "rls": Known("ridge", "", "recursive least squares"),
    "recursive-least-squares": Known("ridge", "", "recursive least squares"),
    "ols": Known("ridge", "--prior-precision 1e-6", "least squares, nearly unpenalised"),
    "krr": Known("ridge", "--kernel rbf", "kernel ridge regression, online"),
    "kernel-ridge": Known("ridge", "--kernel rbf", "kernel ridge regression, online"),
    "kalman": Known(
        "bayesian-ridge", "--drift 0.01", "a Kalman filter whose weights are a random walk"
    ),
    "gp": Known("bayesian-ridge", "--kernel rbf", "Gaussian process regression, online"),
    "gaussian-process": Known("bayesian-ridge", "--kernel rbf", "Gaussian process regression"),
    "blr": Known("bayesian-ridge", "", "Bayesian linear regression"),
    "bma": Known(
        "auto", "", "Bayesian model averaging; in Python BayesianAlgorithm over any experts"
    ),
    "hedge": Known("auto", "", "Hedge; in Python ExponentialWeights over any experts"),
    "ewa": Known("auto", "", "exponential weights; in Python ExponentialWeights"),
    "exponential-weights": Known("auto", "", "exponential weights; in Python ExponentialWeights"),
    "aggregating-algorithm": Known("auto", "", "in Python AggregatingAlgorithm over any experts"),
    "fixed-share": Known("auto", "", "Fixed Share over 40 linear experts"),
    "lms": Known("kernel-lms", "--kernel linear", "least mean squares, Widrow-Hoff"),
    "klms": Known("kernel-lms", "--kernel rbf", "kernel least mean squares"),
    "sgd": Known("kernel-lms", "--kernel linear", "stochastic gradient descent, square loss"),
    "k-lms-net": Known("klms-net", "--outcome-range Y", "kernel LMS at every width at once"),
    "lasso": Known("safe-oslog", "", "an online lasso: sparse weights"),
    "aioli": Known("improper-logistic", "", "AIOLI: improper online logistic regression"),
    "adf": Known("bayesian-logistic", "--method adf", "assumed density filtering"),
    "logistic": Known("bayesian-logistic", "--method adf", "logistic regression, online"),
    "probit": Known("bayesian-logistic", "--family probit --method adf", "probit regression"),
}

WHEN = {
    "auto": "take this first: nothing to set, adapts to units and drift",
    "auto-classifier": "labels: take this first; nothing to set",
    "ridge-mixture": "research: the mixture over ridge parameters of Zhdanov and Vovk",
    "mondrian": "curved or stepped relations, many rows; trees of linear models, slower",
    "prior-free-aar": "features in units nobody knows, far fewer than rows; no precision to set",
    "linear-quantiles": "quantiles that depend on the features, no rate to set; --levels",
    "mondrian-classifier": "labels that depend on steps and combinations of features",
    "aar": "a proved bound on any data; set --prior-precision to the scale of x",
    "ridge": "as aar, without its shrinkage; recursive least squares",
    "bayesian-ridge": "when you need a distribution and know the noise (--noise-var)",
    "kernel-lms": "curved relations, few rows; set the kernel and its width",
    "klms-net": "curved relations, no idea of the width, outcomes in a known range",
    "oslog": "research: the algorithm as published",
    "safe-oslog": "many features, few that matter",
    "bayesian-logistic": "labels: --method adf is quick and usually the best",
    "map-logistic": "labels: the classical mode, exact but ever slower",
    "improper-logistic": "labels: the best proved bound at constant cost",
    "safe-logistic": "labels: the better of averaging and mode",
}


def names() -> list[str]:
    """All names by which a learner is found."""
    return [*MODELS, *PAPERS]


def known_as(model: str) -> str:
    """The names that the papers have for a model."""
    return ", ".join(name for name, one in PAPERS.items() if one.model == model)
