"""A fleet in a file: read back bit for bit, never written to, refused where damaged."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import noregret as nr
from noregret._native.fleet import BLOCK
from noregret.errors import SnapshotError
from noregret.fleet import file


def taught(keys: int = 2500, n: int = 3, kind=nr.AAR) -> nr.Fleet:
    rng = np.random.default_rng(6)
    fleet = nr.Fleet(kind())
    for _ in range(2):
        fleet.learn(np.arange(keys) * 7, rng.normal(size=(keys, n)), rng.normal(size=keys))
    return fleet


def banded() -> nr.Intervals:
    return nr.Intervals(nr.AAR(), 0.8)


@pytest.mark.parametrize(
    ("keys", "kind"),
    [(1, nr.AAR), (BLOCK, nr.AAR), (2 * BLOCK + 5, nr.AAR), (3, banded), (BLOCK + 5, banded)],
)
def test_a_file_goes_on(tmp_path, keys, kind) -> None:
    fleet, path = taught(keys, kind=kind), tmp_path / "fleet.nr"
    fleet.save(path)
    before = path.read_bytes()
    assert before == fleet.to_bytes()
    again = nr.Fleet.open(path, verify=True)
    more = np.arange(keys + 100) * 7, np.ones((keys + 100, 3)), np.ones(keys + 100)
    assert again.round(*more).tobytes() == fleet.round(*more).tobytes()
    again.drop([0])
    fleet.drop([0])
    assert again.to_bytes() == fleet.to_bytes()
    assert path.read_bytes() == before  # a mapped file is never written to
    again.save(path)  # over the file that is mapped
    assert nr.Fleet.open(path).to_bytes() == fleet.to_bytes()


def test_named_texts_and_empty(tmp_path) -> None:
    fleet = nr.Fleet(nr.Ridge(fit_intercept=True))
    assert nr.Fleet.from_bytes(fleet.to_bytes()).keys() == []
    fleet.learn(["späť", "", "a" * 1000], [{"hot": 1.0, 7: 2.0}] * 3, [1.0, 2.0, 3.0])
    fleet.save(tmp_path / "fleet.nr")
    again = nr.Fleet.open(tmp_path / "fleet.nr")
    assert again.keys() == fleet.keys()
    row = [{7: 1.0, "hot": 2.0, "new": 1.0}]
    assert again.round([""], row, [1.0]) == fleet.round([""], row, [1.0])


@pytest.mark.parametrize(("kind", "places"), [(nr.AAR, 300), (banded, 40)])
def test_every_changed_byte_is_seen(kind, places) -> None:
    data = taught(3, kind=kind).to_bytes()
    rng = np.random.default_rng(1)
    for at in [*range(40), *rng.integers(0, len(data), places).tolist(), len(data) - 1]:
        wrong = bytearray(data)
        wrong[at] ^= 1 << int(rng.integers(8))
        with pytest.raises(SnapshotError):
            nr.Fleet.from_bytes(bytes(wrong))
    for cut in (0, 5, 16, 500, len(data) - 1):
        with pytest.raises(SnapshotError):
            nr.Fleet.from_bytes(data[:cut])
    with pytest.raises(SnapshotError, match="give what to_bytes has made"):
        nr.Fleet.from_bytes("text")
    with pytest.raises(SnapshotError, match="no fleet"):
        nr.Fleet.from_bytes(nr.AAR().to_bytes())


def test_odd_places(tmp_path) -> None:
    fleet = taught(3)
    fleet.save(tmp_path / "fleet.nr")
    link = tmp_path / "link.nr"
    link.symlink_to(tmp_path / "fleet.nr")
    (tmp_path / "empty").touch()
    for place in (link, tmp_path / "nothing", tmp_path, tmp_path / "empty"):
        with pytest.raises(SnapshotError):
            nr.Fleet.open(place)
    with pytest.raises(SnapshotError, match="link"):
        fleet.save(link)


def test_what_a_header_claims_is_checked(monkeypatch) -> None:
    fleet = taught(3)
    monkeypatch.setattr(file, "written", lambda schema: _written(schema | {"extra": [99_999]}))
    with pytest.raises(SnapshotError, match="damaged"):
        nr.Fleet.from_bytes(fleet.to_bytes())


_written = file.written

VICTIM = """
import sys, numpy as np, noregret as nr
fleet = nr.Fleet.open(sys.argv[1])
keys, n = fleet.keys(), 3
while True:
    fleet.learn(keys, np.ones((len(keys), n)), np.ones(len(keys)))
    fleet.save(sys.argv[1])
    print("saved", flush=True)
"""


@pytest.mark.slow
def test_killed_while_saving(tmp_path: Path) -> None:
    """kill -9 at random instants: the file is always a fleet, whole, and a later one."""
    path, rounds = tmp_path / "fleet.nr", 2
    taught(4000).save(path)
    rng = np.random.default_rng(3)
    for _ in range(4):
        victim = subprocess.Popen([sys.executable, "-c", VICTIM, path], stdout=subprocess.PIPE)
        victim.stdout.readline()
        time.sleep(float(rng.uniform(0, 0.05)))
        os.kill(victim.pid, signal.SIGKILL)
        victim.communicate()
        found = nr.Fleet.open(path, verify=True)
        now = {found[key].n_samples_seen_ for key in (0, 7, 7 * 3999)}
        assert len(now) == 1
        assert min(now) > rounds
        rounds = min(now)
