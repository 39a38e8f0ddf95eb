"""Damaged, forged and foreign files: all that comes out of them is a SnapshotError."""

from __future__ import annotations

import copy
import io
import json
import os
import pickle
import random
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.errors import NoRegretError, SnapshotError
from noregret.snapshot import frame
from stored import CASES, extended

SMALL = [name for name in CASES if name != "auto, kernels"]


def parts(file: bytes) -> tuple[Any, bytes]:
    """Schema and numbers, as anyone can read them."""
    held = np.load(io.BytesIO(file), allow_pickle=False)
    return json.loads(held["header"].tobytes()), held["numbers"].tobytes()


def forge(schema: Any, numbers: bytes) -> bytes:
    """A file with a right digest."""
    return frame.pack(json.dumps(schema).encode(), [numbers])


# Damage -------------------------------------------------------------------------------------

CHILD = """
import os, random, resource, sys, time
from pathlib import Path
import noregret as nr
from noregret.errors import SnapshotError

def memory(field):
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
files = [path.read_bytes() for path in sorted(Path(sys.argv[1]).glob("*.npz"))]
each = -(-int(sys.argv[2]) // len(files))
forbidden = []
def hook(event, arguments):
    if event in ("exec", "compile", "import", "pickle.find_class", "marshal.loads", "open",
                 "os.system", "subprocess.Popen", "socket.connect", "ctypes.dlopen"):
        forbidden.append((event, str(arguments)[:200]))
for file in files:
    try:
        nr.from_bytes(file)
    except SnapshotError as refusal:
        assert "gives it back" in str(refusal), refusal
memory("VmRSS"), time.perf_counter()
base = memory("VmSize")
resource.setrlimit(resource.RLIMIT_AS, (base + 2**26, base + 2**26))
rng = random.Random(0)
refused, slowest = [0, 0], 0.0
def read(k, data):
    global slowest
    start = time.perf_counter()
    try:
        nr.from_bytes(data)
    except SnapshotError as refusal:
        assert "gives it back" not in str(refusal), refusal
        refused[k] += 1
    slowest = max(slowest, time.perf_counter() - start)
before = memory("VmRSS")
sys.addaudithook(hook)
for file in files:
    for _ in range(each):
        at = rng.randrange(8 * len(file))
        flipped = bytearray(file)
        flipped[at // 8] ^= 1 << at % 8
        read(0, bytes(flipped))
        read(1, file[: rng.randrange(len(file))])
seen = list(forbidden)
print(each * len(files), *refused, round(slowest, 4), (memory("VmHWM") - before) // 2**20, seen)
"""


@pytest.mark.slow
def test_flipped_bits_and_truncations_are_refused(tmp_path: Path) -> None:
    """2,000 of each, over the files of all learners, with 64 MB of room and no import allowed."""
    if not Path("/proc/self/status").exists():
        pytest.skip("memory is read from /proc, which this system does not have")
    for k, name in enumerate(SMALL):
        extended(CASES[name]).save(tmp_path / f"{k}.npz")
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(tmp_path), "2000"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    tried, flips, cuts, slowest, grew, seen = done.stdout.split(maxsplit=5)
    assert int(tried) >= 2000
    assert flips == cuts == tried
    assert float(slowest) < 1.0
    assert int(grew) < 64
    assert seen.strip() == "[]"


def test_every_byte_counts() -> None:
    """Each single byte of one file, changed, and each length."""
    file = extended(CASES["ridge, names"], 2).to_bytes()
    for at in range(len(file)):
        changed = bytearray(file)
        changed[at] ^= 0x55
        with pytest.raises(SnapshotError):
            nr.from_bytes(changed)
        with pytest.raises(SnapshotError):
            nr.from_bytes(file[:at])
    for more in (b"\0", file, b"PK\x05\x06"):
        with pytest.raises(SnapshotError):
            nr.from_bytes(file + more)
        with pytest.raises(SnapshotError):
            nr.from_bytes(more + file)


# Foreign files ------------------------------------------------------------------------------


class Bomb:
    def __reduce__(self):
        return os.system, ("echo executed > executed",)


def test_foreign_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    good = nr.AAR().to_bytes()

    def refused(data: bytes, words: str = "") -> None:
        path = tmp_path / "file.npz"
        path.write_bytes(data)
        with pytest.raises(SnapshotError, match=words):
            nr.load(path)
        with pytest.raises(SnapshotError, match=words):
            nr.from_bytes(data)

    refused(b"", "ends after 0 bytes")
    refused(pickle.dumps(Bomb()), "damaged|not a model file")
    refused(pickle.dumps(Bomb()) + bytes(1000), "not a model file")
    npz = io.BytesIO()
    np.savez(npz, header=np.array([Bomb()], dtype=object))
    refused(npz.getvalue(), "not a model file|damaged|claims")
    npz = io.BytesIO()
    np.savez_compressed(npz, header=np.zeros(2**20), numbers=np.zeros(2**20))
    refused(npz.getvalue(), "not a model file|damaged|claims")
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.npy", bytes(2**28))
    refused(bomb.getvalue(), "damaged|not a model file|claims")
    assert len(bomb.getvalue()) < 2**20
    refused(bytes(10_000), "not a model file")
    refused(good[:-22] + bytes(22), "damaged")
    assert not (tmp_path / "executed").exists()


def test_a_header_of_4_gb_is_not_even_read(tmp_path: Path) -> None:
    import tracemalloc

    good = bytearray(nr.AAR().to_bytes())
    for size in (2**32 - 1, 2**31, 2**25):
        good[18:26] = size.to_bytes(4, "little") * 2
        path = tmp_path / "large.npz"
        path.write_bytes(good)
        os.truncate(path, 2**32 + 2**20)  # the file does hold so much, as a hole
        tracemalloc.start()
        with pytest.raises(SnapshotError, match="claims"):
            nr.load(path)
        with pytest.raises(SnapshotError, match="claims"):
            nr.from_bytes(good)
        assert tracemalloc.get_traced_memory()[1] < 2**20
        tracemalloc.stop()


def test_links_folders_and_pipes_are_refused(tmp_path: Path) -> None:
    real, link = tmp_path / "real.npz", tmp_path / "link.npz"
    nr.AAR().save(real)
    link.symlink_to(real)
    os.mkfifo(tmp_path / "pipe")
    before = real.read_bytes()
    with pytest.raises(SnapshotError, match="is a link"):
        nr.load(link)
    with pytest.raises(SnapshotError, match="is a link"):
        nr.Ridge().save(link)
    with pytest.raises(SnapshotError, match=r"no plain file|cannot be read"):
        nr.load(tmp_path)
    with pytest.raises(SnapshotError, match="no plain file"):
        nr.load(tmp_path / "pipe")
    with pytest.raises(SnapshotError, match="a folder or a device"):
        nr.Ridge().save(tmp_path)
    for path in (tmp_path / "absent.npz", tmp_path / "absent" / "x", "\0", tmp_path / ("x" * 300)):
        with pytest.raises(SnapshotError, match="cannot be read"):
            nr.load(path)
        if "absent.npz" not in str(path):
            with pytest.raises(SnapshotError, match="cannot be written"):
                nr.Ridge().save(path)
    for path in (3.5, None):
        with pytest.raises(SnapshotError, match="name of a file"):
            nr.load(path)
    with pytest.raises(SnapshotError, match="give the bytes"):
        nr.from_bytes("text")
    assert real.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.npz", "pipe", "real.npz"]


def test_a_newer_version_is_refused_by_name() -> None:
    schema, numbers = parts(nr.AAR().to_bytes())
    schema |= {"version": 2, "release": "9.1.0", "more": [1]}
    with pytest.raises(SnapshotError, match=r"version 2, written by noregret '9.1.0'.*upgrade"):
        nr.from_bytes(forge(schema, numbers))
    for version in (0, -1, "1", 1.0, None, True):
        with pytest.raises(SnapshotError, match="version"):
            nr.from_bytes(forge(schema | {"version": version}, numbers))


# Forged contents with a right digest --------------------------------------------------------

HOSTILE: list[Any] = [
    None,
    True,
    0,
    -1,
    3,
    2**31,
    2**64,
    0.0,
    -1.5,
    1e308,
    "",
    "x",
    [],
    {},
    ["float", "7ff8000000000000"],
    ["list", 1, 2],
    ["numpy", "|O", [1], "00"],
    ["numpy", "<f8", [2**31, 2**31], ""],
    {"is": "Ridge"},
    {"is": "os.system"},
    {"given": "kernel", "called": "os.system"},
]


def places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Every place of a tree, as its container and a key."""
    for key in list(tree) if isinstance(tree, dict) else range(len(tree)):
        yield tree, key
        if isinstance(tree[key], dict | list):
            yield from places(tree[key])


def use(learner: Any, case: Any) -> None:
    """What was taken in from a forged file may be refused later, by us or by Python, no more."""
    if getattr(learner, "method", "") in ("auto", "exact"):
        return  # absurd posteriors take it long
    with np.errstate(all="ignore"):
        try:
            x, y = case.xs(14)[13], case.ys(14)[13]
            case.predict(learner, x)
            case.learn(learner, x, y)
            learner.certificates()
        except (NoRegretError, ArithmeticError, TypeError, ValueError, LookupError, AttributeError):
            pass


def tried(file: bytes, case: Any) -> bool:
    """Read a forged file; whether it was refused."""
    try:
        learner = nr.from_bytes(file, **case.given)
    except SnapshotError:
        return True
    use(learner, case)
    return False


def forged_schemas(name: str, share: float, most: int) -> None:
    """A share of all places and values, of large files at most so many."""
    case = CASES[name]
    schema, numbers = parts(extended(case, 4).to_bytes())
    rng = random.Random(name)
    count, values = sum(1 for _ in places(schema)), [*HOSTILE, "less", "more"]
    share = min(share, most / (count * len(values)))
    refused = 0
    for k in range(count):
        for value in values:
            if rng.random() > share:
                continue
            twin = copy.deepcopy(schema)
            tree, key = next(place for j, place in enumerate(places(twin)) if j == k)
            if value == "less":
                del tree[key]
            elif value == "more":
                tree.update({"more": 1}) if isinstance(tree, dict) else tree.append(1)
            else:
                tree[key] = value
            refused += tried(forge(twin, numbers), case)
    assert refused


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SMALL)
def test_forged_schemas(name: str) -> None:
    forged_schemas(name, 0.04, 100)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SMALL)
def test_forged_schemas_everywhere(name: str) -> None:
    forged_schemas(name, 1.0, 1500)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SMALL)
def test_forged_numbers(name: str) -> None:
    """Wrong numbers, too few and too many of them."""
    case = CASES[name]
    schema, numbers = parts(extended(case, 4).to_bytes())
    for wrong in (numbers[:-8], numbers + bytes(8), b""):
        if wrong != numbers:
            assert tried(forge(schema, wrong), case)
    rng = random.Random(name)
    held = np.frombuffer(numbers)
    for _ in range(60):
        forged = held.copy()
        at = rng.randrange(forged.size)
        forged[at] = rng.choice(
            [np.nan, np.inf, -np.inf, -1.0, 1e308, -1e308, 0.5, 2.0**60, 5e-324]
        )
        tried(forge(schema, forged.tobytes()), case)


def test_deep_and_long_headers() -> None:
    _, numbers = parts(nr.AAR().to_bytes())
    for text in (
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"9" * 10_000,
        b"NaN",
        b"\xff\xfe",
        b'{"format": NaN}',
        b"[1]",
        b"null",
    ):
        with pytest.raises(SnapshotError):
            nr.from_bytes(frame.pack(text, [numbers]))
    schema, numbers = parts(nr.Ridge(0.5).to_bytes())
    nested: Any = 1
    for _ in range(900):
        nested = ["list", nested]
    schema["learner"]["parameters"]["clip"] = nested
    with pytest.raises(SnapshotError):
        nr.from_bytes(forge(schema, numbers + b""))
    with pytest.raises(SnapshotError, match="bytes"):
        frame.pack(bytes(frame.LARGEST_HEADER + 1), [])


# What cannot be stored ----------------------------------------------------------------------


class Stranger:
    def predict_one(self, x):  # noqa: ARG002  # as a learner has it
        return 0.0

    def learn_one(self, x, y):
        pass


class MyRidge(nr.Ridge):
    pass


def test_what_cannot_be_stored_is_refused_by_name(tmp_path: Path) -> None:
    from sklearn.linear_model import SGDRegressor

    path = tmp_path / "x.npz"

    def refused(learner: Any, words: str) -> None:
        with pytest.raises(SnapshotError, match=words):
            nr.save(learner, path)
        assert not list(tmp_path.iterdir())

    refused(Stranger(), "only noregret's own learners.*Stranger")
    refused(MyRidge(), "MyRidge")
    refused("text", "only noregret's own learners")
    refused(nr.AggregatingAlgorithm([Stranger()]), r"experts\[0\].*Stranger")
    refused(nr.AggregatingAlgorithm({"sgd": SGDRegressor()}), r"experts\['sgd'\].*SGDRegressor")
    pool = nr.AggregatingAlgorithm([nr.AAR()], outcome_range=1.0)
    pool.join(Stranger(), 0.5, name="late")
    refused(pool, "expert 'late'.*Stranger")
    refused(nr.Delayed(Stranger()), "learner.*Stranger")
    refused(nr.Ridge(object()), "prior_precision.*cannot be stored")
    loop: list[Any] = []
    loop.append(loop)
    refused(nr.AggregatingAlgorithm(loop), "nested too deeply")
    named = nr.AAR()
    named.learn_one({frozenset({1}): 1.0}, 1.0)
    refused(named, "feature name frozenset")


def test_functions_are_given_back() -> None:
    case = CASES["ridge, words"]
    file = extended(case).to_bytes()
    with pytest.raises(SnapshotError, match=r"stored.common_words.*load\(path, kernel=...\)"):
        nr.from_bytes(file)
    with pytest.raises(SnapshotError, match="give the function"):
        nr.from_bytes(file, kernel=3)
    with pytest.raises(SnapshotError, match="asks for no such"):
        nr.from_bytes(file, kernel=case.given["kernel"], drift=abs)
    pool = CASES["pool with a function"]
    with pytest.raises(SnapshotError, match=r"mean_of=\.\.\."):
        nr.from_bytes(extended(pool).to_bytes())
    spaced = nr.AggregatingAlgorithm({"by hand": abs}, outcome_range=1.0)
    spaced.learn_one(0.5, 0.5)
    with pytest.raises(SnapshotError, match=r"\*\*\{'by hand': \.\.\.\}"):
        nr.from_bytes(spaced.to_bytes())
    assert nr.from_bytes(spaced.to_bytes(), **{"by hand": abs}).predict_one(-0.25) == 0.25
