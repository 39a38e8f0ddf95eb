"""Mutants of the statements: a bound looser or tighter than its theorem's number."""

from __future__ import annotations

LINEAR = ("gaussian/test_bounds_dense.py", "gaussian/test_hint.py")
BINARY = ("glm/test_bounds_binary.py",)
NET = ("lms/test_bounds_net.py",)
CONDITIONS = (
    "lms/test_klms_bounds.py::test_a_rate_too_high_is_named",
    "lms/test_klms_bounds.py::test_broken_conditions_are_named",
)
POOL = ("experts/test_bounds_pools.py",)
SPARSE = ("sparse/test_bounds_sparse.py",)

MUTANTS = {
    "gaussian/theorems.py": (
        LINEAR,
        [
            (
                "factor = 1.0 + Z * Z * s.prior_var",
                "factor = 2.0 + Z * Z * s.prior_var",
                "norm bound 2 + Z^2/a",
            ),
            ("factor = 1.0 + Z * Z * s.prior_var", "factor = 1.0 + Z * s.prior_var", "Z for Z^2"),
            (
                "factor = 1.0 + Z * Z * s.prior_var",
                "factor = 1.0 + Z * Z / s.prior_precision",
                "1/a for the sum of 1/a_t",
            ),
            (
                "(t.fit + s.noise_var * t.outcomes * log)",
                "(t.fit + t.outcomes * log)",
                "KN without the noise variance",
            ),
            (
                "(t.fit + s.noise_var * t.outcomes * log)",
                "(t.fit + 2.0 * s.noise_var * t.outcomes * log)",
                "KN's logarithm doubled",
            ),
            (
                "(t.fit + s.noise_var * t.outcomes * log)",
                "(t.fit + s.noise_var * log)",
                "KN for one outcome only",
            ),
            ("(1.0 + Z * Z / a) * (t.fit", "(2.0 + Z * Z / a) * (t.fit", "KN's factor"),
            (
                "log = s.determinant_bound(Z * Z / n) if n else 0.0",
                "log = s.determinant_bound(Z * Z) if n else 0.0",
                "KN without 1/n",
            ),
            (
                "V + 4.0 * outcomes * Y * Y * price",
                "V + 8.0 * outcomes * Y * Y * price",
                "8Y^2 for 4Y^2",
            ),
            (
                "V + 4.0 * outcomes * Y * Y * price",
                "V + 4.0 * Y * Y * price",
                "clipping of one outcome only",
            ),
            (
                "return _clipped(s, name, s.totals.log_det, s.log)",
                "return _clipped(s, name, s.totals.leverage, s.log)",
                "leverage for log det, clipped",
            ),
            (
                's.totals.leverage, "sum (1 - 1/d)")\n\n\ndef clipped_determinant',
                's.totals.log_det, "sum (1 - 1/d)")\n\n\ndef clipped_determinant',
                "log det for leverage, clipped",
            ),
            (
                "return _clipped(s, name, s.determinant_bound(X * X),",
                "return _clipped(s, name, s.determinant_bound(2.0 * X * X),",
                "2X^2 a priori, clipped",
            ),
            (
                "price, words = s.determinant_bound(X * X),",
                "price, words = s.determinant_bound(2.0 * X * X),",
                "2X^2 a priori, Bayes",
            ),
            (
                "return _aar(s, name, form, s.determinant_bound(X * X),",
                "return _aar(s, name, form, s.determinant_bound(2.0 * X * X),",
                "2X^2 a priori, AAR",
            ),
            (
                "V / (2.0 * noise_var) + 0.5 * outcomes * price",
                "V / (2.0 * noise_var) + outcomes * price",
                "Lam for Lam/2",
            ),
            (
                "constant + V / (2.0 * noise_var) +",
                "constant + V / 2.0 +",
                "noise variance dropped from Bayes's bound",
            ),
            (
                "0.5 * rounds * outcomes * math.log",
                "0.5 * rounds * math.log",
                "one outcome's constant in Bayes's bound",
            ),
            ("comparator=s.log_loss(t.best)", "comparator=s.log_loss(0.0)", "Bayes's comparator"),
            (
                'return _bayesian(s, name, "equality", s.totals.log_det, s.log)',
                'return _bayesian(s, name, "upper bound", s.totals.log_det, s.log)',
                "an equality claimed as a bound",
            ),
            (
                "factor=1.0 / (2.0 * s.noise_var),",
                "factor=1e6 / (2.0 * s.noise_var),",
                "Bayes's tolerance times a million",
            ),
            (
                "price = s.determinant_bound(Z * Z / s.features) if",
                "price = s.determinant_bound(Z * Z) if",
                "KN 2.2 without 1/n",
            ),
            (
                "price = s.determinant_bound(Z * Z / s.features) if",
                "price = 2.0 * s.determinant_bound(Z * Z / s.features) if",
                "KN 2.2 doubled",
            ),
            ("return V + square * price", "return V + 2.0 * square * price", "2Y^2 for AAR"),
            (
                "s.totals.log_det, s.log)\n\n\ndef aar_leverage",
                "s.totals.leverage, s.log)\n\n\ndef aar_leverage",
                "leverage for log det, AAR",
            ),
            (
                '"AAR", ", leverage form", s.totals.leverage',
                '"AAR", ", leverage form", s.totals.log_det',
                "log det for leverage, AAR",
            ),
            ("form, c * c * s.priors", "form, c * s.priors", "c for c^2"),
            ("t.fit + t.opening, Y2", "t.fit, Y2", "the round without a hint is not charged"),
            ("side + t.opening", "side", "the round without a hint, against the whole space"),
            (
                'horizon form", c * c * s.priors',
                'horizon form", c * s.priors',
                "c for c^2, clipped",
            ),
            ("bound=t.fit + t.charge - t.relief", "bound=t.fit + t.charge", "AAR's relief dropped"),
            (
                "total = t.missed + t.squared_norms",
                "total = t.squared_norms",
                "what a budget left out",
            ),
            (
                "met=s.totals.rounds <= s.budget.size",
                "met=True",
                "a window that forgot still claims",
            ),
            ("loss=t.weighted,", "loss=t.fit,", "the identity compares fit with itself"),
            (
                '        kind = "report"\n        forgets',
                "        forgets",
                "a window's statements are claims",
            ),
        ],
    ),
    "gaussian/facts.py": (
        LINEAR,
        [
            (
                "w * self.features * math.log1p(",
                "self.features * math.log1p(",
                "one worker's determinant",
            ),
            (
                "square / (w * self.prior_precision)",
                "square / self.prior_precision",
                "workers do not share rounds",
            ),
            (
                "self.totals.rounds * math.log1p(square / self.prior_precision)",
                "math.log1p(self.totals.rounds * square / self.prior_precision)",
                "a kernel's determinant",
            ),
            ("else t.outcomes * Y * Y", "else Y * Y", "one outcome's Y^2"),
            (
                "constant + square / (2.0 * self.noise_var)",
                "constant + square / 2.0",
                "noise variance dropped",
            ),
            ("if seen <= given:", "if seen <= 2.0 * given:", "a broken bound is not noticed"),
            ("if seen <= given:", "if seen < given:", "a bound that is just kept is called broken"),
            (
                "return given, declared_bound(what, letter, given, seen)",
                "return seen, declared_bound(what, letter, given, seen)",
                "the given bound is not used",
            ),
            (
                "0.5 * t.rounds * t.outcomes * math.log",
                "0.5 * t.rounds * math.log",
                "one outcome's constant",
            ),
            (
                '_either(self._of("|x|_inf"), "X", self.feature_bound, self.totals.widest)',
                '_either(self._of("|x|_inf"), "X", self.feature_bound, self.totals.longest)',
                "|x|_2 for |x|_inf",
            ),
        ],
    ),
    "certificates.py": (
        LINEAR,
        [
            ("STEPS = 16.0", "STEPS = 1e5", "tolerance"),
            (
                "if any(check.ok is False for check in self.audit):",
                "if False:",
                "failed audits are ignored",
            ),
            (
                "return self.slack >= -self.allowance",
                "return self.slack >= -abs(self.loss)",
                "bounds that fail hold",
            ),
            (
                "return abs(self.slack) <= self.allowance",
                "return self.slack >= -self.allowance",
                "an equality is checked from one side",
            ),
            (
                "if all(a.met for a in assumptions) else None",
                "if any(a.met for a in assumptions) else None",
                "one assumption is enough",
            ),
            (
                "if not all(map(math.isfinite, (loss, comparator, bound, taken or 0.0))):",
                "if not math.isfinite(loss):",
                "infinite bounds",
            ),
            (
                'if self.slack is None or self.kind == "report":',
                "if self.slack is None:",
                "reports claim",
            ),
            (
                "abs(self.loss), abs(self.bound or 0.0), abs(self.comparator), self.scale",
                "1.0, abs(self.loss), abs(self.bound or 0.0), abs(self.comparator), self.scale",
                "tolerance at least 1e-9 of 1",
            ),
        ],
    ),
    "glm/theorems.py": (
        BINARY,
        [
            (
                "F + _total(state, EXCESS)",
                "F + 2.0 * _total(state, EXCESS)",
                "stability doubled",
            ),
            ("min(1.0, 0.4074 * math.exp", "min(1.0, 0.8 * math.exp", "the constant of MAP"),
            ("factor = 1.0 + z *", "factor = 2.0 + z *", "MAP's factor"),
            (
                "4.0 * F + 2.0 * n * math.log1p(T * nu2 / n) if",
                "4.0 * F + 4.0 * n * math.log1p(T * nu2 / n) if",
                "KN 3.3's logarithm doubled",
            ),
            ("met=nu2 <= 0.25", "met=nu2 <= 0.5", "KN 3.3 for too wide a prior"),
            ("met=Z <= 1.0", "met=Z <= 2.0", "KN 3.3 for longer x"),
            (
                "np.eye(n) + c * nu2 * state.scatter",
                "np.eye(n) + nu2 * state.scatter",
                "curvature dropped",
            ),
            ("spread = 0.5 * float(", "spread = float(", "log det for its half"),
            (
                "0.5 * n * math.log1p(T * c * nu2 * Z * Z / n) if",
                "n * math.log1p(T * c * nu2 * Z * Z / n) if",
                "KN 2.2's logarithm doubled",
            ),
            (
                "0.5 * n * math.log1p(T * c * nu2 * Z * Z / n) if",
                "0.5 * n * math.log1p(T * c * nu2 * Z / n) if",
                "KN 2.2 with Z for Z^2",
            ),
            (
                'kind: Kind = "upper bound" if exact else "report"',
                'kind: Kind = "upper bound"',
                "approximations claim",
            ),
            ('("AIOLI", C1 * log_det,', '("AIOLI", 2.0 * C1 * log_det,', "AIOLI doubled"),
            (
                "widest / (8.0 * n * weight * C1)",
                "widest / (4.0 * n * weight * C1)",
                "AIOLI a priori",
            ),
            ("C1 = 1.0 + bound", "C1 = 2.0 + bound", "1 + C"),
            ("comparator = loss - price", "comparator = loss", "AIOLI's comparator"),
            (
                "0.5 * (gap + n * math.log(prior_var) - log_det)",
                "0.5 * (gap - log_det)",
                "KL of Gaussians",
            ),
            (
                "met=off <= 1e-9 * max(F, 1.0)",
                "met=True",
                "a mode that was not found",
            ),
        ],
    ),
    "glm/exact.py": (
        BINARY,
        [
            ("TOLERANCE = 1e-10", "TOLERANCE = 1e-4", "the integral's tolerance times a million"),
            ("DROP = 45.0", "DROP = 8.0", "the integral's tails"),
            (
                "                reach[high] *= 1.5\n                continue\n",
                "                pass\n",
                "leaning level sets are cut",
            ),
            ("float(np.max(grid)) - DROP + 5.0", "float(np.max(grid))", "no edge is ever too near"),
            (
                "part % 2 == 0 for part in numbers",
                "part % 3 == 0 for part in numbers",
                "the coarse rule",
            ),
        ],
    ),
    "lms/theorems.py": (
        (*NET, *CONDITIONS),
        [
            (
                "bound = at.loss / room + at.square / t.eta if",
                "bound = 2.0 * at.loss / room + at.square / t.eta if",
                "L(h) doubled",
            ),
            (
                "bound = at.loss / room + at.square / t.eta if",
                "bound = at.loss / room + 2.0 * at.square / t.eta if",
                "|h|^2 doubled",
            ),
            (
                "bound = loss + _tuned(budgets, given)",
                "bound = loss + 2.0 * _tuned(budgets, given)",
                "the price of budgets doubled",
            ),
            (
                "2.0 * math.sqrt(budgets.loss) * reach + reach * reach",
                "2.0 * math.sqrt(budgets.loss) * reach + 2.0 * reach * reach",
                "H^2 X^2 doubled",
            ),
            (
                "met=loss <= budgets.loss)",
                "met=loss <= 10.0 * budgets.loss)",
                "a loss beyond its budget",
            ),
            (
                "met=norm <= budgets.norm * (1 + 1e-12)",
                "met=norm <= budgets.norm * 2.0",
                "a norm beyond its budget",
            ),
            (
                "met=t.peak <= given * (1.0 + 1e-12)",
                "met=t.peak <= given * 4.0",
                "k(x, x) beyond X^2",
            ),
            ("met=t.eta * t.peak < 1.0", "met=t.eta * t.peak < 10.0", "a rate too high"),
            (
                "np.min(t.paid - t.price * np.log(t.weights))",
                "np.min(t.paid - 2.0 * t.price * np.log(t.weights))",
                "the price of a width doubled",
            ),
            (
                "t, _soft(t, t.paid), statement",
                "t, float(np.min(t.paid - t.price * np.log(t.weights))), statement",
                "the mixture form as loose as the best width",
            ),
            (
                "loss / room + square / t.eta for loss",
                "loss / room + 2.0 * square / t.eta for loss",
                "Theorem 1's |h|^2 doubled",
            ),
            (
                "room = max(1.0 - t.eta * t.peak, 1e-300)",
                "room = max(1.0 - t.eta, 1e-300) / 2.0",
                "Theorem 1's room halved",
            ),
            (
                "fits = (loss <= budgets.loss) & (norm <= budgets.norm)",
                "fits = loss <= budgets.loss",
                "(6) for the loss only",
            ),
            (
                "sup - t.price * np.log(mass)",
                "sup - 2.0 * t.price * np.log(mass)",
                "Theorem 1's logarithm doubled",
            ),
            (
                "+ _tuned(budgets, 1.0)",
                "+ 2.0 * _tuned(budgets, 1.0)",
                "Theorem 1's price of budgets doubled",
            ),
            ("reach = 5.0 * scale", "reach = 50.0 * scale", "Theorem 2's constant"),
            (
                "bound = loss + 2.0 * math.sqrt(L_hat) * H_hat",
                "bound = loss + 4.0 * math.sqrt(L_hat) * H_hat",
                "Theorem 2's price",
            ),
            (
                "covered = own is not None and own <= bound",
                "covered = True",
                "Theorem 2 for coarse widths",
            ),
            ("met=norm >= 1.0", "met=True", "Theorem 2 for small h"),
            (
                "plus @ gram @ plus + minus @ gram @ minus",
                "plus @ gram @ plus",
                "half of the surfeit",
            ),
            (
                'return "upper bound" if seen.complete else "report"',
                'return "upper bound"',
                "a window claims",
            ),
        ],
    ),
    "lms/rates.py": (
        NET,
        [
            (
                "math.sqrt(budgets.loss / peak) / budgets.norm",
                "math.sqrt(budgets.loss) / budgets.norm",
                "(7) without X",
            ),
            ("DEFAULT / peak if", "DEFAULT if", "the rate for a larger kernel"),
        ],
    ),
    "lms/comparators.py": (
        NET,
        [
            (").tolist()) + self.spread", ").tolist())", "what repeated patterns differ in"),
            (
                "s / (s * s + a) * target",
                "s / (s * s + 2.0 * a) * target",
                "not the best expansion",
            ),
        ],
    ),
    "sparse/theorems.py": (
        SPARSE,
        [
            ("- 2.0 * float(state[MOMENT] @ w)", "- float(state[MOMENT] @ w)", "the fit"),
            ("2.0 * n * ratio", "n * ratio", "half of the published price"),
            ("loss <= fit + price else", "loss <= fit + 2.0 * price else", "it held or failed"),
            ("met=passes == 1.0 and floor == 0.0", "met=True", "more passes than the theorem's"),
            ("best = square - float(", "best = square - 0.5 * float(", "the best ridge expert"),
        ],
    ),
    "experts/theorems.py": (
        POOL,
        [
            (
                "np.abs(t.log_prior) / t.rate + t.staying",
                "2.0 * np.abs(t.log_prior) / t.rate + t.staying",
                "ln 1/p doubled",
            ),
            (
                "np.abs(t.log_prior) / t.rate + t.staying",
                "np.abs(t.log_prior) / t.rate",
                "staying is free",
            ),
            ("return best - math.log(total) / t.rate", "return best", "no mixture"),
            (
                "bound=bound + (t.over if learned else 0.0)",
                "bound=bound + (2.0 * t.over if learned else 0.0)",
                "rounds beyond the range charged twice",
            ),
            (
                "bound=bound + (t.over if learned else 0.0)",
                "bound=bound",
                "rounds beyond the range are free",
            ),
            ("met=t.outside == 0)", "met=t.outside <= 1)", "one outcome beyond the range"),
            ("bound=t.best_sequence", "bound=2.0 * t.best_sequence", "Fixed Share's bound doubled"),
            ("stays = -(T - 1 - k)", "stays = -(T - k)", "one stay too many"),
            (
                "(k + 1) * math.log(N) + switches",
                "(k + 2) * math.log(N) + switches",
                "one expert too many",
            ),
            ("k * -math.log(s) if s > 0.0", "2 * k * -math.log(s) if s > 0.0", "switches doubled"),
            ("met=s > 0.0 or k == 0", "met=True", "switches without a share"),
            (
                "t.rate * t.rounds * t.width**4 / 8.0",
                "t.rate * t.rounds * t.width**4 / 4.0",
                "Hoeffding's price doubled",
            ),
            (
                "if game.scale <= 0.5 * (1.0 + 1e-12):",
                "if game.scale <= 2.0:",
                "exp-concave where it is not",
            ),
            (
                "met=t.reach <= t.width * t.width * (1.0 + 1e-12)",
                "met=True",
                "experts out of reach",
            ),
            (
                "c.about == _about(game) and",
                "True and",
                "a certificate of another loss is chained",
            ),
            (
                "if best is None or c.bound + price < best[0]:",
                "if True:",
                "the last cell, not the best",
            ),
            (
                "                best = c.bound + price, name",
                "                best = c.bound, name",
                "the pool's price is dropped from the chain",
            ),
            ("loss=t.worst if spoken else 0.0", "loss=0.0", "the worst round is not shown"),
        ],
    ),
    "losses.py": (
        POOL,
        [
            (
                "return Game(loss, SUBSTITUTED, span(outcome_range), 2.0)",
                "return Game(loss, SUBSTITUTED, span(outcome_range), 1.0)",
                "half of the rate",
            ),
            (
                "return Game(loss, SUBSTITUTED, (0.0, 1.0), 2.0)",
                "return Game(loss, SUBSTITUTED, (0.0, 1.0), 2.5)",
                "Brier's rate too high",
            ),
            ("    scale = 0.5\n", "    scale = 0.25\n", "exponential weights too slow"),
            (
                "if self.binary and y not in (0.0, 1.0):",
                "if self.binary and not 0.0 <= y <= 1.0:",
                "outcomes between 0 and 1",
            ),
            ("if not abs(y) <= LARGEST:", "if abs(y) > LARGEST:", "NaN outcomes"),
        ],
    ),
}
