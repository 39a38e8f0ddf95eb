"""The best expert in hindsight, as far as a learner remembers enough to show it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from noregret.errors import NotLearnedError
from noregret.gaussian.build import AnyStream
from noregret.gaussian.cores.dual import DualCore
from noregret.gaussian.ledger import totals
from noregret.types import Matrix

__all__ = ["Hindsight", "hindsight_of"]


@dataclass(frozen=True, slots=True, eq=False)
class Hindsight:
    """The best expert: its loss, what it is charged, and its values where inputs are kept.

    loss + penalty is the comparator of the certificates.  For fixed experts the penalty is
    a |f|^2, so `norm` is |f|; for experts that change it is sum a_t |f_t|^2 and `norm` is None.

    >>> import numpy as np, noregret as nr
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> learner = nr.AAR(0.1, kernel=RBF()).fit(np.array([[0.0], [1.0], [2.0]]), [0.0, 1.0, 0.0])
    >>> best = learner.hindsight()
    >>> best.values.round(3), round(best.norm, 3), round(best.loss, 3)
    (array([0.097, 0.802, 0.097]), 1.183, 0.058)
    """

    loss: float
    penalty: float
    norm: float | None
    values: Matrix | None

    @property
    def regularised_loss(self) -> float:
        """loss + penalty."""
        return self.loss + self.penalty


def hindsight_of(stream: AnyStream) -> Hindsight:
    """What the stream's core remembers of the best expert."""
    core = stream.core
    a = stream.plan.prior_precision
    if isinstance(core, DualCore):
        y, c = core.outcomes_and_weights()  # the best function has residuals c = (I + Kbar)^-1 y
        loss = float((c * c).sum())
        penalty = max(float((y * c).sum()) - loss, 0.0)
        norm = None if core.drifts else math.sqrt(penalty / a)
        values = y - c
        return Hindsight(loss, penalty, norm, values[:, 0] if stream.scalar else values)
    if core.drifts:
        raise NotLearnedError(
            "experts that change in weight space leave no trace of the best one: the certificate "
            "has its loss; give a linear kernel to see its values"
        )
    w = core.coefficients()
    penalty = a * float((w * w).sum())
    best = totals(stream.ledger).best
    return Hindsight(max(best - penalty, 0.0), penalty, float(np.linalg.norm(w)), None)
