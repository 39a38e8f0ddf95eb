"""What is proved of a pool, each statement a function from its totals to a certificate.

L_j is the loss of expert j, the pool's own mix counted where j slept or had not joined, p_j its
prior weight.  docs/theory.md has the derivations.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from noregret._native.mixing import AVERAGED, FALLING, LIKELIHOOD, SUBSTITUTED
from noregret.certificates import LOG, SQUARE, Assumption, Audit, Certificate, Kind, rounding
from noregret.experts.pool import PoolTotals
from noregret.losses import Game
from noregret.types import Vector

__all__ = ["Cells", "certified", "chain", "every_round", "stated", "statements", "tracking"]

EACH_ROUND = "every round"
BUDGET = 1.0  # what may be lost in the pool's place, in units of (hi - lo)^2

Cells = Sequence[tuple[str, Sequence[Certificate]]]
"""The experts by name, each with its own certificates."""


def certified(game: Game, t: PoolTotals, cells: Cells) -> list[Certificate]:
    """All that is proved of a pool, and what follows from its experts' own certificates."""
    return [*statements(game, t), *chain(game, t, cells)]


def statements(game: Game, t: PoolTotals) -> list[Certificate]:
    """All that is proved of a pool, the main statement first."""
    if game.kind == LIKELIHOOD:
        found = [_likelihood(t)] if t.share == 0.0 else []
    elif game.kind == AVERAGED:
        return [_exponential_weights(game, t)]
    else:
        found = [_best_expert(game, t), _mixture(game, t)] if t.share == 0.0 else []
    if t.share > 0.0:
        found += [_fixed_share(game, t), _best_expert(game, t)]
        if t.guarded:  # the rules are in every sequence: those given come first
            found.reverse()
    if t.own_loss is not None:
        found.append(_guard(game, t, t.own_loss))
    return found if game.kind == LIKELIHOOD else [*found, every_round(t)]


def _paid(game: Game) -> str:
    return "log loss" if game.kind == LIKELIHOOD else "sum (y - g)^2"


def _about(game: Game) -> str:
    return LOG if game.kind == LIKELIHOOD else SQUARE


def _nat(game: Game) -> str:
    """1/eta in words, to stand before a logarithm."""
    if game.kind == LIKELIHOOD:
        return "ln"
    if game.kind == SUBSTITUTED and game.scale != 2.0:  # (23.5): several outcomes a round
        return f"{round(2.0 / game.scale)} (hi-lo)^2/2 ln"
    return "1/2 ln" if game.binary else "(hi-lo)^2/2 ln"


def _range(game: Game, t: PoolTotals) -> Assumption:
    if game.kind == LIKELIHOOD:
        return Assumption("losses are log losses, so that the learning rate is 1", met=True)
    if game.span is None:
        less = " less the median forecast," if t.guarded else ""
        return Assumption(
            f"range learned: hi - lo = {t.width:.6g} for outcomes{less} seen from {t.seen[0]:.6g} "
            f"to {t.seen[1]:.6g}; {t.outside} rounds beyond the range then known cost {t.over:.6g} "
            "more than their mix",
            met=True,
        )
    low, high = game.span
    text = f"{low:.6g} <= y <= {high:.6g}, as given"
    if t.outside:
        text += f": {t.outside} outcomes were outside, the first in round {t.first_outside}"
    return Assumption(text, met=t.outside == 0)


def stated(
    game: Game,
    t: PoolTotals,
    name: str,
    kind: Kind,
    *,
    comparator: float,
    bound: float,
    statement: str,
    more: Iterable[Assumption] = (),
    audit: tuple[Audit, ...] = (),
    beside: str = "",
) -> Certificate:
    """A statement about the pool's loss, with what rounds beyond a learned range cost.

    Where others speak in the pool's place, also with what they lost more than it.
    """
    learned, led = game.learned, t.own_loss is not None
    statement += " + what rounds beyond the range cost" * learned
    statement += (
        f" + {t.led:.6g}, which the team lost more than the pool in whose place it spoke" * led
    )
    return Certificate.of(
        name=name,
        kind=kind,
        rounds=t.rounds,
        loss=t.loss,
        comparator=comparator,
        bound=bound + (t.over if learned else 0.0) + t.led,
        statement=statement,
        assumptions=(_range(game, t), *more),
        scale=1.0 / t.rate if t.rate > 0.0 else 0.0,  # of a logarithm of weights
        about=_about(game),
        audit=(*t.audit, *audit),
        beside=beside,
    )


def _prices(t: PoolTotals) -> Vector:
    """(1/eta) ln(1/p_j) by expert, and under Fixed Share what it costs to keep to one."""
    prices: Vector = np.abs(t.log_prior) / t.rate + t.staying
    return prices


def _potential(t: PoolTotals) -> float:
    """-(1/eta) ln sum_j p_j exp(-eta L_j)."""
    best = float(np.min(t.paid))
    if t.rate == math.inf or not math.isfinite(best):
        return best
    with np.errstate(under="ignore", over="ignore"):
        total = np.exp(t.log_prior - t.rate * (t.paid - best)).sum()
    return best - math.log(total) / t.rate


def _kept(t: PoolTotals) -> str:
    """What is charged for one expert throughout, in words."""
    if t.guarded:  # a tenth of the prior is with the experts
        price = {0.0: "10/p_j", FALLING: "10T/p_j"}
        return price.get(t.share, f"10/(p_j (1-s+s p_j/10)^(T-1)), s = {t.share:.6g}")
    if t.falling:
        return "T/p_j"
    return "1/p_j" if t.share == 0.0 else f"1/(p_j (1-s+s p_j)^(T-1)), s = {t.share:.6g}"


def _called(t: PoolTotals, name: str, guarded: str) -> str:
    """A statement's name, of a pool of rules or of any other."""
    return f"pool of rules{guarded}" if t.guarded else name


def _best_expert(game: Game, t: PoolTotals) -> Certificate:
    """Vovk 1990, 1998: loss <= L_j + (1/eta) ln(1/p_j) for every j; (23.3) for a pool of rules."""
    name = "Fixed Share, one expert" if t.share > 0.0 else "Aggregating Algorithm"
    given = slice(-1 if t.guarded else None)  # of a pool of rules, all but the rules
    return stated(
        game,
        t,
        _called(t, name, ""),
        "upper bound",
        comparator=float(np.min(t.paid[given])),
        bound=float(np.min((t.paid + _prices(t))[given])),
        statement=f"{_paid(game)} <= min_j (L_j + {_nat(game)} {_kept(t)})",
        beside=f"the best of {t.paid[given].size} experts",
    )


def _mixture(game: Game, t: PoolTotals) -> Certificate:
    """Sharper: loss <= -(1/eta) ln sum_j p_j exp(-eta L_j), the whole pool at once."""
    chances = "sum_j p_j exp(-eta L_j)"
    if t.guarded:
        chances = "(9/10 exp(-eta L_rules) + sum_j p_j/10 exp(-eta L_j))"
    return stated(
        game,
        t,
        _called(t, "Aggregating Algorithm, mixture form", ", mixture form"),
        "upper bound",
        comparator=float(np.min(t.paid)),
        bound=_potential(t),
        statement=f"{_paid(game)} <= -1/eta ln {chances}, eta = {t.rate:.6g}",
    )


def _likelihood(t: PoolTotals) -> Certificate:
    """The Bayesian Algorithm's equality: the chain rule of probabilities."""
    return Certificate.of(
        name="Bayesian Algorithm",
        kind="equality",
        rounds=t.rounds,
        loss=t.loss,
        comparator=float(np.min(t.paid)),
        bound=_potential(t),
        statement="log loss = -ln sum_j p_j exp(-L_j) <= min_j (L_j + ln 1/p_j)",
        scale=float(t.rounds),  # log densities may cancel
        about=LOG,
        audit=t.audit,
    )


def _fixed_share(game: Game, t: PoolTotals) -> Certificate:
    """Herbster and Warmuth 1998, for the sequence of experts that makes the bound least."""
    who, come = "experts", "1/p_j for each j they come to"
    prices = f"1/s for each switch, 1/(1-s+s p_j) for each other round), s = {t.share:.6g}"
    if t.guarded:
        who, come = "experts and rules", "10/p_j for each j they come to, 10/9 for the rules"
        prices = prices.replace("s p_j)", "s p_j/10) or 1/(1-s+9s/10)")
    if t.falling:
        prices = "t+1 for a switch after round t, (t+1)/t for staying after it)"
    return stated(
        game,
        t,
        _called(t, "Fixed Share", ", Fixed Share"),
        "upper bound",
        comparator=t.best_course,
        bound=t.best_sequence,
        statement=(
            f"{_paid(game)} <= min over sequences of {who} of (their loss + {_nat(game)} of "
            f"{come}, {prices}; here {t.switches} switches"
        ),
        beside=_turns(t.paid.size, t.switches) if t.switches else "",
    )


def _turns(experts: int, switches: int) -> str:
    return f"{experts} experts that take turns, {switches} switch{'es' * (switches > 1)}"


def _guard(game: Game, t: PoolTotals, own_loss: float) -> Certificate:
    """(24.3): what is said in the pool's place costs no more than a budget more."""
    low, high = game.span or t.seen
    within = f"{t.beyond:.6g}, by which outcomes beyond [lo, hi], those seen before, cost more"
    return Certificate.of(
        name="the team in the pool's place",
        kind="upper bound",
        rounds=t.rounds,
        loss=t.loss,
        comparator=own_loss,
        bound=own_loss + BUDGET * (high - low) ** 2 + t.beyond,
        statement=(
            f"sum (y - g)^2 <= the pool's own loss + {BUDGET:g} (hi-lo)^2, hi - lo = "
            f"{high - low:.6g}" + f" + {within}" * game.learned
        ),
        assumptions=(_range(game, t),),
        scale=(high - low) ** 2 + t.beyond,
        about=_about(game),
        beside="the pool with the proof",
    )


def tracking(game: Game, t: PoolTotals, k: int, loss: float) -> Certificate:
    """The tracking bound for the best sequence with at most k switches, whose loss is given.

    For equal priors 1/N: (k+1) ln N + k ln(1/s) + (T-1-k) ln(1/(1-s+s/N)), over eta; with a
    falling share (k+1) (ln N + ln T) for every k at once: switches cost ln(t+1) <= ln T each, and
    staying ln 2/1 + ln 3/2 + ... <= ln T in all.
    """
    even = t.log_prior[: -1 if t.guarded else None]  # p_j = 1/N, or 1/(10 N) by a pool of rules
    N, T, s, n = round(math.exp(-even[0])), t.rounds, t.share, "10N" if t.guarded else "N"
    if t.falling:
        nats, words = (k + 1) * math.log(N * max(T, 1)), f"({n} T)^{k + 1}"
    else:
        switches = (k * -math.log(s) if s > 0.0 else math.inf) if k else 0.0
        stays = -(T - 1 - k) * math.log1p(-s * (1.0 - 1.0 / N))
        nats = (k + 1) * math.log(N) + switches + stays
        words = f"{n}^{k + 1} / (s^{k} (1-s+s/{n})^(T-1-{k})), s = {s:.6g}"
    extra, _, within = _averaging(game, t)
    price = nats / t.rate + extra
    same = np.allclose(even, -math.log(N), rtol=0.0, atol=1e-12)
    return stated(
        game,
        t,
        _called(t, f"Fixed Share, {k} switches", f", {k} switches"),
        "upper bound",
        comparator=loss,
        bound=loss + price,
        statement=f"{_paid(game)} <= best sequence with {k} switches + {_nat(game)} of {words}",
        more=(
            Assumption("all experts have the same prior weight", met=bool(same)),
            Assumption("share > 0, or no switch at all", met=s > 0.0 or k == 0),
            *within,
        ),
    )


def every_round(
    t: PoolTotals, mix: str = "-1/eta ln sum_j weight_j exp(-eta loss_tj)"
) -> Certificate:
    """The inequality behind the bound, in its worst round: loss_t <= mix_t."""
    spoken = t.worst_round > 0
    return Certificate.of(
        name=EACH_ROUND,
        kind="upper bound",
        rounds=t.rounds,
        loss=t.worst if spoken else 0.0,
        comparator=0.0,
        bound=0.0,
        statement=(
            f"max_t (loss_t - mix_t) <= 0, {'of the pool itself, ' * (t.own_loss is not None)}"
            f"mix_t = {mix}, in "
            f"units of the round's losses or 1/eta; worst in round {t.worst_round}"
        ),
        assumptions=(Assumption(f"{t.rounds - t.outside} rounds had y in the range", met=True),),
        scale=1.0,
    )


def _averaging(game: Game, t: PoolTotals) -> tuple[float, str, tuple[Assumption, ...]]:
    """What weighted means pay on top, in words too, and what they assume."""
    if game.kind != AVERAGED:
        return 0.0, "", ()
    within = Assumption(
        f"|y - g_j| <= hi - lo = {t.width:.6g} for every expert: the largest was "
        f"{math.sqrt(t.reach):.6g}",
        met=t.reach <= t.width * t.width * (1.0 + 1e-12),
    )
    if game.scale <= 0.5 * (1.0 + 1e-12):  # exp-concave
        return 0.0, "", (within,)
    return t.rate * t.rounds * t.width**4 / 8.0, " + eta T (hi-lo)^4/8", (within,)


def _exponential_weights(game: Game, t: PoolTotals) -> Certificate:
    """Kivinen and Warmuth 1999 for an exp-concave rate; else Hoeffding's for bounded losses."""
    extra, more, within = _averaging(game, t)
    return stated(
        game,
        t,
        "exponential weights" + (", bounded losses" if extra else ""),
        "upper bound",
        comparator=float(np.min(t.paid)),
        bound=float(np.min(t.paid + _prices(t))) + extra,
        statement=f"sum (y - g)^2 <= min_j (L_j + (1/eta) ln 1/p_j){more}, eta = {t.rate:.6g}",
        more=within,
    )


def chain(game: Game, t: PoolTotals, cells: Cells) -> list[Certificate]:
    """From the mixture to the best cell to that cell's own best expert, in one statement.

    Takes the certificates of each cell that are about the very loss that the pool charged it: of
    the same kind, over as many rounds, and no less.
    """
    if game.kind == AVERAGED:
        return []
    best: tuple[float, str, Certificate, float] | None = None
    for (name, certificates), paid, price in zip(cells, t.paid.tolist(), _prices(t).tolist()):
        for c in certificates:
            same = c.about == _about(game) and c.rounds == t.rounds
            about = same and abs(c.loss - paid) <= rounding(abs(paid) + c.scale, t.rounds)
            if about and c.kind != "report" and c.bound is not None:
                if best is None or c.bound + price < best[0]:
                    best = c.bound + price, name, c, price
                break  # the first that speaks of this loss is the main one
    if best is None:
        return []
    total, name, c, price = best
    return [
        stated(
            game,
            t,
            f"the pool and {c.name}",
            "upper bound",
            comparator=c.comparator,
            bound=total,
            statement=(
                f"{_paid(game)} <= [{name}: {c.statement.split('=', 1)[-1].strip()}] + "
                f"{_nat(game)} {_kept(t)} = {c.bound:.6g} + {price:.6g}"
            ),
            more=c.assumptions,
            audit=c.audit,
        )
    ]
