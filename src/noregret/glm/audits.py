"""Is a binary learner's state what was booked?  Checks against the scatter and the history."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from noregret._native.account import LOGDET
from noregret.certificates import Audit, rounding
from noregret.glm.posteriors import Mode, Particles, Recursive

if TYPE_CHECKING:
    from noregret.glm.binary import PosteriorState

__all__ = ["audits_of"]


def audits_of(state: PosteriorState) -> tuple[Audit, ...]:
    """Every check that a posterior of this kind allows."""
    posterior = state.posterior
    with np.errstate(all="ignore"):  # what does not fit cannot be checked
        if isinstance(posterior, Recursive):
            return _recursive(state, posterior)
        assert isinstance(posterior, Mode | Particles)
        return _history(state, posterior)


def _recursive(state: PosteriorState, posterior: Recursive) -> tuple[Audit, ...]:
    """The triangle against the determinant booked and the scatter; ADF's has no such bound."""
    core, n = posterior.core, state.space.size
    if posterior.method == "adf" or n == 0:
        return ()
    aioli = posterior.method == "aioli"
    R = np.triu(core.factor[:, :n])
    most = posterior.family.curvature / (1.0 + posterior.bound if aioli else 1.0)
    squares, limit = (R * R).sum(axis=0), core.prior_precision + most * np.diagonal(state.scatter)
    steps = 16.0 * (state.rounds + n)
    over = float(np.max((squares - limit) / limit, initial=0.0))
    audits = [Audit("R'R <= A_0 + c sum xx', by its diagonal", over, rounding(1.0, steps))]
    if aioli:
        tilt = float((np.sqrt(squares) / np.abs(np.diagonal(R))).sum()) + core.log_size()
        off = abs(core.log_determinant() - float(state.book[LOGDET].sum()))
        audits.append(Audit("ln det(R'R/A_0) as it was added up", off, rounding(tilt, steps)))
    return tuple(audits)


def _history(state: PosteriorState, posterior: Mode | Particles) -> tuple[Audit, ...]:
    """The rounds kept against their scatter, and F at the mode, worked out anew."""
    rows = posterior.history.rows
    audits = []
    if len(rows) == state.rounds:
        again = rows.T @ rows
        unit = np.sqrt(np.diagonal(state.scatter))
        allowed = np.outer(unit, unit)
        off = np.abs(again - state.scatter) / np.where(allowed > 0.0, allowed, 1.0)
        steps = float(len(rows))
        worst = float(np.max(off, initial=0.0))
        audits.append(Audit("sum xx' is that of the rounds kept", worst, rounding(1.0, steps)))
    if isinstance(posterior, Mode) and len(rows):
        losses = [
            posterior.family.loss_and_derivatives(z)[0] for z in (rows @ posterior.w).tolist()
        ]
        penalty = 0.5 * posterior.precision * float(posterior.w @ posterior.w)
        F, steps = float(np.sum(losses)) + penalty, float(len(rows) + rows.shape[1])
        reach = float(np.abs(rows).sum(axis=0) @ np.abs(posterior.w))  # what margins add up
        allowance = rounding(F + reach, steps)
        audits.append(Audit("F at the mode", abs(F - posterior.F), allowance))
    return tuple(audits)
