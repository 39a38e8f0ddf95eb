"""The text under a command's options, folded to the width of the screen."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

__all__ = ["folded"]

EXAMPLES = "Examples:"


def folded(text: str, width: int) -> str:
    r"""Paragraphs, each as it is for Click: prose, examples, or a head with items below it.

    >>> print(folded("one two three", 9).replace("\b", "-"))
    -
    one two
    three
    """
    parts = [part.removeprefix("\b\n") for part in text.strip().split("\n\n")]
    return "\n\n".join("\b\n" + "\n".join(_paragraph(part, width)) for part in parts)


def _paragraph(part: str, width: int) -> Iterator[str]:
    head, *lines = part.splitlines()
    if head == EXAMPLES:
        yield head
        for line in lines:
            yield from _example(line.strip(), width)
        return
    items = [head]
    for line in lines:
        deeper = line.startswith("  ") and not line.startswith("    ")
        if deeper:
            items.append(line.strip())
        else:
            items[-1] += f" {line.strip()}"
    for k, item in enumerate(items):
        indent = "  " * bool(k)
        more = indent * 2
        yield from textwrap.wrap(
            item,
            width,
            initial_indent=indent,
            subsequent_indent=more,
            break_on_hyphens=False,
            break_long_words=False,
        )


def _example(line: str, width: int) -> Iterator[str]:
    """A command, as a shell takes it; its comment beside it, or above where that is too long."""
    command, mark, words = line.partition(" # ")
    if len(line) + 2 <= width:
        yield f"  {line}"
        return
    command = command.rstrip()
    if mark and len(command) + len(words) + 6 <= width:
        yield f"  {command}  # {words.strip()}"
        return
    if mark:
        yield f"  # {words.strip()}"
    while len(command) + 2 > width:
        cut = command.rfind(" --", 0, width - 4)
        if cut <= 0:
            break
        yield f"  {command[:cut]} \\"
        command = f"    {command[cut + 1 :]}"
    yield f"  {command}"
