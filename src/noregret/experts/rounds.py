"""Compiled rounds of a pool, where all its members have such rounds, or all are names in x.

They work in the arrays of the members' states and of the weights, and decline whatever needs a
closer look: a state that another has replaced, a member that sleeps, a lock that is taken.  Then
the pool takes the careful way, and new rounds begin after it, in the arrays that are there then.
"""

from __future__ import annotations

from collections.abc import Mapping

from noregret._native.mixing import LIKELIHOOD
from noregret._native.rows import GaussianRounds, NamedRounds, PoolRounds, Rounds
from noregret.experts.members import LearnerMember, Member, NamedForecast
from noregret.experts.pool import Pool
from noregret.losses import LARGEST

__all__ = ["pool_rounds"]


def pool_rounds(members: Mapping[str, Member], pool: Pool) -> PoolRounds | NamedRounds | None:
    """Rounds for these members and weights; None where the careful way is the only one."""
    named = [e for e in members.values() if isinstance(e, NamedForecast)]
    if any(type(expert.name) not in (str, int) for expert in named):
        return None  # looked at in Python
    if named:
        places = {expert.name: expert.place for expert in named}
        in_order = list(places.values()) == list(range(pool.size))
        if not in_order or pool.game.kind == LIKELIHOOD:
            return None
        return NamedRounds(pool, pool.game.binary, LARGEST, places)
    models, locks = [], []
    for expert in members.values():
        own = expert.own if isinstance(expert, LearnerMember) else None
        fast = None if own is None else getattr(own._state, "fast", None)
        if own is None or not isinstance(fast, Rounds):
            return None
        models.append(own)
        if not isinstance(fast, GaussianRounds):  # those take no lock, and say when they are closed
            locks.append(own._lock)
    return PoolRounds(pool, pool.game.binary, LARGEST, models, locks)
