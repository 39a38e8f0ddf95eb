"""A run in pieces: block edges, sums over blocks, refused rows, what a piece's columns say."""

from __future__ import annotations

import gzip
import io
import math
import threading
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import noregret as nr
from commands import flat, noregret, stream, write
from noregret.cli.state import Saving
from noregret.errors import SourceError
from noregret.gaussian.cores.blocks import CROSSOVER
from noregret.inputs.tables import Frame
from noregret.running.player import Player, rounds_of
from noregret.sources import Source, lines
from noregret.sources.block import Block, Reading
from noregret.sources.encoding import Encoding, Piece
from noregret.sources.prefetch import prefetch

RNG = np.random.default_rng(2)


def piece(X: list[list[float]], y: list[float], first: int = 1) -> Piece:
    rows = np.array(X, dtype=float)
    names = ["a", "b"][: rows.shape[1]]
    places = np.arange(first, first + len(y), dtype=np.int64)
    return Piece(Frame(names, rows), np.array(y, dtype=float), places, None)


def block(places: list[int]) -> Block:
    values = np.array(places, dtype=float)
    kinds = {"a": "number", "y": "number"}
    return Block({"a": values, "y": values * 10.0}, kinds, np.array(places, dtype=np.int64))


# Playing ------------------------------------------------------------------------------------


@pytest.mark.parametrize("past", range(7))
@pytest.mark.parametrize("cuts", [[[1, 2, 3], [4, 5, 6]], [[1], [2], [3, 4], [5, 6]]])
def test_rows_that_an_earlier_run_took_are_not_taken_again(past: int, cuts) -> None:
    """Wherever the edge of a block lies: at, before or behind the last row taken."""
    reading = Reading("data", past=past)
    taken = [
        int(place)
        for one in rounds_of(iter(map(block, cuts)), Encoding("y"), reading)
        for place in one.places
    ]
    assert taken == list(range(past + 1, 7))


def test_a_players_sums_are_over_all_pieces() -> None:
    X, y = RNG.normal(size=(9, 2)).tolist(), RNG.normal(size=9).tolist()
    player = Player("ridge", nr.Ridge(0.5))
    bounds = []
    for rows in (slice(0, 4), slice(4, 5), slice(5, 9)):
        played = player.play(piece(X[rows], y[rows]))
        bounds += played.bound.tolist()
    truth = nr.Ridge(0.5).replay(Frame(["a", "b"], np.array(X)), y)
    assert player.loss == pytest.approx(float(truth.loss.sum()), rel=1e-12)
    errors = float(((np.array(y) - truth.forecast) ** 2).sum())
    assert player.errors == pytest.approx(errors, rel=1e-12)
    assert player.rmse == pytest.approx(math.sqrt(errors / 9), rel=1e-12)
    assert player.rounds == 9
    for t in range(1, 10):
        after = nr.Ridge(0.5).fit(np.array(X[:t]), np.array(y[:t]))
        assert bounds[t - 1] == pytest.approx(after.certificate().bound, rel=1e-9, abs=1e-12)


def test_the_last_bound_of_a_piece_where_none_runs_along() -> None:
    player = Player("pool", nr.AggregatingAlgorithm([nr.AAR(), nr.AAR(9.0)], outcome_range=3.0))
    X, y = RNG.normal(size=(6, 2)).tolist(), RNG.uniform(-1, 1, size=6).tolist()
    played = player.play(piece(X, y))
    assert np.isnan(played.bound[:-1]).all()
    assert played.bound[-1] == player.certificate.bound == player.learner.certificate().bound
    assert played.bound[-1] > 0.0


def test_the_bound_of_every_round_where_the_noise_is_learned() -> None:
    X, y = RNG.normal(size=(6, 2)).tolist(), RNG.uniform(-1, 1, size=6).tolist()
    player = Player("noise", nr.BayesianRidge(noise_var=None), every_bound=True)
    found, learner = player.play(piece(X, y)).bound, nr.BayesianRidge(noise_var=None)
    for x, outcome, bound in zip(X, y, found, strict=True):
        learner.learn_one(x, outcome)
        assert bound == pytest.approx(learner.certificate().bound, rel=1e-9)
    seldom = Player("noise", nr.BayesianRidge(noise_var=None)).play(piece(X, y)).bound
    assert np.isnan(seldom[:-1]).all()
    assert seldom[-1] == pytest.approx(found[-1], rel=1e-9)


def test_any_learner_may_know_the_bound_of_every_round() -> None:
    """What a learner's `running_bound` says goes to the rows; sums of an earlier run go on."""

    class Counting:
        def __init__(self) -> None:
            self.rounds = 0

        def after(self, _, y):
            self.rounds += len(y)
            return np.arange(self.rounds - len(y), self.rounds) + 1.0

        def stored(self) -> list[int]:
            return [self.rounds]

        def resume(self, stored) -> None:
            (self.rounds,) = stored

    class Own(nr.OSLOG):
        def running_bound(self) -> Counting:
            return Counting()

    X, y = RNG.normal(size=(6, 2)).tolist(), RNG.uniform(-1, 1, size=6).tolist()
    player, other = Player("own", Own()), Player("own", Own())
    assert player.play(piece(X, y)).bound.tolist() == [1, 2, 3, 4, 5, 6]
    other.resume(player.running.stored())
    assert other.play(piece(X[:2], y[:2])).bound.tolist() == [7, 8]
    assert nr.OSLOG().running_bound() is None


def test_rows_with_and_without_outcome_keep_their_places() -> None:
    nan = math.nan
    X = RNG.normal(size=(7, 2))
    y = [1.0, nan, nan, 2.0, -1.0, nan, 0.5]
    player = Player("bayes", nr.BayesianRidge(0.5, noise_var=0.3))
    played = player.play(piece(X.tolist(), y))
    twin = nr.BayesianRidge(0.5, noise_var=0.3)
    for t, outcome in enumerate(y):
        x = {"a": float(X[t, 0]), "b": float(X[t, 1])}
        said = twin.predictive(x)
        assert played.forecast[t] == pytest.approx(said.mean, abs=1e-12)
        assert played.std[t] == pytest.approx(said.std, rel=1e-12)
        if outcome == outcome:
            assert played.loss[t] == pytest.approx(-said.log_density(outcome), rel=1e-9)
            twin.learn_one(x, outcome)
        else:
            assert np.isnan([played.loss[t], played.bound[t]]).all()
    assert player.rounds == 4


def test_a_row_that_does_not_fit_in_float64_is_a_bad_row() -> None:
    """A numerical refusal has its line, counts once, and the rows around it are learned."""
    X, y = [[0.0, 0.0], [0.0, 0.0], [1e300, 1e300], [1e-3, 1e-3]], [1.0, 2.0, 3.0, 4.0]
    player = Player("ridge", nr.Ridge(1e-300))
    reading = Reading("data.csv", allowed=1)
    played = player.play(piece(X, y, first=11), reading)
    assert reading.bad == 1
    assert reading.first.startswith("data.csv, line 13: ")
    assert "float64" in reading.first
    assert np.isnan(played.forecast).tolist() == [False, False, True, False]
    assert player.rounds == 3
    with pytest.raises(SourceError, match="line 13"):
        Player("ridge", nr.Ridge(1e-300)).play(piece(X, y, first=11), Reading("data.csv"))


def test_outcomes_that_are_neither_0_nor_1_are_bad_rows() -> None:
    player = Player("map", nr.MAPLogistic(), binary=True)
    reading = Reading("data.csv", allowed=2)
    player.play(piece([[1.0], [2.0], [3.0], [4.0]], [1.0, 0.5, 0.0, 2.0]), reading)
    assert (reading.bad, player.rounds) == (2, 2)
    assert "line 2: the outcome 0.5 is neither 0 nor 1" in reading.first


def test_wide_rows_are_forecast_alike_however_they_are_cut() -> None:
    """To the last bit, though a replay of so many features goes in blocks."""
    T, names = 8, [f"x{j}" for j in range(CROSSOVER)]
    rng = np.random.default_rng(0)
    rows = Frame(names, rng.standard_normal((T, CROSSOVER)))
    whole = Piece(rows, rng.standard_normal(T), np.arange(1, T + 1, dtype=np.int64), None)
    at_once = Player("ridge", nr.Ridge(5.0)).play(whole).forecast
    cut = Player("ridge", nr.Ridge(5.0))
    parts = [cut.play(whole.part(start, stop)) for start, stop in ((0, 3), (3, T))]
    assert np.array_equal(np.concatenate([part.forecast for part in parts]), at_once)
    assert cut.rounds == T


# Sessions -----------------------------------------------------------------------------------


def test_columns_that_a_run_does_not_use_may_hold_anything(tmp_path: Path, capsys) -> None:
    data = tmp_path / "data.csv"
    data.write_text("a,odd,y\n1,2024-01-01,3\n2,red,4\n5,2024-01-02,6\n")
    assert noregret("run", data, "-y", "y", "-m", "aar", "-q") == 2
    assert "column 'odd': 'red' in a column of times" in flat(capsys.readouterr().err)
    out = tmp_path / "out.csv"
    run = ("run", data, "-y", "y", "-m", "aar", "-q", "--features", "a", "--out", out)
    assert noregret(*run) == 0
    assert pl.read_csv(out)["line"].to_list() == [2, 3, 4]


def test_small_chunks_make_the_same_run(tmp_path: Path, monkeypatch, capsys) -> None:
    """Rows, losses, RMSE and line numbers do not depend on how bytes were cut."""
    data = write(stream(60), tmp_path / "data.csv")
    said = []
    for size in (1 << 24, 700):
        monkeypatch.setattr(lines, "READ", size)
        out = tmp_path / f"out{size}.csv"
        assert noregret("run", data, "-y", "y", "-m", "aar", "--out", out) == 0
        said.append((flat(capsys.readouterr().out), pl.read_csv(out)))
    assert said[0][0] == said[1][0]
    assert "60 rows" in said[0][0]
    assert "last 6 rows" in said[0][0]
    whole, cut = said[0][1], said[1][1]
    for column in ("line", "y", "forecast", "loss"):
        assert whole[column].to_list() == cut[column].to_list()
    assert cut["bound"].to_numpy() == pytest.approx(whole["bound"].to_numpy(), rel=1e-12)


@pytest.mark.parametrize("every", [1, 7, 20])
def test_a_run_that_breaks_can_go_on_where_its_state_says(
    tmp_path: Path, monkeypatch, every: int
) -> None:
    """Saved whenever that many rows are done, never in the middle of a piece."""
    monkeypatch.setattr(lines, "READ", 400)
    frame = stream(60)
    data = write(frame, tmp_path / "data.csv")
    state = tmp_path / "s.nr"
    saved: list[tuple[int, int]] = []
    store = Saving.store

    def counted(self, session, output) -> None:
        saved.append((session.rows, session.last))
        store(self, session, output)

    monkeypatch.setattr(Saving, "store", counted)
    chosen = ("-y", "y", "-m", "aar", "-q", "--state", state, "--save-every", every)
    assert noregret("run", data, *chosen) == 0
    assert saved[-1] == (60, 61)  # the header is line 1
    assert all(last == rows + 1 for rows, last in saved)
    gaps = np.diff([0, *(rows for rows, _ in saved)])
    assert (gaps[:-1] >= every).all()
    largest = max(len(p) for p in np.split(np.arange(60), [rows for rows, _ in saved]))
    assert largest < every + 20
    learner = nr.load(state)
    assert learner.n_samples_seen_ == 60
    assert noregret("run", data, *chosen) == 0  # nothing is left to do
    assert nr.load(state).n_samples_seen_ == 60


def test_a_state_is_due_after_so_many_rows_and_not_before() -> None:
    saving = Saving("s.nr", 5)
    assert [saving.due(rows) for rows in (1, 4, 5, 6)] == [False, False, True, True]
    assert [saving.left(rows) for rows in (0, 4, 5)] == [5, 1, 1]


def test_a_piece_that_fails_is_not_saved(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(lines, "READ", 400)
    data = write(stream(60), tmp_path / "data.csv")
    state = tmp_path / "s.nr"
    play, calls = Player.play, []

    def failing(self, one, reading=None):
        calls.append(len(one.y))
        played = play(self, one, reading)
        if len(calls) == 3:
            raise OSError(28, "No space left on device")
        return played

    monkeypatch.setattr(Player, "play", failing)
    code = noregret("run", data, "-y", "y", "-m", "aar", "-q", "--state", state)
    assert code != 0
    assert not state.exists() or nr.load(state).n_samples_seen_ == sum(calls[:2])


# Sources ------------------------------------------------------------------------------------


def read(path: Path, **options) -> list[Block]:
    return list(Source(str(path), **options).blocks())


@pytest.mark.parametrize("size", [3, 40, 1 << 24])
def test_bytes_in_any_portions(tmp_path: Path, monkeypatch, size: int) -> None:
    """Quotes with line breaks, blank lines, a mark of UTF-8, no line break at the end."""
    text = 'a,t,y\n1,"x\ny",2\n\n3,"u ""v""\n\nw",4\n5,z,6'
    path = tmp_path / "data.csv"
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    monkeypatch.setattr(lines, "READ", size)
    blocks = read(path)
    columns = {k: [v for b in blocks for v in b.columns[k]] for k in ("a", "t", "y")}
    assert columns == {"a": [1.0, 3.0, 5.0], "t": ["x\ny", 'u "v"\n\nw', "z"], "y": [2.0, 4.0, 6.0]}
    assert [int(p) for b in blocks for p in b.places] == [2, 5, 8]


@pytest.mark.parametrize("size", [64, 1 << 24])
def test_gzip_of_several_members_and_a_truncated_one(
    tmp_path: Path, monkeypatch, size: int
) -> None:
    monkeypatch.setattr(lines, "READ", size)
    rows = [f"{i},{i * i}\n" for i in range(500)]
    path = tmp_path / "data.csv.gz"
    one, two = ("a,y\n" + "".join(rows[:250])).encode(), "".join(rows[250:]).encode()
    path.write_bytes(gzip.compress(one) + gzip.compress(two))
    values = np.concatenate([b.columns["y"] for b in read(path)])
    assert (values == np.arange(500.0) ** 2).all()
    path.write_bytes(gzip.compress(one + two)[:-12])
    with pytest.raises(SourceError, match="truncated gzip"):
        read(path)


@pytest.mark.parametrize("size", [256, 1 << 24])
def test_gzip_of_text_that_is_much_longer_unpacked(tmp_path: Path, monkeypatch, size: int) -> None:
    """What a chunk unpacks to may be more than is taken at a time."""
    monkeypatch.setattr(lines, "READ", size)
    path = tmp_path / "data.csv.gz"
    packed = gzip.compress(b"a,y\n" + b"1,7\n" * 5_000)
    path.write_bytes(packed)
    assert len(packed) < 5_000 * 4 / 100
    values = np.concatenate([b.columns["y"] for b in read(path)])
    assert values.tolist() == [7.0] * 5_000


@pytest.mark.parametrize("size", [1, 2, 5, 1 << 10])
def test_gzip_in_portions_of_a_pipe(size: int) -> None:
    """What begins as gzip does is unpacked, and no other text, however it arrives."""
    text = b"".join(b"%d,%d\n" % (i, i * i) for i in range(300))
    for given in (text, b"a", b"", b"\x1f", b"y\x1f\x8b\n", gzip.compress(text)):
        portions = (given[at : at + size] for at in range(0, len(given), size))
        found = b"".join(lines.unpacked(portions, Reading("-")))
        assert found == (text if given.startswith(b"\x1f\x8b") else given)


def test_a_line_longer_than_a_megabyte_is_bad(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(lines, "READ", 1 << 18)
    path = tmp_path / "data.csv"
    path.write_text("a,y\n1,2\n" + "9" * (1 << 21) + ",1\n3,4\n")
    with pytest.raises(SourceError, match="line 3: the line is longer than a megabyte"):
        read(path)
    reading = Source(str(path), skip_bad=1).reading()
    blocks = list(Source(str(path), skip_bad=1).blocks(reading))
    assert [int(p) for b in blocks for p in b.places] == [2, 4]
    assert reading.bad == 1


def test_bad_rows_up_to_what_is_tolerated(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("a,y\n1,2\nx,3\n4,5\ninf,3\n6,7\n")
    source = Source(str(path), skip_bad=2)
    reading = source.reading()
    assert [int(p) for b in source.blocks(reading) for p in b.places] == [2, 4, 6]
    assert reading.bad == 2
    assert "line 3, column 'a'" in reading.first
    with pytest.raises(SourceError, match=r"line 5.*bad row number 2, 1 tolerated"):
        list(Source(str(path), skip_bad=1).blocks())
    later = source.reading()
    later.past = 4  # an earlier run has seen them
    list(source.blocks(later))
    assert later.bad == 1


def test_a_bad_row_settles_no_kind(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text('{"a": "red", "b": [1], "y": 1}\n{"a": 1.5, "y": 2}\n{"a": 2.5, "y": 3}\n')
    source = Source(str(path), skip_bad=1)
    blocks = list(source.blocks())
    assert [v for b in blocks for v in b.columns["a"]] == [1.5, 2.5]


def test_errors_and_ends_of_what_is_read_ahead() -> None:
    def failing():
        yield 1
        raise SourceError("line 2 is bad")

    taken = []
    with pytest.raises(SourceError, match="line 2 is bad"):
        taken.extend(prefetch(failing()))
    before = threading.active_count()
    some = prefetch(iter(range(1000)))
    assert next(some) == 0
    some.close()
    assert threading.active_count() <= before


def test_what_is_missing_is_filled_from_before_whatever_the_blocks() -> None:
    a = [1.0, math.nan, 4.0, math.nan, math.nan, 7.0, math.nan]
    y = np.arange(7.0)
    for missing, filled in (
        ("last", [1.0, 1.0, 4.0, 4.0, 4.0, 7.0, 7.0]),
        ("mean", [1.0, 1.0, 4.0, 2.5, 2.5, 7.0, 4.0]),
        ("zero", [1.0, 0.0, 4.0, 0.0, 0.0, 7.0, 0.0]),
    ):
        for cuts in ([7], [1, 7], [2, 4, 7], [3, 5, 6, 7]):
            encoding, found, start = Encoding("y", missing=missing), [], 0
            for stop in cuts:
                rows = slice(start, stop)
                values = {"a": np.array(a)[rows], "y": y[rows]}
                places = np.arange(start + 1, stop + 1)
                one = Block(values, {"a": "number", "y": "number"}, places)
                for p in encoding.pieces(one, Reading("data")):
                    found += p.frame.values[:, 0].tolist()
                start = stop
            assert found == pytest.approx(filled)


def test_features_are_born_in_the_order_of_their_rows() -> None:
    columns = {"b": ["x", None, "z"], "a": [None, "u", "u"], "y": np.ones(3)}
    kinds = {"a": "text", "b": "text", "y": "number"}
    encoding = Encoding("y", missing="zero", max_features=3)
    list(encoding.pieces(Block(columns, kinds, np.arange(1, 4)), Reading("data")))
    assert list(encoding.slots) == ["b=x", "a=u", "b=z"]
    fewer = Encoding("y", missing="zero", max_features=2)
    with pytest.raises(SourceError, match="more than 2 features, 'b=z' the next"):
        list(fewer.pieces(Block(columns, kinds, np.arange(1, 4)), Reading("data")))
    clash = {"c=d": np.ones(1), "c": ["d"], "y": np.ones(1)}
    same = Block(clash, {"c=d": "number", "c": "text", "y": "number"}, np.arange(1, 2))
    with pytest.raises(SourceError, match="two features would be called 'c=d'"):
        list(Encoding("y").pieces(same, Reading("data")))


def test_the_calendar_is_the_clock_on_the_wall() -> None:
    times = ["2024-01-01T06:45:00", "2024-07-06T18:00:36"]
    one = Block({"t": times, "y": np.ones(2)}, {"t": "time", "y": "number"}, np.arange(1, 3))
    encoding = Encoding("y", time="t", calendar=True)
    (found,) = encoding.pieces(one, Reading("data"))
    hours = [2 * math.pi * h / 24 for h in (6.75, 18.01)]
    days = [2 * math.pi * d / 365.25 for d in (0, 187)]
    for row, day, year, weekday in zip(found.frame.values, hours, days, (0, 5), strict=True):
        expected = [f(k * day) for k in (1, 2) for f in (math.sin, math.cos)]
        assert row[:6] == pytest.approx([*expected, math.sin(year), math.cos(year)], abs=1e-12)
        assert row[6:].tolist() == [float(k == weekday) for k in range(7)]


def test_only_what_arrives_is_waited_for() -> None:
    """A pipe's chunks come as they are; a file object in memory has no descriptor."""
    with pytest.raises(io.UnsupportedOperation):
        list(lines.chunks_of_pipe(io.BytesIO(b"a,y\n"), Reading("-")))
