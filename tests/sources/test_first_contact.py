"""Files of a new user: marks between thousands, short years, units, lines that are no rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from test_sources import csv_of, rounds

from commands import flat, noregret
from noregret.errors import SourceError
from noregret.sources.dates import Dates, dates_like, format_of


def hourly(rows: int, *cells: str, start: str = "2026-04-01") -> str:
    """Rows with a time, a value of about 100, and what else is given."""

    times = np.datetime64(start, "h") + np.arange(rows)
    more = "".join(f",{cell}" for cell in cells)
    return "".join(f"{t},{100 + 9 * (i % 24)}{more}\n" for i, t in enumerate(times))


# Points that may be marks between thousands ---------------------------------------------------

GROUPED = "".join(f"{d:02d}.01.2026;1.{500 + 17 * d}\n" for d in range(1, 25))


def test_thousands_points_in_a_file_with_semicolons_are_asked_for(tmp_path: Path) -> None:
    text = "Tag;y\n" + GROUPED
    with pytest.raises(SourceError, match=r"column 'y': '1.517' can be read in two ways: give "):
        rounds(csv_of(tmp_path, text))
    with pytest.raises(SourceError, match=r"--thousands \. or --decimal \."):
        rounds(csv_of(tmp_path, text))
    assert rounds(csv_of(tmp_path, text, thousands="."))[2][0] == 1517.0
    assert rounds(csv_of(tmp_path, text, decimal="."))[2][0] == 1.517


def test_thousands_points_beside_european_dates_are_asked_for(tmp_path: Path) -> None:
    text = "Tag,y\n" + GROUPED.replace(";", ",")
    with pytest.raises(SourceError, match="in two ways"):
        rounds(csv_of(tmp_path, text))


@pytest.mark.parametrize("cell", ["12.5", "0.123", "1517", "1.2345", "1517.345", "-.5"])
def test_one_cell_decides_that_points_are_decimal(tmp_path: Path, cell: str) -> None:
    text = "Tag;y\n" + GROUPED + f"25.01.2026;{cell}\n"
    assert rounds(csv_of(tmp_path, text))[2][0] == 1.517


def test_another_column_decides_that_points_are_decimal(tmp_path: Path) -> None:
    text = "Tag;y;a\n" + GROUPED.replace("\n", ";7.25\n")
    assert rounds(csv_of(tmp_path, text))[2][0] == 1.517


@pytest.mark.parametrize("day", ["2026-01-{:02d}", "1/{:d}/2026", "{:d}"])
def test_plain_files_with_three_decimals_are_not_asked(tmp_path: Path, day: str) -> None:
    text = "day,y\n" + "".join(f"{day.format(d)},12.{300 + d}\n" for d in range(1, 25))
    assert rounds(csv_of(tmp_path, text))[2][0] == 12.301


# Years of two digits --------------------------------------------------------------------------


def test_years_of_two_digits_are_read_where_they_cannot_be_days() -> None:
    assert dates_like(["01.01.26", "02.01.26"]) == Dates("dmY")
    assert Dates("dmY").read("31.12.99 13:45") == "1999-12-31T13:45"
    assert dates_like(["1/12/26", "1/13/26"]) == Dates("mdY")
    assert dates_like(["1/2/26", "2/2/26", "3/2/26"]) == Dates("dmY", "mdY")
    assert dates_like(["26.01.01", "26.01.02", "26.01.03"]) is None
    assert dates_like(["1.2.10", "1.2.11"]) is None  # versions
    assert dates_like(["01.01.26 01:00", "01.01.26 02:00"]) == Dates("dmY", "mdY")
    assert format_of("d.m.y") == format_of("d.m.y H:M") == Dates("dmY")
    assert format_of("y.m.d").read("26.01.02") == "2026-01-02T00:00:00"


def test_a_column_of_short_years_is_the_time(tmp_path: Path, capsys) -> None:
    path = tmp_path / "d.csv"
    rows = [f"{1 + i % 28:02d}.{1 + i // 28:02d}.26;{100 + i % 7},5\n" for i in range(84)]
    path.write_text("Tag;y\n" + "".join(rows))
    assert noregret("run", path, "-m", "auto", "--target", "y") == 0
    said = flat(capsys.readouterr().out)
    assert "2026-01-01 to 2026-03-28" in said
    assert "'Tag': times are read with day first" in said


def test_short_years_that_may_be_days_are_asked_for(tmp_path: Path) -> None:
    text = "Tag;y\nStart;1,5\n" + "".join(f"01.01.26 {h:02d}:00;{h},5\n" for h in range(24))
    with pytest.raises(SourceError, match=r"give --date-format d\.m\.y or y\.m\.d"):
        rounds(csv_of(tmp_path, text, skip_bad=1), time="Tag", calendar=True)
    years = "day,y\n" + "".join(f"26.{1 + i // 28:02d}.{1 + i % 28:02d},{i}\n" for i in range(84))
    with pytest.raises(SourceError, match=r"values differ \(dates\? --date-format d\.m\.y"):
        rounds(csv_of(tmp_path, years), features=["day"])


def test_a_date_format_that_is_given_goes_before_a_guess(tmp_path: Path) -> None:
    text = "day,y\n" + "".join(f"0{m}.01.2024,{m}\n" for m in range(1, 10))
    source = csv_of(tmp_path, text, date_format="m.d.Y")
    block = next(iter(source.blocks()))
    assert block.columns["day"][1] == "2024-02-01"


# Lines that are no rows -----------------------------------------------------------------------


def failing(path: Path, capsys, *options: object) -> str:
    assert noregret("run", path, "-m", "auto", "--target", "MW", *options) == 2
    said = capsys.readouterr().err
    assert len(said.strip().splitlines()) == 1
    return said


def series_of(folder: Path, *parts: str) -> Path:
    path = folder / "d.csv"
    path.write_text("".join(parts))
    return path


def test_a_header_that_comes_again(tmp_path: Path, capsys) -> None:
    head = "time,MW\n"
    path = series_of(tmp_path, head, hourly(60), head, hourly(9, start="2026-04-03T12"))
    assert "line 62: this line repeats the header: --skip-bad 1" in failing(path, capsys)
    assert noregret("run", path, "-m", "auto", "--target", "MW", "--skip-bad", 1) == 0


@pytest.mark.parametrize("time", ["", "Total", "2026-02-30"])
def test_a_row_without_a_time_is_named_with_its_remedy(tmp_path: Path, capsys, time: str) -> None:
    path = series_of(tmp_path, "time,MW\n", hourly(60), f"{time},12345\n")
    said = failing(path, capsys)
    assert "line 62, column 'time'" in said
    assert "--skip-bad 1" in said
    assert noregret("run", path, "-m", "auto", "--target", "MW", "--skip-bad", 1) == 0


@pytest.mark.parametrize("row", ["[UTC],[MW],[degC]", ",kW,°C", "-,MWh,m3"])
def test_a_row_of_units_is_named_with_its_remedy(tmp_path: Path, capsys, row: str) -> None:
    path = series_of(tmp_path, "time,MW,temp\n", row + "\n", hourly(60, "8.5"))
    assert "line 2: no number in this row (units?): --skip-bad 1" in failing(path, capsys)
    assert noregret("run", path, "-m", "auto", "--target", "MW", "--skip-bad", 1) == 0


@pytest.mark.parametrize(
    "above", ["Export of meter 7\ncreated 2026\n\n", "Export,,\nmade by,me,\n"]
)
def test_lines_above_the_header(tmp_path: Path, capsys, above: str) -> None:
    path = series_of(tmp_path, above, "time,MW,temp\n", hourly(60, "8.5"))
    skip = above.count("\n")
    said = failing(path, capsys)
    assert f"the header seems to be in line {skip + 1}: give --skip-lines {skip}" in said
    assert noregret("run", path, "-m", "auto", "--target", "MW", "--skip-lines", skip) == 0
    assert (
        rounds(csv_of(tmp_path, path.read_text(), skip_lines=skip), target="MW")[3][0] == skip + 2
    )


@pytest.mark.parametrize(
    "text",
    [
        "Tag;y;a\n" + "x;1,5;2,5\n" * 9,
        ",name,colour,y\n" + "".join(f"{i},Bob,red,{i}\n" for i in range(9)),
        "time,y\n" + '"a, b, c",1\n' * 2 + "a,1\n" * 7,
    ],
)
def test_a_header_that_is_where_it_should_be(tmp_path: Path, text: str) -> None:
    with pytest.raises(SourceError) as refused:
        rounds(csv_of(tmp_path, text), target="z")
    assert "--skip-lines" not in str(refused.value)


# Units ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", [" kW", "%", " m/s", "°C", " W/m²", "\u00a0m³/h"])
def test_numbers_with_one_unit_are_numbers(tmp_path: Path, capsys, unit: str) -> None:
    body = "".join(f"{i}.5{unit},{i}\n" for i in range(30))
    names, X, *_ = rounds(csv_of(tmp_path, "a,y\n" + body))
    assert names == ["a"]
    assert X[:, 0].tolist() == [i + 0.5 for i in range(30)]
    path = series_of(tmp_path, "a,y\n", body)
    assert noregret("run", path, "-m", "auto", "--target", "y") == 0
    assert f"'a': numbers are read without their unit {unit.strip()!r}" in capsys.readouterr().out
    assert noregret("run", path, "-m", "auto", "--target", "a") == 0


def test_units_with_decimal_commas_and_a_cell_of_another_kind(tmp_path: Path) -> None:
    body = "".join(f"{i},5 kW;{i}\n" for i in range(30))
    assert rounds(csv_of(tmp_path, "a;y\n" + body))[1][3, 0] == 3.5
    with pytest.raises(SourceError, match="'7' in a column of numbers written as 1234,5 kW"):
        rounds(csv_of(tmp_path, "a;y\n" + body + "7;1\n"))


def test_different_units_are_refused_and_codes_are_text(tmp_path: Path) -> None:
    body = "".join(f"{i}.5 {'kW' if i % 3 else 'MW'},{i}\n" for i in range(30))
    with pytest.raises(SourceError, match=r"different units \('MW', 'kW'\): bring them to one"):
        rounds(csv_of(tmp_path, "a,y\n" + body))
    codes = "a,y\n" + "".join(f"{1 + i % 4}{'ABC'[i % 3]},{i}\n" for i in range(30))
    assert rounds(csv_of(tmp_path, codes))[0][:2] == ["a=1A", "a=2B"]


def test_a_state_remembers_units(tmp_path: Path) -> None:
    state = tmp_path / "s.nr"
    for day in (1, 2):
        body = "".join(f"2026-04-0{day} {h:02d}:00,{h}.5 kW\n" for h in range(24))
        (tmp_path / f"{day}").mkdir()
        path = series_of(tmp_path / f"{day}", "time,MW\n", body)
        assert noregret("run", path, "-m", "auto", "--target", "MW", "--state", state) == 0


# Columns without a value ----------------------------------------------------------------------


def test_an_empty_column_is_left_out(tmp_path: Path, capsys) -> None:
    path = series_of(tmp_path, "time,MW,Comment,temp\n", hourly(60, "", "8.5"))
    assert noregret("run", path, "-m", "auto", "--target", "MW") == 0
    said = capsys.readouterr().out
    assert "column 'Comment' is empty in the first rows: left out" in said
    assert "features temp" in said
    assert rounds(csv_of(tmp_path, path.read_text()), target="MW", drop=["time"])[0] == ["temp"]


# Times ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("minutes", "said"), [(60, "1 time comes"), (15, "4 times come")])
def test_the_hour_that_comes_twice_is_said_once(
    tmp_path: Path, capsys, minutes: int, said: str
) -> None:
    steps = np.arange("2026-10-18", "2026-10-29", minutes, dtype="datetime64[m]")
    at = int(np.flatnonzero(steps == np.datetime64("2026-10-25T03:00"))[0])
    times = [*steps[:at], *steps[at - 60 // minutes :]]
    rows = "".join(f"{t},{100 + 9 * (i % 24)}.5\n" for i, t in enumerate(times))
    path, page = series_of(tmp_path, "time,MW\n", rows), tmp_path / "p.html"
    assert noregret("run", path, "-m", "auto", "--target", "MW", "--report", page) == 0
    shown = " ".join(capsys.readouterr().out.split())
    note = f"{said} twice, 2026-10-25 02:00 in line {at + 2:,} (clock change?): the first is kept"
    assert note in shown
    assert "repeat" not in shown
    assert "time of a row before" not in shown
    assert note in page.read_text()


@pytest.mark.parametrize(("zone", "written"), [("Z", "+00:00"), ("+02:00", "+02:00"), ("", "")])
def test_next_times_have_the_offset_of_the_file(tmp_path: Path, zone: str, written: str) -> None:
    path, out = series_of(tmp_path, "time,MW\n", hourly(60).replace(",", f":00:00{zone},")), "n.csv"
    run = ("forecast", path, "--target", "MW", "--steps", 2, "--out", tmp_path / out, "-q")
    assert noregret(*run) == 0
    last = (tmp_path / out).read_text().splitlines()[-1]
    assert last.startswith(f"2026-04-03 13:00:00{written},")


def test_offsets_that_change_are_said(tmp_path: Path, capsys) -> None:
    summer = hourly(60, start="2026-10-22T15").replace(",", ":00+02:00,")
    winter = hourly(60, start="2026-10-25T02").replace(",", ":00+01:00,")
    path = series_of(tmp_path, "time,MW\n", summer, winter)
    assert noregret("run", path, "-m", "auto", "--target", "MW") == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "2026-10-22 14:00 to 2026-10-27 13:00, every 1 h, no gaps" in shown
    assert "offsets +02:00 and +01:00: all are shown with that of the last row" in shown


def test_a_time_column_of_text_is_named_with_its_remedy(tmp_path: Path, capsys) -> None:
    rows = "".join(f"26.{1 + i // 28:02d}.{1 + i % 28:02d},{i}\n" for i in range(84))
    path = series_of(tmp_path, "day,MW\n", rows)
    said = failing(path, capsys, "--time", "day")
    assert "d.csv: column 'day': '26.01.01' is no time as it stands: give --date-format" in said
    assert noregret("run", path, "-m", "auto", "--target", "MW", "--date-format", "y.m.d") == 0


# What was filled, totals, labels ---------------------------------------------------------------


def test_filled_cells_are_counted(tmp_path: Path, capsys) -> None:
    body = hourly(60, "8.5", "3").replace("8.5", "", 6).replace(",3\n", ",\n", 3)
    path = series_of(tmp_path, "time,MW,temp,wind\n", hourly(20, "8.5", "3"), body)
    path.write_text(path.read_text().replace("2026-04-01T", "2026-03-01T", 20))
    assert noregret("run", path, "--target", "MW", "--missing", "mean") == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "! --missing mean filled 9 cells (5.6 %) of temp, wind" in shown


def test_a_total_at_the_end_is_noticed(tmp_path: Path, capsys) -> None:
    rows = "".join(f"{i},{100 + i % 7}\n" for i in range(40))
    path = series_of(tmp_path, "a,MW\n", rows)
    assert noregret("run", path, "--target", "MW") == 0
    assert "sum of all before" not in capsys.readouterr().out
    path = series_of(tmp_path, "a,MW\n", rows, "41,4117.5\n")
    assert noregret("run", path, "--target", "MW") == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "the last MW (4,117.5) is about the sum of all before it: if it is a total" in shown


def test_labels_have_their_times_in_the_output(tmp_path: Path, capsys) -> None:
    rows = "".join(f"2026-04-01T{h:02d}:00,{h},{'ok' if h % 3 else 'fault'}\n" for h in range(24))
    path, out = series_of(tmp_path, "time,a,y\n", rows), tmp_path / "o.csv"
    assert noregret("run", path, "--target", "y", "--binary", "--out", out) == 0
    assert out.read_text().splitlines()[1].split(",")[1] == "2026-04-01T00:00"
    path.write_text(path.read_text().replace("ok", "OK", 1))
    assert noregret("run", path, "--target", "y", "--binary") == 2
    assert "'OK' and 'ok' differ in capitals only: write them alike" in capsys.readouterr().err


def test_a_target_whose_only_text_is_a_repeated_header_has_no_value(tmp_path: Path, capsys) -> None:
    path = tmp_path / "blank.csv"
    path.write_text("a;t;y\n1;2024-03-01;NA\n2;2024-03-02;NA\na;t;y\n")
    assert noregret("run", path, "-y", "y", "--skip-bad", "1", "-m", "aar") == 2
    assert "the target 'y' has no value in any row" in capsys.readouterr().err


# Months, quarters, names of months, the end of a day --------------------------------------------


@pytest.mark.parametrize(
    ("written", "first", "form"),
    [
        ("2016-{m:02d}", "2016-03-01", "period"),
        ("{m}/2016", "2016-03-01", "period"),
        ("2016M{m:02d}", "2016-03-01", "period"),
        ("{b} 2016", "2016-03-01", "period"),
        ("2016Q{q}", "2016-01-01", "period"),
        ("Q{q}-2016", "2016-01-01", "period"),
        ("15 {b} 2016", "2016-03-15", "named"),
        ("{b} 15, 2016", "2016-03-15", "named"),
        ("15-{b}-2016 1:45 PM", "2016-03-15T13:45", "named"),
    ],
)
def test_months_and_quarters_are_times(written: str, first: str, form: str) -> None:
    names = ("Jan", "Feb", "March", "Apr", "May", "June")
    texts = [
        written.format(m=m, b=name, q=1 + (m - 1) // 3) for m, name in enumerate(names, start=1)
    ]
    dates = dates_like(texts)
    assert dates == Dates(form)
    assert dates.read(texts[2]) == first


@pytest.mark.parametrize("text", ["2016-13", "2016Q5", "Jan-16", "31 Feb 2016", "Mars 2016"])
def test_what_is_no_month_is_no_time(text: str) -> None:
    assert dates_like([text]) is None


def test_numbers_are_no_months() -> None:
    assert dates_like(["2016.01", "2016.02", "1.2016"]) is None


def test_months_make_a_series(tmp_path: Path, capsys) -> None:
    rows = "".join(f"{2016 + k // 12}-{k % 12 + 1:02d},{100 + k % 12}\n" for k in range(48))
    (tmp_path / "m.csv").write_text("Month,Sales\n" + rows)
    assert noregret("forecast", tmp_path / "m.csv", "--target", "Sales", "--steps", "2") == 0
    text = capsys.readouterr().out
    assert "every 1 month, no gaps" in text
    assert "Next   2020-01-01" in text
    assert "months, quarters and weeks are read as their first day" in text


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("31.12.2024 24:00", "2025-01-01T00:00"),
        ("28.02.2024 24:00:00", "2024-02-29T00:00:00"),
        ("28.02.2024 24:01", None),
    ],
)
def test_24_is_the_end_of_the_day(text: str, read: str | None) -> None:
    assert Dates("dmY").read(text) == read


@pytest.mark.parametrize("apart", [True, False])
def test_days_that_end_at_24(tmp_path: Path, capsys, monkeypatch, apart: bool) -> None:
    monkeypatch.setenv("NOREGRET_MODEL", "auto")
    monkeypatch.chdir(tmp_path)
    rows = []
    for k in range(24 * 20):
        day, hour = np.datetime64("2024-02-01") + k // 24, k % 24 + 1
        rows.append(f"{day}{';' if apart else ' '}{hour:02d}:00;{100 + hour}\n")
    head = "Day;Hour;kW\n" if apart else "Time;kW\n"
    Path("d.csv").write_text(head + "".join(rows))
    assert noregret("run", "d.csv", "--target", "kW") == 0
    text = capsys.readouterr().out
    assert "480 rows, 2024-02-01 01:00 to 2024-02-21, every 1 h, no gaps" in text


# Units at some numbers, and before them ---------------------------------------------------------


def test_a_unit_that_only_some_numbers_have(tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    cells = [f"{1000 + k}.5 kW" if k % 5 == 0 else f"{1000 + k}.5" for k in range(100)]
    text = "x,y\n" + "".join(f"{k % 7},{cell}\n" for k, cell in enumerate(cells))
    assert rounds(csv_of(tmp_path, text))[2].tolist() == [1000.5 + k for k in range(100)]
    Path("some.csv").write_text(text)
    assert noregret("run", "some.csv", "--target", "y", "--state", "s.nr") == 0
    assert "unit 'kW', which 20 of 100" in capsys.readouterr().out.replace("\n    ", " ")
    Path("more.csv").write_text("x,y\n1,1200\n2,1201 kW\n")
    assert noregret("run", "more.csv", "--state", "s.nr") == 0


@pytest.mark.parametrize(("cell", "many"), [("12%", 10), ("7A", 10), ("3 errors", 1)])
def test_other_units_at_some_numbers_are_refused(tmp_path: Path, cell: str, many: int) -> None:
    cells = [cell if k < many else f"{0.5 + k}" for k in range(60)]
    text = "x,y\n" + "".join(f"{k},{one}\n" for k, one in enumerate(reversed(cells)))
    with pytest.raises(SourceError, match="in a column of numbers"):
        rounds(csv_of(tmp_path, text))


def test_currencies_come_before_numbers(tmp_path: Path) -> None:
    text = "x,y\n" + "".join(f'{k},"-${1000 + k:,}.50"\n' for k in range(30))
    assert rounds(csv_of(tmp_path, text))[2][:2].tolist() == [-1000.5, -1001.5]
    text = "x,y\n" + "".join(f"{k},EUR {k}.25\n" for k in range(30))
    assert rounds(csv_of(tmp_path, text))[2][:2].tolist() == [0.25, 1.25]


def test_how_many_bad_rows_to_leave_out_is_said(tmp_path: Path, capsys) -> None:
    text = "time,y\n" + hourly(30) + "Total,5\nMean,7\n"
    (tmp_path / "t.csv").write_text(text)
    assert noregret("run", tmp_path / "t.csv", "--target", "y", "--skip-bad", "1") == 2
    assert "--skip-bad 2 leaves the row out" in capsys.readouterr().err


@pytest.mark.parametrize("day", ["2024-02-30", "9999-12-31"])
def test_the_end_of_a_day_that_there_is_not_is_a_bad_row(tmp_path: Path, day: str) -> None:
    rows = "".join(f"2024-02-0{1 + k // 24},{k % 24 + 1}:00,{k}\n" for k in range(48))
    text = "Day,Hour,y\n" + rows + f"{day},24:00,7\n"
    with pytest.raises(SourceError, match="are not a date and a time of day"):
        rounds(csv_of(tmp_path, text), time="Day,Hour")


# Hours in a column of their own, compact dates, weeks -------------------------------------------


def first_line(capsys, name: str) -> str:
    assert noregret("run", name, "--target", "y", "--model", "auto") == 0
    return capsys.readouterr().out.split("\n  ")[0].replace("\n    ", " ")


@pytest.mark.parametrize("first", [0, 1])
def test_a_column_of_whole_hours_belongs_to_the_date(
    tmp_path: Path, capsys, monkeypatch, first: int
) -> None:
    monkeypatch.chdir(tmp_path)
    days = np.datetime64("2024-02-01") + np.arange(480) // 24
    rows = [f"{day},{k % 24 + first},{k % 24}\n" for k, day in enumerate(days)]
    Path("h.csv").write_text("Date,Hour,y\n" + "".join(rows))
    ends = "2024-02-01 to 2024-02-20 23:00" if first == 0 else "2024-02-01 01:00 to 2024-02-21"
    assert f"480 rows, {ends}, every 1 h, no gaps" in first_line(capsys, "h.csv")


def test_compact_dates_and_weeks_are_times(tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    days = np.datetime64("2024-01-01") + np.arange(60)
    Path("c.csv").write_text(
        "date,y\n" + "".join(f"{str(d).replace('-', '')},{k % 7}\n" for k, d in enumerate(days))
    )
    assert "60 rows, 2024-01-01 to 2024-02-29, every 1 day" in first_line(capsys, "c.csv")
    Path("w.csv").write_text("week,y\n" + "".join(f"2024-W{k:02d},{k % 5}\n" for k in range(1, 53)))
    assert "52 rows, 2024-01-01 to 2024-12-23, every week" in first_line(capsys, "w.csv")
    Path("n.csv").write_text("date,y\n" + "".join(f"{10000000 + k},{k % 7}\n" for k in range(30)))
    assert first_line(capsys, "n.csv").startswith("n.csv   30 rows")  # they are numbers


# Brackets of accountants ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("plain", "negative", "value"),
    [
        ("12.25", "(4.50)", -4.5),
        ("$1,612.25", "($1,234.50)", -1234.5),
        ("$1,612.25", "$(1,234.50)", -1234.5),
        ("1.612,25 EUR", "(4,50 EUR)", -4.5),
        ("1,612.25", "( 234.50 )", -234.5),
    ],
)
def test_numbers_in_brackets_are_negative(tmp_path: Path, plain, negative, value) -> None:
    text = "t;y\n" + "".join(f'{t};"{negative if t % 3 == 2 else plain}"\n' for t in range(30))
    y = rounds(csv_of(tmp_path, text))[2]
    assert y[2] == value
    assert y[0] == (12.25 if plain == "12.25" else 1612.25)


def test_brackets_after_the_sample_are_negative_and_said(tmp_path: Path, capsys) -> None:
    path = tmp_path / "d.csv"
    path.write_text("a,y\n" + "1,2.5\n2,3.5\n" * 700 + "3,(4.50)\n4,5.5\n5,(0.50)\n")
    words = ("run", path, "--target", "y", "--model", "ridge", "--out", tmp_path / "o.csv")
    assert noregret(*words, "--state", tmp_path / "s.nr") == 0
    assert "'y': numbers in brackets are read as negative" in capsys.readouterr().out
    said = (tmp_path / "o.csv").read_text().splitlines()
    assert [float(line.split(",")[1]) for line in said[-3:]] == [-4.5, 5.5, -0.5]
    path = tmp_path / "e.csv"
    path.write_text("a,y\n1,2.5\n2,(3.5)\n")
    assert noregret("run", path, *words[2:], "--state", tmp_path / "s.nr", "--append") == 0
    assert "-3.5" in (tmp_path / "o.csv").read_text().splitlines()[-1]


def test_a_column_all_in_brackets_is_text(tmp_path: Path) -> None:
    text = "code,y\n" + "(1),5\n(2),6\n" * 20
    assert rounds(csv_of(tmp_path, text))[0] == ["code=(1)", "code=(2)"]
