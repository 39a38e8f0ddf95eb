"""Figures between marks of a page that people write."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["put"]


def put(page: Path, part: str, text: str) -> None:
    """Write a part between its marks."""
    marks = f"<!-- {part} -->\n", f"<!-- end of {part} -->"
    pattern = re.compile(re.escape(marks[0]) + ".*?" + re.escape(marks[1]), re.DOTALL)
    page.write_text(pattern.sub(lambda _: marks[0] + text + "\n" + marks[1], page.read_text()))
    print(text, flush=True)
