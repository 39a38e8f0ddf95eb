"""The streams of the lower-bound proofs, played: what theory says, and what happens."""

from __future__ import annotations

import math
from collections.abc import Callable

from noregret.adversaries import BayesOpponent, doubling, play, reversal
from noregret.gaussian.learners import AAR, BayesianRidge, Ridge
from noregret.learner.base import Learner
from noregret.reproduce.shown import Shown
from noregret.types import Matrix, Vector

__all__ = [
    "CONTESTANTS",
    "FEATURES",
    "LIMIT",
    "ROUNDS",
    "log_det",
    "margin",
    "on_opponent",
    "on_stream",
]

ROUNDS = (10, 30, 100, 300, 1000)
FEATURES = 3  # of the opponent that plays against Bayes
LIMIT = 3.0 / (2.0 * math.log(2.0))

# One line per learner: it needs predict_one and learn_one, and may have predictive.
CONTESTANTS: dict[str, Callable[[], Learner]] = {
    "Ridge": Ridge,
    "Ridge, clip = 1": lambda: Ridge(clip=1.0),
    "AAR": AAR,
    "BayesianRidge": BayesianRidge,
}


def on_stream(X: Matrix, y: Vector) -> dict[str, float]:
    """Regret in square loss, by contestant."""
    V = Ridge().fit(X, y).certificate().comparator
    return {name: float(play((X, y), make()).loss.sum()) - V for name, make in CONTESTANTS.items()}


def on_opponent(rounds: int) -> dict[str, float]:
    """Regret in log loss, by contestant."""
    found = {}
    for name, make in CONTESTANTS.items():
        opponent = BayesOpponent(rounds, FEATURES)
        found[name] = float(play(opponent, make()).loss.sum()) - opponent.best
    return found


def margin(rounds: int) -> float:
    """What nobody can do better than, in log loss."""
    opponent = BayesOpponent(rounds, FEATURES)
    for _ in range(rounds):
        opponent.answer(0.0)
    return opponent.margin


def log_det(rounds: int) -> float:
    """ln det(I + X'X) of the doubling stream."""
    return math.log((4 ** (rounds + 1) - 1) // 3)


def tables() -> list[Shown]:
    """Regret as streams grow, beside what the theorems say."""
    logs = [log_det(T) for T in ROUNDS]
    games = (
        (
            "Doubling (Vovk 2001, Theorem 3): regret in square loss",
            "published: at most 4 ln det, clipped",
            [on_stream(*doubling(T)) for T in ROUNDS],
            [4.0 * value for value in logs],
            f"Ridge nears 3/(2 ln 2) = {LIMIT:.4f} times ln det: no smaller factor is true.",
        ),
        (
            "Opponent of Bayes (Kakade and Ng, Theorem 2.3): regret in log loss",
            "published: at least",
            [on_opponent(T) for T in ROUNDS],
            [margin(T) for T in ROUNDS],
            "BayesianRidge meets it exactly; nobody is below.",
        ),
        (
            "Reversal (Kakade and Ng, Theorem 3.2): regret in square loss",
            "ridge: at least (T - 1)/12",
            [on_stream(*reversal(T)) for T in ROUNDS],
            [(T - 1.0) / 12.0 for T in ROUNDS],
            "The paper has three times that: its best expert does not pay for the last round.",
        ),
    )
    return [
        Shown(
            title,
            ["rounds", said, *CONTESTANTS],
            [
                [f"{T:,}", f"{limit:.2f}", *(f"{value:.2f}" for value in row.values())]
                for T, limit, row in zip(ROUNDS, limits, found)
            ],
            [note],
        )
        for title, said, found, limits, note in games
    ]
