"""Mutants of the compiled loops, by header."""

from __future__ import annotations

from table_core import KERNEL, LINEAR
from table_pools import POOL

SPARSE = (
    "test_native.py",
    "sparse/test_bounds_sparse.py",
    "sparse/test_oslog.py::test_a_weight_that_only_idle_ones_drive_is_exact_too",
    "sparse/test_oslog.py::test_one_pass_from_any_state_is_the_formula",
    "sparse/test_oslog_hostile.py::test_a_refused_round_does_not_change_what_the_learner_says",
    "sparse/test_oslog_lasso.py",
)
BINARY = (  # all but exact averaging, which takes long
    "glm/test_bounds_binary.py::test_the_mode",
    "glm/test_bounds_binary.py::test_improper_learning",
    "glm/test_bounds_binary.py::test_losses_of_margins_at_every_size",
    "glm/test_bounds_binary.py::test_moment_matching_of_one_round",
    "glm/test_bounds_binary.py::test_moment_matching_of_probits",
    "glm/test_bounds_binary.py::test_the_mode_after_a_great_surprise",
    "glm/test_bounds_binary.py::test_online_newton_is_its_definition",
    "glm/test_logistic.py::test_improper_forecasts_minimise_the_stated_objective",
    "glm/test_logistic_methods.py::test_tierney_kadane_is_its_formula",
    "glm/test_logistic_methods.py::test_sums_at_the_last_mode_go_on_with_the_bits_of_sums_begun_anew",
)
NET = ("lms/test_bounds_net.py", "lms/test_klms.py", "lms/test_klms_hostile.py")
GRID = ("test_native.py", "experts/test_auto.py", "experts/test_bounds_pools.py")
CLOUD = ("test_native.py", "glm/test_bounds_binary.py")
TREES = ("experts/test_mondrian.py",)
LABEL_TREES = ("experts/test_mondrian_classifier.py",)
ROWS = ("test_native.py", "learner/test_one_by_one.py")
CASCADE = ("gaussian/test_cascade.py",)
PLAIN = ("experts/test_pool_rounds.py", *POOL)
AUTO = (
    "experts/test_auto.py::test_the_loop_forecasts_what_replay_does",
    "experts/test_auto.py::test_a_forecast_in_between_changes_nothing_that_is_learned",
)
RULE_POOL = (
    "experts/test_rule_pool.py",
    "experts/test_rule_pool.py::test_equal_to_the_formulas",
)

FLEET = ("fleet/test_fleet.py", "fleet/test_fleet_file.py")

MUTANTS = {
    "native/fleet.hpp": (
        FLEET,
        [
            ("case 1: to[k] = from[k];", "case 1: break;", "the last number of a run is left out"),
            (
                "at[ROOTED] = last_[0], at[PASSED] = last_[1];",
                "at[ROOTED] = last_[0];",
                "rounds passed are those of the key before",
            ),
            (
                "last_[0] = work(AT, ROOTED), last_[1] = work(AT, PASSED);",
                "last_[1] = work(AT, PASSED);",
                "the form of a drifting core is forgotten",
            ),
            (
                "at[FRESH] = 0.0, at[ROOTED]",
                "at[ROOTED]",
                "a key is forecast by the look of another",
            ),
            (
                "            state_ = fresh_;\n",
                "            return;\n",
                "a new key is forecast by the state of another",
            ),
            ("held[wide - 1] = now;", "held[wide - 1] = 0.0;", "when a key learned is not kept"),
            (
                "shared(where_[next_]) != mine_) ++next_;",
                "shared(where_[next_]) == mine_) ++next_;",
                "rows of a key shared by several threads",
            ),
            (
                "if (!std::isfinite(at[ROOT])) return false;",
                "",
                "a spread beyond float64 with new features",
            ),
            (
                "plan.prior_var + plan.drift * at[PASSED]",
                "plan.prior_var",
                "new features have not drifted",
            ),
            (
                "while (t < before && !failed",
                "while (t > before && !failed",
                "a failed row goes unnoticed",
            ),
        ],
    ),
    "native/keys.hpp": (
        FLEET,
        [
            (
                ">= ((j - i) & mask())) table_[i] = table_[j], i = j;",
                "> ((j - i) & mask())) table_[i] = table_[j], i = j;",
                "keys behind a dropped one are lost",
            ),
            ("if (!free_.empty()) free_.pop_back();", "", "a free slot is given out twice"),
            ("if (kept_.at(table_[i] - 1) == key)", "if (true)", "keys that collide are one"),
            (
                "if (4 * (size() + 1) > 3 * table_.size())",
                "if (4 * (size() + 1) > 5 * table_.size())",
                "the table overflows",
            ),
            (
                "Span span{arena.size(), key.size()};",
                "Span span{arena.size(), key.size() / 2};",
                "half of a text is kept",
            ),
        ],
    ),
    "native/primal.hpp": (
        (*CASCADE, *LINEAR),
        [
            (
                "    if (!std::isfinite(beta)) return OVERFLOWS;\n",
                "",
                "a look's spread may overflow",
            ),
            (
                "    for (Size k = 0; k < m; ++k)\n        if (!std::isfinite(mean[k])) return OVERFLOWS;\n",
                "",
                "a look's mean may overflow",
            ),
            ("? (held - total) + term", "? (total - held) + term", "sign of the compensation"),
            (
                ": (term - total) + held",
                ": (total - term) + held",
                "sign of the other compensation",
            ),
            ("sum[1] += held >= term", "sum[1] += 0.0; held >= term", "no compensation"),
            ("held >= term ?", "held <= term ?", "which term is the larger"),
            ("if (std::isfinite(total))", "if (true)", "infinite sums poison the compensation"),
            (
                "u[n + k] = given ? given[k] : 0.0;",
                "u[n + k] = given ? given[k] : u[n + k];",
                "means not cleared",
            ),
            ("mean[k] = 0.0 - u[n + k];", "mean[k] = u[n + k];", "means of the wrong sign"),
            (
                "take = vi * before * shrunk[i];",
                "take = -vi * before * shrunk[i];",
                "rotation the wrong way",
            ),
            ("keep = beta * shrunk[i]", "keep = shrunk[i]", "rows shrink twice"),
            (
                "four(u + right) = corner = panels",
                "four(u + right) = panels",
                "the next panel of a substitution before its time",
            ),
            (
                "== square && panels::empty(solved.v);",
                "== square;",
                "panels of tiny v are passed over",
            ),
            (
                "right - i == SIDE) four(u + i) = solved.left;",
                "false) corner = Four{};",
                "z of the last rows",
            ),
            ("square = solved.square[3];", "", "a spread of the last rows alone"),
            (
                "beta = grown[i + ROWS - 1], before",
                "beta = 1.0, before",
                "panels that know nothing of one another",
            ),
            ("if (!panels::full<ROWS>(", "if (false && !panels::full<ROWS>(", "rows of v = 0 turn"),
            (
                "        if (!(square < SAFE * SAFE)) lengthen(work, n);\n",
                "",
                "squares overflow in panels",
            ),
            (
                "    if (!(square < SAFE * SAFE)) return lengthen(work, n);\n",
                "",
                "squares overflow in narrow rows",
            ),
            (
                "if (vi != 0.0) beta = lengthened(",
                "if (vi == 0.0) beta = lengthened(",
                "long rows as if they were short",
            ),
            (
                "four(shrunk + i) = 1.0 / roots;",
                "four(shrunk + i) = 1.0 / solved.square;",
                "1/d for 1/sqrt(d) in panels",
            ),
            (
                "shrunk[i] = 1.0 / grown[i];",
                "shrunk[i] = grown[i];",
                "beta for 1/beta in narrow rows",
            ),
            ("u[k] = a - v * r;", "u[k] = a;", "a rotation half done"),
            ("u[k] -= v * row[k];", "u[k] += v * row[k];", "substitution with the wrong sign"),
            (
                "++k) left += (u[n + k] / beta) * (u[n + k] / beta);",
                "++k) left += u[n + k] * u[n + k] / beta;",
                "e^2/sqrt(d) for e^2/d",
            ),
            (
                "++k) left += (u[n + k] / beta)",
                "++k) left = (u[n + k] / beta)",
                "last outcome's fit only",
            ),
            (
                "double square = 1.0;\n    for (Size i = 0; i < n; ++i) {\n        double vi = v[i];",
                "double square = 2.0;\n    for (Size i = 0; i < n; ++i) {\n        double vi = v[i];",
                "removal starts from the wrong length",
            ),
            ("-(vi / shrunk / alpha)", "vi / shrunk / alpha", "removal adds"),
            (
                "left += u[n + k] * u[n + k] / square;",
                "left += u[n + k] * u[n + k];",
                "removal's fit",
            ),
            (
                "    at[ROOT] = beta;\n    at[FRESH] = 1.0;",
                "    at[ROOT] = beta;\n    at[FRESH] = 0.0;",
                "looks are never reused",
            ),
            (
                "    work(AT, FRESH) = 0.0;\n    double left = 0.0;\n"
                "    for (Size k = 0; k < m; ++k) left += (u",
                "    double left = 0.0;\n    for (Size k = 0; k < m; ++k) left += (u",
                "a look survives the round that it was for",
            ),
        ],
    ),
    "native/pieces.hpp": (
        (*CASCADE, *LINEAR),
        [
            ("return i - ((i - lead) & 3);", "return i;", "pieces begin at the diagonal"),
            ("u[k] -= v * row[k];", "u[k] += v * row[k];", "the first columns of a substitution"),
            ("four(u + k) -= v * four(row + k);", "four(u + k) -= four(row + k);", "whole pieces"),
            (
                "rest &= *reinterpret_cast<const Mask*>(RIGHT + 3 - (i - k));",
                "",
                "rounding left of the diagonal",
            ),
            ("RIGHT + 3 - (i - k)", "RIGHT + 4 - (i - k)", "the diagonal of what is left"),
        ],
    ),
    "native/cascade.hpp": (
        (*CASCADE, *LINEAR),
        [
            (
                "                if (!std::isfinite(lane.beta)) return lane.t;\n",
                "",
                "a replay's spread may overflow",
            ),
            (
                "if (!std::isfinite(mean(lane.t, k) = lane.mean[k])) return lane.t;",
                "mean(lane.t, k) = lane.mean[k];",
                "a replay's mean may overflow",
            ),
            ("left += e * e;", "left = e * e;", "last outcome's fit only"),
            ("v * lane.shrunk * now", "-v * lane.shrunk * now", "the wrong way"),
            (
                "period = T.tall > LANES * SIDE ? T.tall : LANES * SIDE;",
                "period = T.tall;",
                "a row overtakes the one before",
            ),
            ("lanes[b].at = -SIDE * b;", "lanes[b].at = 0;", "rows of data side by side"),
            (" && square[3] < SAFE * SAFE;", ";", "squares overflow in a replay"),
            (
                "            lane.u[i] = 0.0;  // as in primal::absorb\n            continue;\n",
                "",
                "rows that a round leaves alone",
            ),
            (
                "lane.square = lane.beta = lane.shrunk = 1.0;",
                "lane.square = lane.beta = 1.0;",
                "what the row before has left in its lane",
            ),
            ("            four(lane.mean + k) = Four{};\n", "", "means that nobody cleared"),
            (
                "for (Size k = i; k < n + m; ++k) factor(i, k)",
                "for (Size k = i; k < n; ++k) factor(i, k)",
                "z is left behind",
            ),
            ("before = i ? 0 : T.pad;", "before = T.pad;", "rows of v = 0 turn in a replay"),
            ("for (Size i = 0; i < pad; ++i) R(i, i) = 1.0;", "", "rows before R have no diagonal"),
        ],
    ),
    "native/panels.hpp": (
        CASCADE,
        [
            ("u2 -= v1 * at(1, 2), ", "", "a corner that is not solved"),
            ("if (ROWS > 2) v2", "if (ROWS > 3) v2", "the last rows are not solved"),
            ("s2 = s1 + v2 * v2", "s2 = s1", "a square too few"),
            (
                "std::int64_t some = zero[ROWS - 1];",
                "std::int64_t some = 0;",
                "v = 0 in the last row",
            ),
            ("some |= j < aside ? 0 : zero[j];", "", "v = 0 in the first rows"),
            (
                "(some[0] | some[1]) | (some[2] | some[3])",
                "some[0]",
                "v = 0 in the first row alone",
            ),
            ("Four{beta, grown[0], grown[1], grown[2]}", "grown", "rows shrink by beta_i/beta_i"),
            ("take(v * Four{before,", "take(-v * Four{before,", "rotation the wrong way"),
            ("            a -= v[j] * r;\n", "", "u as it was before the panel"),
            (
                "        rest &= *rein",
                "        if (false) rest &= *rein",
                "rounding left of the diagonal",
            ),
            ("            a[k] -= turns.v[j] * r;\n", "", "u as it was before the first rows"),
            ("pieces::lead(width) > n;", "false;", "rows beyond the last"),
        ],
    ),
    "native/columns.hpp": (
        ("gaussian/test_columns.py",),
        [
            (" && work(AT, RULE) < STUDENT", "", "hints and Student as if they were none"),
            (" && work(AT, FADE) == 0.0;", ";", "sums do not fade"),
            ("plain(rule, level,", "plain(CLIPPED, level,", "every rule clips"),
            ("if (rule == BAYES)", "if (false)", "square loss for log loss"),
            ("2.0 * std::log(root[t])", "std::log(root[t])", "half of the log det"),
            ("leverage[t] * (m * m)", "leverage[t] * m", "relief not squared"),
            ("page.measure(norm[t],", "page.measure(peak[t],", "|x|_inf for |x|_2"),
            ("larger(longest, norm[t])", "norm[t]", "last |x|, not the largest"),
            ("std::fabs(y[t]));", "y[t]);", "largest y without its sign"),
            (
                "ledger(ROUNDS, 0) += double(T);",
                "ledger(ROUNDS, 0) += 1.0;",
                "rounds are not counted",
            ),
            (
                "count = T - start < LENGTH ? T - start : LENGTH;",
                "count = LENGTH;",
                "rounds that are none",
            ),
        ],
    ),
    "native/small.hpp": (
        (*CASCADE, *LINEAR),
        [
            ("    u[N] = 0.0;\n", "    u[N] = work(Y, 0);\n", "the look sees the outcome"),
            ("u[i + 1] -= vi * row[i + 1];", "", "what the next row waits for"),
            ("each<i + 2, N + 1>", "each<i + 2, N>", "z is not substituted"),
            ("!std::isfinite(mean) || ", "", "a small mean may overflow"),
            (" || !std::isfinite(beta)", "", "a small spread may overflow"),
            ("if (square < SAFE * SAFE) {", "if (true) {", "small squares overflow"),
            (
                "work(SHRUNK, i) = 1.0 / grown[i];",
                "work(SHRUNK, i) = grown[i];",
                "beta for 1/beta in small rows",
            ),
            ("take = vi * before * shrunk[i]", "take = vi * shrunk[i]", "v/beta for v/beta^2"),
            ("        if (vi == 0.0) return;\n", "", "rows that a round leaves alone"),
            ("u[k] -= vi * r;", "u[k] -= vi * row[k];", "the row as it is after the rotation"),
            ("return (u[N] / beta) * (u[N] / beta);", "return u[N] * u[N];", "e^2 for e^2/d"),
        ],
    ),
    "native/hint.hpp": (
        ("gaussian/test_hint.py",),
        [
            ("0.5 * (work(HIGH, k) - work(LOW, k))", "0.0", "the least for the middle"),
            ("if (rule <= AROUND) return;", "if (rule < AROUND) return;", "a number moves"),
            (
                "bool alone = first || rule == LAST;",
                "bool alone = rule == LAST;",
                "0 is in the range",
            ),
            ("alone ? y : smaller(work(LOW, k), y)", "y", "the last for the least"),
            ("alone ? y : larger(work(HIGH, k), y)", "y", "the last for the largest"),
        ],
    ),
    "native/fading.hpp": (
        ("gaussian/test_discount.py",),
        [
            ("std::sqrt(work(AT, FADE))", "work(AT, FADE)", "gam for its root"),
            (">= FAINT) row[i] *= root;", ">= 0.0) row[i] *= root;", "pivots that vanish"),
            (
                "Size k = i + 1; k < factor.cols",
                "Size k = i + 1; k < factor.rows",
                "z does not fade",
            ),
            ("work(AT, PASSED) += 1.0;", "", "late features as if nothing had faded"),
            ("[&](Size) { fade(factor, work); }", "[](Size) {}", "a replay does not fade"),
        ],
    ),
    "native/admit.hpp": (
        LINEAR,
        [
            (
                "return square < SAFE * SAFE ? std::sqrt(square) : std::hypot(beta, v);",
                "return std::sqrt(square);",
                "squares overflow in a rotation",
            ),
            (
                "    if (square < SAFE * SAFE) return",
                "    if (true) return",
                "squares overflow in a drifting look",
            ),
            (
                "if (1.0 / SAFE < peak && peak < SAFE) return",
                "if (true) return",
                "norms of huge and tiny rows",
            ),
            (
                "rest |= most - (bits(value) & INT64_MAX);",
                "rest |= value == value ? most - (bits(value) & INT64_MAX) : 0;",
                "NaN admitted among the last features",
            ),
            (
                "beyond |= most - (bits(value) & MAGNITUDE);",
                "",
                "NaN admitted among the first features",
            ),
            ("return (joined(beyond) | rest) >= 0;", "return rest >= 0;", "four features unseen"),
            (
                "differ |= bits(four(a.p + k)) ^ bits(four(b + k));",
                "differ = Mask{};",
                "another x's look reused, but for its last features",
            ),
            (
                "rest |= bits(a.p[k]) ^ bits(b[k]);",
                "rest |= (bits(a.p[k]) ^ bits(b[k])) << 32;",
                "another x's look reused",
            ),
            (
                "if (at[FRESH] == 1.0 && same(x, row))",
                "if (same(x, row))",
                "a look that is not for this state is kept",
            ),
            (
                "        at[FRESH] = 0.0;\n        return copied_within",
                "        return copied_within",
                "the look at another x is kept",
            ),
            (
                "work(AT, NORM) = norm(x, work(AT, PEAK));",
                "work(AT, NORM) = work(AT, PEAK);",
                "|x|_inf for |x|_2",
            ),
            (
                "most = size > most ? size : most;",
                "most = size;",
                "the size of the last four features",
            ),
            (
                "    if (at[CLOSED] == 1.0) return BUSY;\n",
                "",
                "rounds while it is closed",
            ),
        ],
    ),
    "native/drift.hpp": (
        LINEAR,
        [
            ("GAUGE = 1e3;", "GAUGE = 1e9;", "the covariance is kept where it loses digits"),
            ("GAUGE = 1e3;", "GAUGE = -1.0;", "always the root"),
            (
                "if (gauge <= GAUGE) {  // not so for NaN",
                "if (!(gauge > GAUGE)) {",
                "NaN in the gauge",
            ),
            (
                "std::fmod(at[PASSED], RECHECK) == 0.0",
                "std::fmod(at[PASSED], RECHECK) == 1.0",
                "when it is rechecked",
            ),
            (
                "if (at[ROOTED] == 1.0 && std::fmod",
                "if (false && std::fmod",
                "never back to the covariance",
            ),
            ("if (gauge <= GAUGE / 4.0) {", "if (gauge <= GAUGE * 1e6) {", "back too early"),
            (
                "for (Size i = j; i < n; ++i) column",
                "for (Size i = j; i <= j; ++i) column",
                "the gauge of a root by its diagonal only",
            ),
            (
                "gauge += column * work(X, j) * work(X, j);",
                "gauge += column * work(X, j);",
                "the gauge of a root without the square",
            ),
            (
                "gauge += factor(i, i) * x[i] * x[i];",
                "gauge += factor(i, i) * std::fabs(x[i]);",
                "the gauge without the square",
            ),
            (
                "    if (!std::isfinite(beta)) return OVERFLOWS;\n",
                "",
                "a drifting look's spread may overflow",
            ),
            (
                "        if (!std::isfinite(mean[k])) return OVERFLOWS;\n",
                "",
                "a drifting look's mean may overflow",
            ),
            ("add_multiple(v.p, row, x[i], i);", "", "P x with half of P"),
            (
                "[&](Size t) { diffuse(factor, work, drift[t]); }",
                "[](Size) {}",
                "replays do not drift",
            ),
            ("    at[PASSED] += 1.0;\n", "", "rounds are not counted"),
            ("row[k] = keep * r - take * p;", "row[k] = keep * r + take * p;", "Carlson's sign"),
            ("bi[k] = p + fi * r;", "bi[k] = fi * r;", "P x is not added up"),
            (
                "v[i] / beta / beta, i + 1);",
                "v[i] / beta, i + 1);",
                "the covariance falls too fast",
            ),
            (
                "factor(i, i) += q;",
                "factor(i, i) += 0.99 * q;",
                "the covariance drifts too little",
            ),
            ("sigma = std::sqrt(q);", "sigma = q;", "the root drifts by the wrong noise"),
            ("scale = 2.0 / (1.0 + h0 * h0);", "scale = 2.0 / (1.0 + h0);", "no reflection"),
            ("px.p, gain / beta, n);", "px.p, gain, n);", "weights move too far"),
            ("left += gain * gain;", "left = gain * gain;", "last outcome's fit only"),
            (
                "diffuse(factor, work, drift[t]);",
                "diffuse(factor, work, drift[0]);",
                "the first drift for all rounds of a replay",
            ),
            (
                "work(U, 0) = gauge;",
                "work(U, 0) = 0.0;",
                "absorb believes that the covariance will do",
            ),
            ("    if (q == 0.0) return;\n", "", "no drift still reflects"),
            (
                "triangle[k].p, triangle(k, i), i + 1);\n        double",
                "triangle[k].p, triangle(k, 0), i + 1);\n        double",
                "the wrong root",
            ),
            ("row[j] *= c;", "row[j] *= 1.0;", "the wrong square"),
        ],
    ),
    "native/dual.hpp": (
        KERNEL,
        [
            ("K(i, j) *= priors[j];", "K(i, j) *= priors[i];", "S of the later round"),
            ("K(i, i) += 1.0;", "K(i, i) += 1.0 + 1e-6;", "noise of the wrong size"),
            ("k[j] * k[j] - p * q[j]", "k[j] - p * q[j]", "values of a kernel that is none"),
            ("end = lower ? i + 1 : K.cols", "end = lower ? 0 : K.cols", "a triangle not compared"),
            ("end = lower ? i + 1 : K.cols", "end = lower ? i + 1 : 0", "the past not compared"),
            ("dot(row, z.p, i + 1)", "dot(row, z.p, i)", "outcomes without the diagonal"),
            ("sum += row[j] * z(j, k);", "sum = row[j] * z(j, k);", "one of several outcomes"),
            ("sine[i] = v / root;", "sine[i] = -v / root;", "a rotation the wrong way"),
            (
                "v = cosine[k] * v - sine[k] * entry;",
                "v = cosine[k] * v;",
                "a rotation half done",
            ),
            (
                "carried = cosine[i] * carried - sine[i] * entry;",
                "carried = cosine[i] * carried;",
                "outcomes rotated half",
            ),
            ("at += t + i + 1;", "at += t + i;", "rows of a triangle overlap"),
        ],
    ),
    "native/rules.hpp": (
        LINEAR,
        [
            ("return mean / root / root;", "return mean / root;", "AAR shrinks too little"),
            (
                "return smaller(larger(mean, -level), level);",
                "return smaller(mean, level);",
                "clipped above only",
            ),
            ("+ std::log(root) +", "+ 0.5 * std::log(root) +", "half of the log spread"),
            ("0.5 * e * e / noise_var", "0.5 * e * e", "noise variance dropped"),
            ("TWO_PI * noise_var", "TWO_PI", "noise variance dropped from the log"),
        ],
    ),
    "native/ledger.hpp": (
        LINEAR,
        [
            ("? (held - total) + term", "? (total - held) + term", "sign of the compensation"),
            (
                ": (term - total) + held",
                ": (total - term) + held",
                "sign of the other compensation",
            ),
            (
                "std::fabs(held) >= std::fabs(term)",
                "std::fabs(held) <= std::fabs(term)",
                "which term is the larger",
            ),
            ("std::fabs(held) >= std::fabs(term)", "held >= term", "sizes without signs"),
            ("book(row, 1) + lost : 0.0", "book(row, 1) : 0.0", "no compensation"),
            (
                "std::isfinite(total) ? book",
                "true ? book",
                "infinite sums poison the compensation",
            ),
            ("leverage = 1.0 - shrunk * shrunk;", "leverage = 1.0 - shrunk;", "1 - 1/sqrt(d)"),
            ("norm * norm, ", "norm, ", "norms not squared"),
            ("page.measure(at[NORM]", "page.measure(at[PEAK]", "|x|_inf for |x|_2 in a sum"),
            ("weighted += e * e;", "weighted += e * (y[k] - mean[k]);", "e^2/sqrt(d) for e^2/d"),
            ("charge += leverage", "charge = leverage", "last outcome's charge only"),
            (
                "relief += leverage * (m * m);",
                "relief += leverage * m * mean[k];",
                "(d - 1) g^2 too large",
            ),
            ("charge(2.0 * std::log(beta),", "charge(leverage,", "leverage for log det"),
            ("charge(2.0 * std::log(beta),", "charge(std::log(beta),", "half of the log det"),
            ("(finite | ~adds)", "~adds", "no compensation of sums side by side"),
            ("(finite | ~adds)", "Mask{-1, -1, -1, -1}", "infinite sums side by side"),
            ("Four term = {a, c, b, d}", "Four term = {a, b, c, d}", "terms of another row"),
            ("p[1][0] = low[2], p[1][1] = low[3];", "p[1][0] = low[2];", "a compensation is lost"),
            (
                "larger(ledger(WIDEST, 0), at[PEAK])",
                "larger(ledger(WIDEST, 0), at[NORM])",
                "|x|_2 for |x|_inf",
            ),
            (
                "ledger(LONGEST, 0) = larger(ledger(LONGEST, 0), at[NORM]);",
                "ledger(LONGEST, 0) = at[NORM];",
                "last |x|, not the largest",
            ),
            (
                "larger(ledger(OUTCOMES + k, 0), std::fabs(off))",
                "larger(ledger(OUTCOMES + k, 0), off)",
                "largest y without its sign",
            ),
            (
                "take(loss, square, fit, ",
                "take(loss, square, fit > 1e-6 ? fit : 0.0, ",
                "small fits are not booked",
            ),
            ("ledger(ROUNDS, 0) += 1.0;", "ledger(ROUNDS, 0) = 1.0;", "rounds are not counted"),
        ],
    ),
    "native/rounds.hpp": (
        LINEAR,
        [
            ("square += e * e;", "square = e * e;", "last outcome's square only"),
            ("paid += rule", "paid = rule", "last outcome's log loss only"),
            (
                "if (!(std::fabs(work(Y, k)) <= LARGEST_OUTCOME)) return",
                "if (std::fabs(work(Y, k)) > LARGEST_OUTCOME) return",
                "NaN outcomes learned",
            ),
            (
                "        drift::diffuse(factor, work, work(AT, DRIFT));\n",
                "",
                "no drift after one round",
            ),
            (
                "widest[t] = peak(x), length",
                "widest[t] = 0.0, length",
                "no size in a replay",
            ),
            (
                "length[t] = norm(x, widest[t])",
                "length[t] = widest[t]",
                "|x|_inf for |x|_2 in a replay",
            ),
            (
                "seen);\n        }\n    }\n    work(AT, FRESH) = 0.0;\n",
                "seen);\n        }\n    }\n",
                "a look survives a replay",
            ),
        ],
    ),
    "native/arrays.hpp": (
        ("test_native.py", "inputs/test_hostile_rows.py"),
        [
            ("high += few(k);", "high = few(k);", "the last entries of a product only"),
            ("low += few(k);", "low -= few(k);", "the last entries of a short product"),
            ("Four t = low + high;", "Four t = low - high;", "half of a sum of the wrong sign"),
            ("p + i * stride,", "p + i * Size(sizeof value),", "strides of the caller's vectors"),
        ],
    ),
    "native/vectors.hpp": (
        ("test_native.py", "gaussian/test_core_edges.py", *POOL),
        [
            ("p[i] = xi >= LOWEST ? value : 0.0;", "p[i] = value;", "what is far below counts"),
            ("(xi - k * LN2_HIGH) - k * LN2_LOW", "xi - k * LN2_HIGH", "the low part of ln 2"),
            ("(C12 + r * C13)", "(C12 - r * C13)", "the last term of exp"),
            ("(C6 + r * C7)", "(C6 - r * C7)", "a middle term of exp"),
            ("if (x[i] == value) return i;", "if (x[i] >= value) return i;", "the wrong place"),
            ("bits = (bits + 1023) << 52;", "bits = (bits + 1022) << 52;", "half of exp"),
            (
                "s[q] += x.p[k];\n    return",
                "s[q] = x.p[k];\n    return",
                "a sum of the last entries only",
            ),
            ("s[q] = larger(x.p[k], s[q]);", "s[q] = x.p[k];", "the largest of the last entries"),
            (
                "s[q] = smaller(x.p[k], s[q]);",
                "s[q] = x.p[k];",
                "the smallest of the last entries",
            ),
        ],
    ),
    "native/triangles.hpp": (
        ("numerics/test_triangles.py",),
        [
            (
                "for (Size i = U.rows - 1; i >= 0; --i)",
                "for (Size i = U.rows - 2; i >= 0; --i)",
                "the last row",
            ),
            (
                "pivot = row[j] - dot(row, row, j);",
                "pivot = row[j] - dot(row, row, j - 1);",
                "a short sum",
            ),
            (
                "if (!(0.0 < pivot && pivot < INF)) return j;",
                "if (pivot <= 0.0) return j;",
                "a pivot that is NaN",
            ),
            ("if (!(largest > 0.0)) {", "if (largest < 0.0) {", "a column of zeros"),
            (
                "c -= s * four(rows + 8)",
                "c -= s * four(rows + 4)",
                "columns that are not substituted",
            ),
            ("v[i] /= largest;", "v[i] /= 1.0;", "squares that overflow"),
            (
                "last = scaled > 0.0 ? -norm : norm",
                "last = scaled > 0.0 ? norm : -norm",
                "a reflection that cancels",
            ),
            ("T(i, j) = -tau * sum;", "T(i, j) = tau * sum;", "the triangle T of the wrong sign"),
        ],
    ),
    "native/cholesky.hpp": (
        (*SPARSE, *BINARY, "sparse/test_oslog_hostile.py"),
        [
            (
                "*log_det += std::log(pivot);",
                "*log_det += 0.5 * std::log(pivot);",
                "half of the log det",
            ),
            (
                "if (!(0.0 < pivot && pivot < INF)) return false;",
                "if (!(0.0 < pivot && pivot < INF)) return true;",
                "what cannot be factored is taken as it is",
            ),
            (
                "for (Size q = r + 1; q < k; ++q) pieces",
                "for (Size q = r + 2; q < k; ++q) pieces",
                "the next pivot stays",
            ),
            ("rest[c] -= share * row[c];", "rest[c] -= 0.0;", "the first triangle is not solved"),
            (
                "side.p + r + 1, k - r - 1)",
                "side.p + r + 1, k - r - 2)",
                "the last entry is left out",
            ),
        ],
    ),
    "native/sparse.hpp": (
        SPARSE,
        [
            ("turn < 3;", "turn < 1;", "idle weights not settled"),
            (
                "larger(std::fabs(state(WEIGHTS, i)), floor)",
                "std::fabs(state(WEIGHTS, i))",
                "no floor",
            ),
            (
                "    for (Size i = 0; i < n; ++i) state(SCALES, i) = state(KEPT, i);\n",
                "",
                "a refused round moves the scales",
            ),
            (
                "state(MOMENT, i) += y * x[i];",
                "state(MOMENT, i) += x[i];",
                "moments without the outcome",
            ),
            ("LIVE = 1e-8;", "LIVE = 1e-2;", "idle weights that count"),
            ("row[r] += a;", "row[r] += 2.0 * a;", "twice the shrinkage"),
            ("SETTLED = 1e-9;", "SETTLED = 1e-2;", "the lasso is not reached"),
            (
                "std::fabs(pull) - 1.0);",
                "std::fabs(pull) - 1.5);",
                "the lasso's condition for zeros",
            ),
            (
                "larger(std::fabs(alone) - a, 0.0)",
                "larger(std::fabs(alone) - 0.9 * a, 0.0)",
                "the lasso's threshold",
            ),
            ("if (turn > 0) rest -=", "if (false) rest -=", "live weights do not hear idle ones"),
            ("    ledger::add(book, SQUARE, y * y);\n", "", "sum of squares not booked"),
            (
                "larger(book(LARGEST_SEEN, 0), std::fabs(y))",
                "larger(book(LARGEST_SEEN, 0), y)",
                "sign of y",
            ),
            (
                "ledger::add(book, LOSS, (y - g) * (y - g));",
                "book(LOSS, 0) += (y - g) * (y - g);",
                "the loss without compensation",
            ),
            (
                "if (!(loss < INF) || !(std::fabs(y) <= LARGEST)) return false;",
                "if (!(std::fabs(y) <= LARGEST)) return false;",
                "losses that overflow are learned",
            ),
            (
                "if (!(std::fabs(x[i]) <= LARGEST)) return NaN;",
                "if (std::fabs(x[i]) > LARGEST) return NaN;",
                "NaN forecast from",
            ),
        ],
    ),
    "native/margin.hpp": (
        BINARY,
        [
            ("    primal::grow(work, n);\n", "", "rotations of another length"),
            (
                "work(AT, CEILING) = ceiling, work(AT, FRESH) = 0.0;",
                "work(AT, CEILING) = ceiling;",
                "a look beyond the ceiling is reused",
            ),
            (
                "signs[t] > 0.0 ? std::exp(-loss)",
                "signs[t] < 0.0 ? std::exp(-loss)",
                "labels swapped",
            ),
            ("DROP = 40.0;", "DROP = 10.0;", "the tails of an integral"),
            ("smaller(0.6, 0.53 / s)", "smaller(2.0, 2.0 / s)", "a coarse rule"),
            (
                "weights[k] = odds[k] = 0.0;",
                "weights[k] = odds[k] = 1.0;",
                "points beyond the last one",
            ),
            ("no[q] += weight * chance;", "no[q] += weight;", "a slope of 1"),
            ("if (!found && !(low < next", "if (found && !(low < next", "Newton's steps unchecked"),
            ("point = improper(mu, q);", "point = mu;", "AIOLI without its shift"),
            (
                "c = larger(b.curve / (1.0 + bound), slight);",
                "c = larger(b.curve, slight);",
                "AIOLI's curvature without 1 + C",
            ),
            ("price = 0.5 * (p * p", "price = 1.0 * (p * p", "AIOLI's price doubled"),
            (
                "account::LOGDET, std::log1p(step.curve * step.q));",
                "account::LOGDET, step.curve * step.q);",
                "trace for log det",
            ),
            ("b.slope *= 1.0 + c * q;", "b.slope *= 1.0;", "moments not kept"),
            ("double d = std::sqrt(1.0 + q);", "double d = 1.0 + q;", "the probit's width"),
            (
                "if (mu <= 0.0) return {-z.log_z",
                "if (mu <= 1.0) return {-z.log_z",
                "the wrong label's tail",
            ),
            (
                "    ledger::add(book, account::PRICE, step.price);\n",
                "",
                "the price is not booked",
            ),
            ("        b.loss = paid;\n", "", "online Newton pays after learning"),
            ("point = proximal(family, mu, q);", "point = mu;", "one step of Newton, no mode"),
        ],
    ),
    "native/account.hpp": (
        BINARY,
        [
            ("miss = -std::expm1(-loss);", "miss = std::expm1(loss);", "the wrong miss"),
            ("std::sqrt(dot(x, x))", "dot(x, x)", "|x|^2 for |x|"),
            (
                "book(ROUNDS, 1) += 0.5 * (1.0 + sign);",
                "book(ROUNDS, 1) += 1.0;",
                "every label counted as positive",
            ),
            ("row[j] += xi * from[j];", "row[j] += from[j];", "the scatter"),
        ],
    ),
    "native/newton.hpp": (
        BINARY,
        [
            ("= 0.5 * a * dot(w, w);", "= a * dot(w, w);", "twice the prior"),
            ("(j == k ? a : 0.0)", "0.0", "the prior's curvature"),
            ("    kept(n, n) = total;\n", "", "F of the rows before is forgotten"),
            ("        known = -1;\n", "", "sums of the point before count at the next one"),
            ("start = known < 0 ? 0 : known;", "start = 0;", "rows that are known count again"),
            ("add(j, j - j % 4);", "add(j, j);", "pieces begin at the diagonal"),
            (
                "if (held < F && !last && rate > 1e-15) {",
                "if (false) {",
                "no step is ever halved",
            ),
            (
                "decrement <= 1e-14 * (1.0 + std::fabs(F))",
                "decrement <= 1e-2 * (1.0 + std::fabs(F))",
                "Newton stops early",
            ),
        ],
    ),
    "native/families.hpp": (
        BINARY,
        [
            ("if (z < -35.0) {", "if (z < -37.9) {", "where the probit's series begins"),
            ("(1.0 - 7.0 * r * (1.0 - 9.0 * r))", "(1.0 - 7.0 * r)", "a term of the series"),
            (
                "std::log1p(e) + larger(-z, 0.0)",
                "std::log1p(e) + larger(z, 0.0)",
                "the wrong label",
            ),
            ("z > 0.0 ? -small : small - 1.0", "z > 0.0 ? small - 1.0 : -small", "the wrong slope"),
            ("hazard * (hazard + z)", "hazard * hazard", "the probit's curvature"),
        ],
    ),
    "native/particles.hpp": (
        CLOUD,
        [
            ("if (missing < 0.5)", "if (missing < 1.0)", "small chances lose their digits"),
            ("logs[i] -= part * bend", "logs[i] -= bend", "the whole likelihood for a part"),
            ("if (worth >= 0.2 *", "if (worth >= 0.0 *", "any power is bearable"),
            ("total = -0.5 * a * dot(w, w);", "total = -a * dot(w, w);", "twice the prior"),
            ("return total - part * bend", "return total - bend", "the last row counts in full"),
            ("< there - here)", "> there - here)", "what is worse is accepted"),
        ],
    ),
    "native/lms.hpp": (
        NET,
        [
            (
                "to[k] = (from[k] * from[k]) * (from[k] * from[k]);",
                "to[k] = from[k] * from[k];",
                "squared once for twice",
            ),
            (
                "coefs[b](j, k) += eta * (y - out[j]);",
                "coefs[b](j, k) = eta * (y - out[j]);",
                "a pattern that comes again starts anew",
            ),
            (
                "facts(s, LAST) < facts(slot, LAST)",
                "facts(s, LAST) > facts(slot, LAST)",
                "the newest pattern is forgotten",
            ),
            (
                "fact[SPREAD] += off * (y - fact[MEAN]);",
                "fact[SPREAD] += off * off;",
                "the spread of repeated outcomes",
            ),
            (
                "if (0 <= k && k < size - b * TILE)",
                "if (0 <= k)",
                "patterns that are not there",
            ),
            ("steps[t] = eta * (ys[t] - p[t]);", "steps[t] = eta * ys[t];", "Hebb for LMS"),
            (
                "same = same && points(i, k) == x[i];",
                "same = true;",
                "underflowed distances are zero",
            ),
            ("s < t; ++s)", "s < t - 1; ++s)", "the last round is not heard"),
            (
                "j + run < J && levels[j + run] == levels[j])",
                "j + run < J)",
                "steps of other sizes are taken for equal",
            ),
            ("out[0] += vectors::total", "out[0] = vectors::total", "the last tile only"),
        ],
    ),
    "native/continuum.hpp": (
        NET,
        [
            ("? (held - grown) + term", "? (grown - held) + term", "sign of the compensation"),
            (
                ": (term - grown) + held",
                ": (grown - term) + held",
                "sign of the other compensation",
            ),
            (
                "(loss - mix) / c > book(WORST, 0)",
                "(loss - mix) / c < book(WORST, 0)",
                "the best round for the worst",
            ),
            (
                "return net.book(RANGE, 0) <= y && y <= net.book(RANGE, 1);",
                "return y <= net.book(RANGE, 1);",
                "outcomes below the range",
            ),
            ("0 < window && window <= size ?", "0 < window && window < size ?", "window < for <="),
            (
                "if (!known) book(slot == size ? COUNTS : PEAK, 1)",
                "if (!known && slot == size) book(COUNTS, 1)",
                "forgotten patterns not counted",
            ),
            ("/ (2.0 * (high - low))", "/ (high - low)", "the substitution"),
            ("logs[j] = prior[j] - over / c;", "logs[j] = -over / c;", "no prior"),
            ("smaller(book(BOX, 0), old[i])", "larger(book(BOX, 0), old[i])", "the box of inputs"),
            (
                "book(ERROR, a) = larger(book(ERROR, a), off);",
                "book(ERROR, a) = off;",
                "the last audit only",
            ),
            ("old[i] = x[i] + 0.0;", "old[i] = x[i];", "-0.0 is another pattern"),
            ("    net.at[FRESH] = 0.0;\n", "", "a look survives the round that it was for"),
        ],
    ),
    "native/grid.hpp": (
        GRID,
        [
            ("smaller(larger(mean, seen[0]), seen[1]);", "mean;", "no clipping in a cell"),
            ("mean / root / root;", "mean / root;", "AAR of a cell"),
            ("xs[t][j] / scale[j] :", "xs[t][j] * scale[j] :", "units"),
            (
                "seen[0] = seen[2] == 0.0 ? y : smaller(seen[0], y);",
                "seen[0] = smaller(seen[0], y);",
                "0 is taken for an outcome seen",
            ),
            ("ledgers[C + c]);", "ledgers[c]);", "drifting cells book where the fixed ones do"),
            ("seen, said, C + c);", "seen, said, c);", "drifting cells speak for the fixed ones"),
        ],
    ),
    "native/aggregating.hpp": (
        PLAIN,
        [
            ("/ (2.0 * eta * wide)", "/ (eta * wide)", "the plain substitution"),
            ("base + tilt, low = base - tilt;", "base + tilt, low = base;", "one end of the range"),
            (
                "(d * (ends - (off0 + (said - c))))",
                "(d * (ends - (off0 - (said - c))))",
                "where an exponent stands",
            ),
            (
                "Eight<B>::at(at[LOG].p + k) - eta * Eight<B>::at(at[U].p + k);",
                "eta * (0.0 - Eight<B>::at(at[U].p + k));",
                "the prior is dropped in plain rounds",
            ),
            (
                "weight - eta * (loss - l0)",
                "weight + eta * (loss - l0)",
                "who loses gains",
            ),
            ("((loss - l0) + left)", "((loss - l0) - left)", "the mix has the wrong sign"),
            (
                "if (!(lanes::largest(far) <= FAR * FAR)) return {NaN, NaN, NaN};",
                "",
                "no round is too far out to be plain",
            ),
            ("constexpr double FAR = 8.0;", "constexpr double FAR = 1e9;", "exponents overflow"),
            (
                "if (!(book(RANGE, 0) <= y - c && y - c <= book(RANGE, 1))) break;",
                "",
                "outcomes outside the range are plain",
            ),
            ("lanes::where_below(grown, INF, slip)", "0.0 * slip", "no compensation, plainly"),
            ("(held - (grown - added))", "((grown - added) - held)", "sign of a plain slip"),
            (
                "book(REACH, 0) = larger(book(REACH, 0), round.reach);",
                "",
                "the largest loss is not kept",
            ),
            ("if (shared || !known) {", "if (shared) {", "the outcomes seen are not followed"),
            ("            if (shared) share(pool, book);\n", "", "no share goes back"),
            ("to[j] = said[j < said.n ? j : 0];", "to[j] = 0.0;", "who is not there speaks"),
            ("row == LOG ? -INF : 0.0", "0.0", "who is not there has weight"),
        ],
    ),
    "native/pool.hpp": (
        (*PLAIN, "experts/test_pool_hostile.py::test_tables_that_are_none"),
        [
            ("return T + t;", "return t;", "which refusal it was"),
            (
                "if (std::fabs(said(t, j)) > limit)",
                "if (said(t, j) > limit)",
                "forecasts far below",
            ),
            ("if (asleep == 0 && aggregating", "if (aggregating", "sleepers in plain rounds"),
        ],
    ),
    "native/pool_rounds.hpp": (
        (*PLAIN, *AUTO),
        [
            (
                "if (sums_(mixing::ROUNDS, 0) == round_ && !std::memcmp",
                "if (!std::memcmp",
                "a forecast of an earlier round is kept",
            ),
            (
                "            if (std::fabs(g) > largest_) return NaN;\n",
                "            (void)g;\n",
                "experts beyond the limit are heard",
            ),
            ("std::fabs(y) <= largest_ && ", "", "outcomes beyond the limit are learned"),
            (
                "            if (!state.holds()) return NaN;\n",
                "            (void)state;\n",
                "a state that has gone learns",
            ),
            (
                "            if (!lock.open()) return NaN;\n",
                "            (void)lock;\n",
                "a lock that is taken is passed",
            ),
            (
                "            if (!member->takes(y)) return false;\n",
                "            (void)member;\n",
                "a member learns what it refuses",
            ),
            (
                "for (Rounds* member : members_) member->settle(y);",
                "members_[0]->settle(y);",
                "one member learns",
            ),
            (
                "if (unit == 0.0 && value != 0.0) return false;",
                "",
                "a feature that gets its unit now",
            ),
            ("return fresh(first, x) && fresh(last, x);", "return true;", "any look will do"),
            (
                "        std::memcpy(pool_.p, room_.data(), room_.size() * sizeof(double));\n",
                "",
                "words are not learned from",
            ),
        ],
    ),
    "native/sequence.hpp": (
        PLAIN,
        [
            ("        --k;\n", "", "changes are free on the way back"),
            ("path[t] = double(j);", "path[t] = double(k);", "changes for experts"),
            ("total[k - 1], came);", "total[k], came);", "who came is not who was there"),
        ],
    ),
    "native/adaptive.hpp": (
        RULE_POOL,
        [
            ("smaller(square, CUT * v)", "square", "one error counts in full"),
            ("at[COUNT] = n + 1.0;", "at[COUNT] = 1.0;", "only the last error counts"),
            ("/ total;\n        }\n    }", ";\n        }\n    }", "an unweighted mean"),
            (
                "(mass[j] - least) * c / (2.0 * v), MOST",
                "(mass[j] - least) * c / (2.0 * v), 3.0",
                "a round takes little",
            ),
            (
                "double scale = vectors::total(cost) / vectors::total(mass);",
                "double scale = 1.0 / vectors::total(mass);",
                "sleepers' weight is lost",
            ),
            ("+ s * prior[j];", "+ s / double(w.n);", "a share to all alike"),
        ],
    ),
    "native/stacking.hpp": (
        RULE_POOL,
        [
            (
                "awake[j] > 0.0 ? within((said(j, i) - centre[i]) / s) : 0.0",
                "within((said(j, i) - centre[i]) / s)",
                "sleepers are heard",
            ),
            ("drift::diffuse(factor, work, step);", "", "weights stand still"),
            ("at[ROUNDS] >= SPEAKS && at", "at[ROUNDS] > SPEAKS && at", "one round later"),
            ("centre[j] * (1.0 - all)", "centre[j]", "weights that do not add up to 1"),
        ],
    ),
    "native/rule_pool.hpp": (
        RULE_POOL,
        [
            (
                "agile.start(prior, SHARES[1], POWER);",
                "agile.start(prior, SHARES[0], POWER);",
                "two of the same",
            ),
            ("merger.learn(spoken, playing, g, y);", "", "the rules keep their weights"),
            ("said(awake[j] > 0.0 ? j : some, i)", "said(j, i)", "NaN is mixed"),
        ],
    ),
    "native/guarded.hpp": (
        RULE_POOL,
        [
            (
                "0.5 * *middle + 0.5 * *std::max_element(sorted_.begin(), middle)",
                "*middle",
                "the upper of two in the middle",
            ),
            (
                "centre_[std::size_t(i)], double(rules.k));",
                "centre_[std::size_t(i)], 1.0);",
                "the rate of one outcome",
            ),
            (
                "pool_(SAID, j) = rules.awake[j] > 0.0 ? rules.words(j, i) : NaN;",
                "pool_(SAID, j) = rules.words(j, i);",
                "sleepers are awake outside",
            ),
            ("        rules.learn(said, own(), y);\n", "", "the rules learn nothing"),
        ],
    ),
    "native/mixing.hpp": (
        (*PLAIN, "experts/test_pool_numbers.py::test_a_learned_range_is_that_of_the_twin"),
        [
            ("        said[j] = speaks ? said[j] : 0.0;\n", "", "NaN is mixed"),
            (
                "awake[j] = speaks ? prior[j] : -INF;",
                "awake[j] = prior[j];",
                "sleepers are heard",
            ),
            (
                "excess[j] : excess[j] + charged * cost[j];",
                "excess[j] : excess[j];",
                "the leader before the round",
            ),
            (
                "mass[j] = awake[j] - eta * (excess[j] - u0);",
                "mass[j] = awake[j] - eta * ((excess[j] - u0) + (cost[j] - l0));",
                "losses that are not known yet",
            ),
            ("return said[r] + off / weight;", "return said[r] + off;", "an unweighted mean"),
            (
                "double middle = 0.5 * lo + 0.5 * hi;\n    for",
                "double middle = lo;\n    for",
                "where merit is judged",
            ),
            ("lean / (2.0 * rate * (hi - lo))", "lean / (rate * (hi - lo))", "the substitution"),
            (
                "weight = (awake[j] - p0) - eta * (excess[j] - u0);",
                "weight = -eta * (excess[j] - u0);",
                "the prior is dropped",
            ),
            ("agreed = c + book(RANGE, 0);", "agreed = 0.0;", "a range of one point"),
            ("if (asleep > 0 || eta == INF) {", "if (eta == INF) {", "sleepers dilute the mix"),
            (
                "excess[j] = awake[j] > -INF ? moved : excess[j];",
                "excess[j] = moved;",
                "sleepers are charged",
            ),
            (
                "return (u0 - before) + l0 - left;",
                "return u0 + l0 - left;",
                "the mix with sleepers",
            ),
            ("track[j] += cost[j];", "track[j] = cost[j];", "tracks are overwritten"),
            (
                "mass[j] = track[j] - prior[j] / eta;",
                "mass[j] = track[j];",
                "the first expert is free",
            ),
            ("changes = turns[r] + 1.0;", "changes = turns[r];", "turns not counted"),
            ("    book(REACH, 1) += units / eta;\n", "", "staying is not charged"),
            (
                "best - std::log(s) / eta",
                "best - 2.0 * std::log(s) / eta",
                "switching costs double",
            ),
            ("stay = track[j] - staying[j] * units / eta;", "stay = track[j];", "staying is free"),
            ("moves = arrive < stay;", "moves = arrive <= stay;", "a tie changes experts"),
            ("(1.0 - s) * mass[j] + s)", "mass[j] + s)", "weights grow"),
            (
                "course[j] += cost[j];",
                "course[j] = cost[j];",
                "the loss of the best sequence is overwritten",
            ),
            (
                "excess[j] += (top + std::log(total)) / eta;",
                "excess[j] += 0.0;",
                "no normalising at a new rate",
            ),
            ("width *= 2.0;", "width = hi - lo;", "the range is followed exactly"),
            (
                "book(RANGE, 0) = smaller(lo, middle - 0.5 * width);",
                "book(RANGE, 0) = lo;",
                "the range is the outcomes seen",
            ),
            (
                "lo = first ? low : smaller(low, book(SEEN, 0))",
                "lo = smaller(low, book(SEEN, 0))",
                "0 is taken for an outcome seen",
            ),
            ("if (width != book(WIDTH, 0)) {", "if (width > 0.0) {", "normalised in every round"),
            ("+ (l - added);", "- (l - added);", "sign of the compensation"),
            ("lost[j] += held < INF ? slip : 0.0;", "lost[j] += 0.0;", "no compensation"),
            ("? cost[j] : mix;", "? cost[j] : 0.0;", "sleep is free"),
            (
                "most = larger(awake[j] > -INF ? cost[j] : 0.0, most);",
                "most = larger(cost[j], most);",
                "sleepers count for the reach",
            ),
            (
                "if (worst > book(WORST, 0) ||",
                "if (worst < book(WORST, 0) ||",
                "the best round for the worst",
            ),
            (
                "ledger::add(book, OVER, larger(loss - mix, 0.0));",
                "ledger::add(book, OVER, loss - mix);",
                "a cheap round beyond the range pays for others",
            ),
            ("        book(ROUNDS, 1) += 1.0;\n", "", "rounds beyond the range not counted"),
            (
                "if (book(CHANGES, 1) == 0.0) book",
                "book",
                "the last round beyond the range for the first",
            ),
            ("ledger::add(book, LOSS, loss);", "book(LOSS, 0) = loss;", "the loss is overwritten"),
            (
                "ledger::add(book, MIX, mix);",
                "ledger::add(book, MIX, loss);",
                "the loss for the mix",
            ),
            ("loss = likelihood ? mix : (y - g) * (y - g);", "loss = mix;", "the mix for the loss"),
            (
                "(book(RANGE, 0) <= y - c && y - c <= book(RANGE, 1) && book(RATE",
                "(y - c <= book(RANGE, 1) && book(RATE",
                "outcomes below the range",
            ),
        ],
    ),
    "native/mondrian.hpp": (
        TREES,
        [
            ("off > 0.0 ? off / sides[j] : 0.0", "off", "boxes in units of the caller's"),
            ("dice.exponential() / total", "dice.exponential()", "a rate that does not matter"),
            ("time < smaller(nodes(v, TIME), LATEST)", "time < LATEST", "a split after its child"),
            ("deep <= DEEPEST", "deep >= 0", "paths of any length"),
            (
                "<= nodes(v, CUT) ? LEFT : RIGHT",
                "<= nodes(v, CUT) ? RIGHT : LEFT",
                "sides of a cut",
            ),
            ("    node[HEIGHT] += 1.0;\n", "", "heights of split leaves"),
            ("return reached == N;", "return true;", "nodes that belong to no tree"),
            ("below[BIRTH] != node[TIME]", "false", "children born at another time"),
        ],
    ),
    "native/prunings.hpp": (
        TREES,
        [
            ("{ return -life; }", "{ return -0.5 * life; }", "a price that is not that of time"),
            ("(eta < INF ? eta * gain : 0.0)", "0.0", "weights that stay at the prior"),
            ("gain = node[LEFT] == 0.0 ? 0.0 :", "gain = true ? gain :", "a gain not lifted"),
            ("return -potential(eta, life, 0.0, -gain);", "return gain;", "a gain lifted as it is"),
            ("node[GAIN] = paid - below;", "", "gains of the eta before"),
            ("if (paid + stop < here.price)", "if (paid < here.price)", "a stop without its price"),
        ],
    ),
    "native/forest.hpp": (
        TREES,
        [
            ("walk.splits ? walk.path.back() : -1", "-1", "leaves that begin at 0"),
            ("node[GAIN] = weights.gain + (lost - below);", "", "weights that never move"),
            ("leaf(k)(0, set_.width()) = std::sqrt(set_.precision) * y;", "", "an origin at 0"),
            ("if (began()) primal::accumulate", "primal::accumulate", "the first round twice"),
            ("(1.0 - 1.0 / (root * root))", "(1.0 - 1.0 / root)", "a charge too small"),
            ("size() + 2 * set_.trees <= set_.cap", "true", "more nodes than allowed"),
        ],
    ),
    "native/counting.hpp": (
        LABEL_TREES,
        [
            ("D * D * D", "D", "features weighed by the distance itself"),
            ("(1.0 - EVEN) * varied / total", "(1.0 - EVEN) / total", "rates of one feature"),
            ("double q = levels.back().said.yes;", "double q = 0.5;", "leaves that begin at 1/2"),
            ("node[GAIN] = here.weights.gain + (lost - below);", "", "weights that never move"),
            ("node[label ? YES : NO] += 1.0;", "node[YES] += 1.0;", "labels that are all 1"),
            ("size() + 2 * set_.trees <= set_.cap", "true", "more nodes than allowed"),
        ],
    ),
    "native/boosting.hpp": (
        ("experts/test_boosted.py", "experts/test_boosted_group.py"),
        [
            ("g * g / (h + RIDGE)", "g * g", "cuts that do not see curvature"),
            ("leaf.all[0] / (leaf.all[1] + RIDGE)", "leaf.all[0]", "no Newton step"),
            ("loss_.unit * value + start;", "loss_.unit * value;", "no base rate"),
            ("loss_.unit * value + start;", "value + start;", "outcomes in another unit"),
            ("std::min(Size(targets_.size()), set_.window)", "Size(targets_.size())", "no end"),
            ("left > double(v) && ", "", "children that are their parents"),
            ("subtract(large.bars, small.bars,", "(void)(", "histograms not subtracted"),
            ("range > 0.0 ? BEYOND * range : INF", "INF", "outliers that count in full"),
            ("return labels_ ? said : near(said);", "return said;", "trees that are too sure"),
        ],
    ),
    "native/free.hpp": (
        ("gaussian/test_prior_free.py",),
        [
            ("if (row[i] == 0.0) return {0.0, 0.0, i};", "", "a division by a pivot of 0"),
            ("std::fabs(left) > SMALL * sizes[i]", "left != 0.0", "directions of rounding"),
            ("factor(seen.found, j) = u[j] / beta", "factor(seen.found, j) = u[j]", "no rotation"),
            ("off * off * (1.0 - shrink)", "off * off", "a charge without leverage"),
            ("if (rule > layout::AROUND) {", "if (false) {", "hints that stay"),
        ],
    ),
    "native/lock.hpp": (
        ("learner/test_one_by_one.py", "learner/test_threads.py"),
        [
            ("if (got) self->held = true;", "if (got) self->held = false;", "a lock nobody sees"),
            ("    self->held = false;\n", "", "a lock seen for ever"),
        ],
    ),
    "native/bind_learner.cpp": (
        ("learner/test_one_by_one.py", "learner/test_threads.py"),
        [
            ("return rounds && !lock->held;", "return rounds;", "rounds while the lock is held"),
            ("if (forecast == forecast) return", "if (true) return", "a refusal for a forecast"),
            (
                "here->rounds = compiled ?",
                "here->rounds = here->rounds ? here->rounds : compiled ?",
                "rounds of the state before",
            ),
            ("for (Size k = given; k < N; ++k)", "for (Size k = 0; k < N; ++k)", "x given twice"),
        ],
    ),
    "native/bind_rows.cpp": (
        ("learner/test_one_by_one.py", "sparse", "glm/test_logistic.py"),
        [
            (
                "return alone_ && outcome(y, value)",
                "return outcome(y, value)",
                "drift that Python knows",
            ),
            ("if (y != 0.0 && y != 1.0) return false;", "", "any number for a label"),
            (
                "return read_truth(y, value) || read_number",
                "return read_number",
                "labels that are bool",
            ),
        ],
    ),
    "native/rows.hpp": (
        ROWS,
        [
            (
                "return overflow == 0 && std::fabs(value) <= layout::EXACT_INTEGER;",
                "return overflow == 0;",
                "whole numbers that float64 rounds",
            ),
            (
                "exact = exact && std::fabs(to[k]) <= layout::EXACT_INTEGER;",
                "exact = true;",
                "arrays of whole numbers that float64 rounds",
            ),
            (" || PyArray_ISBYTESWAPPED(array))", ")", "numbers of the other byte order"),
            ("from + k * stride,", "from + k * Size(sizeof value),", "strides of whole numbers"),
            ("slot = PyLong_AsSsize_t(found);", "slot = k;", "names in another order"),
            (
                "        if (PyDict_GET_SIZE(x) != n_) return false;\n",
                "",
                "names that are missing keep their last value",
            ),
        ],
    ),
}
