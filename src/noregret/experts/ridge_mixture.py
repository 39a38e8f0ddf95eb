"""A mixture over the ridge parameter: nobody has to choose it, and no horizon has to be known.

AAR with every precision a_j = c^2 2^j, j = 0, 1, ..., under the Aggregating Algorithm, with prior
weights 2^-(j+1).  For every expert f with Y sqrt(T)/(c|f|) within the grid, in every round T,

    loss <= L(f) + 2.1214 Y c|f| sqrt(T) + c^2|f|^2 + 2Y^2 ln(k(k+1)),   k = ceil(Y sqrt(T)/(c|f|))

since a_j |f|^2 + Y^2 c^2 T/a_j is least at a = Y c sqrt(T)/|f|, which a grid of ratio 2 misses by a
factor of at most sqrt(2): Zhdanov and Vovk's (19), with better constants.  See docs/theory.md, 12.
"""

from __future__ import annotations

import math

from noregret import losses
from noregret.certificates import Assumption, Certificate
from noregret.declare.parameters import PARAMETERS
from noregret.experts.safe import SafePool
from noregret.experts.state import PoolState
from noregret.gaussian.facts import declared_bound
from noregret.gaussian.hindsight import Hindsight
from noregret.gaussian.learners import AAR
from noregret.learner.base import Learner
from noregret.losses import Game

__all__ = ["RidgeMixture"]

MISSED = math.sqrt(2.0) + math.sqrt(0.5)  # of a|f|^2 + b/a, for a at most sqrt(2) off


class RidgeMixture(SafePool):
    """AAR over all ridge parameters at once; with a kernel, competitive with all its functions.

    With |y| <= Y and |x| <= c, or sqrt k(x, x) <= c with a kernel, on any data and in every round T

        sum (y - g)^2 <= L(f) + 2.13 Y c|f| sqrt(T) + c^2|f|^2 + 2Y^2 ln(k(k+1))

    for every expert f at once, k = ceil(Y sqrt(T)/(c|f|)) up to the end of the grid (Zhdanov and
    Vovk, (19)).  Neither |f| nor T is asked for, where one prior precision would need both.

    Cost: `precisions` AARs; with a kernel t^2 flops in round t each.

    Parameters
    ----------
    norm_bound : c, largest |x|, or sqrt k(x, x); the grid of precisions is c^2, 2c^2, 4c^2, ...
    outcome_range : Y for [-Y, Y], a pair (lo, hi), or None: learned; then what rounds beyond the
        range cost is added.
    precisions : how many; N of them reach experts with |f| >= Y sqrt(T)/(c 2^(N-1/2)).
    kernel : experts are functions of its space.

    >>> learner = RidgeMixture(norm_bound=1.0, outcome_range=1.0)
    >>> for t in range(200):
    ...     x = [(t % 10) / 10.0]
    ...     forecast = learner.predict_one(x)
    ...     learner.learn_one(x, 0.8 * x[0])
    >>> [c.name for c in learner.certificates()][:2]
    ['the pool and Busuttil-Kalnishkan Theorem 1', 'Zhdanov-Vovk (19)']
    >>> all(c.holds for c in learner.certificates())
    True
    """

    def __init__(
        self,
        norm_bound: float = 1.0,
        outcome_range: object = None,
        *,
        precisions: int = 16,
        kernel: object = None,
    ) -> None:
        self.norm_bound = norm_bound
        self.outcome_range = outcome_range
        self.precisions = precisions
        self.kernel = kernel

    @property
    def experts(self) -> dict[str, Learner]:
        """AAR by precision."""
        square, count = self._checked("norm_bound") ** 2, self._checked("precisions")
        grid = [square * 2.0**j for j in range(count)]
        for end in (grid[0], grid[-1]):
            PARAMETERS["prior_precision"].kind.check("the square of norm_bound, times 2^j", end)
        return {f"a={a:.6g}": AAR(a, kernel=self.kernel) for a in grid}

    @property
    def prior(self) -> list[float]:  # type: ignore[override]  # of other pools, a parameter
        """2^-(j+1), and what is left for the last."""
        last = self._checked("precisions") - 1
        return [*(0.5 ** (j + 1) for j in range(last)), 0.5**last]

    def _game(self) -> Game:
        return losses.game("square", self.outcome_range)

    def _statements(self, state: PoolState) -> list[Certificate]:
        found, mine = state.certificates(), self._every_expert(state)
        chained = [c for c in found if c.name.startswith("the pool")]
        return [*chained, mine, *(c for c in found if c not in chained)]

    def _every_expert(self, state: PoolState) -> Certificate:
        """ZV (19) at the best expert in hindsight of each precision, the least of them."""
        game, t, c = state.pool.game, state.pool.totals(), self._checked("norm_bound")
        models = [member.model for member in state.members.values()]
        seen = max(abs(t.seen[0]), abs(t.seen[1]))
        Y = seen if game.span is None else max(abs(game.span[0]), abs(game.span[1]))
        nat, over = 0.5 * t.width**2, t.over if game.learned else 0.0
        largest = 2.0 ** (len(models) - 0.5)
        sides = [(best, _side(best, Y, c, nat, t.rounds, largest)) for best in map(_best, models)]
        best, side = min(sides, key=lambda each: each[1])
        longest = max(_longest(model) for model in models)
        reached = Assumption(
            f"Y sqrt(T)/(c|f|) <= 2^(N-1/2), N = {len(models)} precisions", met=side < math.inf
        )
        inside = Assumption(
            f"y in the range, where one is given: {t.outside} outcomes were not",
            met=game.learned or t.outside == 0,
        )
        nats = "(hi-lo)^2/2 ln(k(k+1))"
        return Certificate.of(
            name="Zhdanov-Vovk (19)",
            kind="upper bound",
            rounds=t.rounds,
            loss=t.loss,
            comparator=best.loss,
            bound=(side if side < math.inf else 0.0) + over,
            statement=(
                f"sum (y - g)^2 <= L(f) + {MISSED:.5g} Y c|f| sqrt(T) + c^2|f|^2 + {nats}"
                f"{' + what rounds beyond the range cost' if game.learned else ''} for every f, "
                f"k = ceil(Y sqrt(T)/(c|f|)); here |f| = {best.norm or 0.0:.6g}, Y = {Y:.6g}"
            ),
            assumptions=(declared_bound("|x|", "c", c, longest), inside, reached),
        )


def _best(model: AAR) -> Hindsight:
    return model.hindsight()


def _longest(model: AAR) -> float:
    """The largest |x|, or sqrt k(x, x), so far."""
    stream = model._learned()
    with stream.closed():
        return stream.facts().totals.longest


def _side(f: Hindsight, Y: float, c: float, nat: float, T: int, largest: float) -> float:
    """The right side for one expert; infinite where the grid does not reach it."""
    norm = c * (f.norm or 0.0)
    if Y == 0.0:
        return f.loss + norm * norm
    k = Y * math.sqrt(T) / norm if norm > 0.0 else math.inf
    if not k <= largest:
        return math.inf
    whole = max(math.ceil(k), 1)
    grid = MISSED * Y * norm * math.sqrt(T) + norm * norm
    return f.loss + grid + nat * math.log(whole * (whole + 1.0))
