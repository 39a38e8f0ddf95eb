"""Metadata routing: which arguments of a learner a search or a pipeline of scikit-learn passes on.

>>> import sklearn, noregret as nr
>>> with sklearn.config_context(enable_metadata_routing=True):
...     learner = nr.AAR().set_fit_request(sample_weight=True)
>>> learner.get_metadata_routing().fit.requests
{'sample_weight': True}
"""

from __future__ import annotations

import copy
import inspect
from functools import partialmethod
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from sklearn.utils.metadata_routing import MetadataRequest

__all__ = ["Routed"]

METHODS = ("fit", "partial_fit", "predict", "score")


class Routed:
    """What scikit-learn asks when metadata routing is on; nobody else does."""

    def get_metadata_routing(self) -> MetadataRequest:
        """The requests as they were set: at first none."""
        chosen = self.__dict__.get("_metadata_request")  # the name that scikit-learn's clone knows
        if chosen is not None:
            return copy.deepcopy(chosen)
        from sklearn.utils.metadata_routing import MetadataRequest

        requests = MetadataRequest(owner=type(self).__name__)
        for method in METHODS:
            taken = getattr(type(self), method, None)
            for name in list(inspect.signature(taken).parameters)[1:] if taken else ():
                if name not in ("X", "y"):
                    getattr(requests, method).add_request(param=name, alias=None)
        return requests

    def _set_request(self, method: str, **chosen: bool | str | None) -> Self:
        """Say which arguments of a method are wanted, or by which other name."""
        requests = self.get_metadata_routing()
        wanted = getattr(requests, method)
        for name, alias in chosen.items():
            if name not in wanted.requests:
                raise TypeError(f"{type(self).__name__}.{method} takes no {name}")
            wanted.add_request(param=name, alias=alias)
        self.__dict__["_metadata_request"] = requests
        return self

    set_fit_request = partialmethod(_set_request, "fit")
    set_partial_fit_request = partialmethod(_set_request, "partial_fit")
    set_predict_request = partialmethod(_set_request, "predict")
    set_score_request = partialmethod(_set_request, "score")
