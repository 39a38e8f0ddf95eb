"""A state machine over every learner: whatever is done to it, it equals a plain twin.

The learner is copied, pickled, stored, read back, merged, shared by threads, asked and refused;
the twin learns the accepted rounds, and is asked for nothing but what is compared.  After every
step forecast, rounds, certificates and file are the same, to the last bit.  At the end a learner
that only ever learned must be the same too.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import hashlib
import pickle
import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import note
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule
from numpy.testing import assert_allclose

import noregret as nr
from hostile_calls import Call, calls
from noregret.errors import (
    FeatureError,
    MergeError,
    NoRegretError,
    NotLearnedError,
    SnapshotError,
)
from stored import CASES as STORED
from stored import (
    Case,
    arrays,
    bits,
    chances,
    issue,
    labels,
    line,
    mixed_words,
    named,
    proofs,
    settle,
    two,
)

Act = Callable[[Any], Any]
LOT = 16  # rounds to draw from

MORE: dict[str, Case] = {
    "averaging, defaults": Case(nr.BayesianLogistic, line, labels),
    "safe logistic, defaults": Case(nr.SafeLogistic, line, chances),
    "pool with a net": Case(lambda: nr.AggregatingAlgorithm([nr.AAR(), nr.KLMSNet(1.0, nodes=5)])),
    "pool with oslog": Case(lambda: nr.AggregatingAlgorithm([nr.AAR(), nr.OSLOG(), nr.Auto()])),
    "pool of labels, two": Case(
        lambda: nr.AggregatingAlgorithm([nr.AAR(), nr.MAPLogistic()]), arrays, chances
    ),
    "pool of wrappers": Case(
        lambda: nr.AggregatingAlgorithm([nr.Lagged(nr.AAR(), [1], 2), nr.Ridge(drift=0.1)])
    ),
    "delayed auto": Case(lambda: nr.Delayed(nr.Auto()), two, predict=issue, learn=settle),
    "delayed pool": Case(
        lambda: nr.Delayed(nr.AggregatingAlgorithm([nr.AAR(), nr.KLMSNet(1.0, nodes=5)])),
        predict=issue,
        learn=settle,
    ),
    "lagged auto": Case(lambda: nr.Lagged(nr.Auto(), [1, 2], 2), two),
    "lagged pool": Case(
        lambda: nr.Lagged(nr.AggregatingAlgorithm([nr.AAR(), nr.OSLOG()]), [1, 3]), two
    ),
    "lagged net": Case(lambda: nr.Lagged(nr.KLMSNet(1.0, nodes=5), [1], 2), two),
}
CASES = STORED | MORE

# A replay of these is the loop to the last bit, and the twin learns round by round.  All others
# add their sums up in another order, work in blocks, or meet names in another order: there the
# twin replays too, and the loop over rounds must be CLOSE.
TO_THE_BIT = {
    "oslog",
    "oslog, limit",
    "map",
    "map, labels",
    "averaging, exact",
    "averaging, moments",
    "averaging, defaults",
    "pool of names",
    "safe logistic",
    "kernel lms, given kernel",
    "kernel lms, window of words",
    "net",
    "net, again",
    "net, window",
    "net, tolerance",
    "lagged, horizon 3",
}
CLOSE = 1e-7
# Features of a kernel, or that there are none, stay those of the first round.
FIRST_ROUND_RULES = (named, mixed_words)
# Particles are drawn feature by feature: features that come together are another sample.
DRAWN = ("averaging, particles",)


def as_table(rows: list[Any]) -> Any:
    """Rows as the caller of a replay has them."""
    if isinstance(rows[0], np.ndarray) and len({len(row) for row in rows}) == 1:
        return np.array(rows)
    return rows


def asked(learner: Any, x: Any) -> Any:
    """The forecast at x; Delayed is not asked itself, as it would issue a ticket."""
    if isinstance(learner, nr.Delayed):
        try:
            learner = learner.learner_
        except NotLearnedError:
            return None
    return bits(learner.predict_one(x))


def rounds(learner: Any) -> Any:
    """How many rounds it has seen, and each part of it."""
    try:
        if isinstance(learner, nr.Delayed):
            return learner.issued_, rounds(learner.learner_)
        parts = getattr(learner, "experts_", {})
        seen = learner.n_samples_seen_
    except NotLearnedError:
        return 0
    return seen, [rounds(part) for part in parts.values() if hasattr(part, "n_samples_seen_")]


def scribbled(x: Any) -> None:
    """Write over what was given: a learner that kept no copy of its own is found out."""
    if isinstance(x, np.ndarray) and x.dtype == np.float64 and x.flags.writeable:
        x[...] = 7e77
    elif isinstance(x, dict):
        x.clear()


def copied(x: Any) -> Any:
    return x.copy() if isinstance(x, np.ndarray | dict) else x


def view(learner: Any, x: Any) -> tuple[Any, ...]:
    """All that must be the same: forecast, rounds, certificates, file."""
    file = hashlib.sha256(learner.to_bytes()).hexdigest()[:16]
    return asked(learner, x), rounds(learner), proofs(learner), file


COPIES: tuple[Callable[[Any], Any], ...] = (
    copy.copy,
    copy.deepcopy,
    *(lambda x, p=p: pickle.loads(pickle.dumps(x, protocol=p)) for p in (2, 4, 5)),
)
READS = (
    "coef_",
    "intercept_",
    "weights_",
    "losses_",
    "experts_",
    "sparsity_",
    "classes_",
    "n_features_in_",
    "feature_names_in_",
    "pending_",
    "issued_",
    "learner_",
    "certificate",
    "hindsight",
    "predictive",
    "predict_proba",
    "predict",
    "get_params",
    "__repr__",
    "to_bytes",
)

numbers = st.integers(0, 2**20)


@functools.cache
def every_call(name: str, k: int) -> list[Call]:
    """The hostile calls of a case."""
    case = CASES[name]
    return [*calls(case.make(), case.xs(3), case.ys(5)[2:], k)]


class Machine(RuleBasedStateMachine):
    """One learner, its twin, and what was done to both."""

    name: str
    case: Case

    def __init__(self) -> None:
        super().__init__()
        case = self.case
        self.xs, self.ys = case.xs(LOT), case.ys(LOT)
        self.probe = self.xs[5]
        self.learner, self.twin = case.make(), case.make()
        self.issues = case.predict is issue
        self.done: list[Act] = []  # what a plain learner must do to get here
        self.loop: list[Act] = []  # the same, one round at a time
        self.left: list[tuple[Any, tuple[Any, ...]]] = []  # copies that nobody touches any more
        self.rough = False  # numbers so large that good rounds may be refused
        self.known = view(self.twin, self.probe)
        if case.xs in FIRST_ROUND_RULES:
            self.both(self.taught(self.xs[0], self.ys[0]))

    # What is compared -----------------------------------------------------------------------

    def same(self) -> None:
        """The learner equals its twin in all that can be seen."""
        found = view(self.learner, self.probe)
        for name, mine, its in zip(("forecast", "rounds", "proofs", "file"), found, self.known):
            assert mine == its, f"{name}: {mine!r}, and its twin {its!r}"

    def both(self, act: Act, loop: Sequence[Act] = (), *, exact: bool = False) -> None:
        """Do it to the learner; what it accepts, the twin does too."""
        try:
            act(self.learner)
        except NoRegretError:
            assert self.rough, "a good call was refused"
        else:
            self.accepted(act, loop, exact=exact)
        self.same()

    def accepted(self, act: Act, loop: Sequence[Act] = (), *, exact: bool = False) -> None:
        """The twin learns what the learner has learned: in a loop, where that is the same."""
        acts = loop if exact else (act,)
        for each in acts:
            each(self.twin)
        self.done += acts
        self.loop += loop or acts
        self.known = view(self.twin, self.probe)

    def round(self, n: int) -> tuple[Any, Any]:
        return self.xs[n % LOT], self.ys[n // LOT % LOT]

    def some(self, n: int) -> tuple[list[Any], list[Any]]:
        """One to four rounds."""
        found = [self.round(n + 37 * k) for k in range(1 + n % 4)]
        return [x for x, _ in found], [y for _, y in found]

    def lesson(self, n: int) -> Act:
        return self.taught(*self.round(n))

    def taught(self, x: Any, y: Any) -> Act:
        def learn(learner: Any) -> None:
            mine = copied(x)
            if self.issues:
                learner.predict_one(mine)
            self.case.learn(learner, mine, y)
            scribbled(mine)

        return learn

    def hostile(self, n: int) -> Call:
        lot = every_call(self.name, n % 3)
        return lot[n * 7919 % len(lot)]

    # Steps ----------------------------------------------------------------------------------

    @rule(n=numbers)
    def learn(self, n: int) -> None:
        self.both(self.lesson(n))

    @rule(n=numbers)
    def predict_then_learn(self, n: int) -> None:
        self.predict(n)
        self.both(self.lesson(n))

    @rule(n=numbers)
    def predict(self, n: int) -> None:
        x, _ = self.round(n)

        def ask(learner: Any) -> Any:
            mine = copied(x)
            found = self.case.predict(learner, mine)
            scribbled(mine)
            return found

        if self.issues:
            self.both(ask)
        else:
            try:
                found = ask(self.learner)
            except NoRegretError:
                assert self.rough, "a good forecast was refused"
            else:
                assert np.isfinite(found).all()
                scribbled(found)
            self.same()

    @rule(n=numbers)
    def read(self, n: int) -> None:
        """Whatever can be asked for changes nothing, nor does writing on the answer."""
        name = READS[n % len(READS)]
        x, _ = self.round(n // len(READS))
        try:
            found = getattr(self.learner, name, None)
            if name in ("predict", "predict_proba"):
                found = found and found(as_table([x]))
            elif name == "predictive":
                found = found and found(x)
            elif callable(found):
                found = found()
        except NoRegretError:
            found = None
        scribbled(found)
        self.same()

    @rule(n=numbers)
    def refuse(self, n: int) -> None:
        """A hostile call is refused and changes nothing; or it is right, and the twin agrees."""
        call = self.hostile(n)
        note(call.kind)
        before = self.learner.to_bytes()
        try:
            call(self.learner)
        except NoRegretError:
            assert self.learner.to_bytes() == before, f"{call.kind}: refused, and the file changed"
        else:
            assert not call.never, f"{call.kind}: accepted"
            if call.learns and (n % 3 or not self.can_follow(call)):  # back to where we were
                self.learner = nr.from_bytes(before, **self.case.given)
            elif call.learns:
                self.rough = True
                self.accepted(call)
        self.same()

    def can_follow(self, call: Call) -> bool:
        """Whether a learner that accepted this call can still be asked at the probe, stored and
        read: not one that began with other features, nor one that keeps objects which no model
        file holds."""
        anew = call.kind.startswith("fit,") or self.known[1] == rounds(self.case.make())
        try:
            asked(self.learner, self.probe)
        except FeatureError:
            assert anew, f"{call.kind}: accepted, and the features are no longer the same"
            return False
        try:
            nr.from_bytes(self.learner.to_bytes(), **self.case.given)
        except SnapshotError as why:
            if not any(each in str(why) for each in ("cannot be stored", "a file cannot hold")):
                raise
            return False
        return True

    @precondition(lambda self: not self.issues)
    @rule(n=numbers)
    def replay(self, n: int) -> None:
        xs, ys = self.some(n)
        verb = ("replay", "partial_fit")[n // 4 % 2]

        def act(learner: Any) -> None:
            table = as_table([copied(x) for x in xs])
            getattr(learner, verb)(table, copy.copy(ys))
            for mine in table:
                scribbled(mine)

        self.both(act, [*map(self.taught, xs, ys)], exact=self.name in TO_THE_BIT)

    @rule(n=numbers)
    def copies(self, n: int) -> None:
        """A copy goes on, or the original does; the other one stays as it is."""
        other = COPIES[n % len(COPIES)](self.learner)
        if n // len(COPIES) % 2:
            self.learner, other = other, self.learner
        self.left = [*self.left[-1:], (other, self.known)]
        self.same()

    @rule(n=numbers)
    def stored(self, n: int) -> None:
        """Through a file, or the bytes of one."""
        if n % 4:
            data = self.learner.to_bytes()
            self.learner = nr.from_bytes(data, **self.case.given)
            assert self.learner.to_bytes() == data
        else:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "learner.npz"
                self.learner.save(path)
                self.learner = nr.load(path, **self.case.given)
        self.same()

    @rule(n=numbers)
    def merge(self, n: int) -> None:
        """Exact for some; the others say why not, and stay as they are."""
        xs, ys = self.some(n)

        def part() -> Any:
            other = self.case.make()
            for x, y in zip(xs, ys):
                if self.case.xs not in FIRST_ROUND_RULES or x is self.xs[0]:
                    self.taught(x, y)(other)
            return other

        if rounds(self.case.make()):  # it has learned something before it begins
            return
        other = part()
        before = view(other, self.probe)
        try:
            self.learner.merge(other)
        except MergeError:
            pass
        else:
            self.accepted(lambda learner: learner.merge(part()), [*map(self.taught, xs, ys)])
        assert view(other, self.probe) == before
        self.same()

    @precondition(lambda self: isinstance(self.probe, dict))
    @rule(n=numbers)
    def grow(self, n: int) -> None:
        """A feature that nobody has seen; who cannot grow refuses it and is as before."""
        x, y = self.round(n)
        larger = {**x, f"new {n % 5}": 0.5 + n % 3}
        before = self.learner.to_bytes()

        def act(learner: Any) -> None:
            self.taught(larger, y)(learner)

        try:
            act(self.learner)
        except NoRegretError:
            assert self.learner.to_bytes() == before
        else:
            self.accepted(act)
        self.same()

    @rule(n=numbers)
    def threads(self, n: int) -> None:
        """One thread learns, another reads, copies, stores and is refused: each sees a state
        that the learner had, and what was learned is learned."""
        learner, lessons = self.learner, [self.lesson(n), self.lesson(n + 1)]
        if self.rough:
            return
        heard: list[Any] = []
        failed: list[BaseException] = []
        call = self.hostile(n)
        ready = threading.Barrier(2)

        def reader() -> None:
            try:
                ready.wait()
                heard.append(asked(learner, self.probe))
                proofs(learner)
                if n % 3 == 0:
                    heard.append(asked(copy.deepcopy(learner), self.probe))
                elif n % 3 == 1:
                    data = learner.to_bytes()
                    heard.append(asked(nr.from_bytes(data, **self.case.given), self.probe))
                elif call.never:
                    with contextlib.suppress(NoRegretError):
                        call(learner)
                heard.append(asked(learner, self.probe))
            except BaseException as failure:
                failed.append(failure)

        thread = threading.Thread(target=reader, daemon=True)
        thread.start()
        ready.wait()
        for lesson in lessons:
            lesson(learner)
        thread.join(timeout=60.0)
        assert not thread.is_alive(), "deadlock"
        if failed:
            raise failed[0]
        allowed = [self.known[0]]
        for lesson in lessons:
            self.accepted(lesson)
            allowed.append(self.known[0])
        assert all(said in allowed for said in heard), "a forecast of no state that ever was"
        self.same()

    @rule(n=numbers)
    def turns(self, n: int) -> None:
        """Two threads learn in turn."""
        if self.rough:
            return
        lessons = [self.lesson(n + k) for k in range(2)]
        failed: list[BaseException] = []

        def run(lesson: Act) -> None:
            try:
                lesson(self.learner)
            except BaseException as failure:
                failed.append(failure)

        for lesson in lessons:
            thread = threading.Thread(target=run, args=(lesson,), daemon=True)
            thread.start()
            thread.join(timeout=60.0)
            assert not thread.is_alive(), "deadlock"
            if failed:
                raise failed[0]
            self.accepted(lesson)
        self.same()

    def teardown(self) -> None:
        for other, known in self.left:
            assert view(other, self.probe) == known, "a copy saw what another learned"
        plain = self.case.make()
        for act in self.done:
            act(plain)
        assert view(plain, self.probe) == self.known, "being asked changed what was learned"
        if self.loop != self.done and not self.rough and self.name not in DRAWN:
            slow = self.case.make()
            for act in self.loop:
                act(slow)
            said, at_once = (np.frombuffer(asked(it, self.probe)) for it in (slow, plain))
            assert_allclose(at_once, said, rtol=CLOSE, atol=CLOSE)
