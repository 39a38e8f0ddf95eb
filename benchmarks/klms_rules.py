"""Which rule for the widths: forecasts against the integral, and the estimate of their error."""

from __future__ import annotations

import numpy as np
from page import Section

import noregret as nr
from noregret.lms.nodes import grid, weights_for
from noregret.reference import continuum as twin

NODES, ROUNDS = 64, 60
GREGORY = (
    *(5257 / 17280, 22081 / 15120, 54851 / 120960, 103 / 70),
    *(89437 / 120960, 16367 / 15120, 23917 / 24192),
)  # end weights of order 8
CASES = [
    *((1, 0.1, 0), (2, 0.1, 1), (5, 0.1, 2), (1, 1.0, 0), (3, 1.0, 1), (5, 1.0, 2), (2, 3.0, 0)),
    *((1, 10.0, 0), (2, 10.0, 1), (5, 10.0, 2), (4, 25.0, 1), (1, 50.0, 0), (3, 50.0, 1)),
    *((5, 50.0, 2), (5, 20.0, 0), (1, 35.0, 2)),
]
ROUNDING = 1e-13


def stream(seed: int, n: int, kind: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Inputs in the unit cube, outcomes in [-1, 1], a rate."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(ROUNDS, n))
    f = 0.5 * np.sin(6.0 * X[:, 0]) + 0.3 * (X.sum(axis=1) - n / 2.0) / np.sqrt(n)
    y = (
        np.clip(f + 0.1 * rng.standard_normal(ROUNDS), -1.0, 1.0),
        2.0 * np.clip(1.6 * f, -0.5, 0.5),
        np.sign(f),
    )[kind]
    return X, y, (0.5, 0.2, 0.8)[kind]


def section() -> Section:
    gauss, weights = np.polynomial.legendre.leggauss(NODES)
    even = np.linspace(0.0, 1.0, NODES)
    ends = np.ones(NODES) / (NODES - 1)
    ends[:7] *= GREGORY
    ends[-7:] *= GREGORY[::-1]
    rules = [
        (even, ends),
        (even, weights_for(even, NODES - 1)[0]),
        ((gauss + 1.0) / 2.0, weights / 2.0),
    ]
    table = Section(
        "The rule",
        f"""
Largest error of any forecast against the integral over all widths (adaptive Gauss-Legendre, split
at the kinks that clipping makes), {ROUNDS} rounds, {NODES} nodes. *ours*: steps of Chebyshev's
points rounded to powers of two, weights exact up to degree 47, so that a pattern takes two
exponentials, and one product per node. *Gregory*: an even grid with end corrections of order 8.
*even*: an even grid with weights made as ours are. *Gauss*: one exponential per node. The
*estimate* is the net's own, `error_`: the largest distance from rules with four nodes per step, at
which outputs are interpolated; its ratio to the true error is left out where both are rounding
(below {ROUNDING:g}).
""",
        ["n, s0, kinks", "ours", "Gregory", "even", "Gauss", "estimate", "estimate / true"],
    )
    print("rules", flush=True)
    ratios = []
    for seed, (n, scale, kind) in enumerate(CASES):
        X, y, eta = stream(seed, n, kind)
        truth = twin.net(X, y, eta, scale, (-1.0, 1.0))
        kinks = twin.kinks(X, y, eta, scale, (-1.0, 1.0)).size
        net = nr.KLMSNet(1.0, scale=scale, learning_rate=eta, nodes=NODES)
        errors = [np.abs(net.replay(X, y).forecast - truth).max()]
        for alphas, w in rules:
            p = twin.layer_one(X, y, eta, scale, alphas)
            errors.append(np.abs(twin.merged(p, y, w, (-1.0, 1.0)) - truth).max())
        ratio = ""
        if max(errors[0], net.error_) > ROUNDING:
            ratios.append(net.error_ / errors[0])
            ratio = f"{ratios[-1]:.2f}"
        shown = [f"{e:.1e}" for e in (*errors, net.error_)]
        table.rows.append([f"{n}, {scale:g}, {kinks}", *shown, ratio])
    low = grid(NODES).weights
    table.notes.append(
        f"Estimate over true error: {min(ratios):.2f} to {max(ratios):.2f}. The smallest weight of "
        f"ours is {low.min():.2g} (at the ends), so the finite mixture pays at most "
        f"{-np.log(low.min()):.1f} nats for any of its widths, "
        f"{-np.log(np.median(low)):.1f} for the median one."
    )
    return table
