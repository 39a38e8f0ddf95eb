"""Outcomes that come late: forecasts now, each with a ticket; outcomes later, in any order.

Two books are kept, and they never mix.  The forecasts really issued were made when less was
known than when their outcomes came: what they lost is in `issued_`.  The learner itself learns
each round when its outcome comes, as if x had been seen then: its certificates speak of that
sequence, in that order, and of the forecasts that it would have made then.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from noregret._ops.ledger import add
from noregret.certificates import Assumption, Certificate
from noregret.errors import InputError, NumericalError, OutcomeError, ParameterError, wrapping
from noregret.gaussian.base import NotFitted
from noregret.gaussian.stream import one_outcome
from noregret.glm.labels import sign_of
from noregret.inputs.values import abbreviated
from noregret.learner.holder import Holder
from noregret.types import Forecast, Matrix

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

    __slots__ = ("book", "dropped", "issued", "learner", "pending", "settled")

    def __init__(self, learner: Any) -> None:
        self.learner = learner
        self.pending: dict[int, tuple[Any, Forecast]] = {}  # x and forecast, oldest first
        self.issued = self.dropped = self.settled = 0
        self.book: Matrix = np.zeros((2, 2))


class Delayed(Holder):
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

    _state: PendingForecasts | None
    _tickets = True
    _alone = "tickets of two issuers have the same numbers; merge their learner_ where these can be"

    def __init__(
        self, learner: Any, *, max_pending: int = 10_000, overflow: str = "refuse"
    ) -> None:
        self.learner = learner
        self.max_pending = max_pending
        self.overflow = overflow

    def _begun(self) -> PendingForecasts:
        """What is kept, at first a copy of the learner; the parameters checked."""
        whole = isinstance(self.max_pending, int | np.integer)
        if not whole or isinstance(self.max_pending, bool) or self.max_pending < 1:
            raise ParameterError(
                f"max_pending = {abbreviated(self.max_pending)}: it must be a whole number of at least 1"
            )
        if not isinstance(self.overflow, str) or self.overflow not in ("refuse", "drop"):
            raise ParameterError(
                f"overflow = {abbreviated(self.overflow)}: give 'refuse' or 'drop'"
            )
        if self._state is None:
            if not all(hasattr(self.learner, name) for name in ("predict_one", "learn_one")):
                raise ParameterError(
                    f"learner = {abbreviated(self.learner)}: it needs predict_one and learn_one"
                )
            if isinstance(self.learner, Holder) and self.learner._tickets:
                raise ParameterError("learner is a Delayed itself: one of them is enough")
            with wrapping("a copy of the learner", ParameterError):
                return PendingForecasts(copy.deepcopy(self.learner))
        return self._state

    def _run(self, held: Any, X: Any, y: Any) -> Any:  # noqa: ARG002  # as Holder has it
        """No table has tickets."""
        raise InputError("Delayed learns by ticket: call predict_one, then learn_one(ticket, y)")

    # Forecasts and outcomes -----------------------------------------------------------------

    def predict_one(self, x: Any) -> Ticket:
        """Issue a forecast at x; its ticket waits for the outcome."""
        with self._lock:
            held = self._begun()
            full = len(held.pending) >= self.max_pending
            if full and self.overflow == "refuse":
                oldest = next(iter(held.pending))
                raise InputError(
                    f"{len(held.pending)} forecasts wait for their outcomes (max_pending = "
                    f"{self.max_pending!r}): settle or drop some first, ticket {oldest} is the "
                    "oldest"
                )
            with wrapping("the learner", InputError):
                forecast = held.learner.predict_one(x)
                kept = _kept(x)
            if isinstance(forecast, np.ndarray):
                forecast = forecast.copy()
                forecast.flags.writeable = False
            if full:
                del held.pending[next(iter(held.pending))]
                held.dropped += 1
            ticket = Ticket(held.issued, forecast)
            held.pending[ticket.number] = kept, forecast
            held.issued += 1
            self._state = held
            return ticket

    def learn_one(self, ticket: Ticket | int, y: Any) -> None:
        """Learn the outcome of a forecast that waits."""
        with self._lock:
            held, number = self._pending(ticket)
            x, forecast = held.pending[number]
            square, log = _losses(held.learner, forecast, y)
            with wrapping("the learner", InputError):
                held.learner.learn_one(x, y)  # where it refuses, the ticket goes on waiting
            add(held.book, SQUARE, square)
            add(held.book, LOG, log)
            held.settled += 1
            del held.pending[number]

    def drop(self, ticket: Ticket | int) -> None:
        """Forget a forecast whose outcome will never come; it is in neither book."""
        with self._lock:
            held, number = self._pending(ticket)
            held.dropped += 1
            del held.pending[number]

    def _pending(self, ticket: Any) -> tuple[PendingForecasts, int]:
        held = self._begun()
        number = ticket.number if isinstance(ticket, Ticket) else ticket
        if not isinstance(number, int | np.integer) or isinstance(number, bool):
            raise InputError(
                f"ticket = {abbreviated(ticket)}: give what predict_one gave, or its number"
            )
        if number not in held.pending:
            never = "it was never issued"
            if 0 <= number < held.issued:
                never = "its outcome came, or it was dropped"
            raise InputError(f"ticket {number} does not wait: {never}")
        return held, int(number)

    # What was learned -----------------------------------------------------------------------

    def _learned(self) -> PendingForecasts:
        if self._state is None:
            raise NotFitted("this Delayed has issued nothing yet: call predict_one first")
        return self._state

    @property
    def learner_(self) -> Any:
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
            held = self._learned()
            square, log = (float(total) for total in held.book.sum(axis=1))
            return Issued(
                forecasts=held.issued,
                settled=held.settled,
                pending=len(held.pending),
                dropped=held.dropped,
                square_loss=square,
                log_loss=log if _yes_no(held.learner) else None,
            )

    def certificates(self, **bounds: Any) -> list[Certificate]:
        """The learner's statements, which are about the sequence as learned."""
        with self._lock:
            held = self._learned()
            found = held.learner.certificates(**bounds)
            note = Assumption(
                "of the sequence as learned: each round when its outcome came, with the forecast "
                f"of that moment; {held.settled} forecasts were issued before, see issued_",
                met=True,
            )
        return [replace(c, assumptions=(*c.assumptions, note)) for c in found]

    def certificate(self, **bounds: Any) -> Certificate:
        """The learner's main certificate, which is about the sequence as learned."""
        return self.certificates(**bounds)[0]


def _kept(x: Any) -> Any:
    """x as it is now, whatever the caller does with it while the outcome is awaited."""
    if type(x) is dict or isinstance(x, np.ndarray):
        return x.copy()
    if isinstance(x, str | bytes | int | float):
        return x
    return dict(x) if isinstance(x, Mapping) else copy.deepcopy(x)


def _yes_no(learner: Any) -> bool:
    """Whether forecasts are probabilities of a label."""
    return hasattr(learner, "predict_proba")


def _losses(learner: Any, forecast: Forecast, y: Any) -> tuple[float, float]:
    """Square loss and log loss of a forecast; no log loss of numbers."""
    if _yes_no(learner):
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
            f"y = {abbreviated(y)}: the square of its distance from the forecast {abbreviated(forecast)} does "
            "not fit in float64; drop the ticket, or rescale the features"
        )
    return square, 0.0
