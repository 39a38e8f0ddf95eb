"""Rough handling: closed pipes, files in each other's place, quotes and commas gone astray."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from commands import forecasts, noregret, stream, write

ROWS = "".join(f"{t % 5},{t}\n" for t in range(20))
START = [sys.executable, "-m", "noregret"]


def complaint(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """The one line that a refused command leaves."""
    assert noregret(*arguments) == 2
    shown = capsys.readouterr().err
    assert shown.count("\n") == 1
    return shown


@pytest.mark.parametrize("option", ["--out", "--report"])
def test_the_data_are_never_written_over(option: str, tmp_path: Path, capsys) -> None:
    path = write(stream(20), tmp_path / "data.csv")
    before = path.read_bytes()
    link = tmp_path / "link.csv"
    link.symlink_to(path)
    for place in (path, link):
        said = complaint(capsys, "run", path, "--target", "y", option, place)
        assert f"{option} {place} is the data too" in said
    assert path.read_bytes() == before


def test_no_file_is_written_twice(tmp_path: Path, capsys) -> None:
    path, out = write(stream(20), tmp_path / "data.csv"), tmp_path / "o.csv"
    said = complaint(capsys, "run", path, "--target", "y", "--out", out, "--state", out)
    assert f"--state {out} is --out too" in said
    assert not out.exists()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("o.csv", "name,x\nfoo,1\n"),
        ("o.csv", "line,x\nfoo,1\n"),
        ("o.jsonl", '{"name":"foo","x":1}\n'),
    ],
)
def test_a_resumed_run_adds_to_its_own_forecasts_only(
    name: str, content: str, tmp_path: Path, capsys
) -> None:
    data, whole = tmp_path / "data.csv", stream(60)
    write(whole[:40], data)
    run = ("run", data, "--target", "y", "--state", tmp_path / "s.nr", "-q")
    assert noregret(*run, "--out", tmp_path / "ours.csv") == 0
    write(whole, data)
    other = tmp_path / name
    other.write_text(content)
    assert "not of the run that this one resumes" in complaint(capsys, *run, "--out", other)
    assert other.read_text() == content
    assert noregret(*run, "--out", tmp_path / "ours.csv") == 0
    assert noregret("run", data, "--target", "y", "-q", "--out", tmp_path / "once.csv") == 0
    assert (forecasts(tmp_path / "ours.csv") == forecasts(tmp_path / "once.csv")).all()


def test_a_state_needs_the_columns_that_it_knows(tmp_path: Path, capsys) -> None:
    path, state = write(stream(20), tmp_path / "data.csv"), tmp_path / "s.nr"
    assert noregret("run", path, "--target", "y", "--state", state, "-q") == 0
    less = write(stream(20).drop("b"), tmp_path / "less.csv")
    said = complaint(capsys, "run", less, "--target", "y", "--state", state)
    assert "there is no column 'b'" in said


def test_a_quote_that_never_closes_is_named(tmp_path: Path, capsys) -> None:
    path = tmp_path / "data.csv"
    for tail in ('1,"abc\n' + ROWS, '1,"abc'):
        path.write_text("y,a\n1,x\n" + tail)
        said = complaint(capsys, "run", path, "--target", "y")
        assert "line 3: a quote opens in this row and never closes" in said


def test_quotes_that_are_no_quotes_are_text(tmp_path: Path) -> None:
    path, out = tmp_path / "data.csv", tmp_path / "o.csv"
    for text in ('1,5" pipe\n2,b\n3,c\n', '1,a\n2,"two\nlines"\n3,c\n', '1,a\n2,"b"\n3,"c"'):
        path.write_text("y,a\n" + text)
        assert noregret("run", path, "--target", "y", "--out", out, "-q") == 0
        assert len(forecasts(out)) == 3


def test_a_number_with_a_comma_is_not_taken_for_a_word(tmp_path: Path, capsys) -> None:
    path = tmp_path / "data.csv"
    path.write_text("y;a\n1;2,500\n2;3,500\n")
    said = complaint(capsys, "run", path, "--target", "y")
    assert "column 'a': '2,500' can be read in two ways: give --decimal , or --thousands ," in said
    assert noregret("run", path, "--target", "y", "--text", "a", "-q") == 0
    assert noregret("run", path, "--target", "y", "--decimal", ",", "-q") == 0
    path.write_text("y;a\n1;2,5\n2;3,5\n")
    assert noregret("run", path, "--target", "y") == 0
    assert "column 'a': numbers are read as 1234,5" in capsys.readouterr().out


def test_a_text_column_must_be_there(tmp_path: Path, capsys) -> None:
    path = write(stream(20), tmp_path / "data.csv")
    said = complaint(capsys, "run", path, "--target", "y", "--text", "nope")
    assert "there is no column 'nope'" in said
    assert noregret("run", path, "--target", "y", "--features", "a", "--text", "b", "-q") == 0


def test_folders_and_devices_are_called_so(tmp_path: Path, capsys) -> None:
    assert "is a folder" in complaint(capsys, "run", tmp_path, "--target", "y")
    assert "no plain file: pipe it in" in complaint(capsys, "run", "/dev/null", "--target", "y")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_a_full_disk_is_named(kind: str, tmp_path: Path, capsys) -> None:
    path = write(stream(20), tmp_path / "data.csv")
    run = ("run", path, "--target", "y", "--out", "/dev/full", "--out-format", kind)
    assert "--out /dev/full cannot be written: " in complaint(capsys, *run)


def test_one_is_singular(tmp_path: Path, capsys) -> None:
    path = tmp_path / "data.csv"
    path.write_text("y\n1\n")
    assert noregret("run", path, "--target", "y", "--lags", "1,2") == 0
    shown = capsys.readouterr().out
    assert "1 row\n" in shown
    assert "features lags 1,2" in shown


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
@pytest.mark.parametrize("command", ["models", "run"])
def test_a_reader_that_leaves_is_no_failure(command: str, tmp_path: Path) -> None:
    path = write(stream(20), tmp_path / "data.csv")
    more = [] if command == "models" else [str(path), "--target", "y"]
    ours = subprocess.Popen(
        [*START, command, *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert ours.stdout is not None
    assert ours.stderr is not None
    ours.stdout.close()
    said = ours.stderr.read()
    ours.stderr.close()
    assert (ours.wait(), said) == (0, b"")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="descriptors of POSIX")
def test_closed_descriptors_are_no_traceback(tmp_path: Path) -> None:
    path = write(stream(20), tmp_path / "data.csv")
    shell = 'exec "$0" -m noregret run "$1" --target y '
    for data, closed, code, words in (
        ("-", "<&-", 2, "noregret: standard input is closed\n"),
        (str(path), ">&-", 0, ""),
        (str(path), "--out - >&-", 2, "noregret: --out -: standard output is closed\n"),
    ):
        done = subprocess.run(
            ["sh", "-c", shell + closed, sys.executable, data],
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (code, words)


def test_where_nothing_is_claimed_no_sides_are_shown(tmp_path: Path, capsys) -> None:
    path = tmp_path / "data.csv"
    path.write_text("y,a\n" + "".join(f"{t % 2},{t % 3}\n" for t in range(20)))
    models = ("--models", "map-logistic:history=no,improper-logistic", "--no-peers", "--yes-no")
    assert noregret("compare", path, "--target", "y", *models, "--proofs") == 0
    lines = capsys.readouterr().out.splitlines()
    first, proofs = [line.split() for line in lines if "map-logistic" in line]
    assert first[-1] == "-"
    assert proofs[2:] == ["-", "-", "-", "no", "claim"]


def test_a_cell_that_goes_on_for_many_lines_is_named(tmp_path: Path, capsys) -> None:
    """Two quotes that stand alone make one cell of all between them, which is said, in one line."""
    rows = [f"{k},{chr(34) if k in (3, 200) else 'red'},{k}.5" for k in range(1, 301)]
    path = tmp_path / "quotes.csv"
    path.write_text("x,note,y\n" + "\n".join(rows) + "\n")
    for model in (("-m", "ridge"), ()):
        assert noregret("run", path, "--target", "y", *model) == 0
        said = capsys.readouterr().out
        assert "! line 4: a cell in quotes goes on for 198 lines, which are one row; if" in said
        assert "features x, note=red, note=,3.5 4,red,4.5" in " ".join(said.split())
        assert len(said.splitlines()) < 60
