"""Figure 2 of the paper of OSLOG: sparsity and multicollinearity, simulated."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from page import table

from noregret.reproduce.simulation import (
    AAR,
    ACTIVE,
    CORRELATIONS,
    FEATURES,
    GRID,
    KINDS,
    LATE,
    LEARNERS,
    OSLOG,
    RIDGE,
    ROUNDS,
    SECOND,
    SEEDS,
    SHORT,
    SPANS,
    TUNED,
    Results,
    Setting,
    draw,
    results,
)

WORDS = f"""\
## Figure 2: sparsity and multicollinearity

y = w'x + noise, {ROUNDS:,} rounds, {FEATURES} predictors; the RMSE is that of forecasts one step
ahead. For sparsity the paper gives these numbers and that 2 to 100 predictors are active; for
multicollinearity only Cov_ij = m^|i-j|. Chosen here, because the paper does not say: coefficients
N(0, 1), at random places; noise of standard deviation 1, the RMSE of a forecaster that knows w; no
scaling, no intercept, `start = 1`. Every learner takes, for every seed, the a with the least loss
on the first {TUNED} rounds; then all rounds are played from the start. AAR and Ridge choose from
{len(GRID)} values, {GRID[0]:g} to {GRID[-1]:,.0f}, OSLOG from {len(SHORT)}, {SHORT[0]:.2g} to
{SHORT[-1]:g}, two per decade (it takes the least in @ % of the cases). SafeOSLOG has the a of OSLOG
and of AAR and learns its range. Means over {SEEDS} seeds; the bands are two standard errors either
way. A seed has the same noise, coefficients and underlying normal numbers in all settings. The
figures show RMSE - 1 for the rounds after {TUNED}, on a log scale, as most of it is close to 1.

In the tables: RMSE over all rounds / from round 2 / from round {TUNED + 1}; and in how many of the
{SEEDS} seeds OSLOG is below AAR, and below Ridge, over all rounds.
"""
COLLINEARITY = """\
The same with correlated predictors, for three kinds of coefficients.
"""


def shown(found: Results, head: str, rows: Iterable[tuple[str, Setting]]) -> list[str]:
    """RMSE of all rounds / from round 2 / after the tuning rounds."""
    body = []
    for name, setting in rows:
        cells = [
            " / ".join(f"{found.mean(setting, learner, span):.2f}" for span in SPANS)
            for learner in LEARNERS
        ]
        won = [found.wins(setting, OSLOG, other) for other in (AAR, RIDGE)]
        body.append([name, *cells, f"{won[0]}, {won[1]}"])
    return [*table([head, *LEARNERS, "OSLOG below AAR, Ridge"], body), ""]


def sparsity_words(found: Results) -> str:
    """The paper's words beside these figures."""
    few = [Setting(k) for k in ACTIVE]
    last = max(k for k in ACTIVE if found.mean(Setting(k), OSLOG) < found.mean(Setting(k), RIDGE))
    return f"""\
The paper: "as the sparsity decreases, the RMSE increases for both AAR and OSLOG", and OSLOG handles
sparsity better. Both are seen here. From {ACTIVE[0]} to {ACTIVE[-1]} active predictors the RMSE
over all rounds goes from {found.span(few, OSLOG)} for OSLOG and from {found.span(few, AAR)} for
AAR; but from {found.span(few, RIDGE)} for Ridge too, as more active predictors are a larger y to
learn from nothing. From round {TUNED + 1} OSLOG rises from {found.span(few, OSLOG, LATE)} only,
AAR from {found.span(few, AAR, LATE)}: AAR divides its forecasts by 1 + x'A^-1 x, which costs most
where there are many predictors. Ridge, which the paper leaves out of this figure, is the better
comparison: OSLOG has the lower mean up to {last} active predictors and the higher one beyond.
SafeOSLOG follows OSLOG, the later the wider the range of the outcomes: its learning rate is
2/(hi - lo)^2. The floor lowers the RMSE a little.
"""


def collinearity_words(found: Results) -> str:
    """The paper's words beside these figures."""
    few, many, positive = [[replace(kind, m=m) for m in CORRELATIONS] for kind in KINDS]
    above = ", ".join(f"{s.m}" for s in few if found.mean(s, OSLOG) > found.mean(s, AAR))
    below = max(s.m for s in few if found.mean(s, OSLOG) < found.mean(s, RIDGE))
    dense = (*many, *positive)
    apart = max(abs(found.mean(s, OSLOG, LATE) - found.mean(s, RIDGE, LATE)) for s in dense)
    if (
        any(found.mean(s, OSLOG, SECOND) > found.mean(s, RIDGE, SECOND) for s in few)
        or any(found.mean(s, OSLOG) < found.mean(s, RIDGE) for s in dense)
        or any(found.mean(s, OSLOG) > found.mean(s, AAR) for s in dense)
    ):
        raise SystemExit("the words about multicollinearity are not true of this run")
    return f"""\
The paper: "no clear pattern" for OSLOG, "as multicollinearity increases, RMSE also increases" for
AAR, and OSLOG handles it better. From m = {CORRELATIONS[0]} to {CORRELATIONS[-1]}, all rounds:

- With coefficients of either sign the opposite is seen for AAR: its RMSE falls, from
  {found.span(few, AAR)} with 10 active and from {found.span(many, AAR)} with 100; so does that of
  Ridge.
- OSLOG rises from {found.span(few, OSLOG)} with 10 active, but only because of round 1: the first
  forecast is the sum of all features, and its variance grows with m. From round 2 it falls, from
  {found.span(few, OSLOG, SECOND)}. With 100 active it falls in any case, from
  {found.span(many, OSLOG)}.
- With coefficients of one sign AAR rises as the paper says, from {found.span(positive, AAR)}, and
  OSLOG a little, from {found.span(positive, OSLOG)}; Ridge stays, {found.span(positive, RIDGE)}.
  The variance of y grows with m there. So the paper's plot may have had such coefficients; it does
  not say.
- OSLOG has a lower mean than AAR everywhere but, over all rounds, with 10 active and m = {above}.
  Ridge it beats only with 10 active: over all rounds up to m = {below}, from round 2 at every m.
  With 100 active Ridge wins; from round {TUNED + 1} the two are within {apart:.2f}.
- SafeOSLOG falls behind OSLOG where m is large: what OSLOG lost in round 1 counts against it, and a
  wide range of outcomes makes the pool slow.
"""


def part(docs: Path) -> str:
    """The figures, and the part of the page that shows them."""
    print("figure 2", flush=True)
    found = results()
    draw(found, docs)
    parts = [
        WORDS.replace("@", f"{100.0 * found.smallest():.0f}"),
        *("### Sparsity\n", "![RMSE as more predictors count](oslog-sparsity.svg)\n"),
        *shown(found, "active", [(str(k), Setting(k)) for k in ACTIVE]),
        sparsity_words(found),
        *("### Multicollinearity\n", "![RMSE as correlation grows](oslog-collinearity.svg)\n"),
        COLLINEARITY,
    ]
    for kind in KINDS:
        rows = [(f"{m:g}", replace(kind, m=m)) for m in CORRELATIONS[::2]]
        parts += [f"{kind}:\n", *shown(found, "m", rows)]
    return "\n".join([*parts, collinearity_words(found)])
