"""Write the typed stubs of noregret._native from the module itself: `python native/stubs.py`.

With `--check` nothing is written; the exit code says whether the stubs are true.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType

from noregret import _native

HOME = Path(__file__).parents[1] / "src" / "noregret" / "_native"
PLAIN = """from typing import Any

from noregret.types import Forecast, Outcome, Row
"""
HEAD = "# Compiled; written by native/stubs.py.  The equations are in native/.\n\n"


def signature(function: object) -> str:
    """A function as a stub has it."""
    return "\n".join(f"{text}: ..." for text, *_ in function.__nb_signature__)


def members(module: ModuleType) -> dict[str, object]:
    """What a module offers."""
    return {name: thing for name, thing in vars(module).items() if not name.startswith("_")}


def class_stub(name: str, type_: type) -> str:
    """A class with its methods."""
    methods = []
    made = ("__init__",) if hasattr(vars(type_)["__init__"], "__nb_signature__") else ()
    for method in (*made, *(m for m in vars(type_) if not m.startswith("_"))):
        lines = signature(vars(type_)[method]).split("\n")
        over = "    @overload\n" if len(lines) > 1 else ""
        methods += [f"{over}    {line}" for line in lines]
    bases = ", ".join(base.__name__ for base in type_.__bases__ if base is not object)
    return f"class {name}{f'({bases})' if bases else ''}:\n" + "\n".join(methods or ["    ..."])


def stub(module: ModuleType) -> str:
    """The whole stub of one submodule."""
    if hasattr(module, "_STUBS"):  # of types that nanobind does not know
        return formatted(HEAD + PLAIN + module._STUBS)
    constants, functions = [], []
    for name, thing in sorted(members(module).items()):
        if isinstance(thing, int | float):
            constants.append(f"{name}: {type(thing).__name__}")
        elif isinstance(thing, type):
            functions.append(class_stub(name, thing))
        else:
            functions.append(signature(thing))
    body = "\n".join([*constants, *functions]) + "\n"
    body = body.replace(f"{module.__name__}.", "")
    used = [name for name in ("Integers", "Matrix", "Vector") if name in body]
    imports = f"from noregret.types import {', '.join(used)}\n" if used else ""
    if "@overload" in body:
        imports = f"from typing import Any, overload\n\n{imports}"
    return formatted(HEAD + imports + ("\n" if imports else "") + body)


def formatted(text: str) -> str:
    """As ruff would have it."""
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", "stub.pyi", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)  # noqa: S603  # ruff
    return done.stdout


def stubs() -> dict[Path, str]:
    """Every stub by its path."""
    rooms = {n: m for n, m in members(_native).items() if isinstance(m, ModuleType)}
    found = {HOME / f"{name}.pyi": stub(module) for name, module in rooms.items()}
    lines = [f"from noregret._native import {name} as {name}" for name in sorted(rooms)]
    return {HOME / "__init__.pyi": HEAD + "\n".join(lines) + "\n"} | found


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(any(not p.exists() or p.read_text("utf-8") != t for p, t in stubs().items()))
    HOME.mkdir(exist_ok=True)
    for path, text in stubs().items():
        path.write_text(text, encoding="utf-8")
