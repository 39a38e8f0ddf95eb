"""Every numbered statement of the five papers: where it lives here, its status, the test.

    python tests/truth.py            writes docs/truth.md (`make truth`)

tests/test_truth.py fails if a statement has no row, or a row names a test that is not there.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "truth.md"

PAPERS = {
    "ZV": "F. Zhdanov and V. Vovk, Competing with Gaussian linear experts",
    "H": "M. Herbster, Relative loss bounds for predicting almost as well as any function in a "
    "union of Gaussian reproducing kernel spaces with varying widths",
    "KN": "S. Kakade and A. Ng, Online bounds for Bayesian algorithms",
    "BK": "S. Busuttil and Y. Kalnishkan, Online regression competitive with changing predictors",
    "JB": "W. Jamil and A. Bouchachia, Online Bayesian shrinkage regression",
}

# What a reading of each paper found that has a number, in its order; and two that have none.
STATEMENTS: dict[str, tuple[str, ...]] = {
    "ZV": (
        "Algorithm 1", "Theorem 1", "(1)", "Corollary 1", "(2)", "(3)", "factor 3/(2 ln 2)",
        "Corollary 2", "(4)", "Corollary 3", "(5)", "(6)", "(7)", "Algorithm 2", "(8)", "(9)",
        "Lemma 1", "(10)", "(11)", "(12)", "Lemma 2", "(13)", "Remark 1", "Lemma 3", "Theorem 2",
        "(14)", "(15)", "(16)", "Theorem 3", "(17)", "Theorem 4", "Corollary 4", "(18)",
        "a = c sqrt(T)", "(19)", "(20)",
    ),
    "H": (
        "Algorithm 1", "(1)", "(2)", "(3)", "(4)", "Theorem 1", "(5)", "(6)", "(7)",
        "Definition 1", "(8)", "Lemma 1", "(9)", "(10)", "(11)", "(12)", "(13)", "(14)", "(15)",
        "(16)", "(17)", "Theorem 2", "(18)", "(19)", "(20)",
    ),
    "KN": (
        "(1)", "(2)", "Lemma 2.1", "(3)", "Theorem 2.2", "(4)", "(5)", "Theorem 2.3", "(6)", "(7)",
        "(8)", "(9)", "(10)", "(11)", "Corollary 3.1", "Theorem 3.2", "Theorem 3.3",
    ),
    "BK": (
        "(1)", "(2)", "(3)", "Theorem 1", "Theorem 2", "Corollary 1", "(4)", "(5)", "Theorem 3",
        "(6)", "Theorem 4", "(7)", "(8)", "(9)", "Corollary 2", "Corollary 3", "Lemma 1",
        "Lemma 2", "Lemma 3", "Lemma 4",
    ),
    "JB": (
        "(1)", "(2)", "Lemma 1", "Lemma 2", "Remark 1", "(3)", "Lemma 3", "(4)", "Theorem 1",
        "(5)", "(6)", "(7)", "(8)", "Algorithm 1", "Remark 2", "Theorem 2", "(9)", "Lemma 4",
        "Remark 3", "(10)", "Remark 4", "(12)", "Corollary 1", "(13)", "Theorem 3",
    ),
}  # fmt: skip


class Row(NamedTuple):
    """One statement."""

    numbers: str  # one or several numbers of one statement, by commas
    says: str
    where: str  # function, certificate, equation of docs/theory.md
    status: str
    test: str  # file::function, from tests/


PROVED, HOLDS = "proved here", "holds as printed"
DENSE = "gaussian/test_bounds_dense.py::test_certificates_are_the_theorems_numbers"
KERNELS = "gaussian/test_kernels.py::test_every_certificate_holds_in_every_round"
CHANGING = "gaussian/test_theorems.py::test_changing_experts_comparator_and_determinant"
LINE = "test_papers.py::test_zv_bayesian_algorithm_on_a_line"
NET = "lms/test_bounds_net.py::test_a_net_is_its_definition"
HERBSTER = "test_papers.py::test_h_lemma_1_and_the_inequalities_of_its_proof"
BAYES = "test_papers.py::test_kn_6_to_11_are_bayesian_ridge"
APPENDIX = "test_papers.py::test_bk_lemmas_of_the_appendix"
PASS = "sparse/test_oslog.py::test_one_pass_from_any_state_is_the_formula"
REFUTED = "sparse/test_oslog_bounds.py::test_the_published_bound_fails"
LEMMAS = "test_papers.py::test_jb_lemmas_1_and_2"
VARIANCE = "sparse/test_oslog.py::test_the_variance_is_not_that_of_lemma_3"
LEMMA_4 = "test_papers.py::test_jb_2_is_no_density_and_lemma_4_no_identity"
LAST = "test_papers.py::test_jb_corollary_1_and_theorem_3"

ROWS: dict[str, tuple[Row, ...]] = {
    "ZV": (
        Row(
            "Algorithm 1",
            "online ridge regression",
            "`Ridge`; (3.2) to (3.7), by rotations",
            HOLDS,
            "gaussian/test_theorems.py::test_comparator_is_the_batch_solution",
        ),
        Row(
            "Theorem 1, (1)",
            "sum (y - m)^2/d = min_w (L(w) + a|w|^2)",
            "certificate *Zhdanov-Vovk Theorem 1*; (2.5)",
            f"{PROVED}, twice",
            DENSE,
        ),
        Row(
            "Corollary 1, (2)",
            "clipped ridge: V + 4Y^2 ln det",
            "certificate *Zhdanov-Vovk Corollary 1*; (5.4); sharper: leverage form (5.3)",
            f"{PROVED}, sharper",
            DENSE,
        ),
        Row(
            "(3)",
            "ln det <= n ln(1 + TX^2/a)",
            "certificates *..., a priori*; (4.4)",
            PROVED,
            "test_papers.py::test_zv_3_and_16",
        ),
        Row(
            "factor 3/(2 ln 2)",
            "the 4 of (2) cannot be below 2.164",
            "`adversaries.doubling`; docs/adversaries.md",
            "holds: 2.156 needed at T = 400",
            "test_adversaries.py::test_no_smaller_factor_will_do",
        ),
        Row(
            "Corollary 2, (4)",
            "ridge: (1 + Z^2/a) V, no bound on y",
            "certificate *Zhdanov-Vovk Corollary 2*; (5.1)",
            f"{PROVED}, tight",
            DENSE,
        ),
        Row(
            "Corollary 3, (5), (6), (7)",
            "loss over V tends to 1, or both stay finite",
            "`Ridge.loss_ratio`, a report",
            'holds; "limsup replaced by limsup" means lim. A '
            "limit: the ratio is reported, nothing is claimed",
            "gaussian/test_seed_corollaries.py::test_the_ratio_of_corollary_3_tends_to_1",
        ),
        Row(
            "Algorithm 2, (8), (9)",
            "the Bayesian Algorithm: weights, mixture",
            "`BayesianAlgorithm`; (12.1)",
            HOLDS,
            LINE,
        ),
        Row(
            "Lemma 1, (10)",
            "its log loss is -ln of the weighted mean of exp(-L)",
            "certificate *Bayesian Algorithm*; (12.2)",
            PROVED,
            LINE,
        ),
        Row(
            "(11), (12), Lemma 2, (13), Remark 1",
            "over Gaussian experts it is Bayesian ridge",
            "`BayesianRidge.predictive`; (5.11)",
            f"{HOLDS} (n = 1 by quadrature)",
            LINE,
        ),
        Row("Lemma 3", "the Gaussian integral", "used in (5.12)", HOLDS, LINE),
        Row(
            "Theorem 2, (14)",
            "log loss = min_w (...) + 1/2 ln det",
            "certificate *Zhdanov-Vovk Theorem 2*; (5.12)",
            f"{PROVED}; its proof calls another matrix A_T",
            DENSE,
        ),
        Row(
            "(15)",
            "... + n/2 ln(1 + TX^2/a)",
            "certificate *Zhdanov-Vovk Theorem 2 (15)*; (5.13)",
            PROVED,
            DENSE,
        ),
        Row(
            "(16)",
            "det(I + X'X/a) = product of the d_t",
            "(2.6), (3.7)",
            PROVED,
            "test_papers.py::test_zv_3_and_16",
        ),
        Row(
            "Theorem 3, (17)",
            "Theorem 1 for functions of a kernel's space",
            "certificate *Zhdanov-Vovk Theorem 3*; (11.2)",
            PROVED,
            KERNELS,
        ),
        Row(
            "Theorem 4",
            "Theorem 2 for functions",
            "certificate *Zhdanov-Vovk Theorem 4*",
            PROVED,
            KERNELS,
        ),
        Row(
            "Corollary 4, (18)",
            "Corollary 1 for functions",
            "certificate *Zhdanov-Vovk Corollary 4*",
            PROVED,
            KERNELS,
        ),
        Row(
            "a = c sqrt(T)",
            "clipped: L(f) + c(|f|^2 + 4Y^2) sqrt(T)",
            "`kernels.clipped_precision`; certificate *Zhdanov-Vovk Corollary 4, horizon form*",
            f"{PROVED}, at the announced T alone",
            "gaussian/test_seed_corollaries.py::test_clipped_kernel_ridge_at_a_known_horizon",
        ),
        Row(
            "(19)",
            "no horizon known: a mixture over a",
            "`RidgeMixture`; certificate *Zhdanov-Vovk (19)*; (12.9)",
            f"{PROVED}, with better "
            "constants, for the Aggregating Algorithm over AAR (the paper omits its proof)",
            "experts/test_ridge_mixture.py::"
            "test_the_loss_is_within_19_of_every_expert_the_grid_reaches",
        ),
        Row(
            "(20)",
            "competitive with all continuous functions",
            "`RidgeMixture(kernel=...)`",
            "follows from (19) for the mixture; not for one fixed a; X there means the kernel",
            "experts/test_ridge_mixture.py::test_the_price_per_round_vanishes_so_that_20_follows",
        ),
    ),
    "H": (
        Row(
            "Algorithm 1, (1), (2), (3), (4)",
            "K-LMS-NET",
            "`KLMSNet`; 15.2",
            "holds; clipped losses in the weights, never worse than the printed cap",
            NET,
        ),
        Row(
            "Theorem 1, (5), (6), (7)",
            "loss within 2 sqrt(L^) H^ X^ + ... of every width's",
            "certificate *Theorem 1*; 15.3",
            "corrected: 2 sqrt(L^H^X^) and k <= X^ are false as "
            "printed (identity kernel, y = 1, T = 100, H = 5: 100 > 72.4; k = X^ = 1/4, y = 1, "
            "|h| = 2, T = 10: 17 > 1/4); with sqrt(L^) H^ X^ and k <= X^^2 true and tight",
            "lms/test_klms_bounds.py::test_the_printed_theorem_1_is_false_and_the_corrected_one_tight",
        ),
        Row(
            "Definition 1, (8)",
            "the surfeit",
            "`Expansion`; bounded by the signs as given",
            HOLDS,
            "lms/test_klms_bounds.py::test_surfeit_follows_the_decomposition",
        ),
        Row(
            "Lemma 1, (9), (10), (11), (12)",
            "an expansion at a slightly narrower width",
            "used by certificate *Theorem 2*; 15.3",
            HOLDS,
            HERBSTER,
        ),
        Row("(13), (14), (15), (16), (17)", "steps of its proof", "15.3", HOLDS, HERBSTER),
        Row(
            "Theorem 2, (18), (19), (20)",
            "loss against every width's functions",
            "certificate *Theorem 2*; 15.3",
            "corrected: it needs |h| >= 1 and max|r| >= 1, which "
            "it does not say; claimed for the finite mixture where that is no smaller",
            "lms/test_bounds_net.py::test_theorems_1_and_2",
        ),
    ),
    "KN": (
        Row(
            "(1), (2), (3)",
            "the two models and their curvature",
            "`BayesianRidge`, `BayesianLogistic`; section 14",
            "holds; |f''| <= 1 is 1/4 at the most",
            "test_papers.py::test_kn_curvatures",
        ),
        Row(
            "Lemma 2.1",
            "log loss <= L_Q + KL(Q | prior) for every Q",
            "`BayesianRidge.certificates_against`; gaussian/variational.py; section 14",
            f"{PROVED}, as the equality with - KL(Q | posterior)",
            "gaussian/test_seed_corollaries.py::test_lemma_21_against_any_gaussian_over_experts",
        ),
        Row(
            "Theorem 2.2, (4)",
            "... + n/2 ln(1 + Tc nu^2/n)",
            "certificate *Kakade-Ng Theorem 2.2*; (5.14), (14.1)",
            f"{PROVED}, sharper: 1/2 ln det; f needs two derivatives",
            DENSE,
        ),
        Row(
            "(5)",
            "KL of N(th, e^2 I) from the prior",
            "section 14",
            HOLDS,
            "test_papers.py::test_kn_5_divergence_from_the_prior",
        ),
        Row(
            "Theorem 2.3",
            "nobody beats Bayes",
            "`adversaries.BayesOpponent`; docs/adversaries.md",
            'holds; "floor(T/n) subsequences" means n blocks of floor(T/n)',
            "test_adversaries.py::test_nobody_beats_bayes",
        ),
        Row(
            "(6), (7), (8), (9), (10), (11)",
            "posterior, forecasts and losses",
            "`BayesianRidge`; (5.11)",
            "corrected: b_t needs 1/s^2 (with A_t as printed), weights are 1/s_t^2",
            BAYES,
        ),
        Row(
            "Corollary 3.1",
            "ridge: (1 + Z^2/a)(V + s^2 n ln(...))",
            "certificate *Kakade-Ng Corollary 3.1*; (5.15)",
            "corrected: s^2 in the logarithm of "
            "its proof; b_t as printed breaks it (x = y = 1, T = 20, nu = 1, s = 0.1: 9.81 > "
            "4.34); "
            "the logarithm is superfluous by ZV (4)",
            "test_papers.py::test_kn_b_without_the_noise_breaks_corollary_31",
        ),
        Row(
            "Theorem 3.2",
            "ridge has linear regret",
            "`adversaries.reversal`; docs/adversaries.md",
            "conclusion holds, constants corrected: inf = T/3, not T/4; gap T/24, not T/8",
            "test_adversaries.py::test_reversal_in_rational_arithmetic",
        ),
        Row(
            "Theorem 3.3",
            "MAP logistic: 4 L(w) + ...",
            "certificate *Kakade-Ng Theorem 3.3*; (14.2)",
            "holds, the printed proof for n = 1; sharper here: (1 + nu^2 Z^2) min F",
            "glm/test_logistic_bounds.py::test_theorem_3_3_where_it_applies",
        ),
    ),
    "BK": (
        Row(
            "(1)",
            "loss of the mixture with fixed weights",
            "(12.2)",
            PROVED,
            "experts/test_pool.py::test_forecasts_weights_and_mixes_are_those_of_the_twin",
        ),
        Row(
            "(2), (3)",
            "square loss is mixable up to 1/(2Y^2), by substitution",
            "native/mixing.hpp; (12.3)",
            f"{HOLDS}; at 1.02 times the rate no forecast will do",
            "test_papers.py::test_bk_2_and_3_square_loss_is_mixable_at_the_rate_and_not_above",
        ),
        Row(
            "Theorem 1",
            "AAR: V + Y^2 ln det",
            "certificate *Busuttil-Kalnishkan Theorem 1*; (5.9)",
            f"{PROVED}, as the equality (5.7)",
            DENSE,
        ),
        Row(
            "Theorem 2",
            "KAAR",
            "certificate *Busuttil-Kalnishkan Theorem 2*; section 11",
            PROVED,
            KERNELS,
        ),
        Row(
            "Corollary 1",
            "KAAR: ad^2 + Y^2c^2T/a, 2Ycd sqrt(T)",
            "`kernels.horizon_precision`; certificate *Busuttil-Kalnishkan Corollary 1*",
            f"{PROVED}, at the announced T",
            "gaussian/test_kernels.py::test_horizon_precision_gives_the_square_root_bound",
        ),
        Row(
            "(4), (5)",
            "AARCh, primal and dual",
            "`AAR(drift=...)`; (6.7), (6.8)",
            f"{PROVED}: both are m/d",
            CHANGING,
        ),
        Row(
            "Theorem 3, (6)",
            "AARCh: V + Y^2 ln det",
            "certificate *Busuttil-Kalnishkan Theorem 3*; (6.2)",
            PROVED,
            CHANGING,
        ),
        Row(
            "Theorem 4, (7)",
            "KAARCh",
            "certificate *Busuttil-Kalnishkan Theorem 4*",
            PROVED,
            "gaussian/test_kernels.py::test_changing_functions_equal_the_papers_formula",
        ),
        Row(
            "(8)",
            "(7) for finite sums",
            "section 16",
            "false as printed, with f_t alone: x = 1, "
            "y = (-1)^t, a_t = 3, T = 200, f_t = y_t/4: 267.28 > 263.48; right with "
            "f_1 + ... + f_t",
            "test_papers.py::test_bk_8_as_printed_is_false",
        ),
        Row(
            "(9)",
            "the price of changes",
            "certificate *Busuttil-Kalnishkan Corollary 2 (9)*",
            PROVED,
            KERNELS,
        ),
        Row(
            "Corollary 2",
            "2Ycd_1 sqrt(T) + 2Yc sqrt(sT(T-1)/2)",
            "`kernels.horizon_drift`",
            f"{PROVED}, at the announced T",
            "gaussian/test_kernels.py::test_horizon_drift_gives_corollary_two",
        ),
        Row(
            "Corollary 3",
            "changes of d/T^(1/2+e): O(T^max(1/2, 1-e))",
            "`kernels.decaying_change`; section 11",
            f"{PROVED}: sqrt(2) Ycd T^(1-e), at the announced T",
            "gaussian/test_seed_corollaries.py::test_experts_whose_changes_decay",
        ),
        Row(
            "Lemma 1, Lemma 2, Lemma 3, Lemma 4",
            "of the appendix",
            "used in the proofs of 2 and 6",
            HOLDS,
            APPENDIX,
        ),
    ),
    "JB": (
        Row(
            "(1)",
            "the lasso",
            "`SLOG`; section 13",
            "holds; its lambda is 2a",
            "sparse/test_oslog_lasso.py::test_endless_passes_are_the_lasso",
        ),
        Row(
            "(2)",
            "the prior",
            "section 16",
            "false: no density (mass 8.86 at n = 1, a eta = 100, "
            "D = 1); the constant is (a eta/pi)^(n/2) det D^(-1/2)",
            LEMMA_4,
        ),
        Row("Lemma 1", "the inverse without D^-1", "(13.1)", HOLDS, LEMMAS),
        Row("Lemma 2, Remark 1, (3)", "completing the square", "section 13", HOLDS, LEMMAS),
        Row(
            "Lemma 3, (4)",
            "the posterior",
            "`OSLOG.predictive`; section 13",
            "corrected: the mean "
            "is right, the covariance is s^2 A^-1, not A^-1/(2s^2) (n = 1, s^2 = 3: 0.324, not "
            "0.018), for fixed D",
            VARIANCE,
        ),
        Row(
            "Theorem 1, (5), (6), (7)",
            "the predictive distribution",
            "`OSLOG.predictive`",
            "corrected: variance s^2 x'A^-1x + s^2 (3.159, not 0.009); signs of (7)",
            VARIANCE,
        ),
        Row("(8)", "square loss, multiplied out", "section 13", HOLDS, LEMMAS),
        Row("Algorithm 1", "OSLOG", "`OSLOG`; (13.1)", HOLDS, PASS),
        Row(
            "Remark 2",
            "passes converge to the lasso",
            "`OSLOG(passes=inf)`, `SLOG`",
            "corrected: a bounded sequence has a convergent subsequence; the objective never rises",
            "sparse/test_oslog_lasso.py::test_the_objective_never_rises",
        ),
        Row(
            "Theorem 2, (9)",
            "logarithmic regret",
            "report *OSLOG Theorem 2 as published*; docs/oslog.md",
            "false: T = 1, x = 1, y = -1, a = 1 has loss 4 > 3.514; y_1 = 1/90!, "
            "then x = y = 1: 91.4 > 8.9, regret linear in T",
            REFUTED,
        ),
        Row(
            "Lemma 4, Remark 3, (10)",
            "the loss is the integral",
            "docs/oslog.md",
            "false: x = 1, "
            "y = -1, a = 1 loses 4; the integral is 12.56, with a normalised prior 3.27 < 4",
            LEMMA_4,
        ),
        Row(
            "Remark 4",
            "the integral's value",
            "as ZV Lemma 3",
            "holds; the second differential is positive",
            LINE,
        ),
        Row(
            "(12)",
            "ln det A <= n ln((a + CTR^2)/C)",
            "docs/oslog.md",
            "false for n >= 2: w = (1, 1e-6), a = C = 1, X = 0: 13.8 > 0; it needs min|w_i| >= C",
            "test_papers.py::test_jb_12_needs_every_weight",
        ),
        Row(
            "Corollary 1",
            "(9) with (12)",
            "docs/oslog.md",
            "false: x = 1/2, y = 1, a = 10.2, T = 200: 57.86 > 22.11; D^(1/2) means D^(-1/2)",
            LAST,
        ),
        Row(
            "(13)",
            "AAR's guarantee",
            "certificate *Busuttil-Kalnishkan Theorem 1, a priori*; (5.10)",
            PROVED,
            DENSE,
        ),
        Row(
            "Theorem 3",
            "OSLOG's guarantee is better than AAR's",
            "docs/oslog.md",
            "compares a false formula: same data, loss 57.86 > AAR's bound 35.66",
            LAST,
        ),
    ),
}


def numbers_of(row: Row) -> list[str]:
    """The numbers of a row, one by one."""
    return [number.strip() for number in row.numbers.split(",")]


def exists(test: str) -> bool:
    """Whether tests/ has this function in this file."""
    path, _, name = test.partition("::")
    file = HERE / path
    if not file.exists():
        return False
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return any(isinstance(node, ast.FunctionDef) and node.name == name for node in tree.body)


INTRODUCTION = """\
# What the papers say, and what is true

Written by `make truth` from tests/truth.py. Every numbered statement of the five papers, where it
lives here, and the test that shows its status; numbers such as (5.4) are those of
[theory.md](theory.md). *Proved here*: theory.md has a proof of our own. *Corrected*: a slip, and
what is meant. *False*: with the numbers of a counterexample. A statement without a row, or a row
without its test, fails tests/test_truth.py.
"""


def page() -> str:
    """docs/truth.md."""
    lines = [INTRODUCTION]
    for paper, title in PAPERS.items():
        lines += [
            f"## {paper}: {title}",
            "",
            "| | says | here | status | test |",
            "|---|---|---|---|---|",
        ]
        for row in ROWS[paper]:
            cells = [row.numbers, row.says, row.where, row.status, f"`{row.test}`"]
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(
        f"wrote {PAGE.relative_to(HERE.parent)}: {sum(map(len, STATEMENTS.values()))} statements\n"
    )
