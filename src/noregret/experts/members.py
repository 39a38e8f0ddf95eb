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
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np

from noregret import errors
from noregret._native.mixing import LIKELIHOOD, normal_losses
from noregret.declare.fields import FieldReader, FieldWriter
from noregret.errors import FeatureError, InputError, ParameterError, abbreviated, wrapping
from noregret.gaussian.learners import BayesianRidge
from noregret.inputs import values as features
from noregret.learner.base import Learner, OnlineLearner
from noregret.learner.saving import ours
from noregret.learner.state import State
from noregret.losses import LARGEST, Game
from noregret.types import Forecast, Matrix, Row, Table, Vector

__all__ = ["LearnerMember", "Member", "MemberList", "Said", "as_numbers", "member", "members"]


Said: TypeAlias = Any
"""What an expert says: a number, a distribution, or None, which is that it sleeps."""


class Member:
    """One expert of a pool.  This one learns nothing, so that it is never copied either."""

    model: Any  # whatever the user gave, or a copy of it

    def copy(self) -> Self:
        """A member that shares nothing that changes with this one."""
        return self

    def forecast(self, x: Row, game: Game) -> Said:
        """A number, a distribution, or None."""
        raise NotImplementedError

    def learn(self, x: Row, y: float) -> None:
        """Learn one round."""

    def takes(self, y: float) -> bool:  # noqa: ARG002  # a child may look at it
        """Whether a round is sure to be learned whose x has just been forecast."""
        return True

    def mark(self) -> object:
        """What `restore` needs to come back to where the expert is now."""
        return None

    def restore(self, mark: Any) -> None:
        """Go back to a mark."""


class NamedForecast(Member):
    """A forecast that the caller supplies by name, or by position in a row of forecasts."""

    def __init__(self, name: str, place: int) -> None:
        self.model, self.name, self.place = name, name, place

    def forecast(self, x: Any, game: Game) -> Said:  # noqa: ARG002  # all are asked alike
        """What x says under this name; nothing if it says nothing."""
        if type(x) is dict:
            return x.get(self.name)
        mapping = features.as_mapping(x)
        return x[self.place] if mapping is None else mapping.get(self.name)


class Function(Member):
    """A function x -> forecast."""

    def __init__(self, function: Callable[[Row], Forecast]) -> None:
        self.model = function

    def forecast(self, x: Row, game: Game) -> Said:  # noqa: ARG002  # all are asked alike
        """What the function says."""
        return self.model(x)


class LearnerMember(Member):
    """Anything with predict_one and learn_one."""

    model: Learner

    def __init__(self, model: Learner) -> None:
        self.model = model

    @property
    def own(self) -> OnlineLearner[State] | None:
        """The learner if it is one of ours: it says what it takes, and can go back."""
        return self.model if ours(self.model) else None

    def copy(self) -> Self:
        """A member with a copy of the learner."""
        return type(self)(copy.deepcopy(self.model))

    def forecast(self, x: Row, game: Game) -> Said:
        """The learner's forecast."""
        if game.kind == LIKELIHOOD and hasattr(self.model, "predictive"):
            return self.model.predictive(x)
        return self.model.predict_one(x)

    def learn(self, x: Row, y: float) -> None:
        """Learn one round."""
        self.model.learn_one(x, y)

    def takes(self, y: float) -> bool:
        """Ours say so; of others nothing is known."""
        own = self.own
        return own is not None and own._takes(y)

    def mark(self) -> object:
        """The state of one of ours; a copy of any other."""
        own = self.own
        return copy.deepcopy(self.model) if own is None else own._mark()

    def restore(self, mark: Any) -> None:
        """Go back to a mark."""
        own = self.own
        if own is None:
            self.model = mark
        else:
            own._restore(mark)


class Estimator(Member):
    """Anything with predict and partial_fit; names are kept in the order of the first round."""

    def __init__(self, model: object, names: list[object] | None = None) -> None:
        self.model, self.names = model, names

    def copy(self) -> Self:
        """A member with a copy of the estimator."""
        return type(self)(*self.mark())

    def _row(self, x: Row) -> Matrix:
        mapping = features.as_mapping(x)
        if mapping is None:
            return features.row(x)[None]
        names = list(mapping) if self.names is None else self.names
        if set(names) != set(mapping):
            raise FeatureError(f"x has the names {list(mapping)}, an estimator learned {names}")
        return features.row([mapping[name] for name in names])[None]

    def forecast(self, x: Row, game: Game) -> Said:
        """The estimator's forecast for a single row; none before its first round."""
        row = self._row(x)
        if not any(name.endswith("_") and not name.startswith("_") for name in vars(self.model)):
            return None
        if (game.kind == LIKELIHOOD or game.binary) and hasattr(self.model, "predict_proba"):
            return float(self.model.predict_proba(row)[0, -1])
        return float(np.ravel(self.model.predict(row))[0])

    def learn(self, x: Row, y: float) -> None:
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

    def mark(self) -> tuple[object, list[object] | None]:
        """A copy."""
        return copy.deepcopy(self.model), self.names

    def restore(self, mark: tuple[object, list[object] | None]) -> None:
        """Go back to a mark."""
        self.model, self.names = mark


class MemberList:
    """Members by name, as files keep them: a name, a function to be given back, or a learner."""

    def write(self, w: FieldWriter, found: Mapping[str, Member]) -> list[object]:
        """Pairs of a name and a member."""
        return [
            [w.value(name, "the name of an expert"), self._write(w, name, expert)]
            for name, expert in found.items()
        ]

    def _write(self, w: FieldWriter, name: str, expert: Member) -> dict[str, object]:
        if isinstance(expert, NamedForecast):
            return {"name": w.value(expert.name, "name"), "place": expert.place}
        if isinstance(expert, Function):
            return {"function": w.foreign(expert.model, f"experts['{name}']")}
        if ours(expert.model):
            return {"learner": w.thing(expert.model)}
        raise errors.SnapshotError(
            f"expert {name!r} = {abbreviated(expert.model)} cannot be stored: a "
            f"{type(expert.model).__name__} is not noregret's; take it out, or save it by its "
            "own means"
        )

    def read(self, f: FieldReader, name: str) -> dict[str, Member]:
        """The members by name."""
        found = {}
        for label, inner in f.named(name).items():
            found[label] = self._read(inner)
            inner.done()
        return found

    def _read(self, f: FieldReader) -> Member:
        if f.has("name"):
            return NamedForecast(f.value("name"), f.whole("place", 0, 2**31))
        if f.has("function"):
            return Function(f.function("function"))
        return LearnerMember(f.learner("learner"))


def members(experts: object) -> dict[str, Member]:
    """The experts by name, as copies: those that the caller holds are left alone."""
    one = isinstance(experts, str) or getattr(experts, "ndim", 1) == 0
    if one or not isinstance(experts, Iterable):
        raise ParameterError(
            f"experts = {abbreviated(experts)}: give a list of learners, functions or names, or "
            "a mapping"
        )
    with wrapping("the name of an expert", ParameterError):
        named = list(experts.items() if isinstance(experts, Mapping) else _named(experts))
    if not named:
        raise ParameterError("experts is empty: give at least one")
    return {name: member(expert, place) for place, (name, expert) in enumerate(named)}


def member(expert: object, place: int) -> Member:
    """One expert, as a copy."""
    if isinstance(expert, str):
        return NamedForecast(expert, place)
    with wrapping(f"a copy of experts[{place}]", ParameterError):
        if getattr(expert, "_tickets", False):
            raise ParameterError(
                f"experts[{place}] = {abbreviated(expert)}: it forecasts by ticket, and a pool "
                "learns each round at once; give the pool to Delayed instead"
            )
        if hasattr(expert, "predict_one") and hasattr(expert, "learn_one"):
            return LearnerMember(copy.deepcopy(expert))
        if hasattr(expert, "predict") and hasattr(expert, "partial_fit"):
            return Estimator(copy.deepcopy(expert))
    if callable(expert):
        return Function(expert)
    raise ParameterError(
        f"experts[{place}] = {abbreviated(expert)}: an expert is a learner (predict_one, "
        "learn_one), an estimator (predict, partial_fit), a function of x, or the name of "
        "a forecast in x"
    )


def _named(experts: Iterable[object]) -> Iterable[tuple[str, object]]:
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


def check_row(experts: Mapping[str, Member], x: Row) -> None:
    """Forecasts that the caller gives come by name, or all of them in a row."""
    if type(x) is dict:
        return
    given = [isinstance(expert, NamedForecast) for expert in experts.values()]
    if any(given) and features.as_mapping(x) is None:
        row = hasattr(x, "__getitem__") and not isinstance(x, str)
        size = len(x) if row and isinstance(x, Sized) else 0
        if size < len(given) or (all(given) and size > len(given)):
            raise InputError(
                f"x = {abbreviated(x)}: give forecasts by name, in a mapping, or each at the "
                f"place of its expert in a row of {len(given)}"
            )


def as_numbers(said: Sequence[Said], names: Sequence[str]) -> Vector:
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


def _speaks(value: Said) -> bool:
    return value is not None and not (isinstance(value, float | np.floating) and value != value)


def rows_of(X: Table) -> Sequence[Row] | Matrix:
    """The rounds of a table, as they would be given one at a time."""
    X = features.as_frame(X)
    names = features.frame_names(X)
    if names is not None:
        table, _ = features.table_with_gaps(X, "X")
        if names == list(range(len(names))):  # numbered, not named
            return list(table)
        return [dict(zip(names, row.tolist())) for row in table]
    if isinstance(X, list | tuple):
        return X
    table = np.asarray(X)
    if table.ndim < 2:
        raise FeatureError(
            f"X has shape {table.shape}: it must be 2-D, one row per round. {features.RESHAPE}"
        )
    if table.shape[1] == 0:  # no rows to forecast is no error
        features.require_rows(table.shape)
    return table


def replays(
    experts: Mapping[str, Member], game: Game, X: Table, rows: Iterable[Row], ys: Vector
) -> tuple[dict[str, Spoken], dict[str, list[Said]]]:
    """What the experts say in every round as they learn: those that can replay, then the others."""
    quick: dict[str, Spoken] = {}
    slow = dict(experts)
    for name, expert in experts.items():
        with wrapping("expert", InputError, name):
            spoken = _replayed(expert, game, X, ys, name)
        if spoken is not None:
            quick[name] = spoken
            del slow[name]
    said: dict[str, list[Said]] = {name: [] for name in slow}
    for x, y in zip(rows, ys.tolist() if slow else ()):
        check_row(experts, x)
        for name, expert in slow.items():
            with wrapping("expert", InputError, name):
                said[name].append(expert.forecast(x, game))
        for name, expert in slow.items():
            with wrapping("expert", InputError, name):
                expert.learn(x, y)
    return quick, said


class Spoken(NamedTuple):
    """What an expert said in many rounds, as numbers; under log loss what that cost."""

    numbers: Vector
    costs: Vector | None


def _replayed(expert: Member, game: Game, X: Table, ys: Vector, name: str) -> Spoken | None:
    """The forecasts of a learner that can replay; under log loss, of one with normal densities."""
    if not isinstance(expert, LearnerMember) or not hasattr(expert.model, "replay"):
        return None
    if game.kind != LIKELIHOOD:
        forecasts = np.asarray(expert.model.replay(X, ys).forecast)
        plain = forecasts.dtype == np.float64 and bool((np.abs(forecasts) <= LARGEST).all())
        numbers = forecasts if plain else as_numbers(forecasts.tolist(), [name] * len(ys))
        return Spoken(numbers, None)
    own = expert.own
    if not isinstance(own, BayesianRidge):
        return None
    replay = own.replay(X, ys)
    assert own._state is not None
    noise, costs = own._state.plan.rule.level, np.empty(len(ys))
    with np.errstate(over="ignore"):  # a variance beyond float64 gives y no chance
        var = noise * np.asarray(replay.spread)
    mean = np.ascontiguousarray(replay.mean)
    normal_losses(ys, mean, var, costs)
    return Spoken(as_numbers(mean.tolist(), [name] * len(ys)), costs)
