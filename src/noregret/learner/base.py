"""The one base class of all learners: lock, first use, rounds one by one and many at once.

A learner is its parameters, which `__init__` stores and `get_params` reads (estimator.py), and
beside them one state, None until the first round.  A family writes

    its parameters        `__init__`, checked when learning starts (noregret.declare.parameters)
    `_start(space)`       a state that has learned nothing, for inputs of a feature space
    what only it has      weights, distributions, reports

and inherits all else.  docs: CONTRIBUTING.md has a learner of 60 lines.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt

from noregret._native.learner import Keeper, Lock, OneByOne
from noregret.certificates import Certificate
from noregret.declare.fields import Group, Part
from noregret.declare.parameters import Parameter, checked
from noregret.errors import MergeError
from noregret.inputs.spaces import FeatureSpace, Names, space_for_row, space_for_table
from noregret.inputs.values import as_frame
from noregret.learner.estimator import Estimator, not_fitted
from noregret.learner.locks import new_lock
from noregret.learner.replay import Replay, RunningBound, library_of
from noregret.learner.saving import Saveable, writable_copy
from noregret.learner.state import Batch, State
from noregret.types import Forecast, Outcome, Outcomes, Row, Table, Vector

__all__ = ["Learner", "OnlineLearner", "Stateful"]

H = TypeVar("H", bound=Batch)
S = TypeVar("S", bound=State)


@runtime_checkable
class Learner(Protocol):
    """What pools, wrappers, reports and adapters ask of a learner: any class that has it will do.

    >>> import noregret as nr
    >>> isinstance(nr.AAR(), nr.Learner)
    True
    """

    def predict_one(self, x: Row) -> Forecast:
        """The forecast at x."""
        ...

    def learn_one(self, x: Row, y: Outcome) -> None:
        """Learn that x had the outcome y."""
        ...


class Stateful(Keeper, Saveable, Estimator, Generic[H]):
    """Parameters, which `__init__` stores, and beside them one state under a lock.

    The parent of OnlineLearner; SLOG, which learns a batch and no rounds, has no more than this.
    """

    # Lock and state are the Keeper's: `__init__` sets parameters and nothing else, as scikit-learn
    # asks, and compiled rounds have them at hand.
    __slots__ = ()

    _lock: Lock
    _state: H | None  # None: nothing has been learned
    STATE: ClassVar[Part | Group]  # how model files keep the state
    LATER: ClassVar[Mapping[str, object]] = {}  # parameters that files lack where they are this
    BESIDE: ClassVar[tuple[str, ...]] = ()  # what they keep beside it: `_name`, for `_accept`
    _parameters: ClassVar[Mapping[str, Parameter]] = {}  # those that PARAMETERS has otherwise
    _merge_refusal: ClassVar[str] = "what a round teaches it depends on the rounds before"

    def __new__(cls, *_: object, **__: object) -> Self:
        """A learner that has seen nothing."""
        self: Self = super().__new__(cls)
        self._lock, self._state = new_lock(), None
        return self

    def _checked(self, name: str) -> Any:
        """A parameter as it is used, or the error that names it."""
        return checked(self, name)

    def _accept(self, state: H) -> None:
        """Take a state that was stored; a child refuses what cannot be its own (Mismatch)."""
        self._state = state

    def _learned(self) -> H:
        """The state; the caller holds the lock and reads all that it needs from this one."""
        if self._state is None:
            how = "learn_one or fit" if hasattr(self, "learn_one") else "fit"
            name = type(self).__name__
            raise not_fitted(f"this {name} has learned nothing yet: call {how} first")
        return self._state

    def predict(self, X: Table) -> Vector:
        """Forecasts at every row, from what has been learned so far; nothing is learned."""
        with self._lock:
            return self._learned().predict_rows(as_frame(X))

    def _features(self) -> FeatureSpace:
        with self._lock:
            space = self._learned().space
        if space is None:
            raise not_fitted("the inputs of this learner are objects, not vectors of features")
        return space

    @property
    def n_features_in_(self) -> int:
        """How many features have been seen, a constant one not counted."""
        return self._features().size

    @property
    def feature_names_in_(self) -> npt.NDArray[np.object_]:
        """The names of the features in the order of their arrival, if they are all strings."""
        space = self._features()
        if not isinstance(space, Names) or not all(isinstance(name, str) for name in space.slots):
            raise not_fitted("the features of this learner have no names, or not all are strings")
        return np.array(list(space.slots), dtype=object)

    def merge(self, other: Self) -> Self:  # noqa: ARG002  # as those that can merge have it
        """Refuse to merge, and say why."""
        raise MergeError(f"{type(self).__name__} cannot be merged exactly: {self._merge_refusal}")

    def __sklearn_is_fitted__(self) -> bool:
        return self._state is not None

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            state = None if self._state is None else self._state.copy()
            return {"parameters": self.get_params(deep=False), "state": state}

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        stored = self.__getstate__()  # whose state is a copy already
        twin = memo[id(self)] = type(self).__new__(type(self))
        twin.__setstate__({**stored, "parameters": copy.deepcopy(stored["parameters"], memo)})
        return twin

    def __setstate__(self, stored: dict[str, Any]) -> None:
        self._lock, self._state = new_lock(), writable_copy(stored["state"])
        self.__dict__.update(stored["parameters"])


class OnlineLearner(OneByOne, Stateful[S]):
    """What all learners share; a child writes its parameters and `_start`.

    >>> import noregret as nr
    >>> issubclass(nr.OSLOG, nr.OnlineLearner)
    True
    """

    __slots__ = ()

    _tickets: ClassVar[bool] = False  # whether a forecast issues a ticket that an outcome needs

    # What a family writes -------------------------------------------------------------------

    def _start(self, space: FeatureSpace) -> S:
        """A state that has learned nothing; the parameters are checked here."""
        raise NotImplementedError

    def _start_row(self, x: Row, y: Outcome = None) -> S:  # noqa: ARG002  # some ask what y is
        """A state for rounds that look like x."""
        return self._start(space_for_row(x))

    def _start_table(self, X: Table, y: Outcomes) -> tuple[S, Table]:  # noqa: ARG002
        """A state for many rounds that look like X, and X as it was read on the way."""
        space, read = space_for_table(X)
        return self._start(space), read

    # One round: predict_one and learn_one are OneByOne's.  While nobody holds the lock they ask the
    # state's compiled rounds (`fast`), one step for other threads; what those decline comes here.

    def _predict_carefully(self, x: Row) -> Forecast:
        with self._lock:
            return (self._state or self._start_row(x)).predict(x)

    def _learn_carefully(self, x: Row, y: Outcome) -> None:
        with self._lock:
            self._state = (self._state or self._start_row(x, y)).learn(x, y)

    # Many rounds ----------------------------------------------------------------------------

    def replay(self, X: Table, y: Outcomes) -> Replay:
        """Predict-then-learn over all rows, as the loop over rounds would go.

        X is an array (T, n), a frame, or a list of mappings.  The certificate speaks of all that
        this learner has seen.
        """
        return self._run(X, y)

    def fit(self, X: Table, y: Outcomes) -> Self:
        """Forget everything, then learn all rows in order."""
        self._run(X, y, afresh=True)
        return self

    def partial_fit(self, X: Table, y: Outcomes) -> Self:
        """Learn all rows, in order, on top of what was learned before."""
        self._run(X, y)
        return self

    def _run(self, X: Table, y: Outcomes, *, afresh: bool = False, **more: Any) -> Replay:
        X = as_frame(X)  # what can be read only once is read once
        with self._lock:
            state, read = None if afresh else self._state, X
            if state is None:
                state, read = self._start_table(X, y)
            self._state, replay = state.replay(read, y, **more)
            replay = self._told(replay)
        library = library_of(X)
        return replay if library == replay.library else replace(replay, library=library)

    def _told(self, replay: Replay) -> Replay:
        """What a replay gives back; a child with a main certificate of its own puts it in."""
        return replay

    # What was learned -----------------------------------------------------------------------

    @property
    def n_samples_seen_(self) -> int:
        """How many rounds have been learned."""
        with self._lock:
            return self._learned().rounds

    def certificates(self) -> list[Certificate]:
        """Every statement that applies, the main one first."""
        with self._lock:
            return self._learned().certificates()

    def certificate(self, **bounds: Any) -> Certificate:
        """The main certificate; it takes what `certificates` takes."""
        return self.certificates(**bounds)[0]

    def running_bound(self) -> RunningBound | None:
        """What works out the bound after every round of a replay; None: only after the last."""
        return None

    # One round of several learners together: pools and wrappers ask, and may go back ---------

    def _takes(self, y: float) -> bool:  # noqa: ARG002  # a child may look at it
        """Whether a round is sure to be learned whose x has just been forecast."""
        return False

    def _mark(self) -> S | None:
        """The state as it is now, for `_restore` to come back to."""
        with self._lock:
            return None if self._state is None else self._state.copy()

    def _restore(self, mark: S | None) -> None:
        """Go back to a mark."""
        with self._lock:
            self._state = mark
