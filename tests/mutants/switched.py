"""Many mutants of one C++ file in one text: each a branch, and a switch that is read at run time.

The innermost block of code around a change is written again for every mutant,

    { if (mutant == 7) { ...the block with the change... } else { ...the block as it is... } }

so that one compilation serves all of them, and NOREGRET_MUTANT says which one lives.  What is not
in a block of code (constants, members, cases of a switch) has no such form.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

SWITCH = "NOREGRET_MUTANT"  # in the environment: the number of the mutant that lives
HEADER = "mutant.hpp"
DECLARATION = f"""#pragma once
#include <cstdlib>
namespace noregret {{
inline const int mutant = std::getenv("{SWITCH}") ? std::atoi(std::getenv("{SWITCH}")) : 0;
}}
"""
SILENT = re.compile(  # what has no braces of its own: comments, texts, characters, the preprocessor
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'|^[ \t]*#(?:\\\n|[^\n])*",
    re.DOTALL | re.MULTILINE,
)
BEGINS = re.compile(  # of a function, a lambda, a branch or a loop
    r"(?:[)\]]|\b(?:else|do|const|noexcept|override|mutable|INLINED)|->[\w\s:<>,&*]+)$"
)
CHOICE = re.compile(r"\bswitch\s*$")


@dataclass
class Block:
    """From behind a brace to before the one that closes it."""

    start: int
    code: bool
    end: int = -1
    inner: list[Block] = field(default_factory=list)
    changes: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Change:
    """The part of a text that differs, and what stands there instead."""

    start: int
    end: int
    new: str

    @classmethod
    def between(cls, text: str, old: str, new: str) -> Change:
        """`old` stands in the text once; what it shares with `new` is left out at both ends."""
        first = 0
        while first < min(len(old), len(new)) and old[first] == new[first]:
            first += 1
        last = 0
        while last < min(len(old), len(new)) - first and old[-1 - last] == new[-1 - last]:
            last += 1
        at = text.index(old)
        return cls(at + first, at + len(old) - last, new[first : len(new) - last])


def silenced(text: str) -> str:
    """The text with blanks for all that is not code."""
    return SILENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def blocks(text: str) -> Block:
    """All blocks, in one that is the whole file."""
    plain = silenced(text)
    whole = Block(0, code=False, end=len(text))
    above = [whole]
    for found in re.finditer(r"[{}]", plain):
        if found[0] == "{":
            before = plain[max(0, found.start() - 400) : found.start()].rstrip()
            bare = above[-1].code and before.endswith(("{", "}", ";"))
            code = (bare or BEGINS.search(before) is not None) and not chooses(before)
            block = Block(found.end(), code)
            above[-1].inner.append(block)
            above.append(block)
        else:
            above.pop().end = found.start()
    return whole


def chooses(before: str) -> bool:
    """Whether a text ends on switch (...)."""
    depth = 0
    for at in range(len(before) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(before[at], 0)
        if depth <= 0:
            return before[at] == "(" and CHOICE.search(before[:at]) is not None
    return False


def balanced(text: str) -> bool:
    """Whether every brace closes one that was opened in this text."""
    depth = 0
    for brace in re.findall(r"[{}]", silenced(text)):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    return depth == 0


def innermost(block: Block, text: str, change: Change) -> Block | None:
    """The smallest block of code that a change leaves whole."""
    for inner in block.inner:
        if inner.start <= change.start and change.end <= inner.end:
            found = innermost(inner, text, change)
            if found is not None:
                return found
    if block.code and balanced(changed(block, text, change)):
        return block
    return None


def changed(block: Block, text: str, change: Change) -> str:
    """A block with a change in it."""
    return text[block.start : change.start] + change.new + text[change.end : block.end]


def switched(
    name: str, text: str, mutants: Mapping[int, tuple[str, str, str]]
) -> tuple[str, set[int]]:
    """A file with a branch for each (old text, new text, why), and the numbers that have one.

    A compiler that refuses a branch names it by its number and why.
    """
    whole = blocks(text)
    changes = {number: Change.between(text, old, new) for number, (old, new, _) in mutants.items()}
    done = set()
    for number, change in changes.items():
        block = innermost(whole, text, change)
        if block is not None:
            block.changes.append(number)
            done.add(number)

    def said(number: int) -> str:
        return f"{name}, mutant {number}: {mutants[number][2]}".replace('"', "'")

    def resumed(at: int) -> str:
        return f'\n#line {text.count(chr(10), 0, at) + 1} "{name}"\n'

    def written(block: Block) -> str:
        parts, at = [], block.start
        for inner in block.inner:
            parts += [text[at : inner.start], written(inner)]
            at = inner.end
        body = "".join([*parts, text[at : block.end]])
        if not block.changes:
            return body
        branches = "".join(
            f'if (::noregret::mutant == {number}) {{\n#line 1 "{said(number)}"\n'
            f"{changed(block, text, changes[number])}\n}} else "
            for number in block.changes
        )
        return f"{branches}{{{resumed(block.start)}{body}\n}}{resumed(block.end)}"

    return f'#include "{HEADER}"\n#line 1 "{name}"\n{written(whole)}', done
