"""Mutants of the numeric core: cores, rules, ledgers, streams."""

from __future__ import annotations

LINEAR = ("gaussian/test_core_edges.py", "gaussian/test_bounds_dense.py")
DRIFTING = LINEAR
KERNEL = (
    "gaussian/test_core_edges.py",
    "gaussian/test_bounds_dense.py",
    "gaussian/test_kernels.py::test_what_is_not_a_kernel_is_refused_and_changes_nothing",
    "gaussian/test_kernels.py::test_what_does_not_fit_in_float64_is_refused",
    "gaussian/test_kernels.py::test_changing_functions_equal_the_papers_formula",
)


MUTANTS = {
    "gaussian/cores/core.py": (
        DRIFTING,
        [
            (
                "self.factor[:], self.work[AT] = before",
                "self.work[AT] = before[1]",
                "a failed replay is half learned",
            ),
            (
                "self.factor[:], self.work[AT] = before",
                "self.factor[:] = before[0]",
                "a failed replay leaves the form behind",
            ),
            (
                "            self.work[AT, FRESH] = 0.0\n            raise",
                "            raise",
                "a failed replay leaves a look behind",
            ),
            ("float(fit.sum())", "float(fit[0])", "compensation dropped"),
            (
                "core.work[AT, :SCALARS]\n        self.work[AT, FRESH] = 0.0\n",
                "core.work[AT, :SCALARS]\n",
                "a copy trusts a look that it has not made",
            ),
            (
                "        self.work[AT, :SCALARS] = core.work[AT, :SCALARS]\n",
                "",
                "a copy forgets its form and its rounds",
            ),
        ],
    ),
    "gaussian/cores/primal.py": (
        LINEAR,
        [
            ("larger.factor[:n, n + k :] = self.factor[:, n:]", "pass", "growing forgets z"),
            (
                "extended -= ops.remove",
                "extended += ops.remove",
                "the prior counts twice in the fit",
            ),
            (
                "x[slot] = math.sqrt(self.prior_precision)",
                "x[slot] = self.prior_precision",
                "the wrong prior is taken out",
            ),
            (
                "np.log(diagonal).sum() - n * prior",
                "np.log(diagonal).sum() - prior",
                "log determinant of the prior",
            ),
        ],
    ),
    "gaussian/cores/drift.py": (
        DRIFTING,
        [
            (
                "steps(self.drift, self.rounds + 2, len(xs))",
                "steps(self.drift, self.rounds + 1, len(xs))",
                "the drift of the round before, in a replay",
            ),
            (
                "steps(self.drift, self.rounds + 2, 1)",
                "steps(self.drift, self.rounds + 1, 1)",
                "the drift of the round before",
            ),
            ("math.sqrt(prior_var) if rooted else prior_var", "prior_var", "a late feature's root"),
            ("larger._walked = self._walked", "pass", "growing forgets how far experts walked"),
            ("self.drift * self.rounds", "self.drift * (self.rounds - 1)", "S one round behind"),
            (
                "self._walked += math.fsum(drifts)",
                "pass",
                "a replay does not walk",
            ),
            (
                "            self.work[AT, DRIFT] = drifts[-1]\n",
                "",
                "a replay leaves the drift of an earlier round",
            ),
        ],
    ),
    "gaussian/cores/dual.py": (
        KERNEL,
        [
            ("        self.priors += self.prior\n", "        self.priors += 1.0\n", "the sum of S"),
            (
                "if self.window is not None and self.size > self.window:",
                "if self.window is not None and self.size >= self.window:",
                "window one too small",
            ),
            (
                "        self._priors[:t] = self._priors[1 : t + 1].copy()\n",
                "",
                "a window forgets S wrongly",
            ),
            ("return 1.0 + max(residual, 0.0)", "return 1.0 + residual", "spreads below 1"),
            ("if residual < -CLAMPED *", "if residual < -1e9 * CLAMPED *", "no kernel is refused"),
            ("if least < 1.0 - CLAMPED *", "if least < -CLAMPED *", "a replay takes any matrix"),
            (
                "self.prior = float(priors[T])",
                "self.prior = float(priors[T - 1])",
                "S one round behind after a replay",
            ),
            (
                "mean = known + (L @ z - root[:, None] * z)",
                "mean = L @ z - root[:, None] * z",
                "a replay forgets what was known",
            ),
            ("            G -= earlier @ W\n", "", "a replay forgets the spreads known"),
            (
                "self.size, self.rounds, self._last = t + 1, self.rounds + 1, None",
                "self.size, self.rounds = t + 1, self.rounds + 1",
                "a look survives its round",
            ),
            ("one.tobytes() == other.tobytes()", "True", "any look will do"),
            (
                "        if not math.isfinite(residual):\n            raise _too_large()\n",
                "",
                "infinite spreads",
            ),
            (
                "            raise _too_large()\n        mean.flags",
                "            pass\n        mean.flags",
                "infinite means",
            ),
        ],
    ),
    "gaussian/cores/blocks.py": (
        ("gaussian/test_replay.py",),
        [
            ("LEVERAGE = 1e3 ", "LEVERAGE = 1e15 ", "blocks of any leverage"),
            ("TILT = 1e4 ", "TILT = 1e15 ", "blocks of collinear columns"),
            (
                "fit[0] += float((columns[n:] ** 2).sum())",
                "fit[0] = float((columns[n:] ** 2).sum())",
                "the last block's fit",
            ),
            ("diagonal[:] = 0.0", "diagonal[:] = root", "a block looks ahead"),
            ("return start + failed", "return failed", "the row that failed"),
            (
                "    diagonal += 1.0\n",
                "    diagonal += 1.001\n",
                "the noise in a block",
            ),
        ],
    ),
    "gaussian/cores/schedule.py": (
        ("gaussian/test_core_edges.py", "inputs/test_hostile.py"),
        [
            ("step = drift(first + k)", "step = drift(first)", "the first drift for all"),
            ("0.0 <= step < math.inf", "step < math.inf", "negative drifts"),
        ],
    ),
    "gaussian/rules.py": (
        LINEAR,
        [
            (
                "mean / root[:, None] / root[:, None]",
                "mean / root[:, None]",
                "AAR shrinks too little",
            ),
            (
                "np.clip(mean, -self.level, self.level)",
                "np.minimum(mean, self.level)",
                "clipped above only",
            ),
            ("self.level if self.code == layout.BAYES else 1.0", "1.0", "noise variance dropped"),
        ],
    ),
    "gaussian/ledger.py": (
        (*LINEAR, "wrappers/test_merging.py"),
        [
            ("    add(both, layout.JOINT, grew)\n", "", "the joint best expert"),
            (
                "both[layout.ROUNDS] += other[layout.ROUNDS]",
                "both[layout.ROUNDS, 0] += other[layout.ROUNDS, 0]",
                "workers are not counted",
            ),
            ("max(one[row, 0], other[row, 0])", "one[row, 0]", "the other's maxima"),
            (
                "best=value[layout.FIT] + value[layout.JOINT],",
                "best=value[layout.FIT],",
                "the best of parts for the best of all",
            ),
            (
                "outcome_square=float(largest @ largest)",
                "outcome_square=float(largest.max() ** 2)",
                "one outcome's Y^2",
            ),
            ("ledger.sum(axis=1).tolist()", "ledger[:, 0].tolist()", "compensation dropped"),
            (
                "for part in other[row]:",
                "for part in other[row][:1]:",
                "the other's compensation dropped",
            ),
        ],
    ),
    "gaussian/stream.py": (
        (
            *LINEAR,
            "inputs/test_hostile_overflow.py",
            "gaussian/test_kernels.py::test_a_forecast_may_be_written_to",
            "wrappers/test_merge.py::test_names_are_matched_and_new_ones_enter",
        ),
        [
            ("else g.copy()  # a look may be kept", "else g", "the caller writes into a look"),
            (
                "        if not math.isfinite(root):\n            raise NumericalError",
                "        if False:\n            raise NumericalError",
                "a new name's spread may overflow",
            ),
            (
                "        if not np.isfinite(roots).all():\n            self._answer",
                "        if False:\n            self._answer",
                "a table's spreads may overflow",
            ),
            (
                "        if failed >= 0:\n            self._answer(layout.OVERFLOW, xs[failed])\n",
                "",
                "a table's looks may overflow",
            ),
            (
                "            stream.ledger[layout.FIT] = fit\n",
                "",
                "a replay books no fit",
            ),
            (
                "counted = roots[:, 0] > 0.0",
                "counted = roots[:, 0] >= 0.0",
                "rounds of weight 0 count",
            ),
            ("return np.sqrt(taken)", "return taken", "weights without the root"),
            (
                "root = math.hypot(root, value * math.sqrt(core.prior_var()))",
                "root = math.hypot(root, value)",
                "a new name's spread without the prior",
            ),
            (
                "            if successor[-1] is self:\n                at[CLOSED] = before",
                "            at[CLOSED] = before",
                "a stream that was replaced opens again",
            ),
            (
                "space = space.extended([name for name in other.space.slots if name not in space.slots])",
                "space = space.extended([*other.space.slots])",
                "merged names",
            ),
            (
                "            core.moved()\n        else:\n",
                "            pass\n        else:\n",
                "a careful round does not walk",
            ),
        ],
    ),
    "gaussian/kernel_stream.py": (
        KERNEL,
        [
            (
                "            stream = self.copy()\n",
                "            stream = self\n",
                "a window's failed replay is half learned",
            ),
            ("        add(stream.ledger, layout.FIT, track.fit)\n", "", "a replay books no fit"),
            (
                "np.sqrt(np.maximum(self.core.kernel.diagonal(xs), 0.0))",
                "np.maximum(self.core.kernel.diagonal(xs), 0.0)",
                "k(x, x) for its root",
            ),
            (
                "size = math.sqrt(max(self.core.peak, 0.0))",
                "size = max(self.core.peak, 0.0)",
                "k(x, x) for its root, one by one",
            ),
            (
                "        fit += core.absorb(x, y)\n",
                "        fit = core.absorb(x, y)\n",
                "the last round's fit",
            ),
        ],
    ),
}
