"""How a text file is written: its encoding, its delimiter, and whether it is text at all."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterator, Sequence

from noregret.sources.block import Reading
from noregret.sources.cells import MARKED, NUMERIC, kind_of_text

__all__ = [
    "DELIMITERS",
    "ENCODINGS",
    "decoded",
    "delimiter_of",
    "encoding_of",
    "known_as",
    "looks_like_data",
]

DELIMITERS = ",;\t|"
ENCODINGS = ("utf-8", "latin-1", "cp1252", "utf-16", "iso-8859-15", "cp1250", "mac-roman", "gbk")
MARKS = ((b"\xff\xfe\0\0", "utf-32"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
SHOWN = 20  # lines that decide on the delimiter

DUCKDB = b"DUCK"  # after eight bytes
KNOWN = (
    (b"\x89PNG", "a PNG image", ""),
    (b"\xff\xd8\xff", "a JPEG image", ""),
    (b"GIF8", "a GIF image", ""),
    (b"%PDF", "a PDF document", "export the table as CSV"),
    (b"SQLite format 3\0", "an SQLite database", "give sqlite:{name} and --query"),
    (DUCKDB, "a DuckDB database", "give duckdb:{name} and --query"),
    (b"PAR1", "a Parquet file", "give --format parquet"),
    (b"ARROW1", "an Arrow file", "give --format arrow"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook (.xls)", "save it as .xlsx or CSV"),
    (b"PK\x03\x04", "a zip archive", "unpack it first; an Excel workbook ends in .xlsx"),
    (b"BZh", "packed with bzip2", "unpack it first, or pack it with gzip"),
    (b"\xfd7zXZ", "packed with xz", "unpack it first, or pack it with gzip"),
    (b"\x28\xb5\x2f\xfd", "packed with zstd", "unpack it first, or pack it with gzip"),
    (b"7z\xbc\xaf", "a 7z archive", "unpack it first"),
    (b"\x93NUMPY", "a NumPy array (.npy)", "save it by name with numpy.savez"),
    (b"\x80\x04\x95", "a pickle", "write CSV or Parquet instead"),
    (b"\x7fELF", "a program", ""),
    (b"<!DOCTYPE", "an HTML page", "was a login page saved in place of the data?"),
    (b"<html", "an HTML page", "was a login page saved in place of the data?"),
    (b"<?xml", "an XML document", "export the table as CSV"),
)


def known_as(head: bytes, name: str) -> str | None:
    """What a file is that begins like this, and the remedy, if it is no table of text."""
    for mark, what, remedy in KNOWN:
        if head.startswith(mark) or (mark == DUCKDB and head[8:12] == mark):
            return f"this is {what}, not a table in text{f': {remedy}' if remedy else ''}".format(
                name=name
            )
    return None


def encoding_of(given: str | None) -> str | None:
    """The encoding's own name; None for UTF-8."""
    if given is None:
        return None
    try:
        found = codecs.lookup(given)
    except (LookupError, ValueError):
        found = None
    if found is None or not getattr(found, "_is_text_encoding", True):
        raise ValueError(f"--encoding {given}: give one of {', '.join(ENCODINGS)}, ...")
    return None if found.name in ("utf-8", "utf-8-sig", "ascii") else found.name


def decoded(chunks: Iterator[bytes], encoding: str | None, reading: Reading) -> Iterator[bytes]:
    """The same text in UTF-8; UTF-16 is known by its first bytes."""
    decoder = None if encoding is None else codecs.getincrementaldecoder(encoding)()
    first = True
    done = 0
    for chunk in chunks:
        if first and decoder is None:
            found = next((name for mark, name in MARKS if chunk.startswith(mark)), None)
            decoder = codecs.getincrementaldecoder(found)() if found else None
            encoding = found
        first = False
        if decoder is None:
            yield chunk
            continue
        yield _decoded(decoder, chunk, encoding, reading, done)
        done += len(chunk)
    if decoder is not None:
        yield _decoded(decoder, b"", encoding, reading, done, final=True)


def _decoded(
    decoder: codecs.IncrementalDecoder,
    chunk: bytes,
    encoding: str | None,
    reading: Reading,
    done: int,
    *,
    final: bool = False,
) -> bytes:
    try:
        return decoder.decode(chunk, final).encode()
    except UnicodeError as problem:
        at = done + getattr(problem, "start", 0) + 1
        raise reading.fail(
            f"byte {at:,} is not {encoding}: give another --encoding ({', '.join(ENCODINGS[:4])})"
        ) from None


def delimiter_of(header: str, lines: Sequence[str]) -> str:
    """The delimiter with which the lines have as many cells as the header.

    >>> delimiter_of("time;load, MW;temp, C", ["1.1.2024;1,5;2,5", "2.1.2024;1,5;2,5"])
    ';'
    """
    best, score = ",", (False, 0.0, 1)
    for delimiter in DELIMITERS:
        try:
            names, *rows = csv.reader([header, *lines[:SHOWN]], delimiter=delimiter)
        except (csv.Error, ValueError):
            continue
        if len(names) < 2:
            continue
        fits = [row for row in rows if len(row) == len(names)]
        cells = [cell.strip() for row in fits for cell in row]
        clean = sum(not re.search(r"[,;\t|]", c) or bool(MARKED.fullmatch(c)) for c in cells)
        found = (10 * len(fits) >= 9 * len(rows), clean / max(len(cells), 1), len(names))
        if found > score:
            best, score = delimiter, found
    return best


def looks_like_data(names: Sequence[str]) -> bool:
    """Whether a header is more likely a row: most of it is numbers or times."""
    odd = sum(bool(NUMERIC.fullmatch(name)) or kind_of_text(name) != "text" for name in names)
    return 2 * odd > len(names)
