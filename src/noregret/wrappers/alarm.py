"""Alarms with a known rate of false ones, in O(1) per round.

Null hypothesis: the intervals are calibrated, that is, whatever happened before, the next outcome
is missed with probability alpha.  Betting a share of the money on misses (b > 0) or against them
(b < 0) then is a fair game, with M = mean over bets of prod (1 + b (err - alpha)):

    P(M ever reaches 1/rate) <= rate                                   (Ville 1939)            (1)

The sum over all times to begin, R <- (1 + R)(1 + b (err - alpha)), has the mean t after t rounds,
so that it reaches `every` after `every` rounds on average, or later    (Roberts 1966)         (2)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from noregret.certificates import Certificate
from noregret.declare.parameters import Number
from noregret.errors import OutcomeError
from noregret.inputs.values import outcome
from noregret.types import Interval, Outcome, Vector

__all__ = ["Alarm", "Alert"]

SHARES = np.array([0.5, 0.25, 0.125, 0.0625])  # of what may be staked at most
SHARE = Number(1e-9, 0.5, "a number from 1e-9 to 0.5")


@dataclass(frozen=True, slots=True)
class Alert:
    """What went off, in which round, and why, in words."""

    kind: str  # "outside", "coverage", "drift" or "slack"
    round: int
    text: str


class Alarm:
    """Watches intervals, their coverage and a certificate; says when something is wrong.

    - "outside": an outcome outside its interval; with coverage 0.9, one in ten.
    - "coverage": evidence against calibrated intervals since the last such alert has reached
      1/rate; if they are calibrated, that ever happens with probability `rate` at most.
    - "drift": coverage has changed of late; calibrated intervals set this off once in 1/rate
      rounds on average, or less often.
    - "slack": what a certificate would still allow has shrunk below `shrink` of its largest.

    Cost: 16 multiplications per round, 20 numbers.

    Parameters
    ----------
    coverage : of the intervals that are watched.
    rate : of false alarms, see above.
    shrink : share of the largest slack.

    >>> alarm = Alarm(coverage=0.9, rate=0.01)
    >>> alerts = []
    >>> for t in range(300):
    ...     alerts += alarm.see(Interval(-1.0, 1.0), 0.0 if t % 10 or t > 200 else 2.0)
    >>> [alert.round for alert in alerts if alert.kind == "outside"][:3]
    [1, 11, 21]
    >>> print(next(alert for alert in alerts if alert.kind == "drift").text)
    coverage has drifted: too few misses of late, where 0.1 per round are due
    """

    __slots__ = ("coverage", "largest", "money", "rate", "rounds", "shrink", "since")

    def __init__(self, coverage: float = 0.9, *, rate: float = 0.01, shrink: float = 0.1) -> None:
        self.coverage = Number(1e-6, 1.0 - 1e-6, "a number between 0 and 1").check(
            "coverage", coverage
        )
        self.rate, self.shrink = SHARE.check("rate", rate), SHARE.check("shrink", shrink)
        self.money: Vector = np.zeros(2 * len(SHARES))  # ln of what each bet has made
        self.since: Vector = np.zeros(2 * len(SHARES))  # R of each bet
        self.rounds, self.largest = 0, 0.0

    @property
    def _bets(self) -> Vector:
        """Shares on misses, then shares against them."""
        alpha = 1.0 - self.coverage
        return np.concatenate([SHARES / alpha, -SHARES / (1.0 - alpha)])

    @property
    def evidence(self) -> float:
        """M of (1) since the last alert: 1/M bounds the probability of so much by chance."""
        top = float(self.money.max())
        return math.exp(min(top + math.log(float(np.exp(self.money - top).mean())), 700.0))

    def see(
        self, interval: Interval, y: Outcome, certificate: Certificate | None = None
    ) -> list[Alert]:
        """Take in an outcome and the interval that was issued for it: what went off, if any."""
        value = outcome(y)
        if np.ndim(interval.low):
            raise OutcomeError("interval has several coverages: one alarm for each")
        self.rounds += 1
        missed = value not in interval
        alerts = []
        if missed:
            words = f"y = {value:.6g} is outside {interval}"
            alerts.append(Alert("outside", self.rounds, words))
        alerts += self._calibrated(missed)
        slack = None if certificate is None else certificate.slack
        if slack is not None:
            self.largest = max(self.largest, slack)
            if slack < self.shrink * self.largest:
                words = f"the slack has shrunk to {slack:.4g}, from {self.largest:.4g}"
                alerts.append(Alert("slack", self.rounds, words))
                self.largest = max(slack, 0.0)
        return alerts

    def _calibrated(self, missed: bool) -> list[Alert]:  # noqa: FBT001  # the round in a word
        alpha = 1.0 - self.coverage
        factors = 1.0 + self._bets * (float(missed) - alpha)
        self.money = self.money + np.log(factors)
        self.since = (1.0 + self.since) * factors
        alerts, many = [], len(SHARES)
        often = float(self.since[:many].sum()) > float(self.since[many:].sum())
        if self.evidence >= 1.0 / self.rate:
            many_words = (
                "too many" if self.money[:many].max() > self.money[many:].max() else "too few"
            )
            words = f"the intervals are not calibrated: {many_words} misses for chance"
            alerts.append(Alert("coverage", self.rounds, words))
            self.money = np.zeros_like(self.money)
        if float(self.since.mean()) >= 1.0 / self.rate:
            words = f"coverage has drifted: too {'many' if often else 'few'} misses of late"
            words += f", where {alpha:g} per round are due"
            alerts.append(Alert("drift", self.rounds, words))
            self.since = np.zeros_like(self.since)
        return alerts
