"""CSV by Polars and by Python alone: the same blocks, to the last bit, and the same errors."""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from noregret.errors import SourceError
from noregret.sources import Source, parser
from noregret.sources.lines import _end

NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(10**20), 10**20).map(str),
    st.decimals(allow_nan=False, allow_infinity=False, places=25).map(str),
    st.sampled_from(["", "NA", " 7 ", "+1.5", ".5", "5.", "1e400", "0x10", "1_0", "nan", "-0"]),
)
WORDS = st.sampled_from(["red", "", '"a,b"', " blue ", '"x""y"', "2024-02-29", "null", "é"])
ROWS = st.lists(st.tuples(NUMBERS, WORDS, NUMBERS), min_size=1, max_size=12)


def read(path: Path, *, skip: int) -> object:
    """All blocks, or the error."""
    source = Source(str(path), skip_bad=skip)
    reading = source.reading()
    try:
        found = list(source.blocks(reading))
    except SourceError as error:
        return str(error)
    return [
        (b.places.tolist(), b.kinds, {n: shown(c) for n, c in b.columns.items()}) for b in found
    ], reading.bad


def shown(column: object) -> object:
    return column.tobytes() if isinstance(column, np.ndarray) else column


@pytest.mark.parametrize("skip", [0, 100])
@given(rows=ROWS, end=st.sampled_from(["\n", "\r\n", "\n\n"]))
def test_who_parses_makes_no_difference(tmp_path_factory, skip, rows, end) -> None:
    path = tmp_path_factory.mktemp("csv") / "data.csv"
    path.write_text(f"a,b,y{end}" + end.join(map(",".join, rows)), encoding="utf-8", newline="")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parser, "LARGE", 0)
        fast = read(path, skip=skip)
        patch.setitem(sys.modules, "polars", None)
        assert read(path, skip=skip) == fast


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('b\nx\n"a""', "line 3: a quote opens in this row and never closes"),
        ('b,y\n"x\nz",u\nw,v\n', "[2, 4]"),
        ("b,y\nx,u\n\nw,v\n", "[2, 4]"),
        ("a,y\n1,2\ninf,3\n", "line 3, column 'a': 'inf' is not a finite number"),
        ("a,y\n1,2\n3,-1e400\n", "line 3, column 'y': '-1e400' is not a finite number"),
        ("b,y\nred,1\n NA ,2\n  ,3\nNA,4\n", "['red', None, None, None]"),
        ('b,y\nx,1\n5" pipe,2\nz,"', "line 4: a quote opens in this row and never closes"),
        ('b,y\na",u\nb,"c\nd,v\n', "line 3: a quote opens in this row and never closes"),
        ('b,y\n"a ""b""",u\n"",v\n', "'b': ['a \"b\"', None]"),
        ("y\n1\n\n2\n", "[2, 4]"),
        ("b,y\nx,u\n b ,y\nw,v\n", "line 3: this line repeats the header"),
        ("2020,2021\n1,2\n2020,2021\n3,4\n", "line 3: this line repeats the header"),
        ("NA,y\n1,u\nNA,y\n2,w\n", "line 3: this line repeats the header"),
        ("b,y\nb,1\nw,2\n", "'b': ['b', 'w']"),
        ("2020,y\n2020,w\n7,u\n", "'y': ['w', 'u']"),
    ],
    ids=[
        "open quote",
        "quoted break",
        "blank line",
        "infinity",
        "overflow",
        "blanks around NA",
        "a quote alone",
        "closed before it opens",
        "two quotes for one",
        "a blank line of one column",
        "the header again",
        "years again",
        "a name that is a word for missing again",
        "one cell of the header",
        "one number of the header",
    ],
)
def test_where_polars_would_read_otherwise(tmp_path, monkeypatch, text: str, said: str) -> None:
    """Lines are counted, infinities refused and words for missing known whoever parses."""
    path = tmp_path / "data.csv"
    path.write_text(text, newline="")
    monkeypatch.setattr(parser, "LARGE", 0)
    fast = read(path, skip=0)
    assert said in str(fast)
    monkeypatch.setitem(sys.modules, "polars", None)
    assert read(path, skip=0) == fast


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ('5" pipe', None),
        ('5"', None),
        ('an "n', None),
        ('"two\nlines, 5"" pipe"', None),
        ('"5" pipe', None),
        ('"open', "line 2: a quote opens here and does not close within a megabyte"),
    ],
)
@pytest.mark.parametrize("polars", [True, False])
def test_a_quote_in_a_large_file(tmp_path, monkeypatch, polars, cells: str, said: str) -> None:
    """A quote inside a cell is a character, and opens nothing, however long the file is."""
    path = tmp_path / "data.csv"
    rows = 200_000
    path.write_text(f"b,y\n{cells},1\n" + "plain,3\n" * rows, newline="")
    if not polars:
        monkeypatch.setitem(sys.modules, "polars", None)
    if said:
        assert said in str(read(path, skip=0))
        return
    source = Source(str(path))
    blocks = list(source.blocks(source.reading()))
    assert sum(len(block.columns["y"]) for block in blocks) == rows + 1
    first = blocks[0].columns["b"][0]
    assert first == next(csv.reader([cells.replace("\n", "\0")]))[0].replace("\0", "\n")


@given(text=st.text('ab"\n,', max_size=40))
@example('"')
@example('a"\n"b\nc')
@example('"\n","\n')
def test_blocks_end_where_rows_do(text: str) -> None:
    """Behind the last line of a whole row, as Python's reader has them."""
    lines = text.splitlines(keepends=True)
    rows = csv.reader(io.StringIO(text + "\n,\0", newline=""))
    closed = (rows.line_num for row in rows if not row or not row[-1].endswith(",\0"))
    ends = {0} | {len("".join(lines[:count])) for count in closed}
    whole = [end for end in ends if text[:end].endswith(("", "\n")[end > 0])]
    assert _end(text.encode(), quoted=True) == max(whole)


def test_polars_is_for_large_texts(monkeypatch) -> None:
    monkeypatch.setattr(parser, "loaded", lambda _: None)
    assert parser.polars_for(b"1,2\n") is None
    assert parser.polars_for(bytes(parser.LARGE)).__name__ == "polars"
    monkeypatch.setitem(sys.modules, "polars", None)
    assert parser.polars_for(bytes(parser.LARGE)) is None
