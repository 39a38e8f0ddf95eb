"""No file, however it was forged, takes more than 64 MB or a second to be read or refused."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.errors import SnapshotError
from noregret.snapshot import extra_in, frame
from noregret.snapshot.header import DEEPEST, ROOM, measured
from stored import CASES, extended

HERE = "@"
PRIME = 2**61 - 1  # whole numbers that are multiples of it have the hash 0


def opened(file: bytes) -> tuple[Any, bytes]:
    length = int.from_bytes(file[22:26], "little") - 128
    header = file[168 : 168 + length]
    with np.load(io.BytesIO(file)) as arrays:
        return json.loads(header), arrays["numbers"].tobytes()


def schema_with(learner: Any, **extra: Any) -> tuple[Any, bytes]:
    schema, numbers = opened(learner.to_bytes())
    return schema | extra, numbers


def within(schema: Any, raw: str) -> bytes:
    return json.dumps(schema, separators=(",", ":")).replace(f'"{HERE}"', raw).encode()


def most(schema: Any, start: str, unit: Any, end: str) -> bytes:
    """A header with as many of a unit as a reader will parse."""

    def made(count: int) -> bytes:
        one = unit if callable(unit) else lambda _: unit
        return within(schema, start + ",".join(one(k) for k in range(count)) + end)

    few, some = measured(made(2_000))[0], measured(made(4_000))[0]
    header = made(4_000 + int(0.97 * (ROOM - some) / (some - few) * 2_000))
    assert 0.8 * ROOM < measured(header)[0] <= ROOM
    return header


UNITS: dict[str, tuple[str, Any, str]] = {
    "lists": ("[", "[]", "]"),
    "tagged lists": ('["list",', '["list"]', "]"),
    "tuples": ('["list",', '["tuple",7]', "]"),
    "mappings": ("[", '{"a":[]}', "]"),
    "short text": ('["list",', lambda k: f'"{k:x}"', "]"),
    "whole numbers": ('["list",', lambda k: str(300 + k), "]"),
    "floats": ('["list",', lambda k: f"{k}.5", "]"),
    "dicts": ('["list",', '["dict",["a",1]]', "]"),
    "a dict": ('["dict",', lambda k: f'["{k}",{k}]', "]"),
    "arrays": ('["list",', '["numpy","<f8",[1],"0000000000000000"]', "]"),
    "fractions": ('["list",', lambda k: f'["fraction",{k + 1},{10**40 + k}]', "]"),
    "one hash": ('["dict",', lambda k: f"[{k * PRIME},0]", "]"),
    "fractions of one hash": (
        '["dict",',
        lambda k: f'[["fraction",{7 * (k + 2) % PRIME + PRIME},{k + 2}],0]',
        "]",
    ),
    "kernels": ('["list",', '{"is":"sklearn.RBF","parameters":{"length_scale":1.0}}', "]"),
    "learners": ('["list",', '{"is":"AAR","parameters":{"prior_precision":1.0}}', "]"),
    "unknown kinds": ('["list",', '{"is":"x"}', "]"),
}


def names_of(learner: dict[str, Any]) -> dict[str, Any]:
    """Where the feature names of a learner stand."""
    for value in learner.values():
        if isinstance(value, dict):
            if "names" in value:
                return value
            if found := names_of(value):
                return found
    return {}


def forgeries(which: tuple[str, ...]) -> dict[str, tuple[bytes, bytes]]:
    """Headers and numbers, each with its digest right."""
    plain, numbers = schema_with(nr.Ridge(0.5))
    plain["learner"]["parameters"]["clip"] = HERE
    beside, _ = schema_with(nr.Ridge(0.5), extra={"x": HERE})
    full = frame.LARGEST_HEADER - 2000
    found = {}
    for name, (start, unit, end) in UNITS.items():
        for where, schema in {"a parameter": plain, "extra": beside}.items():
            if (full_name := f"{name} in {where}").startswith(which):
                found[full_name] = most(schema, start, unit, end), numbers
    for name, text in {
        "[],": "[" + "[]," * (full // 3) + "[]]",
        "[[[": "[" * full,
        "nested": "[" * (full // 2) + "]" * (full // 2),
        '{"a":': '{"a":' * (full // 5),
        "{},": "[" + "{}," * (full // 3) + "{}]",
        "one text": '"' + "x" * full + '"',
        "quotes": '"' + '\\"' * (full // 2) + '"',
        "backslashes": '"' + "\\\\" * (full // 2) + '"',
        "wide text": '"' + "x" * full + '\\ud83d\\ude00"',
        "wider text": '"' + "x" * (ROOM // 8) + '\\ud83d\\ude00"',
        "digits": "9" * full,
        "numbers of 4000 digits": "[" + ",".join(["9" * 4000] * (full // 4001)) + "]",
        "commas": "," * full,
        "long keys": '["dict",["' + "k" * 90_000 + '",' + "0" + "]]",
        "long keys in one another": ('["dict",["' + "k" * 90_000 + '",') * 60 + "0" + "]]" * 60,
        "a long function": '{"given":"' + "f" * 10**6 + '","called":"' + "f" * 10**6 + '"}',
        "an array in hex": '["numpy","|u1",[' + str(full // 4) + '],"' + "00" * (full // 4) + '"]',
    }.items():
        for where, schema in {"a parameter": plain, "extra": beside}.items():
            if (full_name := f"{name} in {where}").startswith(which):
                found[full_name] = within(schema, text), numbers
    # A name that is long, over a list that is long.
    keyed, _ = schema_with(nr.Ridge(0.5))
    keyed["learner"]["parameters"]["k" * 2_000_000] = HERE
    found["a long name"] = most(keyed, '["list",', "0", "]"), numbers
    mapped = nr.Ridge()
    mapped.learn_one({"a": 1.0}, 1.0)
    named, held = schema_with(mapped)
    names_of(named["learner"])["names"] = HERE
    found["names of one hash"] = most(named, '["list",', lambda k: str(k * PRIME), "]"), held
    pool = nr.AggregatingAlgorithm(["a"], outcome_range=1.0)
    pool.learn_one({"a": 0.5}, 0.5)
    members, held = schema_with(pool)
    members["learner"]["experts"] = members["learner"].get("experts", HERE) and HERE
    member = '{"name":"a","place":0}'
    found["experts of one hash"] = (
        most(members, "[", lambda k: f"[{k * PRIME},{member}]", "]"),
        held,
    )
    # Small words for large things.
    monomials = CASES["bayes, polynomial"]
    schema, held = schema_with(extended(monomials, 3))
    text = json.dumps(schema, separators=(",", ":"))
    large = text.replace('"inputs":2,"degree":3', '"inputs":1447,"degree":2')
    large = large.replace('"size":10', '"size":1048576')
    assert large != text
    found["a million monomials"] = large.encode(), held
    wide, held = schema_with(extended(CASES["map"], 3))
    text = json.dumps(wide, separators=(",", ":")).replace('"rows":[3,3]', '"rows":[0,100000000]')
    found["no rows of 10^8 features"] = text.encode(), held
    auto, held = schema_with(extended(CASES["auto"], 2))
    text = json.dumps(auto, separators=(",", ":")).replace('"maps":[]', f'"maps":"{HERE}"')
    one = '{"is":"Monomials","inputs":14,"degree":2,"width":null,"size":120}'
    assert HERE in text
    found["maps"] = most(json.loads(text), "[", one, "]"), held
    return found


CHILD = """
import sys, time
import numpy as np
import noregret as nr
from noregret.errors import SnapshotError
from noregret.snapshot import extra_in
for name in nr.__all__:
    getattr(nr, name)
import sklearn.gaussian_process.kernels  # a file may name its kernels, which then are loaded

def status(key):
    for line in open("/proc/self/status"):
        if line.startswith(key):
            return int(line.split()[1]) * 1024

def measured(act, path):
    open("/proc/self/clear_refs", "w").write("5")  # the peak begins anew
    before, start = status("VmRSS"), time.process_time()
    try:
        act(path)
        said = "read"
    except SnapshotError as refusal:
        assert len(str(refusal)) < 2000, len(str(refusal))
        said = "refused"
    took = time.process_time() - start
    return said, took, (status("VmHWM") - before) / 2**20

measured(nr.load, sys.argv[1])
measured(extra_in, sys.argv[1])
for path in sys.argv[2:]:
    for act in (nr.load, extra_in):
        print(path, act.__name__, *measured(act, path), flush=True)
"""


QUICK = ("[], in", "[[[ in", "wider text in", "one hash in", "names of one", "maps", "a million")


@pytest.mark.parametrize("which", [QUICK, pytest.param(("",), marks=pytest.mark.slow)])
def test_no_forged_file_takes_64_mb_or_a_second(which: tuple[str, ...], tmp_path: Path) -> None:
    if not Path("/proc/self/clear_refs").exists():
        pytest.skip("memory is read from /proc, which this system does not have")
    nr.Ridge().save(tmp_path / "good")
    names = {}
    for k, (name, (header, numbers)) in enumerate(forgeries(which).items()):
        if not name.startswith(which):
            continue
        path = tmp_path / str(k)
        names[str(path)] = name
        path.write_bytes(frame.pack(header, [numbers]))
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(tmp_path / "good"), *names],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    lines = [line.split() for line in done.stdout.splitlines()]
    assert len(lines) == 2 * len(names)
    said = [(names[p], act, word, float(s), float(mb)) for p, act, word, s, mb in lines]
    assert [line for line in said if line[3] > 1.0 or line[4] > 64.0] == []
    # What is read is a parameter, which is checked when it is used, or extra.
    words = {name: word for name, act, word, *_ in said if act == "load"}
    for name, word in words.items():
        if (
            name.startswith(("[],", "one hash in a", "fractions of one hash in a"))
            or " in " not in name
        ):
            assert word == "refused", name


def test_what_could_not_be_read_back_is_not_written(tmp_path: Path) -> None:
    deep: Any = 0
    for _ in range(DEEPEST):
        deep = [deep]
    loop: list[Any] = []
    loop.append(loop)
    for extra, words in (
        ({"x": [[]] * (ROOM // 300)}, "would take more than 48 MiB"),
        ({"x": deep}, "nested more than 128 deep"),
        ({"x": loop}, "extra cannot be stored"),
        ({"x": {1, 2}}, "extra cannot be stored"),
        ({"x": float("nan")}, "extra cannot be stored"),
    ):
        with pytest.raises(SnapshotError, match=words):
            nr.save(nr.AAR(), tmp_path / "x.npz", extra)
    assert not list(tmp_path.iterdir())
    texts = {"x": ['[{,"\\' * 50_000, "späť \U0001f600", "\\", '"'], "y": {"[": ["{"] * 1000}}
    nr.save(nr.AAR(), tmp_path / "x.npz", texts)
    assert extra_in(tmp_path / "x.npz") == texts
