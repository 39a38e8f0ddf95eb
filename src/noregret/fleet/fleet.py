"""`Fleet`: one learner per key."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Self

import numpy as np

from noregret.certificates import Certificate
from noregret.errors import InputError, MergeError, NumericalError, abbreviated
from noregret.fleet.certified import Certificates, certified
from noregret.fleet.keyed import Keyed
from noregret.fleet.keys import Keys, index_for, read_keys, settled
from noregret.fleet.prior import Prior
from noregret.fleet.replay import FleetReplay, Part, replay
from noregret.types import Integers, Interval, Matrix, Outcomes, Table, Vector
from noregret.wrappers.intervals import Intervals

__all__ = ["Fleet"]

PLACE = re.compile(r"^(?:row |X\[|y\[|X\[[^]]*\]\[)(\d+)")


class Fleet(Keyed):
    """One learner per key, for thousands to tens of millions of keys; one call per tick.

    `Fleet(learner)` gives every key a learner with the parameters of `learner`, which itself is
    never taught.  A key is met when it first occurs; keys are texts or whole numbers, all of one
    kind.

    The calls, which are a contract (others build on them):

    - `round(keys, X, y)` forecasts every row and learns it: the array of forecasts.  Each row sees
      only the past of its key, also when a key occurs several times in a call.
    - `predict(keys, X)`, `learn(keys, X, y)`: one half of a round.
    - `round_intervals(keys, X, y)` and `intervals(keys, X)`, for a fleet of `nr.Intervals`: the
      forecasts and the interval of every row; intervals at rows whose outcomes are not known.
    - `fleet[key]`: an ordinary learner, a copy; `fleet[key] = learner` puts one in its place.
      `key in fleet`, `len(fleet)`, `fleet.keys()`, `fleet.drop(keys)`, `fleet.expire(age)`.
    - `certificates()`: a table, one line per key; `certificate()`: their sum.
    - `to_bytes()` and `Fleet.from_bytes(data)`, `save(path)` and `Fleet.open(path)`.
    - `merge(other)`: take in the keys of another fleet; `Fleet.merged(fleets)`: a new one of all.
      `split(n)`: n fleets, each key in the one that its hash says, the same on every machine;
      `take(keys)`: a fleet of some keys.
    - `replay(data, key=, target=)`: rounds from a frame or a file.

    With prior="fleet" a new key starts near what the keys before it have in common (see
    noregret/fleet/prior.py), and keeps that prior: `prior(key)`.  Its certificate compares it with
    experts that pay (w - m)'P(w - m) for being elsewhere.  `fleet[key]` is then the learner of the
    turned rounds.  Priors are learned between calls, so that where calls are cut shows.

    A call that is refused changes nothing, to the last bit, and names key, row, field and value.
    Forecasts and states are those of separate learners, bit for bit.

    Ridge, AAR and BayesianRidge in weight space, with or without a drift that is a number, have
    their states in compiled arrays (`fleet.compiled`).  Cost: 3.5 n^2 flops per row on as many
    threads as `threads` says.  Memory per key: 8 (n (n + 3)/2 + 31) bytes, 600 at n = 8, and 13 to
    19 for the key and its place, texts beside.  So have, in their own compiled rounds,
    `BayesianLogistic(method="adf")`, ImproperLogistic and `MAPLogistic(history=False)` (labels 0
    and 1; 760 bytes at n = 8), AAR and Ridge with a hint or a discount (730 to 745),
    `Auto(effort="linear")` (16 kB), and Intervals about one of these that forecasts numbers (5.3 kB
    more per coverage).  Any other learner is an object of its own in a plain loop.

    >>> import numpy as np, noregret as nr
    >>> fleet = nr.Fleet(nr.AAR())
    >>> fleet.round(["north", "south", "north"], [[1.0], [1.0], [1.0]], [2.0, 5.0, 2.0])
    array([0.        , 0.        , 0.66666667])
    >>> fleet.predict(["south"], [[1.0]])
    array([1.66666667])
    >>> fleet["south"].certificate().holds
    True
    """

    __slots__ = ()

    # Rounds ---------------------------------------------------------------------------------

    def round(self, keys: Any, X: Table, y: Outcomes, *, now: float | None = None) -> Vector:
        """Forecast every row, then learn it; each row sees only the past of its key.

        `now` is the time of the call by a clock of yours, for `expire`; without it calls are
        counted.

        >>> import noregret as nr
        >>> fleet = nr.Fleet(nr.Ridge())
        >>> fleet.round([7, 7, 8], [[1.0], [1.0], [1.0]], [1.0, 1.0, 1.0])
        array([0. , 0.5, 0. ])
        """
        with self._lock:
            return self._round(read_keys(keys), X, y, now)

    def learn(self, keys: Any, X: Table, y: Outcomes, *, now: float | None = None) -> None:
        """Learn every row, as `round` does.

        >>> import noregret as nr
        >>> fleet = nr.Fleet(nr.Ridge())
        >>> fleet.learn([7, 7], [[1.0], [1.0]], [1.0, 1.0])
        >>> fleet.predict([7], [[3.0]])
        array([2.])
        """
        self.round(keys, X, y, now=now)

    def round_intervals(
        self, keys: Any, X: Table, y: Outcomes, *, now: float | None = None
    ) -> tuple[Vector, Interval]:
        """What `round` does, and the interval of every row as it was before its outcome.

        The fleet is one of `nr.Intervals`.  Each key has its own; those of a new key are infinite.
        Of several coverages the ends are arrays with a column for each.

        >>> import noregret as nr
        >>> fleet = nr.Fleet(nr.Intervals(nr.AAR(), 0.9))
        >>> X, y = [[1.0]] * 3, [2.0, 5.0, 2.0]
        >>> forecasts, (low, high) = fleet.round_intervals(["north", "south", "north"], X, y)
        >>> print(low.round(1), high.round(1))
        [-inf -inf -2.7] [inf inf 5.8]
        """
        with self._lock:
            read = read_keys(keys)
            ends = self._ends_for(len(read))
            return self._round(read, X, y, now, ends), self._bands(ends)

    def intervals(self, keys: Any, X: Table) -> Interval:
        """The interval of every row from what its key has learned; see `round_intervals`.

        >>> import noregret as nr
        >>> fleet = nr.Fleet(nr.Intervals(nr.AAR(), 0.9))
        >>> print(fleet.intervals(["north"], [[1.0]]))
        ([-inf], [inf]): nothing is known yet
        """
        with self._lock:
            read = read_keys(keys)
            ends = self._ends_for(len(read))
            self._predict(read, X, ends)
            return self._bands(ends)

    def _ends_for(self, rows: int) -> Matrix:
        """Room for the ends of so many rows."""
        if not isinstance(self._learner, Intervals):
            raise InputError(
                f"this is a fleet of {self._learner!r}: for intervals make one of "
                "nr.Intervals(learner, coverage)"
            )
        return np.empty((rows, len(self._learner._trackers()[0].levels)))

    def _bands(self, ends: Matrix) -> Interval:
        state = self._learner._begin()
        low, high = state.bands(ends)
        return Interval(low[:, 0], high[:, 0]) if state.scalar else Interval(low, high)

    def _round(
        self, keys: Keys, X: Table, y: Outcomes, now: float | None, ends: Matrix | None = None
    ) -> Vector:
        more = () if ends is None else (ends,)
        store, index = self._store, settled(self._index, keys)
        clock = self._time(now)
        with _naming(keys):
            space, xs, ys = store.read(X, y)
        _same_length(keys, len(xs))
        mark = store.mark()
        found = index.find(keys)
        new = np.flatnonzero(found < 0)
        if new.size:
            found[new] = index.give(_some(keys, new))
        try:
            store.settle(space)
            if new.size:
                store.reserve(int(found.max()) + 1)
            with _naming(keys):
                forecasts: Vector = store.learn(found, xs, ys, clock, *more)
        except BaseException:
            store.back(mark)
            if new.size:
                index.drop(np.unique(found[new]))
            raise
        self._index, self._clock = index, clock
        return forecasts

    def predict(self, keys: Any, X: Table) -> Vector:
        """Forecast every row from what its key has learned so far; a new key knows nothing.

        >>> import noregret as nr
        >>> nr.Fleet(nr.AAR()).predict(["north"], [[1.0]])
        array([0.])
        """
        with self._lock:
            return self._predict(read_keys(keys), X)

    def _predict(self, keys: Keys, X: Table, ends: Matrix | None = None) -> Vector:
        more = () if ends is None else (ends,)
        index = settled(self._index, keys)
        with _naming(keys):
            xs, beyond = self._store.known(X)
            _same_length(keys, len(xs))
            forecasts: Vector = self._store.predict(index.find(keys), xs, beyond, *more)
        return forecasts

    def replay(
        self,
        data: Any,
        *,
        key: str,
        target: str,
        features: Sequence[str] | None = None,
        query: str | None = None,
        each: Callable[[Part, Vector], object] | None = None,
    ) -> FleetReplay:
        """Forecast and learn all rows of a frame, of Arrow batches or of a file, in their order.

        data : a frame of pandas, Polars or Arrow; whatever streams Arrow batches (a relation of
            DuckDB, a reader); or the name of a Parquet, Arrow, CSV or JSON lines file, or
            "duckdb:file.db" with a query.  Files and streams are read in bounded memory.
        key, target, features : columns; features are all others where none are named.
        each : called with every `Part` and its forecasts.

        A frame is learned whole or not at all, a file piece by piece.  Rows without an outcome are
        forecast and not learned.  Keys of CSV, JSON lines and databases are texts.

        >>> import noregret as nr, pandas as pd
        >>> sales = pd.DataFrame({"shop": ["a", "b", "a"], "one": 1.0, "units": [2.0, 5.0, 2.0]})
        >>> nr.Fleet(nr.AAR()).replay(sales, key="shop", target="units").forecast
        array([0.        , 0.        , 0.66666667])
        """
        return replay(self, data, key=key, target=target, features=features, query=query, each=each)

    def prior(self, key: Any) -> Prior | None:
        """What a key of a fleet with prior="fleet" started from; None: the learner's own prior.

        >>> import numpy as np, noregret as nr
        >>> fleet = nr.Fleet(nr.AAR(), prior="fleet")
        >>> for shop in range(10):  # one after the other, all with y = 3x
        ...     fleet.learn([shop] * 4, [[1.0], [2.0], [1.0], [2.0]], [3.0, 6.0, 3.0, 6.0])
        >>> print(fleet.prior(0), fleet.prior(9).keys, fleet.prior(9).mean.round(1))
        None 8 [3.]
        """
        with self._lock:
            where = self._found(read_keys([key]))
            if self._priors is None:
                return None
            version = int(self._store.versions(where)[0])
            return self._priors.known[version - 1] if version else None

    # Certificates ---------------------------------------------------------------------------

    def certificates(self, *, audit: bool = False, inside: bool = False) -> Certificates:
        """The main certificate of every key, as a table; `worst` puts some keys first.

        It compares what was booked, some 30 us per key; with `audit` it also asks whether each
        state is what was booked, as `fleet[key].certificate()` does, some 200 us per key.  Of a
        fleet of `nr.Intervals` it is about coverage; with `inside` about the learners inside.

        >>> import noregret as nr
        >>> fleet = nr.Fleet(nr.AAR())
        >>> fleet.learn(["a", "b", "a"], [[1.0], [1.0], [1.0]], [1.0, 2.0, 1.0])
        >>> table = fleet.certificates()
        >>> table.keys, table.rounds.tolist(), table.holds.tolist()
        (['a', 'b'], [2, 1], [True, True])
        """
        with self._lock:
            where = self._slots()
            inside = inside and isinstance(self._learner, Intervals)
            return certified(self._store, self._keys(where), where, audit=audit, inside=inside)

    def certificate(self) -> Certificate:
        """The sum of all keys' main certificates: losses, comparators and bounds add over keys.

        >>> import noregret as nr
        >>> fleet = nr.Fleet(nr.AAR())
        >>> fleet.learn(["a", "b"], [[1.0], [1.0]], [1.0, 2.0])
        >>> print(fleet.certificate())  # doctest: +ELLIPSIS
        Busuttil-Kalnishkan Theorem 1, summed over 2 keys: holds after 2 rounds [upper bound]
        ...
        """
        return self.certificates().total()

    # Bytes and files ------------------------------------------------------------------------

    def to_bytes(self) -> bytes:
        """The fleet as bytes; `Fleet.from_bytes` reads them back, bit for bit.

        >>> import noregret as nr
        >>> fleet = nr.Fleet(nr.AAR())
        >>> fleet.learn(["a", "b"], [[1.0], [1.0]], [1.0, 2.0])
        >>> nr.Fleet.from_bytes(fleet.to_bytes())
        Fleet(AAR()) of 2 keys
        """
        with self._lock:
            return b"".join(_files().pieces(self))

    @classmethod
    def from_bytes(cls, data: Any) -> Fleet:
        """The fleet that `to_bytes` or `save` stored; a SnapshotError for all else."""
        fleet: Fleet = _files().restored(data)
        return fleet

    def save(self, path: Any) -> None:
        """Store the fleet in a file, whole or not at all, whatever happens meanwhile.

        >>> import noregret as nr, tempfile, os
        >>> fleet = nr.Fleet(nr.AAR())
        >>> fleet.learn(["a", "b"], [[1.0], [1.0]], [1.0, 2.0])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     fleet.save(os.path.join(folder, "fleet.nr"))
        ...     nr.Fleet.open(os.path.join(folder, "fleet.nr"))
        Fleet(AAR()) of 2 keys
        """
        with self._lock:
            _files().write(self, path)

    @classmethod
    def open(cls, path: Any, *, verify: bool = False) -> Fleet:
        """The fleet in a file, by a memory map: states are read when their keys come up.

        The file is never written to.  Its header and keys are checked; `verify` checks the states
        too, which reads all of it.
        """
        fleet: Fleet = _files().opened(path, verify=verify)
        return fleet

    def __reduce__(self) -> tuple[object, ...]:
        return Fleet.from_bytes, (self.to_bytes(),)

    # Several fleets -------------------------------------------------------------------------

    def _empty(self) -> Fleet:
        prior = None if self._priors is None else "fleet"
        fleet = Fleet(self._learner, prior=prior, threads=getattr(self._store, "threads", None))
        fleet._clock = self._clock
        return fleet

    def _part(self, where: Integers) -> Fleet:
        """A fleet of some slots."""
        part = self._empty()
        keys = self._keys(where)
        if len(keys):
            part._index = index_for(keys)
            part._index.give(keys)
            part._store.insert(np.arange(len(where)), self._store, where)
        return part

    def take(self, keys: Any) -> Fleet:
        """A fleet of some keys, which share nothing with these.

        >>> import noregret as nr
        >>> fleet = nr.Fleet(nr.AAR())
        >>> fleet.learn(["a", "b"], [[1.0], [1.0]], [0.0, 1.0])
        >>> fleet.take(["b"]).keys()
        ['b']
        """
        with self._lock:
            where = self._found(read_keys(keys))
            return self._part(where[np.sort(np.unique(where, return_index=True)[1])])

    def split(self, parts: int) -> list[Fleet]:
        """So many fleets, each key in the one that its hash says, the same on every machine.

        >>> import noregret as nr
        >>> fleet = nr.Fleet(nr.AAR())
        >>> fleet.learn(range(100), [[1.0]] * 100, [0.0] * 100)
        >>> sum(map(len, fleet.split(4)))
        100
        """
        if type(parts) is not int or parts < 1:
            raise InputError(f"parts = {abbreviated(parts)}: give a whole number >= 1")
        with self._lock:
            where = self._slots()
            home = np.zeros(0) if self._index is None else self._index.hashes(where) % parts
            return [self._part(where[home == k]) for k in range(parts)]

    def merge(self, other: Fleet) -> Self:
        """Take in another fleet: its keys, and what it learned of keys that both have.

        Learners of one key are merged as `learner.merge` does, or refused: then nothing changes.

        >>> import noregret as nr
        >>> one, other = nr.Fleet(nr.AAR()), nr.Fleet(nr.AAR())
        >>> one.learn(["a"], [[1.0]], [1.0])
        >>> other.learn(["a", "b"], [[1.0], [1.0]], [1.0, 2.0])
        >>> one.merge(other)
        Fleet(AAR()) of 2 keys
        >>> one["a"].n_samples_seen_
        2
        """
        if not isinstance(other, Fleet) or repr(other._learner) != repr(self._learner):
            raise MergeError(
                f"cannot merge {abbreviated(other)} into {self!r}: give a fleet of the same learner"
            )
        copied = other.take(other.keys())  # so that neither waits for the other
        with self._lock:
            keys = copied._keys(copied._slots())
            if not len(keys):
                return self
            index = settled(self._index, keys)
            here = index.find(keys)
            joined = []
            if (here >= 0).any() and self._priors is not None:
                raise MergeError(
                    'both fleets have some keys, which with prior="fleet" do not merge'
                )
            for k in np.flatnonzero(here >= 0).tolist():
                mine = self._store.learner(int(here[k]))
                joined.append((int(here[k]), mine.merge(copied._store.learner(k))))
            new, mark = np.flatnonzero(here < 0), self._store.mark()
            try:
                states = [(slot, self._store.fits(learner, "")) for slot, learner in joined]
                self._store.joint_with(copied._store)
            except BaseException:
                self._store.back(mark)
                raise
            if new.size:
                at = index.give(_some(keys, new))
                self._store.insert(at, copied._store, new)
            for slot, state in states:
                self._store.put(slot, state, self._clock)
            self._index, self._clock = index, max(self._clock, copied._clock)
        return self

    @classmethod
    def merged(cls, fleets: Any) -> Fleet:
        """One fleet of all keys of several, as `merge` has them.

        >>> import noregret as nr
        >>> fleet = nr.Fleet(nr.AAR())
        >>> fleet.learn(range(10), [[1.0]] * 10, [0.0] * 10)
        >>> len(nr.Fleet.merged(fleet.split(3)))
        10
        """
        listed = list(fleets)
        if not listed or not all(isinstance(fleet, Fleet) for fleet in listed):
            raise MergeError(f"fleets = {abbreviated(fleets)}: give at least one fleet")
        whole: Fleet = listed[0].take(listed[0].keys())
        for fleet in listed[1:]:
            whole.merge(fleet)
        return whole


def _files() -> Any:
    return import_module("noregret.fleet.file")  # it knows Fleet


def _some(keys: Keys, which: Integers) -> Keys:
    return [keys[i] for i in which.tolist()] if isinstance(keys, list) else keys[which]


def _same_length(keys: Keys, rows: int) -> None:
    if len(keys) != rows:
        raise InputError(
            f"keys has {len(keys)} entries and X has {rows} rows: give one key per row"
        )


@contextmanager
def _naming(keys: Keys) -> Iterator[None]:
    """Put key and row before the words of a refusal that speaks of one row."""
    try:
        yield
    except (InputError, NumericalError) as wrong:
        row = getattr(wrong, "row", -1)
        place = PLACE.search(str(wrong))
        row = int(place[1]) if row < 0 and place else row
        if not 0 <= row < len(keys):
            raise
        key = keys[row] if isinstance(keys, list) else int(keys[row])
        named = type(wrong)(f"key {abbreviated(key)}, row {row}: {wrong}")
        raise named from None
