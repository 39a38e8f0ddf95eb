"""From bytes to blocks of whole lines: files, gzip, and pipes as they fill.

Lines are numbered from 1.  In CSV a carriage return by itself ends a line too, as it does for
Python's reader, so that a row has the same number however the text is cut.  A line that is not
text (NUL bytes, not UTF-8, longer than a megabyte) is bad: where that is tolerated it is made
empty, so that the numbers of the others stay.
"""

from __future__ import annotations

import os
import re
import select
import zlib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import IO

import numpy as np

from noregret.sources.block import Reading
from noregret.sources.dialect import DELIMITERS

__all__ = [
    "LONGEST",
    "Lines",
    "breaks_in",
    "chunks_of_file",
    "chunks_of_pipe",
    "unpacked",
    "well_quoted",
    "whole_lines",
]

READ = 1 << 24  # bytes at a time
FIRST = 1 << 12  # bytes of a pipe that are read at first
PAUSE = 0.2  # seconds that a chunk of a pipe may take whoever takes it
LONGEST = 1 << 20  # bytes of a line
QUOTE = b'"'
BREAKS = b"\r\n"
# A cell in quotes, or what begins like one and does not end.
QUOTED = re.compile(
    rb'(?:(?<=[%s])|\A)"(?:[^"]++|"")*+("|\Z)' % re.escape(BREAKS + DELIMITERS.encode())
)
GZIP = b"\x1f\x8b"
NUL = "NUL: this is not text, or not UTF-8; try --encoding utf-16"

Lines = tuple[bytes, int, int]
"""Whole lines, the number of the first, and how many of them end in a line break."""


def chunks_of_pipe(stream: IO[bytes], reading: Reading) -> Iterator[bytes]:
    """Whatever has arrived, as soon as it has, and no more of it than can be learned at once.

    What was read is gone from the pipe: a run that is stopped takes the rest of a chunk first.
    """
    handle, size = stream.fileno(), FIRST
    while True:
        with reading.waiting():
            if os.name == "posix":  # elsewhere only sockets can be waited for
                select.select([handle], [], [])
            else:
                chunk = os.read(handle, size)
        if os.name == "posix":  # where no signal can come between a chunk and whoever takes it
            chunk = os.read(handle, size)
        if not chunk:
            return
        begin = perf_counter()
        yield chunk
        if perf_counter() - begin > PAUSE:
            size = max(size // 4, 1 << 8)
        elif len(chunk) == size:
            size = min(2 * size, READ)


def chunks_of_file(path: Path, reading: Reading) -> Iterator[bytes]:
    """A file."""
    with reading.readable(), path.open("rb") as file:
        while chunk := file.read(READ):
            yield chunk


def unpacked(chunks: Iterator[bytes], reading: Reading) -> Iterator[bytes]:
    """The same text; what begins as gzip does is unpacked, whatever its name."""
    start = b""
    for chunk in chunks:
        start += chunk
        if len(start) >= len(GZIP):
            break
    whole = chain([start] if start else [], chunks)
    yield from _members(whole, reading) if start.startswith(GZIP) else whole


def _members(packed: Iterator[bytes], reading: Reading) -> Iterator[bytes]:
    """Any number of gzip members, one after the other."""
    done = 0
    packer = zlib.decompressobj(wbits=31)
    fresh = True
    for part in packed:
        raw = part
        while raw:
            try:
                chunk = packer.decompress(raw, READ)
            except zlib.error as problem:
                after = f"after {done:,} bytes of text"
                raise reading.fail(f"damaged gzip {after}: {problem}") from None
            fresh = False
            done += len(chunk)
            if chunk:
                yield chunk
            raw = packer.unconsumed_tail
            if packer.eof:
                raw = packer.unused_data.lstrip(b"\0")
                packer = zlib.decompressobj(wbits=31)
                fresh = True
    while chunk := packer.decompress(packer.unconsumed_tail, READ):
        done += len(chunk)
        yield chunk
    if not fresh:
        raise reading.fail(f"truncated gzip: it ends after {done:,} bytes of text")


def whole_lines(chunks: Iterator[bytes], reading: Reading, *, quoted: bool) -> Iterator[Lines]:
    """Blocks of whole lines; with `quoted`, no block ends inside quotes."""
    held, number, skipping = b"", 1, False
    for chunk in chunks:
        held += chunk
        if skipping:  # inside a line that is too long
            end = held.find(b"\n")
            if end < 0:
                held = b""
                continue
            held, number, skipping = held[end + 1 :], number + 1, False
        end = _end(held, quoted=quoted)
        if end:
            lines, held = held[:end], held[end:]
            count = breaks_in(lines, quoted=quoted)
            yield _text(lines, number, reading), number, count
            number += count
        if len(held) > LONGEST:
            newline = held.find(b"\n")
            if newline >= 0:  # only quotes keep these lines together
                reading.skip(number, "a quote opens here and does not close within a megabyte")
                held, number = held[newline + 1 :], number + 1
            else:
                reading.skip(number, "the line is longer than a megabyte")
                held, skipping = b"", True
    if held and not skipping:
        yield _text(held, number, reading), number, breaks_in(held, quoted=quoted)


def breaks_in(lines: bytes, *, quoted: bool) -> int:
    """How many line breaks there are; where text may be `quoted`, carriage returns are some."""
    count = int(np.count_nonzero(np.frombuffer(lines, np.uint8) == ord("\n")))
    if quoted and b"\r" in lines:
        count += lines.count(b"\r") - lines.count(b"\r\n")
    return count


def _end(held: bytes, *, quoted: bool) -> int:
    """Where the last whole line ends; 0 if there is none."""
    end = held.rfind(b"\n") + 1
    if not quoted or QUOTE not in held or well_quoted(held[:end], DELIMITERS):
        return end
    row, done = 0, 0  # a quote that does not begin a cell is a character like any other
    for cell in QUOTED.finditer(held, 0, end):
        row = max(row, held.rfind(b"\n", done, cell.start()) + 1)
        if not cell[1]:
            return row
        done = cell.end()
    return end


def well_quoted(lines: bytes, delimiters: str) -> bool:
    """Whether every quote begins a cell, ends one, or is one of two inside a cell."""
    text = np.frombuffer(b"\n" + lines + b"\n", dtype=np.uint8)
    quotes = np.flatnonzero(text == ord(QUOTE))
    if len(quotes) % 2:
        return False
    edges = np.frombuffer(QUOTE + BREAKS + delimiters.encode(), dtype=np.uint8)
    before, after = text[quotes[::2] - 1], text[quotes[1::2] + 1]
    return bool(np.isin(before, edges).all() and np.isin(after, edges).all())


def _text(lines: bytes, number: int, reading: Reading) -> bytes:
    """Lines that are text, for certain."""
    if number == 1:
        lines = lines.removeprefix(b"\xef\xbb\xbf")
    while (at := lines.find(b"\0")) >= 0:
        lines = _without(lines, at, number, NUL, reading)
    while not lines.isascii():
        try:
            lines.decode()
            break
        except UnicodeDecodeError as problem:
            at = problem.start
            shown = lines[at : at + 1].decode("cp1252", errors="replace")
            complaint = f"0x{lines[at]:02x}, which is not UTF-8: try --encoding cp1252 ({shown!r})"
            lines = _without(lines, at, number, complaint, reading)
    return _without_long(lines, number, reading) if len(lines) > LONGEST else lines


def _without(lines: bytes, at: int, number: int, complaint: str, reading: Reading) -> bytes:
    """The same with the line around a byte made empty."""
    start = lines.rfind(b"\n", 0, at) + 1
    end = lines.find(b"\n", at)
    place = number + lines.count(b"\n", 0, start)
    reading.skip(place, f"byte {at - start + 1} of the line is {complaint}")
    return lines[:start] + (b"" if end < 0 else lines[end:])


def _without_long(lines: bytes, number: int, reading: Reading) -> bytes:
    """The same with lines that are too long made empty."""
    start = 0
    while start < len(lines):
        near = lines.rfind(b"\n", start, start + LONGEST + 1)
        if near >= 0:
            start = near + 1
            continue
        if len(lines) - start <= LONGEST:
            break
        end = lines.find(b"\n", start)
        place = number + lines.count(b"\n", 0, start)
        reading.skip(place, "the line is longer than a megabyte")
        lines = lines[:start] + (b"" if end < 0 else lines[end:])
    return lines
