"""Experts in a reproducing kernel Hilbert space: one growing Cholesky factor.

The factor is that of I + Kbar, Kbar_ij = (sum_{s<=min(i,j)} 1/a_s) k(x_i, x_j), which for fixed
experts (1/a_s = 0 after s = 1) is (aI + K)/a (Zhdanov and Vovk, section 6) and for experts that
change is KAARCh's (Busuttil and Kalnishkan, section 3.3).  Its leading block never changes, so a
round appends one row:

    look    solve L l = kbar;  mean m = l'z,  spread d = 1 + kbar(x, x) - l'l
    absorb  append the row (l, sqrt(d)) to L and (y - m)/sqrt(d) to z = L^-1 y

and no second solve.  Never a growing inverse: with near duplicates it loses every digit.

Rows lie one after another in one array.
Many rounds at once are one Cholesky factorisation of the whole matrix.
"""

from __future__ import annotations

import math

import numpy as np

from noregret._native import dual as ops
from noregret.errors import NumericalError
from noregret.gaussian.cores.memory import enough
from noregret.gaussian.cores.schedule import Drift, steps
from noregret.kernels import Inputs, Kernel, is_vector
from noregret.numerics.triangles import factor, solve_lower, solve_upper
from noregret.types import Look, Matrix, Track, Vector

__all__ = ["DualCore"]

EPS = float(np.finfo(np.float64).eps)
CLAMPED = 1e3 * EPS  # times t: what rounding may take a residual below 0
FIRST = 64  # rows that a new core has room for


class DualCore:
    """L and z after t rounds of m outcomes; t^2/2 numbers, t^2 flops and t kernel values per round.

    With `window`, only the last `window` rounds are kept, and a round costs O(window^2).

    >>> from sklearn.gaussian_process.kernels import RBF
    >>> core = DualCore(Kernel(RBF()), prior_precision=1.0, drift=0.0, m=1)
    >>> round(core.look(np.array([0.0])).spread, 12)
    2.0
    >>> round(core.absorb(np.array([0.0]), np.array([1.0])), 12)  # e^2/d = 1/2
    0.5
    >>> core.look(np.array([0.0])).mean.round(12)
    array([0.5])
    """

    __slots__ = (
        "_inputs",
        "_last",
        "_packed",
        "_peaks",
        "_priors",
        "_z",
        "drift",
        "excess",
        "kernel",
        "peak",
        "prior",
        "prior_precision",
        "priors",
        "rounds",
        "size",
        "window",
    )

    def __init__(
        self,
        kernel: Kernel,
        prior_precision: float,
        drift: Drift,
        m: int,
        window: int | None = None,
    ) -> None:
        self.kernel, self.prior_precision, self.drift = kernel, prior_precision, drift
        self.window = window
        self.rounds = 0  # learned
        self.size = 0  # rows kept: rounds, or the window
        self.prior = 1.0 / prior_precision  # S of the round to come
        self.priors = 0.0  # the sum of S over all rounds learned
        self._inputs: Inputs = []  # a matrix with room to grow, or a list of objects
        self._packed: Vector = np.empty(FIRST * (FIRST + 1) // 2)
        self._z: Matrix = np.empty((FIRST, m))
        self._priors: Vector = np.empty(FIRST)  # S_t = sum_{s<=t} 1/a_s of each row
        self._peaks: Vector = np.empty(FIRST)  # k(x, x) of each row
        self._last: tuple[object, Vector, Look] | None = None
        self.excess = (
            0.0  # of k(x, z)^2 over k(x, x) k(z, z) in the last look, if more than allowed
        )
        self.peak = 0.0  # k(x, x) of the last look

    @property
    def drifts(self) -> bool:
        """Whether experts may change."""
        return callable(self.drift) or self.drift > 0.0

    @property
    def inputs(self) -> Inputs:
        """The inputs kept, oldest first."""
        return self._inputs[: self.size]

    @property
    def outcomes(self) -> int:
        """m."""
        return int(self._z.shape[1])

    def copy(self) -> DualCore:
        """A core that shares nothing with this one."""
        twin = DualCore(self.kernel, self.prior_precision, self.drift, self.outcomes, self.window)
        twin.rounds, twin.size = self.rounds, self.size
        twin.prior, twin.priors = self.prior, self.priors
        twin.go_on(
            self._inputs.copy(),
            self._packed.copy(),
            self._z.copy(),
            self._priors.copy(),
            self._peaks.copy(),
        )
        return twin

    def rows(self) -> tuple[Vector, Matrix, Vector]:
        """The packed triangle, z and the priors of the rows kept, without the room to grow."""
        t = self.size
        return self._packed[: t * (t + 1) // 2], self._z[:t], self._priors[:t]

    def go_on(
        self,
        inputs: Inputs,
        packed: Vector,
        z: Matrix,
        priors: Vector,
        peaks: Vector | None = None,
    ) -> None:
        """Go on in these arrays, which are this core's own from now on."""
        self._inputs, self._packed, self._z, self._priors = inputs, packed, z, priors
        if peaks is None:  # row t of L has the squared length 1 + S_t k(x_t, x_t)
            starts = np.cumsum(np.arange(self.size))
            with np.errstate(over="ignore"):
                lengths = np.add.reduceat(packed * packed, starts) if self.size else packed
            peaks = np.maximum(lengths - 1.0, 0.0) / priors
        self._peaks = peaks

    def has_room(self) -> bool:
        """Whether one more row fits without asking for memory."""
        return self.size < len(self._z)

    # One round ------------------------------------------------------------------------------

    def look(self, x: object) -> Look:
        """m = l'z and d = 1 + kbar(x, x) - l'l, with L l = kbar."""
        if self._last is not None and _same(self._last[0], x):
            return self._last[2]
        t = self.size
        l: Vector = np.empty(0)
        with np.errstate(over="ignore", invalid="ignore"):
            peak, excess = self.kernel.itself(x), 0.0
            if t:
                column = self.kernel.column(self.inputs, x)
                excess = self._beyond(column[:, None], self._peaks[:t], np.array([peak]))
                l = self._priors[:t] * column
                ops.solve(self._packed, l)
            d = self._spread(self.prior * peak, float(l @ l))
            mean = l @ self._z[:t]
        if not np.isfinite(mean).all():
            raise _too_large()
        mean.flags.writeable = False  # it is kept for the round to come
        look = Look(mean, math.sqrt(d))
        self._last = x.copy() if isinstance(x, np.ndarray) else x, l, look
        self.peak, self.excess = peak, excess
        return look

    def _beyond(self, K: Matrix, rows: Vector, columns: Vector, *, lower: bool = False) -> float:
        """The largest k(x, z)^2 - k(x, x) k(z, z), in units of what rounding may do."""
        K, a = np.require(K, requirements=["C", "W"]), self.prior_precision
        found = ops.beyond(K, rows, columns, a, lower)
        return found / (CLAMPED * (self.size + len(columns)))

    def _spread(self, itself: float, explained: float) -> float:
        """1 + what k(x, x) has beyond the inputs so far; less than nothing is refused."""
        residual = itself - explained
        if not math.isfinite(residual):
            raise _too_large()
        if residual < -CLAMPED * (self.size + 1) * max(itself, explained, 1.0):
            raise _not_a_kernel(self.rounds + 1, residual)
        return 1.0 + max(residual, 0.0)  # rounding alone may take it below 0

    def absorb(self, x: object, y: Vector) -> float:
        """Append a row to L and an entry to z; return the sum of e^2/d."""
        step = float(steps(self.drift, self.rounds + 2, 1)[0])
        look = self.look(x)
        assert self._last is not None  # a look leaves itself there
        l = self._last[1]
        e = (y - look.mean) / look.root
        if not math.isfinite(self.prior + step):
            raise _too_large()
        t = self.size
        self._reserve(t + 1, x)
        start = t * (t + 1) // 2
        self._packed[start : start + t] = l
        self._packed[start + t] = look.root
        self._z[t], self._priors[t], self._peaks[t] = e, self.prior, self.peak
        self._keep(t, [x])
        self.size, self.rounds, self._last = t + 1, self.rounds + 1, None
        self.priors += self.prior
        self.prior += step
        if self.window is not None and self.size > self.window:
            self._drop_oldest()
        return float(e @ e)

    def _reserve(self, rows: int, x: object) -> None:
        """Make room for so many rows, half as many again as asked for."""
        if isinstance(self._inputs, list) and not self._inputs and is_vector(x):
            self._inputs = np.empty((FIRST, x.size))
        room = len(self._z)
        if rows <= room:
            return
        room = max(rows, room + room // 2)
        if self.window is not None:
            room = max(rows, min(room, self.window + 1))
        enough(room * (room + 1) // 2, f"a kernel learner with room for {room} rounds")
        used = self.size * (self.size + 1) // 2
        self._packed = _larger(self._packed, room * (room + 1) // 2, used)
        self._z = _larger(self._z, room, self.size)
        self._priors = _larger(self._priors, room, self.size)
        self._peaks = _larger(self._peaks, room, self.size)
        if not isinstance(self._inputs, list):
            self._inputs = _larger(self._inputs, room, self.size)

    def _keep(self, t: int, xs: Inputs) -> None:
        if isinstance(self._inputs, list):
            self._inputs[t:] = list(xs)
        else:
            self._inputs[t : t + len(xs)] = xs

    def _drop_oldest(self) -> None:
        """Delete the first row and column: L22 L22' + l21 l21' is refactored by rotations."""
        ops.drop_first(self._packed, self._z, self.size)
        t = self.size - 1
        self._priors[:t] = self._priors[1 : t + 1].copy()
        self._peaks[:t] = self._peaks[1 : t + 1].copy()
        if isinstance(self._inputs, list):
            del self._inputs[0]
        else:
            self._inputs[:t] = self._inputs[1 : t + 1].copy()
        self.size = t

    # Many rounds ----------------------------------------------------------------------------

    @np.errstate(over="ignore", invalid="ignore")  # what does not fit is refused below
    def replay(self, xs: Inputs, ys: Matrix) -> Track:
        """Every look at once, from one Cholesky factor; on failure the state is as before."""
        T, t = len(xs), self.size
        if self.window is not None:
            raise NotImplementedError("a window goes round by round")
        drifts = steps(self.drift, self.rounds + 2, T)
        enough(T * (T + t) + (T + t) ** 2 // 2, f"replaying {T} rounds on top of {t}")
        priors = self.prior + np.concatenate([[0.0], np.cumsum(drifts)])
        G = self.kernel.gram(xs)
        if self.kernel.lends() or not (G.flags.c_contiguous and G.flags.writeable):
            G = G.copy()
        peaks = np.diagonal(G).copy()
        excess = self._beyond(G, peaks, peaks, lower=True)
        ops.extend_in_time(G, priors[:T])  # lower triangle: I + S_min(i,j) k(x_i, x_j)
        if not (np.isfinite(priors).all() and np.isfinite(np.diagonal(G)).all()):
            raise _too_large()
        earlier: Matrix = np.empty((T, 0))
        known = np.zeros_like(ys)
        if t:
            K = self.kernel.cross(self.inputs, xs)
            excess = max(excess, self._beyond(K, self._peaks[:t], peaks))
            W = solve_lower(self._full(), K * self._priors[:t, None])
            earlier = np.ascontiguousarray(W.T)
            G -= earlier @ W
            known = earlier @ self._z[:t]
        L, bad = G, factor(G)
        if bad >= 0:
            raise _not_a_kernel(self.rounds + 1 + bad, None)
        root = np.diagonal(L).copy()
        least, most = float(np.min(root)), float(np.max(root))
        if least < 1.0 - CLAMPED * (T + t) * float(np.max(priors)) * most**2:
            raise _not_a_kernel(self.rounds + 1 + int(np.argmin(root)), least**2 - 1.0)
        z = solve_lower(L, ys - known)
        mean = known + (L @ z - root[:, None] * z)
        if not (np.isfinite(root).all() and np.isfinite(mean).all()):
            raise _too_large()
        self._append(earlier, L, z, priors, xs)
        self._peaks[t : t + T], self.excess = peaks, excess
        return Track(mean, root, float((z * z).sum()))

    def _append(self, earlier: Matrix, L: Matrix, z: Matrix, priors: Vector, xs: Inputs) -> None:
        T, t = len(z), self.size
        self._reserve(t + T, xs[0])
        ops.pack(self._packed, earlier, L)
        self._z[t : t + T] = z
        self._priors[t : t + T] = priors[:T]
        self._keep(t, xs)
        self.size, self.rounds, self._last = t + T, self.rounds + T, None
        self.priors += float(priors[:T].sum())
        self.prior = float(priors[T])

    def _full(self) -> Matrix:
        """L as a full triangle."""
        L: Matrix = np.empty((self.size, self.size))
        ops.unpack(self._packed, L)
        return L

    # What was learned -----------------------------------------------------------------------

    def look_rows(self, xs: Inputs) -> tuple[Matrix, Vector]:
        """Means and root spreads at many inputs; nothing is learned."""
        t = self.size
        with np.errstate(over="ignore", invalid="ignore"):
            residual = self.prior * self.kernel.diagonal(xs)
            means = np.zeros((len(xs), self.outcomes))
            if t:
                K = self.kernel.cross(self.inputs, xs) * self._priors[:t, None]
                W = solve_lower(self._full(), K)
                residual = residual - (W * W).sum(axis=0)
                means = W.T @ self._z[:t]
        if not (np.isfinite(residual).all() and np.isfinite(means).all()):
            raise _too_large()
        return means, np.sqrt(1.0 + np.maximum(residual, 0.0))

    def audited(self) -> tuple[float, Vector, Matrix, Matrix]:
        """|L|^2, the pivots L_tt, z and y = L z; no more memory than z takes."""
        t = self.size
        packed, z, _ = self.rows()
        y = np.empty_like(z)
        ops.multiply(packed, z, y)
        return float(packed @ packed), packed[np.cumsum(np.arange(1, t + 1)) - 1], z, y

    def fresh(self) -> Matrix:
        """Kbar of the inputs kept, from kernel values worked out anew."""
        t = self.size
        enough(2 * t * t, f"a kernel matrix of {t} rounds")
        return self.kernel.gram(self.inputs) * np.minimum.outer(self._priors[:t], self._priors[:t])

    def outcomes_and_weights(self) -> tuple[Matrix, Matrix]:
        """The outcomes kept, y = L z, and c = (I + Kbar)^-1 y from L'c = z."""
        t = self.size
        if t == 0:
            return self._z[:0], self._z[:0]
        L = self._full()
        return L @ self._z[:t], solve_upper(L.T, self._z[:t])

    def prior_var(self) -> float:
        """sum_{s<=t} 1/a_s, up to the round to come."""
        return self.prior


def _same(one: object, other: object) -> bool:
    """Whether a look at one serves for the other; what may have changed is looked at anew."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.shape == other.shape and one.tobytes() == other.tobytes()  # signs of 0 too
    return one is other and isinstance(one, str | bytes | int | float)


def _larger(array: Matrix, room: int, used: int) -> Matrix:
    extended = np.empty((room, *array.shape[1:]))
    extended[:used] = array[:used]
    return extended


def _too_large() -> NumericalError:
    return NumericalError(
        "the look at x does not fit in float64: rescale the inputs or raise prior_precision"
    )


def _not_a_kernel(round_: int, residual: float | None) -> NumericalError:
    how = "a pivot of I + K/a is not positive"
    if residual is not None:
        how = f"a pivot of I + K/a is 1 - {-residual:.3g}, and it must be at least 1"
    return NumericalError(
        f"round {round_}: {how}, so the kernel is not positive semi-definite on these inputs: "
        "check that it is symmetric and a true kernel (sums, products, positive multiples are), "
        "and that prior_precision is not beyond what float64 can tell apart from it"
    )
