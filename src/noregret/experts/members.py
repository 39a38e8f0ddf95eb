"""What an expert may be, and how a pool hears it.

    a learner     predict_one and learn_one: ours and River's; it learns in every round
    an estimator  predict and partial_fit: scikit-learn's; it sleeps until its first round
    a function    x -> forecast; it learns nothing
    a string      the caller gives the forecast under this name in x; absent or NaN: it sleeps

An expert that forecasts None sleeps too.  Under log loss a forecast is a distribution
(`predictive`, or anything with `log_density`), or the probability of outcome 1.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from noregret import features
from noregret.errors import InputError, ParameterError
from noregret.losses import LARGEST
from noregret.types import Vector

__all__ = ["Member", "hear", "member", "members", "replays", "rows_of"]


class Member(Protocol):
    """One expert of a pool."""

    model: Any

    def forecast(self, x: Any, *, density: bool) -> Any:
        """A number, a distribution, or None."""
        ...

    def learn(self, x: Any, y: float) -> None:
        """Learn one round."""
        ...


class Given:
    """A forecast that the caller supplies by name, or by position in a row of forecasts."""

    def __init__(self, name: str, place: int) -> None:
        self.model, self.name, self.place = name, name, place

    def forecast(self, x: Any, *, density: bool) -> Any:  # noqa: ARG002  # all experts are asked alike
        """What x says under this name; nothing if it says nothing."""
        mapping = features.as_mapping(x)
        value = x[self.place] if mapping is None else mapping.get(self.name)
        return None if isinstance(value, float) and math.isnan(value) else value

    def learn(self, x: Any, y: float) -> None:
        """Nothing to learn."""


class Function:
    """A function x -> forecast."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.model = function

    def forecast(self, x: Any, *, density: bool) -> Any:  # noqa: ARG002  # all experts are asked alike
        """What the function says."""
        return self.model(x)

    def learn(self, x: Any, y: float) -> None:
        """Nothing to learn."""


class Learner:
    """Anything with predict_one and learn_one."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def forecast(self, x: Any, *, density: bool) -> Any:
        """The learner's forecast."""
        if density and hasattr(self.model, "predictive"):
            return self.model.predictive(x)
        return self.model.predict_one(x)

    def learn(self, x: Any, y: float) -> None:
        """Learn one round."""
        self.model.learn_one(x, y)


class Estimator:
    """Anything with predict and partial_fit."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def forecast(self, x: Any, *, density: bool) -> Any:
        """The estimator's forecast for a single row; none before its first round."""
        if not self._fitted():
            return None
        row = features.row(x)[None]
        if density and hasattr(self.model, "predict_proba"):
            return float(self.model.predict_proba(row)[0, -1])
        return float(np.ravel(self.model.predict(row))[0])

    def _fitted(self) -> bool:
        return any(name.endswith("_") and not name.startswith("_") for name in vars(self.model))

    def learn(self, x: Any, y: float) -> None:
        """Learn one round."""
        extra = {} if not hasattr(self.model, "predict_proba") else {"classes": [0.0, 1.0]}
        self.model.partial_fit(features.row(x)[None], np.array([y]), **extra)


def members(experts: Any) -> dict[str, Member]:
    """The experts by name, as copies: those that the caller holds are left alone."""
    if isinstance(experts, str) or not isinstance(experts, Iterable):
        raise ParameterError(
            f"experts = {experts!r}: give a list of learners, functions or names, or a mapping"
        )
    named = list(experts.items() if isinstance(experts, Mapping) else _named(experts))
    if not named:
        raise ParameterError("experts is empty: give at least one")
    return {name: member(expert, place) for place, (name, expert) in enumerate(named)}


def member(expert: Any, place: int) -> Member:
    """One expert, as a copy."""
    if isinstance(expert, str):
        return Given(expert, place)
    if hasattr(expert, "predict_one") and hasattr(expert, "learn_one"):
        return Learner(copy.deepcopy(expert))
    if hasattr(expert, "predict") and hasattr(expert, "partial_fit"):
        return Estimator(copy.deepcopy(expert))
    if callable(expert):
        return Function(expert)
    raise ParameterError(
        f"experts[{place}] = {expert!r}: an expert is a learner (predict_one, learn_one), an "
        "estimator (predict, partial_fit), a function of x, or the name of a forecast in x"
    )


def _named(experts: Iterable[Any]) -> Iterable[tuple[str, Any]]:
    """Each expert under its own text; twins get a number."""
    seen: dict[str, int] = {}
    for expert in experts:
        text = expert if isinstance(expert, str) else getattr(expert, "__name__", None)
        name = text or " ".join(repr(expert).split())
        seen[name] = seen.get(name, 0) + 1
        yield (name if seen[name] == 1 else f"{name} #{seen[name]}"), expert


def hear(said: Sequence[Any], names: Sequence[str]) -> Vector:
    """Forecasts as numbers (means of distributions), NaN for those who sleep."""
    numbers = np.full(len(said), math.nan)
    for j, value in enumerate(said):
        if value is None:
            continue
        mean = value.mean if hasattr(value, "log_density") else value
        number = features.number(mean, f"the forecast of expert {names[j]!r}", InputError)
        if not abs(number) <= LARGEST:
            raise InputError(
                f"the forecast of expert {names[j]!r} = {number!r}: a pool takes numbers up to "
                "1e150; rescale"
            )
        numbers[j] = number
    return numbers


def rows_of(X: Any) -> Sequence[Any]:
    """The rounds of a table, as they would be given one at a time."""
    names = features.frame_names(X)
    if names is not None:
        table, _ = features.table(X)
        return [dict(zip(names, row.tolist())) for row in table]
    rows: Any = X if isinstance(X, np.ndarray) and X.ndim > 1 else list(X)
    return rows  # type: ignore[no-any-return]  # rows of an array, or a list


def replays(
    expert: Member, X: Any, rows: Sequence[Any], ys: Vector, *, density: bool
) -> Sequence[Any]:
    """What an expert says in every round when it learns as the rounds go."""
    model = expert.model
    if isinstance(expert, Learner) and hasattr(model, "replay") and not density:
        forecasts: Sequence[Any] = model.replay(X, ys).forecast.tolist()
        return forecasts
    if isinstance(expert, Given) and isinstance(rows, np.ndarray):
        return [expert.forecast(row, density=density) for row in rows.tolist()]
    said = []
    for x, y in zip(rows, ys.tolist()):
        said.append(expert.forecast(x, density=density))
        expert.learn(x, y)
    return said
