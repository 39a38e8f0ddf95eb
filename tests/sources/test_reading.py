"""Files as people have them: what columns are comes from a sample of rows, and is said."""

from __future__ import annotations

import sqlite3
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_sources import csv_of, rounds

from commands import noregret, write
from noregret.errors import SourceError
from noregret.sources import Source, delimited
from noregret.sources.block import Reading
from noregret.sources.cells import Numbers, numbers_like
from noregret.sources.clock import Clock, seconds_of
from noregret.sources.dates import Dates, dates_like, format_of
from noregret.sources.lines import whole_lines

START = datetime(2024, 1, 30, 13, 30)  # noqa: DTZ001  # as files have them


def kinds(source: Source) -> dict[str, str]:
    reading = source.reading()
    for _ in source.blocks(reading):
        pass
    return reading.kinds


# Kinds --------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["N/A", "NaN", "-", "?", "null", "None", "#N/A", "n/a", "NA", ""])
def test_a_word_for_missing_in_the_first_line_decides_nothing(tmp_path: Path, word: str) -> None:
    text = f"rate,y\n{word},1\n" + "".join(f"{t}.5,{t}\n" for t in range(20))
    names, X, *_ = rounds(csv_of(tmp_path, text), missing="mean")
    assert names == ["rate"]
    assert X[1:, 0].tolist() == [t + 0.5 for t in range(20)]


def test_one_cell_of_text_in_a_column_of_numbers_is_named_with_its_remedies(tmp_path: Path) -> None:
    text = "RATE,y\nabc,1\n" + "".join(f"{t},{t % 9}\n" for t in range(505))
    with pytest.raises(SourceError) as refused:
        rounds(csv_of(tmp_path, text))
    said = str(refused.value)
    assert "line 2, column 'RATE': 'abc' in a column of numbers (505 numbers and 1 text)" in said
    assert "--na abc" in said
    assert "--skip-bad" in said
    for remedy in ({"missing_words": ["abc"]}, {"skip_bad": 1}):
        names, X, *_ = rounds(csv_of(tmp_path, text, **remedy), missing="zero")
        assert names == ["RATE"]
        assert X[-1, 0] == 504.0


def test_a_word_in_most_rows_of_a_column_of_numbers_must_mean_missing(tmp_path: Path) -> None:
    text = "a,y\n" + "".join(f"{t if t % 3 == 0 else 'offline'},1\n" for t in range(60))
    with pytest.raises(SourceError, match=r"\(20 numbers and 40 text\): give --na offline"):
        rounds(csv_of(tmp_path, text))


def test_codes_stay_text(tmp_path: Path) -> None:
    text = "code,y\n" + "7,1\nA1,2\nB2,3\n9,4\nA1,5\n"
    assert rounds(csv_of(tmp_path, text))[0] == [f"code={v}" for v in ("7", "A1", "B2", "9")]


def test_text_of_which_most_values_differ_is_no_feature(tmp_path: Path) -> None:
    text = "id,a,y\n" + "".join(f"n{t},{t},{t % 5}\n" for t in range(200))
    assert rounds(csv_of(tmp_path, text))[0] == ["a"]
    with pytest.raises(SourceError, match="column 'id' is text, and 200 of 200 values differ"):
        rounds(csv_of(tmp_path, text), features=["id", "a"])
    assert len(rounds(csv_of(tmp_path, text, text=["id"]))[0]) == 201


def test_a_text_column_has_a_limit(tmp_path: Path) -> None:
    text = "c,y\n" + "".join(f"{t % 30},{t}\n" for t in range(100))
    source = csv_of(tmp_path, text, text=["c"])
    assert len(rounds(source, max_values=30)[0]) == 30
    with pytest.raises(SourceError, match=r"line 31: column 'c' has more than 29 different values"):
        rounds(source, max_values=29)


# Numbers ------------------------------------------------------------------------------------


def european(rows: int = 40) -> str:
    cells = []
    for t in range(rows):
        when = START + timedelta(minutes=30 * t)
        load = f"{1000 + 10 * t:,}".replace(",", ".") + ",5"
        cells.append(f"{when:%d.%m.%Y %H:%M};{load};{t % 7 - 3},25;{'Mo' if t % 2 else 'Di'}\n")
    return "Zeit;Last, MW;Temp;Tag\n" + "".join(cells)


@pytest.mark.parametrize("encoding", [None, "cp1252", "latin-1", "utf-16"])
def test_a_european_file_needs_no_option(tmp_path: Path, encoding: str | None) -> None:
    path = tmp_path / "data.csv"
    text = european().replace("Temp", "Temp °C")
    path.write_bytes(text.encode(encoding or "utf-8-sig"))
    source = Source(str(path), encoding=None if encoding == "utf-16" else encoding)
    names, X, y, _ = rounds(source, target="Last, MW", time="Zeit", calendar=True)
    assert names[13:] == ["Temp °C", "Tag=Di", "Tag=Mo"]
    assert y.tolist() == [1000.5 + 10 * t for t in range(40)]
    assert X[:, 13].tolist() == [float(f"{t % 7 - 3}.25") for t in range(40)]
    assert X[0, names.index("weekday=Tuesday")] == 1.0


def test_both_readers_of_csv_agree(tmp_path: Path, monkeypatch) -> None:
    for text, target in (
        (european(), "Last, MW"),
        ("t,a,y\n" + "".join(f'1/{d}/2024,"{d},000",{d}\n' for d in range(1, 29)), "y"),
        ("ts,a,y\n" + "".join(f"{1.7e9 + 60 * t:.0f},NaN,{t}\n" for t in range(9)), "y"),
    ):
        fast = rounds(
            csv_of(tmp_path, text, thousands=","[: text.startswith("t,")] or None),
            target=target,
            calendar=True,
            missing="mean",
        )
        with monkeypatch.context() as patch:
            patch.setattr(delimited, "_fast", lambda *_: None)
            slow = rounds(
                csv_of(tmp_path, text, thousands=","[: text.startswith("t,")] or None),
                target=target,
                calendar=True,
                missing="mean",
            )
        assert fast[0] == slow[0]
        assert all(np.array_equal(a, b) for a, b in zip(fast[1:], slow[1:]))


@given(st.lists(st.floats(-1e9, 1e9).map(lambda v: round(v, 2)), min_size=1))
def test_a_decimal_comma_is_read_as_written(values: list[float]) -> None:
    texts = [f"{v:.2f}".replace(".", ",") for v in values]
    assert numbers_like(texts) == [Numbers(",", "")]
    assert [Numbers(",").read(t) for t in texts] == values
    grouped = [f"{v:,.2f}".translate(str.maketrans(",.", ".,")) for v in values]
    assert [Numbers(",", ".").read(t) for t in grouped] == values


@pytest.mark.parametrize(
    ("texts", "ways"),
    [
        (["1,234"], 2),
        (["1,234", "0,5"], 1),
        (["1,234,567"], 1),
        (["1.234,5"], 1),
        (["1 234,5", "12"], 1),
        (["1'234.5"], 1),
        (["12,34,5"], 0),
        (["1,2", "red"], 0),
    ],
)
def test_what_can_be_read_in_two_ways_is_known(texts: list[str], ways: int) -> None:
    assert len(numbers_like(texts)) == ways


def test_one_column_decides_for_another(tmp_path: Path) -> None:
    text = "a;b;y\n1,234;2,5;1\n2,345;3,5;2\n"
    names, X, *_ = rounds(csv_of(tmp_path, text))
    assert (names, X.tolist()) == (["a", "b"], [[1.234, 2.5], [2.345, 3.5]])
    names, X, *_ = rounds(csv_of(tmp_path, text, thousands=",", decimal="."), features=["a"])
    assert X[:, 0].tolist() == [1234.0, 2345.0]
    with pytest.raises(SourceError, match=r"'1\.234' in a file with decimal commas"):
        rounds(csv_of(tmp_path, "a;b;y\n1.234;2,5;1\n2.345;3,5;2\n"))


def test_whole_numbers_among_decimal_commas(tmp_path: Path) -> None:
    """Most cells say nothing about the decimal mark; the few that do decide."""
    text = "a;b;y\n" + "".join(f"{t};{t}.5;1\n" for t in range(9)) + "2,5;9,5;1\n"
    with pytest.raises(SourceError, match=r"line 11, column 'b': '9,5' in a column of numbers \(9"):
        rounds(csv_of(tmp_path, text))
    _, X, *_ = rounds(csv_of(tmp_path, text), features=["a"])
    assert X[:, 0].tolist() == [*range(9), 2.5]


def test_a_later_cell_with_another_mark_is_bad(tmp_path: Path) -> None:
    text = "a;y\n" + "2,5;1\n" * 1_500 + "2.5;1\n"
    with pytest.raises(SourceError, match=r"line 1502, column 'a': '2\.5' in a column of numbers"):
        rounds(csv_of(tmp_path, text))


# Times --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "shown"),
    [
        ("%Y-%m-%dT%H:%M:%S", "iso"),
        ("%Y-%m-%d %H:%M", "iso"),
        ("%Y-%m-%dT%H:%M:%SZ", "iso"),
        ("%Y-%m-%d %H:%M:%S+02:00", "iso"),
        ("%d.%m.%Y %H:%M", "dmY"),
        ("%d/%m/%Y %H:%M", "dmY"),
        ("%m/%d/%Y %I:%M %p", "mdY"),
        ("%d-%m-%Y %H:%M:%S", "dmY"),
        ("%Y/%m/%d %H:%M", "Ymd"),
    ],
)
def test_times_in_the_common_forms(form: str, shown: str) -> None:
    times = [START + timedelta(hours=7 * t) for t in range(50)]
    found = dates_like([f"{time:{form}}" for time in times])
    assert found == Dates(shown)
    read = [found.read(f"{time:{form}}") for time in times]
    minute = "%M:%S" if "%S" in form else "%M"
    zone = "Z" if form.endswith("Z") else "+02:00" if form.endswith("+02:00") else ""
    blank = " " if shown == "iso" and "T" not in form else "T"
    assert read == [f"{time:%Y-%m-%d{blank}%H:{minute}}{zone}" for time in times]


def test_a_day_beyond_12_decides_even_late_in_the_sample(tmp_path: Path) -> None:
    days = [START.replace(day=1, month=2) + timedelta(minutes=10 * t) for t in range(3_000)]
    text = "t,a,y\n" + "".join(f"{d:%d/%m/%Y %H:%M},1,2\n" for d in days)
    names, X, *_ = rounds(csv_of(tmp_path, text), calendar=True, time="t")
    assert X[0, names.index("weekday=Thursday")] == 1.0
    short = "\n".join(text.splitlines()[:1_001])
    with pytest.raises(SourceError, match=r"column 't': '01/02/2024 13:30' has its day first or"):
        rounds(csv_of(tmp_path, short), calendar=True, time="t")
    names, X, *_ = rounds(csv_of(tmp_path, short, date_format="m/d/Y"), calendar=True, time="t")
    assert X[0, names.index("weekday=Tuesday")] == 1.0
    assert rounds(csv_of(tmp_path, short))[0] == ["a"]  # times are no features, in either order


@pytest.mark.slow
def test_an_order_that_is_open_is_not_guessed_from_later_rows(tmp_path: Path) -> None:
    """A column that stays open is no feature and no clock; its cells may be in either order."""
    text = "t,a,y\n" + "01/02/2024,1,2\n" * 200_000 + "01/13/2024,1,2\n"
    names, *_ = rounds(csv_of(tmp_path, text))
    assert names == ["a"]
    assert Dates("dmY", "mdY").read("01/13/2024") == "01/13/2024"
    assert Dates("dmY", "mdY").read("13/13/2024") is None


@pytest.mark.parametrize(("unit", "many"), [("s", 1), ("ms", 1000)])
@pytest.mark.parametrize("ending", [".csv", ".parquet", ".jsonl"])
def test_times_that_count_from_1970(tmp_path: Path, unit: str, many: int, ending: str) -> None:
    first = 1_706_621_400  # 2024-01-30T13:30Z
    frame = pl.DataFrame(
        {"timestamp": [many * (first + 60 * t) for t in range(9)], "a": [1.0] * 9, "y": [2.0] * 9}
    )
    path = write(frame, tmp_path / f"data{ending}")
    names, X, *_ = rounds(Source(str(path)), calendar=True)
    assert X[0, names.index("weekday=Tuesday")] == 1.0
    assert names[13:] == ["a"]
    reading = Source(str(path)).reading()
    (block,) = Source(str(path)).blocks(reading)
    assert block.columns["timestamp"][0] == "2024-01-30T13:30:00+00:00"
    assert reading.styles["timestamp"] == Dates(unit)


def test_numbers_of_another_name_are_not_times(tmp_path: Path) -> None:
    text = "load,y\n1706621400,1\n1706621500,2\n"
    assert kinds(csv_of(tmp_path, text))["load"] == "number"


@pytest.mark.parametrize(
    "given", ["d/m/Y", "%d/%m/%Y", "m/d/Y", "d.m.Y H:M", "%d %b %Y", "ms", "iso"]
)
def test_formats_of_dates(given: str) -> None:
    assert isinstance(format_of(given), Dates)


@pytest.mark.parametrize("given", ["", "DD.MM.YYYY", "x", "%Q", "d?m"])
def test_formats_of_dates_that_make_no_sense(given: str) -> None:
    with pytest.raises(ValueError, match="--date-format"):
        format_of(given)


def test_a_format_of_ones_own(tmp_path: Path) -> None:
    text = "t,a,y\n" + "".join(f"{d} Feb 24,1,2\n" for d in range(1, 29))
    names, X, *_ = rounds(csv_of(tmp_path, text, date_format="%d %b %y"), time="t", calendar=True)
    assert X[0, names.index("weekday=Thursday")] == 1.0


@pytest.mark.parametrize("features", [None, ["Power"]])
def test_a_date_and_a_time_of_day_in_two_columns(tmp_path: Path, features) -> None:
    times = [START + timedelta(minutes=t) for t in range(80)]
    rows = "".join(f"{t:%d/%m/%Y};{t.hour}:{t:%M};1,5;{t.minute}\n" for t in times)
    source = csv_of(tmp_path, "Date;Time;Power;y\n" + rows)
    names, X, *_ = rounds(source, time="Date,Time", calendar=True, features=features)
    assert names[13:] == ["Power"]
    assert X[0, names.index("weekday=Tuesday")] == 1.0
    hour = 2.0 * np.pi * 13.5 / 24.0
    assert X[0, :2] == pytest.approx([np.sin(hour), np.cos(hour)])
    path = Path(source.data)
    path.write_text(path.read_text().replace("13:31", "noon"))
    with pytest.raises(SourceError, match=r"line 3, column 'Date,Time': .* are not a date and a"):
        rounds(source, time="Date,Time", calendar=True)


@given(st.lists(st.integers(0, 30), min_size=1), st.data())
def test_a_clock_knows_the_same_however_rows_are_cut(minutes: list[int], data) -> None:
    times = [f"2024-01-01T00:{m:02d}" for m in minutes]
    cuts = sorted(data.draw(st.sets(st.integers(1, len(times)))) | {0, len(times)})
    whole, parts = Clock(), Clock()
    places = np.arange(len(times), dtype=np.int64)
    whole.advance(times, seconds_of(times), places, Reading("d"))
    for a, b in pairwise(cuts):
        parts.advance(times[a:b], seconds_of(times[a:b]), places[a:b], Reading("d"))
    assert parts.memory() == whole.memory()
    assert parts.said() == whole.said()


@pytest.mark.parametrize("ending", [".parquet", ".arrow", ".jsonl", ".db"])
def test_text_dates_in_typed_files_are_times(tmp_path: Path, ending: str) -> None:
    days = [f"{START + timedelta(days=t):%d.%m.%Y}" for t in range(60)]
    frame = pl.DataFrame({"when": days, "a": [1.0] * 60, "y": [2.0] * 60})
    path = write(frame, tmp_path / f"data{ending}")
    source = Source(str(path))
    if ending == ".db":
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE t ('when' TEXT, a REAL, y REAL)")
            connection.executemany("INSERT INTO t VALUES (?, ?, ?)", frame.rows())
        connection.close()
        source = Source(f"sqlite:{path}", query="SELECT * FROM t")
    names, X, *_ = rounds(source, calendar=True)
    assert names[13:] == ["a"]
    assert X[0, names.index("weekday=Tuesday")] == 1.0


# Headers, delimiters, encodings ---------------------------------------------------------------


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters_are_found_by_all_lines(tmp_path: Path, delimiter: str) -> None:
    header = delimiter.join(["a b", '"x,;|"', "y"])
    rows = "".join(delimiter.join([str(t), '"p,q;r|s"', str(t)]) + "\n" for t in range(9))
    names, _, y, _ = rounds(csv_of(tmp_path, f"{header}\n{rows}"))
    assert names == ["a b", "x,;|=p,q;r|s"]
    assert y.tolist() == list(range(9))


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_the_index_that_pandas_writes_is_left_out(tmp_path: Path, ending: str) -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "y": [1.0, 2.0, 4.0]}, index=[5, 7, 9])
    path = tmp_path / f"data{ending}"
    (frame.to_csv if ending == ".csv" else frame.to_parquet)(path)
    assert rounds(Source(str(path)))[0] == ["a"]
    pd.read_csv(path).to_csv(path) if ending == ".csv" else None  # an index of an index
    assert rounds(Source(str(path)), features=["a"])[0] == ["a"]


def test_an_index_of_times_is_the_time(tmp_path: Path) -> None:
    times = pd.date_range("2024-01-30", periods=5, freq="D")
    path = tmp_path / "data.csv"
    pd.DataFrame({"a": np.ones(5), "y": np.ones(5)}, index=times).to_csv(path)
    names, *_ = rounds(Source(str(path)), calendar=True)
    assert names[13:] == ["a"]


def test_a_delimiter_at_the_end_of_every_line(tmp_path: Path) -> None:
    assert rounds(csv_of(tmp_path, "a;y;\n1;2;\n3;4;\n"))[0] == ["a"]


def test_encodings(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    text = "größe,y\n" + "".join(f"{t},{t}\n" for t in range(9))
    for encoding, said in (
        ("utf-8", None),
        ("utf-8-sig", None),
        ("utf-16", None),
        ("utf-32", None),
        ("latin-1", "latin-1"),
        ("cp1252", "cp1252"),
        ("utf-16-le", "utf-16-le"),
    ):
        path.write_bytes(text.encode(encoding))
        assert rounds(Source(str(path), encoding=said))[0] == ["größe"], encoding
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(
        SourceError, match=r"line 1: byte 3 .* 0xf6, .* try --encoding cp1252 \('ö'"
    ):
        rounds(Source(str(path)))


@pytest.mark.parametrize("missing", ["zero", "last", "mean"])
@pytest.mark.parametrize("ending", [".csv", ".parquet", ".jsonl"])
def test_nan_is_missing_in_every_format(tmp_path: Path, missing: str, ending: str) -> None:
    frame = pl.DataFrame({"a": [2.0, float("nan"), 4.0], "y": [1.0, 2.0, float("nan")]})
    path = write(frame, tmp_path / f"data{ending}")
    _, X, y, _ = rounds(Source(str(path)), missing=missing)
    assert X[:, 0].tolist() == [2.0, 0.0 if missing == "zero" else 2.0, 4.0]
    assert np.isnan(y).tolist() == [False, False, True]


def test_excel(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl", reason="reading Excel needs openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["when", "a", "colour", "y"])
    for t in range(30):
        book.active.append([START + timedelta(days=t), t or None, "red", 2.0 * t])
    book.save(tmp_path / "data.xlsx")
    names, X, y, places = rounds(Source(str(tmp_path / "data.xlsx")), calendar=True, missing="zero")
    assert names[13:] == ["colour=red", "a"]
    assert X[:, -1].tolist() == list(range(30))
    assert y.tolist() == [2.0 * t for t in range(30)]
    assert places.tolist() == list(range(2, 32))
    (tmp_path / "bad.xlsx").write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(SourceError, match=r"bad\.xlsx"):
        rounds(Source(str(tmp_path / "bad.xlsx")))


def test_excel_without_a_reader_is_a_clear_word(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("noregret.sources.excel.find_spec", lambda _: None)
    (tmp_path / "data.xlsx").write_bytes(b"PK\x03\x04")
    with pytest.raises(
        SourceError, match="needs openpyxl: pip install openpyxl, or save the sheet"
    ):
        rounds(Source(str(tmp_path / "data.xlsx")))


def test_a_header_of_one_long_name_is_not_printed_whole(tmp_path: Path, capsys) -> None:
    """Found by the fuzzer: a line of brackets with a tab in it."""
    path = tmp_path / "d.csv"
    path.write_text("[" * 60_000 + "1\t2\n1\t2\n")
    assert noregret("run", path, "--target", "y") == 2
    assert len(capsys.readouterr().err) < 1_000


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(["1,2", '"3",4', '5,"6"', "7,", "x"]), min_size=1, max_size=12),
    st.lists(st.sampled_from(["\n", "\r", "\r\n", "\n\n"]), min_size=12, max_size=12),
    st.sets(st.integers(0, 60)),
)
def test_lines_have_the_same_numbers_however_a_text_is_cut(rows, ends, cuts) -> None:
    text = ("a,y\n" + "".join(row + end for row, end in zip(rows, ends))).encode()

    def places(at: list[int]) -> list[int]:
        reading = Reading("some.csv", allowed=100)
        edges = [0, *(k for k in at if k < len(text)), len(text)]
        chunks = (text[i:j] for i, j in pairwise(edges))
        lines = whole_lines(chunks, reading, quoted=True)
        blocks = delimited.read_delimited(lines, reading, ",", None)
        return [place for block in blocks for place in block.places.tolist()]

    found = places(sorted(cuts))
    assert found == places([])
    assert found == [
        k for k, line in enumerate(text.decode().splitlines(), 1) if k > 1 and "," in line
    ]
