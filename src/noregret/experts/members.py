"""What an expert may be, and how a pool hears it.

    a learner     predict_one and learn_one: ours and River's; it learns in every round
    an estimator  predict and partial_fit: scikit-learn's; it sleeps until its first round
    a function    x -> forecast; it learns nothing
    a string      the caller gives the forecast under this name in x; absent or NaN: it sleeps

An expert that forecasts None or NaN sleeps too.  Under log loss a forecast is a distribution
(`predictive`, or anything with `log_density`), or the probability of outcome 1.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from noregret._ops.mixing import LIKELIHOOD
from noregret.errors import FeatureError, InputError, ParameterError, abbreviated, wrapping
from noregret.inputs import values as features
from noregret.learner.holder import Holder
from noregret.learner.saving import ours
from noregret.losses import LARGEST, Game
from noregret.types import Matrix, Vector

__all__ = ["Member", "as_numbers", "collect", "member", "members", "replays", "rows_of"]


class Member(Protocol):
    """One expert of a pool."""

    model: Any

    def forecast(self, x: Any, game: Game) -> Any:
        """A number, a distribution, or None."""
        ...

    def learn(self, x: Any, y: float) -> None:
        """Learn one round."""
        ...

    def takes(self, y: float) -> bool:
        """Whether a round is sure to be learned whose x has just been forecast."""
        ...

    def mark(self) -> Any:
        """What `restore` needs to come back to where the expert is now."""
        ...

    def restore(self, mark: Any) -> None:
        """Go back to a mark."""
        ...


class Fixed:
    """An expert that learns nothing."""

    def learn(self, x: Any, y: float) -> None:
        """Nothing to learn."""

    def takes(self, y: float) -> bool:  # noqa: ARG002  # all experts are asked alike
        """Nothing to refuse."""
        return True

    def mark(self) -> Any:
        """Nothing to come back to."""

    def restore(self, mark: Any) -> None:
        """Nothing to come back to."""


class NamedForecast(Fixed):
    """A forecast that the caller supplies by name, or by position in a row of forecasts."""

    def __init__(self, name: str, place: int) -> None:
        self.model, self.name, self.place = name, name, place

    def forecast(self, x: Any, game: Game) -> Any:  # noqa: ARG002  # all experts are asked alike
        """What x says under this name; nothing if it says nothing."""
        if type(x) is dict:
            return x.get(self.name)
        mapping = features.as_mapping(x)
        return x[self.place] if mapping is None else mapping.get(self.name)


class Function(Fixed):
    """A function x -> forecast."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.model = function

    def forecast(self, x: Any, game: Game) -> Any:  # noqa: ARG002  # all experts are asked alike
        """What the function says."""
        return self.model(x)


class Learner:
    """Anything with predict_one and learn_one."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def forecast(self, x: Any, game: Game) -> Any:
        """The learner's forecast."""
        if game.kind == LIKELIHOOD and hasattr(self.model, "predictive"):
            return self.model.predictive(x)
        return self.model.predict_one(x)

    def learn(self, x: Any, y: float) -> None:
        """Learn one round."""
        self.model.learn_one(x, y)

    def takes(self, y: float) -> bool:
        """Ours say so; of others nothing is known."""
        return ours(self.model) and self.model._takes(y)

    def mark(self) -> Any:
        """The state of one of ours; a copy of any other."""
        return self.model._mark() if ours(self.model) else copy.deepcopy(self.model)

    def restore(self, mark: Any) -> None:
        """Go back to a mark."""
        if ours(self.model):
            self.model._restore(mark)
        else:
            self.model = mark


class Estimator:
    """Anything with predict and partial_fit; names are kept in the order of the first round."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.names: list[Any] | None = None

    def _row(self, x: Any) -> Matrix:
        mapping = features.as_mapping(x)
        if mapping is None:
            return features.row(x)[None]
        names = list(mapping) if self.names is None else self.names
        if set(names) != set(mapping):
            raise FeatureError(f"x has the names {list(mapping)}, an estimator learned {names}")
        return features.row([mapping[name] for name in names])[None]

    def forecast(self, x: Any, game: Game) -> Any:
        """The estimator's forecast for a single row; none before its first round."""
        row = self._row(x)
        if not any(name.endswith("_") and not name.startswith("_") for name in vars(self.model)):
            return None
        if (game.kind == LIKELIHOOD or game.binary) and hasattr(self.model, "predict_proba"):
            return float(self.model.predict_proba(row)[0, -1])
        return float(np.ravel(self.model.predict(row))[0])

    def learn(self, x: Any, y: float) -> None:
        """Learn one round."""
        mapping = features.as_mapping(x)
        row = self._row(x)
        extra = {} if not hasattr(self.model, "predict_proba") else {"classes": [0.0, 1.0]}
        self.model.partial_fit(row, np.array([y]), **extra)
        if mapping is not None and self.names is None:
            self.names = list(mapping)

    def takes(self, y: float) -> bool:  # noqa: ARG002  # all experts are asked alike
        """Nothing is known of it."""
        return False

    def mark(self) -> Any:
        """A copy."""
        return copy.deepcopy(self.model), self.names

    def restore(self, mark: Any) -> None:
        """Go back to a mark."""
        self.model, self.names = mark


def members(experts: Any) -> dict[str, Member]:
    """The experts by name, as copies: those that the caller holds are left alone."""
    one = isinstance(experts, str) or getattr(experts, "ndim", 1) == 0
    if one or not isinstance(experts, Iterable):
        raise ParameterError(
            f"experts = {abbreviated(experts)}: give a list of learners, functions or names, or a mapping"
        )
    named = list(experts.items() if isinstance(experts, Mapping) else _named(experts))
    if not named:
        raise ParameterError("experts is empty: give at least one")
    return {name: member(expert, place) for place, (name, expert) in enumerate(named)}


def member(expert: Any, place: int) -> Member:
    """One expert, as a copy."""
    if isinstance(expert, str):
        return NamedForecast(expert, place)
    if isinstance(expert, Holder) and expert._tickets:
        raise ParameterError(
            f"experts[{place}] = {features.abbreviated(expert)}: it forecasts by ticket, and a pool "
            "learns each round at once; give the pool to Delayed instead"
        )
    with wrapping(f"a copy of experts[{place}]", ParameterError):
        if hasattr(expert, "predict_one") and hasattr(expert, "learn_one"):
            return Learner(copy.deepcopy(expert))
        if hasattr(expert, "predict") and hasattr(expert, "partial_fit"):
            return Estimator(copy.deepcopy(expert))
    if callable(expert):
        return Function(expert)
    raise ParameterError(
        f"experts[{place}] = {abbreviated(expert)}: an expert is a learner (predict_one, learn_one), an "
        "estimator (predict, partial_fit), a function of x, or the name of a forecast in x"
    )


def _named(experts: Iterable[Any]) -> Iterable[tuple[str, Any]]:
    """Each expert under its own text; twins get a number."""
    taken: set[str] = set()
    for expert in experts:
        text = expert if isinstance(expert, str) else getattr(expert, "__name__", None)
        stem = text or " ".join(repr(expert).split())
        name, k = stem, 1
        while name in taken:
            k += 1
            name = f"{stem} #{k}"
        taken.add(name)
        yield name, expert


def collect(experts: Mapping[str, Member], game: Game, x: Any) -> list[Any]:
    """What each expert says of x."""
    check_row(experts, x)
    said = []
    for name, expert in experts.items():
        with wrapping("expert", InputError, name):
            said.append(expert.forecast(x, game))
    return said


def check_row(experts: Mapping[str, Member], x: Any) -> None:
    """Forecasts that the caller gives come by name, or all of them in a row."""
    if type(x) is dict:
        return
    given = [isinstance(expert, NamedForecast) for expert in experts.values()]
    if any(given) and features.as_mapping(x) is None:
        sized = hasattr(x, "__len__") and hasattr(x, "__getitem__") and not isinstance(x, str)
        if not sized or len(x) < len(given) or (all(given) and len(x) > len(given)):
            raise InputError(
                f"x = {features.abbreviated(x)}: give forecasts by name, in a mapping, or each at the "
                f"place of its expert in a row of {len(given)}"
            )


def as_numbers(said: Sequence[Any], names: Sequence[str]) -> Vector:
    """Forecasts as numbers (means of distributions), NaN for those who sleep."""
    numbers = np.full(len(said), math.nan)
    for j, value in enumerate(said):
        if type(value) is float and abs(value) <= LARGEST:
            numbers[j] = value
            continue
        if not _speaks(value):
            continue
        with wrapping("the forecast of expert", InputError, names[j]):
            mean = value.mean if hasattr(value, "log_density") else value
            number = features.number(mean, f"the forecast of expert {names[j]!r}", InputError)
        if not abs(number) <= LARGEST:
            raise InputError(
                f"the forecast of expert {names[j]!r} = {number!r}: a pool takes numbers up to "
                "1e150; rescale"
            )
        numbers[j] = number
    return numbers


def _speaks(value: Any) -> bool:
    return value is not None and not (isinstance(value, float | np.floating) and value != value)


def rows_of(X: Any) -> Sequence[Any]:
    """The rounds of a table, as they would be given one at a time."""
    X = features.as_frame(X)
    names = features.frame_names(X)
    if names is not None:
        table, _ = features.table_with_gaps(X, "X")
        if names == list(range(len(names))):  # numbered, not named
            return list(table)
        return [dict(zip(names, row.tolist())) for row in table]
    if not isinstance(X, list | tuple):
        X = np.asarray(X)
        if X.ndim < 2:
            raise FeatureError(
                f"X has shape {X.shape}: it must be 2-D, one row a round. {features.RESHAPE}"
            )
        if X.shape[1] == 0:  # no rows to forecast is no error
            features.require_rows(X.shape)
    return X  # type: ignore[no-any-return]  # rows of an array, or a list


def replays(
    experts: Mapping[str, Member], game: Game, X: Any, rows: Sequence[Any], ys: Vector
) -> list[list[Any]]:
    """What the experts say in every round when they learn as the rounds go; a list an expert."""
    said: dict[str, list[Any]] = {}
    slow = dict(experts)
    for name, expert in experts.items():
        quick = isinstance(expert, Learner) and hasattr(expert.model, "replay")
        if quick and game.kind != LIKELIHOOD:
            with wrapping("expert", InputError, name):
                said[name] = expert.model.replay(X, ys).forecast.tolist()
            del slow[name]
    said |= {name: [] for name in slow}
    for x, y in zip(rows, ys.tolist() if slow else ()):
        check_row(experts, x)
        for name, expert in slow.items():
            with wrapping("expert", InputError, name):
                said[name].append(expert.forecast(x, game))
        for name, expert in slow.items():
            with wrapping("expert", InputError, name):
                expert.learn(x, y)
    return [said[name] for name in experts]
