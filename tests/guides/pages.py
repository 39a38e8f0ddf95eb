"""Pages that run: examples of Python and commands, in order, in an empty directory.

A page is Markdown.  `pycon` blocks are doctests.  In a `console` block a line that begins with
`$ noregret` is a command; what follows it is what it must print (`...` for lines left out), on
standard output, or on standard error where it fails.  A command that prints nothing on the page
must succeed.  Other commands (`$ make test`) are for the reader.

`python tests/guides/pages.py` runs every guide and keeps the pictures that they write.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl

from noregret.cli import call

__all__ = ["GUIDES", "PAGES", "ROOT", "examples", "failures"]

ROOT = Path(__file__).resolve().parents[2]
GUIDES = ROOT / "docs" / "guides"
PAGES = [ROOT / "README.md", *sorted(GUIDES.glob("*.md"))]

BLOCK = re.compile(r"^```(pycon|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)
STYLE = {
    "svg.hashsalt": "noregret",
    "svg.fonttype": "none",
    "path.simplify_threshold": 0.5,
    "figure.figsize": (7.2, 3.0),
    "figure.constrained_layout.use": True,
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
}


def commands(block: str) -> Iterator[tuple[int, str, str]]:
    """Line within the block, arguments and expected output of each command."""
    line, found = 0, None
    lines = block.replace("\\\n", "\0").splitlines()
    shown: list[str] = []
    for text in lines:
        if text.startswith("$ "):
            if found:
                yield (*found, "\n".join(shown))
            given = text.removeprefix("$ ").replace("\0", " ")
            found = (line, given) if given.startswith("noregret ") else None
            shown = []
        else:
            shown.append(text)
        line += 1 + text.count("\0")
    if found:
        yield (*found, "\n".join(shown))


def examples(page: Path) -> list[doctest.Example]:
    """All examples of a page, in order; a command is one too."""
    text = page.read_text()
    found: list[doctest.Example] = []
    for block in BLOCK.finditer(text):
        first = text.count("\n", 0, block.start(2))
        if block[1] == "pycon":
            for example in doctest.DocTestParser().get_examples(block[2], str(page)):
                example.lineno += first
                found.append(example)
            continue
        for line, given, shown in commands(block[2]):
            found.append(
                doctest.Example(
                    f"_command({given!r}, {bool(shown.strip())})\n",
                    shown.strip("\n") + "\n" if shown.strip() else "",
                    lineno=first + line,
                    options={doctest.ELLIPSIS: True},
                )
            )
    return found


def command(given: str, shown: bool) -> None:
    """Run a command as a shell would, and print what the page shows of it."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = call(shlex.split(given, comments=True)[1:])
    printed = (err if code else out).buffer.getvalue().decode()
    if not shown and code:
        message = f"exit code {code}: {printed}"
        raise AssertionError(message)
    if shown:
        print("\n".join(line.rstrip() for line in printed.splitlines()).strip("\n"))


def failures(page: Path, folder: Path) -> str:
    """Run a page in a folder: what differs, or nothing."""
    os.environ |= {"COLUMNS": "80", "SOURCE_DATE_EPOCH": "0"}  # width of tables, date of pictures
    names = {"_command": command, "__name__": "__main__"}
    test = doctest.DocTest(examples(page), names, page.name, str(page), 0, None)
    report = io.StringIO()
    runner = doctest.DocTestRunner(verbose=False)
    with contextlib.chdir(folder), mpl.rc_context(STYLE):
        runner.run(test, out=report.write)
    return report.getvalue()


def main() -> int:
    """Run all guides; keep their pictures."""
    wrong = ""
    for page in PAGES:
        with tempfile.TemporaryDirectory() as folder:
            wrong += failures(page, Path(folder))
            for picture in Path(folder).glob("*.svg"):
                shutil.copy(picture, GUIDES / picture.name)
    sys.stderr.write(wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
