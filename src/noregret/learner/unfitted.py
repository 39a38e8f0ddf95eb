"""The error that is ours and scikit-learn's; imported only where scikit-learn is loaded."""

from __future__ import annotations

from sklearn.exceptions import NotFittedError

from noregret.errors import NotLearnedError

__all__ = ["NotFitted"]


# scikit-learn is untyped, and its name for this ends without Error too
class NotFitted(NotLearnedError, NotFittedError):  # type: ignore[misc]  # noqa: N818
    """Nothing has been learned yet; scikit-learn's NotFittedError too."""
