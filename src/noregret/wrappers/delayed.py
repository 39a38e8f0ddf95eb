"""Outcomes that come late: forecasts now, each with a ticket; outcomes later, in any order.

Two books are kept, and they never mix.  The forecasts really issued were made when less was
known than when their outcomes came: what they lost is in `issued_`.  The learner itself learns
each round when its outcome comes, as if x had been seen then: its certificates speak of that
sequence, in that order, and of the forecasts that it would have made then.

With `copies=True` the certificates speak of the forecasts issued.  A forecast comes from a copy of
the learner that waits for nothing, and that copy alone learns its outcome: so each copy forecasts
and learns in turn, as its theorem asks, and there are as many as forecasts ever waited at once
(Joulani, Gyorgy and Szepesvari 2013).
"""

from __future__ import annotations

import contextlib
import copy
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from noregret._native.ledger import add
from noregret.certificates import Assumption, Certificate
from noregret.declare.fields import (
    AnyLearner,
    Array,
    Count,
    Group,
    Mismatch,
    Records,
    Value,
    require,
)
from noregret.errors import (
    InputError,
    NotLearnedError,
    NumericalError,
    OutcomeError,
    abbreviated,
    wrapping,
)
from noregret.gaussian.facts import FIXED
from noregret.gaussian.stream import one_outcome
from noregret.glm.labels import sign_of
from noregret.inputs.spaces import FeatureSpace
from noregret.learner.base import Learner
from noregret.learner.estimator import not_fitted
from noregret.learner.replay import Replay
from noregret.types import Forecast, Interval, Matrix, Outcome, Outcomes, Row, Table, Vector
from noregret.wrappers.banded import TrackedWrapper
from noregret.wrappers.inner import Wrapper, certificates_of, forecast_of, private_copy, space_of

__all__ = ["Delayed", "Issued", "PendingForecasts", "Ticket"]

SQUARE, LOG = range(2)  # rows of the book, each a compensated sum


@dataclass(frozen=True, slots=True)
class Ticket:
    """A forecast that waits for its outcome; `float(ticket)` is the forecast too.

    >>> ticket = Ticket(7, 0.5)
    >>> ticket.number, float(ticket)
    (7, 0.5)
    """

    number: int
    forecast: Forecast
    interval: Interval | None = None  # where the learner has intervals

    def __float__(self) -> float:
        return float(self.forecast)


@dataclass(frozen=True, slots=True)
class Issued:
    """What became of the forecasts that were issued.

    square_loss is that of the forecasts as they were issued; log_loss too, where they are
    probabilities of a label, and None elsewhere.
    """

    forecasts: int  # all that were issued
    settled: int  # whose outcome came
    pending: int
    dropped: int
    square_loss: float
    log_loss: float | None


class PendingForecasts:
    """What Delayed keeps: a learner, the forecasts that wait, and the book of those issued."""

    __slots__ = (
        *("book", "copies", "dropped", "issued", "learner", "most", "overflow", "pending"),
        *("settled", "whose"),
    )

    FIELDS = (
        AnyLearner("learner"),
        Records("pending", ("the number of a ticket", "the x of a ticket", "forecast")),
        Count("issued"),
        Count("dropped"),
        Count("settled"),
        Array("book", (2, 2), finite=False),
        Value("copies", later=True, of=("copies", "whose")),
    )
    SCRATCH = ("most", "overflow")  # as the parameters say

    def __init__(self, learner: Learner, *, copies: bool = False) -> None:
        self.learner = learner  # which of copies is the one that has learned nothing
        self.copies: list[Learner] | None = [] if copies else None
        self.whose: dict[int, int] = {}  # which copy a forecast that waits is from
        self.pending: dict[int, tuple[Row, Forecast]] = {}  # x and forecast, oldest first
        self.issued = self.dropped = self.settled = 0
        self.book: Matrix = np.zeros((2, 2))
        self.most, self.overflow = 0, ""  # how many may wait, and what happens to one more

    def stored(self) -> tuple[object, ...]:
        """The values of FIELDS."""
        pending = [(number, *kept) for number, kept in self.pending.items()]
        copies = None if self.copies is None else [self.copies, list(self.whose.values())]
        return self.learner, pending, self.issued, self.dropped, self.settled, self.book, copies

    @classmethod
    def restored(
        cls,
        learner: Learner,
        pending: Iterable[tuple[object, Row, Forecast]],
        issued: int,
        dropped: int,
        settled: int,
        book: Matrix,
        copies: object,
    ) -> Self:
        """The state of these values."""
        found, last = cls(learner), -1
        for number, x, forecast in pending:
            if type(number) is not int or not last < number < issued:
                raise Mismatch(f"has ticket {abbreviated(number)} out of order")
            if type(forecast) is not float and not isinstance(forecast, np.ndarray):
                raise Mismatch(f"has an invalid forecast of ticket {number}")
            if isinstance(learner, TrackedWrapper) and np.shape(forecast) != learner._kept_shape():
                raise Mismatch(f"has no ends of ticket {number}")
            found.pending[number] = x, forecast
            last = number
        if settled + dropped + len(found.pending) != issued:
            raise Mismatch("has lost a ticket")
        found.issued, found.dropped, found.settled, found.book = issued, dropped, settled, book
        if copies is not None:
            found.copies, whose = _checked_copies(copies, learner, len(found.pending))
            found.whose = dict(zip(found.pending, whose))
        return found

    @property
    def rounds(self) -> int:
        """How many rounds have been learned."""
        return self.settled

    @property
    def space(self) -> FeatureSpace | None:
        """The features of the learner."""
        return space_of(self.learner)

    def copy(self) -> Self:
        """One that shares nothing with this one."""
        return copy.deepcopy(self)

    def predict(self, x: Row) -> Forecast:
        """The forecast at x, without a ticket."""
        return forecast_of(self.idle[1], x)

    @property
    def idle(self) -> tuple[int, Learner]:
        """Who forecasts next, and its place: the first copy that is idle, or a new one."""
        if self.copies is None:
            return 0, self.learner
        busy = set(self.whose.values())
        place = next((k for k in range(len(self.copies)) if k not in busy), len(self.copies))
        return place, self.copies[place] if place < len(self.copies) else self.learner

    def issue(self, x: Row) -> Ticket:
        """The forecast at x, and its ticket; where too many wait, refused, or the oldest drops."""
        full = len(self.pending) >= self.most
        if full and self.overflow == "refuse":
            raise InputError(
                f"{len(self.pending)} forecasts wait for their outcomes "
                f"(max_pending = {self.most}): settle or drop some first, "
                f"ticket {next(iter(self.pending))} is the oldest"
            )
        place, learner = self.idle
        interval = ends = None
        with wrapping("the learner", InputError):
            if self.copies is not None and place == len(self.copies):
                learner = copy.deepcopy(learner)
            if isinstance(learner, TrackedWrapper):  # with the ends, for when it is settled
                ends = learner._issue(x)
                interval = learner._interval(ends[2:])
            forecast = learner.predict_one(x) if ends is None else ends
            kept = _kept(x)
        if isinstance(forecast, np.ndarray):
            forecast = forecast.copy()
            forecast.flags.writeable = False
        if full:
            self.drop(next(iter(self.pending)))
        ticket = Ticket(self.issued, self.said(forecast), interval)
        if self.copies is not None:
            self.copies[place:] = [learner] if place == len(self.copies) else self.copies[place:]
            self.whose[ticket.number] = place
        self.pending[ticket.number] = kept, forecast
        self.issued += 1
        return ticket

    def learn(self, x: Row, y: Outcome) -> Self:
        """Learn the outcome of a forecast that waits; x is its ticket."""
        number = self.number_of(x)
        x, forecast = self.pending[number]
        learner = self.learner if self.copies is None else self.copies[self.whose[number]]
        square, log = _losses(learner, self.said(forecast), y)
        with wrapping("the learner", InputError):  # where it refuses, the ticket goes on waiting
            if isinstance(learner, TrackedWrapper) and isinstance(forecast, np.ndarray):
                learner._settle(x, y, forecast)
            else:
                learner.learn_one(x, y)
        add(self.book, SQUARE, square)
        add(self.book, LOG, log)
        self.settled += 1
        del self.pending[number]
        self.whose.pop(number, None)
        return self

    def said(self, kept: Forecast) -> Forecast:
        """The forecast in what is kept of it: where there are ends, they stand behind it."""
        tracked = isinstance(self.learner, TrackedWrapper)
        return float(kept[0]) if tracked and isinstance(kept, np.ndarray) else kept

    def drop(self, ticket: object) -> None:
        """Forget a forecast that waits."""
        number = self.number_of(ticket)
        del self.pending[number]
        self.whose.pop(number, None)
        self.dropped += 1

    def number_of(self, ticket: object) -> int:
        """The number of a ticket that waits."""
        number = ticket.number if isinstance(ticket, Ticket) else ticket
        if not isinstance(number, int | np.integer) or isinstance(number, bool):
            raise InputError(
                f"ticket = {abbreviated(ticket)}: give what predict_one gave, or its number"
            )
        if number not in self.pending:
            known = 0 <= number < self.issued
            why = "its outcome came, or it was dropped" if known else "it was never issued"
            raise InputError(f"ticket {number} does not wait: {why}")
        return int(number)

    def predict_rows(self, X: Table) -> Vector:
        """Forecasts at every row, without tickets."""
        learner = self.idle[1]
        if not hasattr(learner, "predict"):
            raise InputError(f"{type(learner).__name__} has no predict: forecast row by row")
        with wrapping("the learner", InputError):
            forecasts: Vector = learner.predict(X)
        return forecasts

    def replay(self, X: Table, y: Outcomes) -> tuple[Self, Replay]:  # noqa: ARG002  # as all have it
        """Refused: no table has tickets."""
        raise InputError("Delayed learns by ticket: call predict_one, then learn_one(ticket, y)")

    def certificates(self, **bounds: object) -> list[Certificate]:
        """The learner's statements: about the sequence as learned, or about what was issued."""
        if self.copies is not None:
            found = []
            for one in self.copies:
                with contextlib.suppress(NotLearnedError):  # it waits for its first outcome
                    found.append(certificates_of(one, **bounds))
            return summed(found) if found else certificates_of(self.learner, **bounds)
        note = Assumption(
            "of the sequence as learned: each round when its outcome came, with the forecast "
            f"of that moment; {self.settled} forecasts were issued before, see issued_",
            met=True,
        )
        lost = f"not of those issued, which lost {float(self.book[SQUARE].sum()):.6g} (issued_)"
        about = f"of forecasts at the moment when their outcomes came, {lost}"
        return [
            replace(
                c,
                name=f"{c.name}, as learned",
                statement=f"{about}: {c.statement}",
                assumptions=(*c.assumptions, note),
            )
            for c in certificates_of(self.learner, **bounds)
        ]


def summed(each: Sequence[Sequence[Certificate]]) -> list[Certificate]:
    """What is proved of every copy, each of its own rounds, added up: of the forecasts issued."""
    p = len(each)
    tables = [{c.name: c for c in certificates} for certificates in each]
    found = []
    for name, first in tables[0].items():
        same = [table[name] for table in tables if name in table]
        if len(same) < p:
            continue
        bounds = [c.bound for c in same]
        figures = "" if len({c.statement for c in same}) == 1 else " (figures of the first)"
        minima = f"; the minima add up to at most {FIXED}".replace("+ a|w|", f"+ {p} a|w|")
        found.append(
            replace(
                first,
                name=f"{first.name}, issued",
                rounds=sum(c.rounds for c in same),
                loss=math.fsum(c.loss for c in same),
                comparator=math.fsum(c.comparator for c in same),
                bound=None if None in bounds else math.fsum(b for b in bounds if b is not None),
                statement=(
                    f"of the forecasts issued, summed over {p} copies, each of its own "
                    f"rounds{figures}: "
                    f"{first.statement}{minima if FIXED in first.statement else ''}"
                ),
                assumptions=_joint([c.assumptions for c in same]),
                scale=math.fsum(c.scale for c in same),
                taken=math.fsum(c.allowance for c in same),
                audit=tuple(a for c in same for a in c.audit if not a.ok) or first.audit,
            )
        )
    return found


def _joint(each: Sequence[Sequence[Assumption]]) -> tuple[Assumption, ...]:
    """The assumptions of all copies: met where all meet them, in the words of one that does not."""
    found = []
    for same in zip(*each):
        shown = next((a for a in same if not a.met), same[0])
        apart = len({a.text for a in same}) > 1
        text = f"{shown.text} (of one copy; of the others with their own figures)"
        found.append(Assumption(text if apart else shown.text, met=shown.met))
    return tuple(found)


def _checked_copies(
    copies: object, learner: Learner, waiting: int
) -> tuple[list[Learner], list[int]]:
    """Stored copies, and which of them each pending forecast is from."""
    learners: list[Any] = [None]
    whose: list[Any] = []
    if isinstance(copies, list) and list(map(type, copies)) == [list, list]:
        learners, whose = copies
    busy = all(type(k) is int and 0 <= k < len(learners) for k in whose)
    require(
        all(type(one) is type(learner) for one in learners)
        and busy
        and len(set(whose)) == len(whose) == waiting,
        "has copies of another learner, or a copy that waits twice",
    )
    return learners, whose


class Delayed(Wrapper[PendingForecasts]):
    """Any learner, where outcomes come late and in any order.

    `predict_one` gives a ticket with the forecast of that moment; `learn_one` takes the ticket,
    or its number, and the outcome.  Numbers count from 0 and outlast a model file.

    `issued_` has the loss of the forecasts really issued.  `certificates()` speak of the sequence
    as learned, and say so; with `copies=True` they speak of the forecasts issued.  For AAR and p
    the most that ever waited at once,

        sum (y - g)^2 <= sum_k (V_k + Y^2 Lam_k),   sum_k V_k <= min_w (L(w) + p a|w|^2)

    where V_k is the least of L(w) + a|w|^2 over the rounds of copy k, and Lam_k its ln det.

    Cost: that of the learner, and one x for every forecast that waits; with copies the memory of
    p learners.

    Parameters
    ----------
    learner : anything with predict_one and learn_one; it is copied, `learner_` is the copy.
    max_pending : how many forecasts may wait.
    overflow : what happens to one more: "refuse" it, or "drop" the oldest.
    copies : each forecast that waits has a copy of the learner to itself, which learns no other
        outcome meanwhile.  Each copy sees fewer rounds, but what was issued has a guarantee.

    >>> import noregret as nr
    >>> delayed = Delayed(nr.AAR(), max_pending=100)
    >>> first = delayed.predict_one({"one": 1.0})
    >>> second = delayed.predict_one({"one": 1.0})
    >>> delayed.learn_one(second, 1.0)                 # in any order
    >>> third = delayed.predict_one({"one": 1.0})
    >>> delayed.learn_one(first.number, 1.0)           # a number will do
    >>> second.forecast, round(third.forecast, 3)
    (0.0, 0.333)
    >>> delayed.issued_
    Issued(forecasts=3, settled=2, pending=1, dropped=0, square_loss=2.0, log_loss=None)
    >>> print(f"{delayed.certificate().loss:.3f}")     # the second forecast would have been 1/3
    1.444
    >>> delayed = Delayed(nr.AAR(), copies=True)
    >>> tickets = [delayed.predict_one({"one": 1.0}) for _ in range(100)]
    >>> for ticket in tickets:
    ...     delayed.learn_one(ticket, 1.0)
    >>> certificate = delayed.certificate()
    >>> certificate.loss, round(certificate.bound, 2), delayed.issued_.square_loss
    (100.0, 119.31, 100.0)
    """

    STATE = Group("state", PendingForecasts)
    LATER: ClassVar[Mapping[str, object]] = {"copies": False}
    _tickets = True
    _merge_refusal = (
        "tickets of two issuers have the same numbers; merge their learner_ where these can be"
    )

    def __init__(
        self,
        learner: Learner,
        *,
        max_pending: int = 10_000,
        overflow: str = "refuse",
        copies: bool = False,
    ) -> None:
        self.learner = learner
        self.max_pending = max_pending
        self.overflow = overflow
        self.copies = copies

    def _begin(self) -> PendingForecasts:
        return PendingForecasts(private_copy(self.learner), copies=self._checked("copies"))

    def predict_one(self, x: Row) -> Ticket:  # type: ignore[override]  # with the forecast in it
        """Issue a forecast at x; its ticket waits for the outcome."""
        with self._lock:
            state = self._state or self._begin()
            if state.most is not self.max_pending or state.overflow is not self.overflow:
                state.most, state.overflow = self._checked("max_pending"), self._checked("overflow")
            ticket = state.issue(x)
            self._state = state
            return ticket

    def learn_one(self, ticket: Ticket | int, y: Outcome) -> None:  # type: ignore[override]  # it stands for x
        """Learn the outcome of a forecast that waits."""
        super().learn_one(ticket, y)

    def drop(self, ticket: Ticket | int) -> None:
        """Forget a forecast whose outcome will never come; it is in neither book."""
        with self._lock:
            (self._state or self._begin()).drop(ticket)

    # What was learned -----------------------------------------------------------------------

    def _learned(self) -> PendingForecasts:
        if self._state is None:
            raise not_fitted("this Delayed has issued nothing yet: call predict_one first")
        return self._state

    @property
    def learner_(self) -> Learner:
        """The learner as it is now; of copies the one that would forecast next."""
        return self._learned().idle[1]

    @property
    def copies_(self) -> list[Learner]:
        """The copies, as many as forecasts ever waited at once; none without `copies=True`."""
        with self._lock:
            return list(self._learned().copies or ())

    @property
    def pending_(self) -> list[int]:
        """The numbers of the tickets that wait, oldest first."""
        with self._lock:
            return list(self._learned().pending)

    @property
    def issued_(self) -> Issued:
        """The book of the forecasts really issued."""
        with self._lock:
            state = self._learned()
            square, log = (float(total) for total in state.book.sum(axis=1))
            return Issued(
                forecasts=state.issued,
                settled=state.settled,
                pending=len(state.pending),
                dropped=state.dropped,
                square_loss=square,
                log_loss=log if _is_binary(state.learner) else None,
            )

    def certificates(self, **bounds: object) -> list[Certificate]:
        """The learner's statements: of the sequence as learned; with copies, of what was issued."""
        with self._lock:
            return self._learned().certificates(**bounds)


def _kept(x: Row) -> Row:
    """x as it is now, whatever the caller does with it while the outcome is awaited."""
    if type(x) is dict or isinstance(x, np.ndarray):
        return x.copy()
    if isinstance(x, str | bytes | int | float):
        return x
    return dict(x) if isinstance(x, Mapping) else copy.deepcopy(x)


def _is_binary(learner: Learner) -> bool:
    """Whether forecasts are probabilities of a label."""
    return hasattr(learner, "predict_proba")


def _losses(learner: Learner, forecast: Forecast, y: Outcome) -> tuple[float, float]:
    """Square loss and log loss of a forecast; no log loss of numbers."""
    if _is_binary(learner):
        no, yes = np.asarray(getattr(learner, "classes_", (0, 1))).tolist()
        happened = float(forecast) if sign_of(y, (no, yes)) > 0.0 else 1.0 - float(forecast)
        return (1.0 - happened) ** 2, -math.log(happened) if happened > 0.0 else math.inf
    ys = one_outcome(y)[0]
    if np.size(forecast) not in (1, ys.size):
        raise OutcomeError(f"y = {abbreviated(y)}: the forecast has {np.size(forecast)} outcomes")
    with np.errstate(over="ignore"):
        apart = ys - forecast
        square = float(apart @ apart)
    if not math.isfinite(square):
        raise NumericalError(
            f"y = {abbreviated(y)}: the square of its distance from the forecast "
            f"{abbreviated(forecast)} does not fit in float64; drop the ticket, or rescale the "
            "features"
        )
    return square, 0.0
