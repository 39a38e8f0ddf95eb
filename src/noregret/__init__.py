"""Competitive online regression: forecast as well as the best model in hindsight, and prove it.

>>> import noregret as nr
>>> learner = nr.AAR()
>>> learner.predict_one({"temperature": 20.0})
0.0
>>> learner.learn_one({"temperature": 20.0}, 3.0)
>>> print(f"{learner.predict_one({'temperature': 10.0}):.3f}")
1.198
>>> learner.certificate().holds
True

Names are imported when they are first used, so that `import noregret` costs next to nothing;
`__init__.pyi` beside this file lists them.
"""

from __future__ import annotations

import importlib
import re

__version__ = "0.1.0"

_LISTED = re.compile(r"^from noregret(?:\.([\w.]+))? import (\w+) as \2$", re.MULTILINE)
# pathlib would take 3 ms
with open(__file__.rpartition(".")[0] + ".pyi", encoding="utf-8") as _listed:  # noqa: PTH123
    _HOMES = {
        name: f"noregret.{home}" if home else "noregret"
        for home, name in _LISTED.findall(_listed.read())
    }

__all__ = [*sorted(_HOMES), "__version__"]  # noqa: PLE0604  # strings all of them


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'noregret' has no attribute {name!r}")
    if home == "noregret":  # a room of its own
        return importlib.import_module(f"noregret.{name}")
    value: object = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
