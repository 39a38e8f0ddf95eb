"""OSLOG, online shrinkage via the limit of Gibbs sampling (Jamil and Bouchachia), and SLOG.

    w <- D^1/2 (aI + D^1/2 M D^1/2)^-1 D^1/2 b,   D = diag|w|,  M = sum xx',  b = sum yx

One pass a round is Algorithm 1.  A pass makes |y - Xw|^2 + sum_i (a w_i^2/d_i + a d_i) least,
which is at least |y - Xw|^2 + 2a|w|_1 and equal to it at d = |w|: passes lower the lasso's
objective with lambda = 2a (scikit-learn's alpha = a/T), and their limit is the lasso (Remark 2).
"""

from __future__ import annotations

from noregret.sparse.oslog import OSLOG as OSLOG
from noregret.sparse.slog import SLOG as SLOG

__all__ = ["OSLOG", "SLOG"]
