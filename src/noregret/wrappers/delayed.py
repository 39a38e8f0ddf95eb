"""Outcomes that come late: forecasts now, each with a ticket; outcomes later, in any order.

Two books are kept, and they never mix.  The forecasts really issued were made when less was
known than when their outcomes came: what they lost is in `issued_`.  The learner itself learns
each round when its outcome comes, as if x had been seen then: its certificates speak of that
sequence, in that order, and of the forecasts that it would have made then.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from noregret._native.ledger import add
from noregret.certificates import Assumption, Certificate
from noregret.declare.fields import AnyLearner, Array, Count, Group, Mismatch, Records
from noregret.errors import InputError, NumericalError, OutcomeError, abbreviated, wrapping
from noregret.gaussian.stream import one_outcome
from noregret.glm.labels import sign_of
from noregret.inputs.spaces import FeatureSpace
from noregret.learner.base import Learner, NotFitted
from noregret.learner.replay import Replay
from noregret.types import Forecast, Matrix, Outcome, Outcomes, Row, Table, Vector
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

    __slots__ = ("book", "dropped", "issued", "learner", "most", "overflow", "pending", "settled")

    FIELDS = (
        AnyLearner("learner"),
        Records("pending", ("the number of a ticket", "the x of a ticket", "forecast")),
        Count("issued"),
        Count("dropped"),
        Count("settled"),
        Array("book", (2, 2), finite=False),
    )
    SCRATCH = ("most", "overflow")  # as the parameters say

    def __init__(self, learner: Learner) -> None:
        self.learner = learner
        self.pending: dict[int, tuple[Row, Forecast]] = {}  # x and forecast, oldest first
        self.issued = self.dropped = self.settled = 0
        self.book: Matrix = np.zeros((2, 2))
        self.most, self.overflow = 0, ""  # how many may wait, and what happens to one more

    def stored(self) -> tuple[object, ...]:
        """The values of FIELDS."""
        pending = [(number, *kept) for number, kept in self.pending.items()]
        return self.learner, pending, self.issued, self.dropped, self.settled, self.book

    @classmethod
    def restored(
        cls,
        learner: Learner,
        pending: Iterable[tuple[object, Row, Forecast]],
        issued: int,
        dropped: int,
        settled: int,
        book: Matrix,
    ) -> Self:
        """The state of these values."""
        found, last = cls(learner), -1
        for number, x, forecast in pending:
            if type(number) is not int or not last < number < issued:
                raise Mismatch(f"has ticket {abbreviated(number)} out of order")
            if type(forecast) is not float and not isinstance(forecast, np.ndarray):
                raise Mismatch(f"has an invalid forecast of ticket {number}")
            found.pending[number] = x, forecast
            last = number
        if settled + dropped + len(found.pending) != issued:
            raise Mismatch("has lost a ticket")
        found.issued, found.dropped, found.settled, found.book = issued, dropped, settled, book
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
        return forecast_of(self.learner, x)

    def issue(self, x: Row) -> Ticket:
        """The forecast at x, and its ticket; where too many wait, refused, or the oldest drops."""
        full = len(self.pending) >= self.most
        if full and self.overflow == "refuse":
            raise InputError(
                f"{len(self.pending)} forecasts wait for their outcomes "
                f"(max_pending = {self.most}): settle or drop some first, "
                f"ticket {next(iter(self.pending))} is the oldest"
            )
        with wrapping("the learner", InputError):
            forecast = self.learner.predict_one(x)
            kept = _kept(x)
        if isinstance(forecast, np.ndarray):
            forecast = forecast.copy()
            forecast.flags.writeable = False
        if full:
            self.drop(next(iter(self.pending)))
        ticket = Ticket(self.issued, forecast)
        self.pending[ticket.number] = kept, forecast
        self.issued += 1
        return ticket

    def learn(self, x: Row, y: Outcome) -> Self:
        """Learn the outcome of a forecast that waits; x is its ticket."""
        number = self.number_of(x)
        x, forecast = self.pending[number]
        square, log = _losses(self.learner, forecast, y)
        with wrapping("the learner", InputError):
            self.learner.learn_one(x, y)  # where it refuses, the ticket goes on waiting
        add(self.book, SQUARE, square)
        add(self.book, LOG, log)
        self.settled += 1
        del self.pending[number]
        return self

    def drop(self, ticket: object) -> None:
        """Forget a forecast that waits."""
        del self.pending[self.number_of(ticket)]
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
        if not hasattr(self.learner, "predict"):
            raise InputError(f"{type(self.learner).__name__} has no predict: forecast row by row")
        with wrapping("the learner", InputError):
            forecasts: Vector = self.learner.predict(X)
        return forecasts

    def replay(self, X: Table, y: Outcomes) -> tuple[Self, Replay]:  # noqa: ARG002  # as all have it
        """Refused: no table has tickets."""
        raise InputError("Delayed learns by ticket: call predict_one, then learn_one(ticket, y)")

    def certificates(self, **bounds: object) -> list[Certificate]:
        """The learner's statements, which are about the sequence as learned."""
        note = Assumption(
            "of the sequence as learned: each round when its outcome came, with the forecast "
            f"of that moment; {self.settled} forecasts were issued before, see issued_",
            met=True,
        )
        found = certificates_of(self.learner, **bounds)
        return [replace(c, assumptions=(*c.assumptions, note)) for c in found]


class Delayed(Wrapper[PendingForecasts]):
    """Any learner, where outcomes come late and in any order.

    `predict_one` gives a ticket with the forecast of that moment; `learn_one` takes the ticket,
    or its number, and the outcome.  Numbers count from 0 and outlast a model file.

    `issued_` has the loss of the forecasts really issued; `certificates()` speak of the sequence
    as learned, and say so.

    Cost: that of the learner, and one x for every forecast that waits.

    Parameters
    ----------
    learner : anything with predict_one and learn_one; it is copied, `learner_` is the copy.
    max_pending : how many forecasts may wait.
    overflow : what happens to one more: "refuse" it, or "drop" the oldest.

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
    """

    STATE = Group("state", PendingForecasts)
    _tickets = True
    _merge_refusal = (
        "tickets of two issuers have the same numbers; merge their learner_ where these can be"
    )

    def __init__(
        self, learner: Learner, *, max_pending: int = 10_000, overflow: str = "refuse"
    ) -> None:
        self.learner = learner
        self.max_pending = max_pending
        self.overflow = overflow

    def _begin(self) -> PendingForecasts:
        return PendingForecasts(private_copy(self.learner))

    def predict_one(self, x: Row) -> Ticket:
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
            raise NotFitted("this Delayed has issued nothing yet: call predict_one first")
        return self._state

    @property
    def learner_(self) -> Learner:
        """The learner as it is now."""
        return self._learned().learner

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
        """The learner's statements, which are about the sequence as learned."""
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
