"""The container of model files, byte by byte: short reads, claims that lie, how it is written."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest

import noregret as nr
from noregret.errors import SnapshotError
from noregret.snapshot import files, frame

NUMBERS = bytes(range(80))
FILE = frame.pack(b'{"a": 1}', [NUMBERS[:16], NUMBERS[16:]])


class Trickle:
    """A source that gives a few bytes at a time, as pipes and network files do."""

    def __init__(self, data: bytes, most: int) -> None:
        self.data, self.most, self.at = data, most, 0

    def read(self, size: int, /) -> bytes:
        part = self.data[self.at : self.at + min(size, self.most)]
        self.at += len(part)
        return part


@pytest.mark.parametrize("most", [1, 7, 50, 10_000])
def test_short_reads_are_joined(most: int) -> None:
    assert frame.unpack(Trickle(FILE, most), len(FILE)) == (b'{"a": 1}', NUMBERS)


@pytest.mark.parametrize("most", [7, 10_000])
def test_a_file_that_ends_early_is_refused(most: int) -> None:
    for length in range(0, len(FILE), 11):
        with pytest.raises(SnapshotError, match="damaged"):
            frame.unpack(Trickle(FILE[:length], most), len(FILE))


def refused(data: bytes, words: str) -> None:
    with pytest.raises(SnapshotError, match=words):
        frame.unpack(Trickle(data, 1 << 20), len(data))


def test_every_claim_is_checked_by_itself() -> None:
    refused(b"pK" + FILE[2:], "not a model file of noregret")
    refused(FILE[:30] + b"H" + FILE[31:], "not a model file of noregret")
    refused(FILE[:8] + b"\x08" + FILE[9:], "compressed or too short")

    def claiming(size: int) -> bytes:
        return FILE[:22] + struct.pack("<I", size) + FILE[26:]

    refused(claiming(frame.NPY - 1), "compressed or too short")
    refused(claiming(len(FILE) + frame.NPY + 1), "its header claims")
    refused(claiming(frame.LARGEST_HEADER + frame.NPY + 1), "more than 8388608")
    refused(FILE + b"\0", "it has")
    first, second, last = frame._frame(b"{}", [b"1234"])
    refused(first + b"{}" + second + b"1234" + last, "claims")
    for place in (40, len(FILE) - 3, len(FILE) - 200, FILE.index(NUMBERS) + 5):
        flipped = FILE[place] ^ 1
        refused(FILE[:place] + bytes([flipped]) + FILE[place + 1 :], "damaged")


class Long:
    """A piece that would not fit, and says so."""

    def __len__(self) -> int:
        return 2**32


def test_what_cannot_be_read_again_is_not_written() -> None:
    with pytest.raises(SnapshotError, match="less than 4 GiB"):
        frame.pack(b"{}", [Long()])  # type: ignore[list-item]
    with pytest.raises(SnapshotError, match="holds up to 8388608"):
        frame.pack(b" " * (frame.LARGEST_HEADER + 1), [])
    most = frame.pack(b" " * frame.LARGEST_HEADER, [])
    assert len(frame.unpack(Trickle(most, 1 << 30), len(most))[0]) == frame.LARGEST_HEADER


def test_bytes_of_every_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    data = nr.Ridge(0.5).to_bytes()
    for given in (data, bytearray(data), memoryview(data)):
        assert nr.from_bytes(given).prior_precision == 0.5
    monkeypatch.setattr(files, "LARGEST_FILE", len(data) - 1)
    with pytest.raises(SnapshotError, match="are no model file"):
        nr.from_bytes(data)


def test_a_file_is_on_the_disk_before_it_takes_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Contents flushed, then renamed, then the folder flushed; unreadable to others meanwhile."""
    path = tmp_path / "model.npz"
    path.write_bytes(b"old")
    path.chmod(0o640)
    happened: list[str] = []
    sync, replace, opened = os.fsync, Path.replace, os.open

    def fsync(fd: int) -> None:
        place = Path(f"/proc/self/fd/{fd}").readlink()
        happened.append("folder" if place == tmp_path else f"file of {place.stat().st_size}")
        assert place == tmp_path or path.read_bytes() == b"old"
        sync(fd)

    def renamed(self: Path, target: Path) -> Path:
        happened.append("renamed")
        return replace(self, target)

    def created(name: object, flags: int, mode: int = 0o777) -> int:
        if flags & os.O_CREAT:
            assert mode == 0o600
        return opened(name, flags, mode)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(Path, "replace", renamed)
    monkeypatch.setattr(os, "open", created)
    files.write(path, FILE)
    assert happened == [f"file of {len(FILE)}", "renamed", "folder"]
    monkeypatch.undo()
    assert path.read_bytes() == FILE
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_a_write_that_fails_leaves_no_neighbour(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.npz"
    path.write_bytes(b"old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SnapshotError, match="No space left"):
        files.write(path, FILE)
    assert [p.name for p in tmp_path.iterdir()] == ["model.npz"]
    assert path.read_bytes() == b"old"


def test_an_empty_extra_is_kept(tmp_path: Path) -> None:
    from noregret.snapshot import extra_in

    for extra in ({}, {"rows": 7}, None):
        nr.save(nr.Ridge(), tmp_path / "m.npz", extra=extra)
        assert extra_in(tmp_path / "m.npz") == extra


def test_what_stands_beside_a_learner_is_checked(tmp_path: Path) -> None:
    """Another format, numbers that nobody reads, an extra without fields."""
    from noregret.snapshot import extra_in

    header, numbers = files.opened(nr.Ridge(0.5).to_bytes())
    assert nr.from_bytes(frame.pack(header, [numbers])).prior_precision == 0.5
    other = header.replace(b"noregret model file", b"another model file!")
    assert other != header
    with pytest.raises(SnapshotError, match="the header is not that of a model file"):
        nr.from_bytes(frame.pack(other, [numbers]))
    with pytest.raises(SnapshotError):
        nr.from_bytes(frame.pack(header, [numbers, bytes(8)]))
    nr.save(nr.Ridge(), tmp_path / "m.npz", extra=[1, 2])  # type: ignore[arg-type]
    with pytest.raises(SnapshotError, match="extra has no fields"):
        extra_in(tmp_path / "m.npz")


def test_what_killed_processes_left_is_swept(tmp_path: Path) -> None:
    """Old, ours and held by nobody; whatever else there is stays."""
    path = tmp_path / "model.npz"
    left = tmp_path / f".model.npz.{'0a' * 8}.tmp"
    young = tmp_path / f".model.npz.{'1b' * 8}.tmp"
    others = tmp_path / f".other.npz.{'0a' * 8}.tmp"
    for each in (path, left, young, others):
        each.write_bytes(b"half")
        if each is not young:
            os.utime(each, (1e9, 1e9))
    files.sweep(path)
    assert sorted(tmp_path.iterdir()) == sorted([path, young, others])
