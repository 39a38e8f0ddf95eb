"""What has one learner per key: the keys, their slots, and the store that the slots are in."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from noregret._native.fleet import Texts
from noregret.errors import InputError, abbreviated
from noregret.fleet.desks import has_desk
from noregret.fleet.keys import Index, Keys, read_keys, settled
from noregret.fleet.laid import Laid
from noregret.fleet.loose import Loose
from noregret.fleet.packed import Packed, plan_of
from noregret.fleet.packing import drift_of
from noregret.fleet.priors import Priors
from noregret.fleet.slots import SlotStore
from noregret.gaussian.stream import Plan
from noregret.learner.locks import new_lock
from noregret.learner.saving import ours
from noregret.types import Integers

__all__ = ["Keyed"]


class Keyed:
    """One learner per key: keys come, go and expire."""

    __slots__ = ("_clock", "_index", "_learner", "_lock", "_store")

    def __init__(
        self, learner: Any, *, prior: str | None = None, threads: int | None = None
    ) -> None:
        if not ours(learner) or not hasattr(learner, "learn_one") or learner._tickets:
            raise InputError(
                f"learner = {abbreviated(learner)}: give a learner of noregret that learns each "
                "outcome with its features, such as nr.AAR()"
            )
        if learner.__sklearn_is_fitted__():
            raise InputError(
                f"learner = {abbreviated(learner)} has learned something, which every key would "
                "count as its own: give one that has not, as sklearn.base.clone makes it"
            )
        self._learner: Any = learner
        plan = plan_of(learner)
        self._lock = new_lock()
        self._index: Index | None = None
        self._clock = 0.0
        workers, like = _threads(threads), self.learner
        priors = _priors(prior, plan)
        # The same calls, whatever it is.
        self._store: Any = Loose(like)
        if plan is not None:
            self._store = Packed(like, plan, workers, priors)
        elif has_desk(like):
            self._store = Laid(like, workers)

    def _new(self) -> Any:
        """A learner that has learned nothing."""
        return type(self._learner)(**self._learner.get_params(deep=False))

    def _time(self, now: float | None) -> float:
        if now is None:
            return self._clock + 1.0
        if not isinstance(now, int | float | np.number) or not self._clock <= now < np.inf:
            raise InputError(
                f"now = {abbreviated(now)}: give a finite number that is not before the last, "
                f"{self._clock!r}"
            )
        return float(now)

    @property
    def _priors(self) -> Priors | None:
        return getattr(self._store, "priors", None)

    @property
    def learner(self) -> Any:
        """The learner whose parameters every key has; it has learned nothing."""
        return self._learner

    @property
    def compiled(self) -> bool:
        """Whether states are in compiled arrays, and not objects in a plain loop."""
        return isinstance(self._store, SlotStore)

    def __len__(self) -> int:
        return 0 if self._index is None else self._index.size()

    def __repr__(self) -> str:
        return f"Fleet({self._learner!r}) of {len(self)} keys"

    def __contains__(self, key: object) -> bool:
        with self._lock:
            return self._slot(key) >= 0

    def __iter__(self) -> Iterator[int | str]:
        return iter(self.keys())

    def keys(self) -> list[int] | list[str]:
        """All keys, in the order of their slots: that in which they came while none was dropped.

        >>> import noregret as nr
        >>> fleet = nr.Fleet(nr.AAR())
        >>> fleet.learn([9, 4], [[1.0], [1.0]], [0.0, 1.0])
        >>> fleet.keys()
        [9, 4]
        """
        with self._lock:
            found = self._keys(self._slots())
        return found if isinstance(found, list) else found.tolist()

    def _slots(self) -> Integers:
        return np.zeros(0, np.int64) if self._index is None else self._index.taken()

    def _keys(self, where: Integers) -> Keys:
        return [] if self._index is None else self._index.keys(where)

    def _slot(self, key: object) -> int:
        if self._index is None:
            return -1
        keys = read_keys([key])
        if isinstance(keys, list) != isinstance(self._index, Texts):
            return -1
        return int(self._index.find(keys)[0])

    def _found(self, keys: Keys) -> Integers:
        """The slots of keys that are there."""
        if self._index is None and len(keys):
            raise KeyError(keys[0] if isinstance(keys, list) else int(keys[0]))
        where = settled(self._index, keys).find(keys)
        if (where < 0).any():
            lost = keys[int(np.argmin(where))]
            raise KeyError(lost if isinstance(lost, str) else int(lost))
        return where

    def __getitem__(self, key: object) -> Any:
        """The learner of a key, as it is now; a copy that goes its own way."""
        with self._lock:
            slot = self._slot(key)
            if slot < 0:
                raise KeyError(key)
            return self._store.learner(slot)

    def __setitem__(self, key: object, learner: Any) -> None:
        """Let a key go on from a copy of a learner with the parameters of the fleet's."""
        with self._lock:
            if type(learner) is not type(self._learner):
                raise InputError(
                    f"fleet[{key!r}] = {abbreviated(learner)}: give one like {self._learner!r}"
                )
            if self._priors is not None:
                raise InputError(
                    'fleet[key] = learner: not with prior="fleet", whose keys began '
                    "elsewhere than an ordinary learner"
                )
            keys = read_keys([key])
            index = settled(self._index, keys)
            state = self._store.fits(learner, key)
            slot = int(index.give(keys)[0])
            self._store.reserve(slot + 1)
            self._store.put(slot, state, self._clock)
            self._index = index

    def __delitem__(self, key: object) -> None:
        self.drop([key])

    def drop(self, keys: Any) -> None:
        """Forget some keys; one that is not there is a KeyError, and nothing is forgotten.

        >>> import noregret as nr
        >>> fleet = nr.Fleet(nr.AAR())
        >>> fleet.learn(["a", "b"], [[1.0], [1.0]], [0.0, 1.0])
        >>> fleet.drop(["a"])
        >>> fleet.keys()
        ['b']
        """
        with self._lock:
            self._forget(np.unique(self._found(read_keys(keys))))

    def _forget(self, where: Integers) -> None:
        if where.size:
            assert self._index is not None
            self._store.clear(where)
            self._index.drop(where)

    def expire(self, age: float) -> list[int] | list[str]:
        """Forget the keys whose last round is more than `age` ago; which they were.

        Age is counted in calls that learned, or by the clock that `round(..., now=)` was given.

        >>> import noregret as nr
        >>> fleet = nr.Fleet(nr.AAR())
        >>> for day in (1, 2, 3):
        ...     fleet.learn(["daily"], [[1.0]], [0.0], now=day)
        ...     if day == 1:
        ...         fleet.learn(["once"], [[1.0]], [0.0], now=day)
        >>> fleet.expire(1)
        ['once']
        """
        if not isinstance(age, int | float | np.number) or not age >= 0:
            raise InputError(f"age = {abbreviated(age)}: give a number >= 0")
        with self._lock:
            where = self._slots()
            old = where[self._clock - self._store.seen(where) > age]
            gone = self._keys(old)
            self._forget(old)
        return gone if isinstance(gone, list) else gone.tolist()


def _priors(prior: str | None, plan: Plan | None) -> Priors | None:
    if prior is None:
        return None
    if prior != "fleet":
        raise InputError(f'prior = {abbreviated(prior)}: give "fleet", or None')
    if plan is None or plan.intercept or plan.rule.clip is not None or drift_of(plan) > 0.0:
        raise InputError(
            'prior="fleet" is for AAR, Ridge and BayesianRidge without drift, clip and '
            "fit_intercept: give the constant 1 as a feature"
        )
    return Priors()


def _threads(threads: int | None) -> int:
    if threads is None:
        return max(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1, 1)
    if type(threads) is not int or threads < 1:
        raise InputError(f"threads = {abbreviated(threads)}: give a whole number >= 1, or None")
    return threads
