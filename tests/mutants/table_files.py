"""Mutants of model files: the container, what is checked of it, how it is written."""

from __future__ import annotations

FILES = (
    "snapshot/test_container.py",
    "snapshot/test_snapshot_files.py::test_golden_files_of_version_1",
    "snapshot/test_snapshot_files.py::test_a_file_is_an_npz",
    "snapshot/test_snapshot_files.py::test_permissions",
    "snapshot/test_snapshot_hostile.py::test_links_folders_and_pipes_are_refused",
)
VALUES = (
    "snapshot/test_container.py",
    "snapshot/test_values.py",
    "snapshot/test_snapshot.py::test_values_survive_exactly",
    "snapshot/test_snapshot.py::test_nan_keeps_its_bits",
    "snapshot/test_snapshot_hostile.py::test_deep_and_long_headers",
    "snapshot/test_snapshot_hostile.py::test_a_newer_version_is_refused_by_name",
    "snapshot/test_snapshot_hostile.py::test_what_cannot_be_stored_is_refused_by_name",
    "snapshot/test_snapshot_hostile.py::test_forged_schemas",
)

MUTANTS = {
    "snapshot/frame.py": (
        FILES,
        [
            ("    while missing > 0:\n", "    if missing > 0:\n", "short reads are not joined"),
            ("        missing -= len(part)\n", "        missing = 0\n", "one read must do"),
            (
                'return parts[0] if len(parts) == 1 else b"".join(parts)',
                "return parts[0]",
                "only the first part",
            ),
            (
                "if not part:\n            raise",
                "if False:\n            raise",
                "a file that ends early",
            ),
            (
                "if (head, middle, end) != _frame(header, [numbers]):",
                "if end != _frame(header, [numbers])[2]:",
                "headers are not compared",
            ),
            (
                "if (head, middle, end) != _frame(header, [numbers]):",
                "if (head, middle) != _frame(header, [numbers])[:2]:",
                "the digest is not compared",
            ),
            (
                "if (head, middle, end) != _frame(header, [numbers]):",
                "if False:",
                "nothing is compared",
            ),
            ("if count % 8 or whole != size:", "if count % 8:", "bytes after the end"),
            ("if count % 8 or whole != size:", "if whole != size:", "half a number"),
            (
                "    if length > LARGEST_HEADER:",
                "    if length > 2**40:",
                "a header of any size is read",
            ),
            ("    if length > size:\n", "    if False:\n", "a header longer than the file"),
            (
                "if len(header) > LARGEST_HEADER:",
                "if len(header) > 2**40:",
                "a header too long to be read is written",
            ),
            (
                "if len(header) + size > LARGEST_FILE - 2**16:",
                "if False:",
                "more than a zip can hold",
            ),
            ("head[:4] != LOCAL or head", "head", "no zip at all"),
            (
                'if head[8:10] != b"\\0\\0" or size < NPY:',
                'if head[8:10] != b"\\0\\0":',
                "a member shorter than its opening",
            ),
            ('if head[8:10] != b"\\0\\0" or size < NPY:', "if size < NPY:", "a compressed member"),
            ("digest.update(piece)", "pass", "the digest is of the first bytes only"),
            (
                "starts = [0, len(first) + length]",
                "starts = [0, len(first)]",
                "where members begin",
            ),
            ("        crc = crc32(piece, crc)\n", "        crc = crc32(piece)\n", "the checksum"),
            (
                'struct.pack("<HHHHIIH", 0, 0, 3, 3,',
                'struct.pack("<HHHHIIH", 0, 0, 2, 2,',
                "how many members",
            ),
        ],
    ),
    "snapshot/files.py": (
        FILES,
        [
            ("            os.fsync(fd)\n        new", "        new", "not flushed to the disk"),
            ("    fsync_directory(path.parent)\n", "", "the folder is not flushed"),
            (
                "                os.fchmod(fd, mode)\n",
                "                pass\n",
                "permissions are lost",
            ),
            ("0o666 if mode is None else 0o600", "0o666", "open to all while it is written"),
            (
                "                    left.unlink()\n",
                "                    pass\n",
                "neighbours are left behind",
            ),
            (
                "        new.replace(path)\n",
                "        path.write_bytes(data); new.unlink()\n",
                "written in place",
            ),
            (
                "if path.is_symlink() or (path.exists()",
                "if (path.exists()",
                "links are written over",
            ),
            ("if not stat.S_ISREG(facts.st_mode):", "if False:", "devices are read"),
            (
                "        if path.is_symlink():\n            raise",
                "        if False:\n            raise",
                "links are followed",
            ),
            ("    if len(held) > LARGEST_FILE:", "    if False:", "bytes beyond a zip"),
            (
                "if not isinstance(data, bytes | bytearray | memoryview):",
                "if not isinstance(data, bytes):",
                "views are refused",
            ),
        ],
    ),
    "snapshot/values.py": (
        VALUES,
        [
            ("    if depth < 0:\n", "    if depth < -400:\n", "nesting"),
            ("if len(found) != len(pairs):", "if False:", "the same key twice"),
            ("value if math.isfinite(value) else", "value if value == value else", "infinities"),
            (
                'return tuple(inner) if tag == "tuple" else inner',
                "return inner",
                "tuples become lists",
            ),
            (
                "if type(above) is not int or type(below) is not int:",
                "if False:",
                "fractions of anything",
            ),
            ("math.prod(sides) * kind.itemsize != len(raw)", "False", "shapes that lie"),
            ("0 <= side <= 2**31", "side <= 2**31", "negative sides"),
            ("not DTYPES.fullmatch(dtype):\n        raise", "False:\n        raise", "any dtype"),
            ('newbyteorder("<").str', "str", "the machine's own byte order"),
        ],
    ),
    "snapshot/__init__.py": (
        VALUES,
        [
            ("        reader.finish()\n", "", "numbers that nobody reads"),
            (
                "        if version > VERSION:\n",
                "        if version > 10**6:\n",
                "newer versions are read",
            ),
            ("if type(version) is not int or version < 1:", "if False:", "versions that are none"),
            (
                'if set(schema) - {"extra"} != {"format", "version", "release", "learner"}:',
                "if False:",
                "other fields",
            ),
            ('schema.get("format") != FORMAT', "False", "another format"),
            (
                "if extra is not None and type(extra) is not dict:",
                "if False:",
                "extra that is no dict",
            ),
            ("if not is_learner(type(learner)):", "if False:", "anything is stored"),
            (
                "    if extra is not None:\n        schema",
                "    if extra:\n        schema",
                "an empty extra is lost",
            ),
        ],
    ),
}
