"""What the user chose for a stream, checked and frozen: core x rule."""

from __future__ import annotations

from dataclasses import dataclass

from noregret.budgets import Nystrom, Polynomial, RandomFourier, Taylor, Window
from noregret.declare.fields import Mismatch, Part, Real, Truth, Value
from noregret.gaussian.cores import DriftCore, PrimalCore
from noregret.gaussian.cores.schedule import Drift
from noregret.gaussian.rules import Rule
from noregret.kernels import Kernel

__all__ = ["Budget", "Plan"]

LEAST_DISCOUNT = 0.001
Budget = Nystrom | RandomFourier | Taylor | Polynomial | Window


@dataclass(frozen=True, slots=True)
class Plan:
    """What the user chose: core x rule, and whether a constant feature stands first."""

    FIELDS = (
        Part("rule", ("Rule",)),
        Real("prior_precision", 1e-300, 1e300),
        Value("drift"),
        Truth("intercept"),
        Part("kernel", ("Kernel",), optional=True),
        Part(
            "budget", ("Nystrom", "RandomFourier", "Taylor", "Polynomial", "Window"), optional=True
        ),
        Real("discount", LEAST_DISCOUNT, 1.0, later=True),
    )

    rule: Rule
    prior_precision: float
    drift: Drift = 0.0
    intercept: bool = False
    kernel: Kernel | None = None
    budget: Budget | None = None
    discount: float | None = None  # None: the past does not fade

    @classmethod
    def restored(
        cls,
        rule: Rule,
        prior_precision: float,
        drift: Drift,
        *more: *tuple[bool, Kernel | None, Budget | None, float | None],
    ) -> Plan:
        """The plan of these values."""
        if not callable(drift) and not (type(drift) is float and 0.0 <= drift <= 1e300):
            raise Mismatch("has an invalid drift")
        plan = cls(rule, prior_precision, drift, *more)
        if plan.discount is not None and (plan.discount == 1.0 or plan.changing or plan.dual):
            raise Mismatch("has a discount that does not go with the rest")
        return plan

    @property
    def changing(self) -> bool:
        """Whether experts drift."""
        return callable(self.drift) or self.drift > 0.0

    @property
    def dual(self) -> bool:
        """Whether the exact kernel core learns, which keeps inputs."""
        return self.kernel is not None and not isinstance(self.budget, Nystrom)

    def core(self, n: int, m: int) -> PrimalCore | DriftCore:
        """A core for n features, the constant one included, and m outcomes."""
        if self.changing:
            return DriftCore(self.prior_precision, self.drift, n, m)
        return PrimalCore(self.prior_precision, n, m, self.discount)
