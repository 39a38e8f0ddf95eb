"""The extension of a scratch copy: compiled there, and found there before an installed one."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

QUICK = (  # the same bits
    "-DCMAKE_CXX_FLAGS=-DNOREGRET_BASELINE -DNOREGRET_CALLS -w",
    "-DNOREGRET_OPTIMISE=-O1",
)

PREFER = """
import sys
sys.meta_path[:] = [f for f in sys.meta_path if not type(f).__module__.startswith("_editable_")]
"""


def copied(root: Path, folder: Path) -> Path:
    """A scratch copy of the tree."""
    shutil.copytree(root, folder, ignore=shutil.ignore_patterns(".*", "build", "dist"))
    (folder / "src" / "sitecustomize.py").write_text(PREFER)  # for processes of the tests
    return folder


def build(folder: Path, flags: Sequence[str] = QUICK) -> Path:
    """Compile what has changed since the last time, for the package of the copy."""
    tools = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}"}
    if not (folder / "build").is_dir():
        given = shlex.split(os.environ.get("CMAKE_ARGS", ""))
        python = f"-DPython_EXECUTABLE={sys.executable}"
        make = ["cmake", "-G", "Ninja", "-S", "native", "-B", "build", python, *flags, *given]
        subprocess.run(make, cwd=folder, env=tools, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(
        ["ninja", "--quiet", "-C", "build", "-k", "0"], cwd=folder, env=tools, check=True
    )
    (made,) = (folder / "build").glob("_native.*.so")
    use(folder, made)
    return made


def use(folder: Path, made: Path) -> None:
    """The package of the copy has this module."""
    link = folder / "src" / "noregret" / made.name
    link.unlink(missing_ok=True)
    link.symlink_to(made)


def prefer() -> None:
    """Without the finder of an editable install, which would be asked before sys.path."""
    assert "noregret" not in sys.modules
    exec(PREFER)  # the same text as for other processes
