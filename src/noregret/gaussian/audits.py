"""Is a state what was booked?  Checks of cores against sums that were added up apart from them.

fixed experts   equalities: lengths of columns of [R z], a probe, the determinant; O(n^2)
changing ones   inequalities only: what a fixed expert pays, how wide the prior is; O(n^3)
kernels         lengths of L and z, the determinant; O(t^2)

Each says how far off it is and what rounding may do (docs/theory.md, section 18).
"""

from __future__ import annotations

import math

import numpy as np

from noregret._native import audit as ops
from noregret._native import layout
from noregret._native.audit import CHECKS, EPS, GAMMA, LEAST
from noregret._native.layout import AT, ROOTED
from noregret.certificates import Audit
from noregret.gaussian.cores.blocks import BLOCK, LEVERAGE, once_in_blocks
from noregret.gaussian.cores.drift import GAUGE, DriftCore
from noregret.gaussian.cores.dual import CLAMPED, DualCore
from noregret.gaussian.cores.primal import PrimalCore
from noregret.gaussian.ledger import Totals, probe, totals
from noregret.numerics.triangles import factor, solve_lower
from noregret.types import Matrix

__all__ = ["audited_before", "audits_of", "fresh_kernel", "looseness"]

FIXED = (
    "|z|^2 + V = sum y^2",
    "|Rr|^2 = a|r|^2 + sum (r'x)^2 for a fixed r",
    "(Rr)'z = sum (r'x) y",
    "sum e^2/d = what the rotations left",
)


FADED = (
    "|z|^2 + V = sum y^2, less what has faded of |z|^2",
    "|Rr|^2 = a|r|^2 + sum (r'x)^2 for a fixed r, both as far as they have not faded",
    "(Rr)'z = sum (r'x) y, as far as it has not faded",
    "sum e^2/d = what the rotations left",
)


def audits_of(
    core: PrimalCore | DriftCore | DualCore, ledger: Matrix, precision: float
) -> tuple[Audit, ...]:
    """Every check that a core of this kind allows."""
    sums = totals(ledger)
    with np.errstate(all="ignore"):  # what does not fit cannot be checked
        if isinstance(core, PrimalCore):
            return (*_fixed(core, ledger, sums, precision), _on_the_way(sums))
        if isinstance(core, DualCore):
            return _kernel(core, sums)
        return _drifting(core, sums, precision)


def looseness(core: PrimalCore | DriftCore) -> float:
    """The error of a look that rows taken in blocks may add, relative."""
    return EPS * BLOCK * LEVERAGE if once_in_blocks(core.shape[0]) else 0.0


def audited_before(core: PrimalCore | DriftCore, ledger: Matrix, xs: Matrix, ys: Matrix) -> Matrix:
    """The marks of audits on the way that rows to come will leave, audited where they drown all."""
    held = ledger.copy()
    if isinstance(core, PrimalCore):
        ops.before_rows(core.factor, held, looseness(core), xs, ys)
    return held[layout.MARK : layout.WORST + 1]


def _on_the_way(sums: Totals) -> Audit:
    """What audits found before rounds so large that all before them would drown in rounding."""
    where = f", round {sums.worst_round}" if sums.worst else ""
    return Audit(f"all of these before each huge round{where}", sums.worst, 1.0)


def _fixed(core: PrimalCore, ledger: Matrix, sums: Totals, a: float) -> list[Audit]:
    n, _ = core.shape
    found = np.empty((CHECKS, 2))
    ops.fixed(core.factor, ledger, looseness(core), found)
    names = FADED if core.drifts else FIXED
    audits = [Audit(name, *row) for name, row in zip(names, found.tolist(), strict=True)]
    R = core.factor[:, :n]  # 0 left of its diagonal
    turned = sums.rounds + n * (2.0 * sums.workers - 1.0)  # how often a column was rotated
    squares, trace = np.einsum("ij,ij->j", R, R), n * a + sums.squared_norms
    off = abs(float(squares.sum()) - trace)
    if not core.drifts:
        audits.append(Audit("|R|^2 = na + sum |x|^2", off, GAMMA * turned * trace + LEAST))
    diagonal = np.diagonal(R)
    log_det = core.log_determinant() - sums.log_det
    tilt = float((np.sqrt(squares) / np.abs(diagonal)).sum())
    blurred = GAMMA * (turned * tilt + core.log_size() + sums.log_det)
    blurred += 2.0 * looseness(core) * sums.rounds
    if core.drifts:  # a pivot that was kept from fading makes the determinant larger
        off = max(-log_det, 0.0) if core.faint else abs(log_det)
        sign = ">=" if core.faint else "="
        audits.append(Audit(f"ln det R'R/(gam^T a) {sign} sum ln d", off, blurred))
    elif sums.workers == 1:
        audits.append(Audit("ln det R'R/a = sum ln d", abs(log_det), blurred))
    else:  # each learner's own determinant was the larger
        audits.append(Audit("ln det R'R/a <= sum ln d", max(log_det, 0.0), blurred))
    return audits


def _drifting(core: DriftCore, sums: Totals, a: float) -> tuple[Audit, ...]:
    """What a fixed expert w = cr pays bounds V + (cr - w)'P^-1(cr - w), and P <= S I."""
    n, m = core.shape
    zero = Audit("V <= sum y^2", *_beyond(sums.fit, sums.energy, GAMMA * (n + 2)))
    if n == 0:
        return (zero,)
    triangle, w = np.tril(core.factor[:n]), core.factor[n:]
    if core.work[AT, ROOTED] == 1.0:
        P = triangle.T @ triangle
    else:
        P = triangle + np.tril(triangle, -1).T
    F = P.copy()
    definite = factor(F) < 0
    audits = [zero, Audit("P is positive definite", float(not definite), 0.0)]
    wide, S = np.diagonal(P), core.prior_var()
    loose = GAUGE * GAMMA * (n + 1.0)
    audits.append(Audit("P <= S I", *_beyond(float(wide.max()), S, loose)))
    if not definite:
        return tuple(audits)
    inverse = (solve_lower(F, np.eye(n)) ** 2).sum(axis=0)  # the diagonal of P^-1
    loose *= 1.0 + float((wide * inverse).max())  # P's own condition, scaled
    r, s = probe(n), probe(m)
    f, g = solve_lower(F, r[:, None])[:, 0], solve_lower(F, w.T)
    charged = float(f @ f)
    audits.append(Audit("r'P^-1 r <= a|r|^2 + sum (r'x)^2", *_beyond(charged, sums.probe, loose)))
    paid = sums.fit + float((g * g).sum())
    audits.append(Audit("V + w'P^-1 w <= sum y^2", *_beyond(paid, sums.energy, loose)))
    left, room = sums.energy - paid, (sums.probe - charged) * float(s @ s)
    mixed = abs(sums.cross - float(f @ (g @ s)))
    energy = sums.energy + LEAST * sums.rounds  # squares may have underflowed
    scale = math.sqrt(energy * sums.probe * float(s @ s))
    most = math.sqrt(max(left, 0.0) * max(room, 0.0)) + math.sqrt(loose) * scale
    audits.append(Audit("what the experts cr pay", max(mixed - most, 0.0), loose * scale + LEAST))
    drop = -n * math.log(a) - 2.0 * float(np.log(np.diagonal(F)).sum()) - sums.log_det
    audits.append(
        Audit("ln det P_1/P <= sum ln d", max(drop, 0.0), loose * n + GAMMA * sums.rounds)
    )
    return tuple(audits)


def _beyond(value: float, limit: float, loose: float) -> tuple[float, float]:
    """By how much a value exceeds its limit, and what is allowed."""
    over = value - limit
    return (over if over > 0.0 or math.isnan(over) else 0.0), loose * max(limit, 0.0) + LEAST


def _kernel(core: DualCore, sums: Totals) -> tuple[Audit, ...]:
    """L L' = I + K and z = L^-1 y: lengths and the determinant."""
    zero = Audit("V <= sum y^2", *_beyond(sums.fit, sums.energy, GAMMA * (sums.rounds + 1.0)))
    if core.window is not None or core.size == 0:
        return (zero,)
    t = core.size
    length, pivots, z, y = core.audited()
    steps, V = CLAMPED * (t + 1.0), float((z * z).sum())
    size = math.sqrt(length * V * max(sums.energy, 0.0))
    log_det = 2.0 * float(np.log(np.abs(pivots)).sum())
    audits = [
        zero,
        Audit("|z|^2 = V", abs(V - sums.fit), GAMMA * (t + 1.0) * V + LEAST),
        Audit("|Lz|^2 = sum y^2", abs(float((y * y).sum()) - sums.energy), steps * size + LEAST),
        Audit("2 sum ln L_tt = sum ln d", abs(log_det - sums.log_det), GAMMA * (t + 1.0)),
        Audit("L_tt >= 1", max(1.0 - float(pivots.min()), 0.0), steps * length),
    ]
    if not core.drifts:
        whole = t + sums.squared_norms / core.prior_precision
        audits.append(Audit("|L|^2 = T + sum k(x, x)/a", abs(length - whole), steps * whole))
    return tuple(audits)


def fresh_kernel(core: DualCore) -> tuple[Audit, ...]:
    """V from both sides, with c = L'^-1 z and kernel values worked out anew: t^2 of them.

    2 y'c - c'(I + K)c <= V <= |y - Kc|^2 + c'Kc for any c, with equality at the right one.
    """
    if core.size == 0:
        return ()
    y, c = core.outcomes_and_weights()
    K = core.fresh()
    Kc, size = K @ c, np.abs(c) * (np.abs(y) + np.abs(c) + np.abs(K) @ np.abs(c))
    V = float((core.rows()[1] ** 2).sum())
    least = float((2.0 * y * c - c * (c + Kc)).sum())
    most = float(((y - Kc) ** 2 + c * Kc).sum())
    allowed = CLAMPED * (core.size + 1.0) * (float(size.sum()) + V) + LEAST
    return (
        Audit("2y'c - c'(I + K)c <= V, K anew", max(least - V, 0.0), allowed),
        Audit("V <= |y - Kc|^2 + c'Kc, K anew", max(V - most, 0.0), allowed),
        Audit("both are equal", abs(most - least), 2.0 * allowed),
    )
