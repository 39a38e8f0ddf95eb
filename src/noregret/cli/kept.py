"""Forecasts that advance together with a state file, whatever stops a run.

A state says how far the output was when it was written: the length of its text and a digest of
it, on the disk before the state is.  A run that resumes drops what lies beyond, and refuses an
output that is shorter or other than that.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import IO, TYPE_CHECKING

from noregret.cli.output import Lines, Mark, Output, Parquet, Written, placed
from noregret.declare.extras import module
from noregret.errors import ParameterError
from noregret.snapshot import files
from noregret.types import Vector

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["KeptLines", "KeptParquet", "open_kept"]

READ = 1 << 20  # bytes at a time
REMEDY = "put it back as it was, or give another file for the rows to come"


def open_kept(place: str, kind: str | None, mark: Mark | None, *, resumed: bool) -> Output:
    """The output of a run with a state; it goes on from `mark`, if that is of the same file."""
    path, kind = placed(place, kind)
    path = path.resolve()
    if mark is None or mark["path"] != str(path):
        if resumed and path.exists() and path.stat().st_size:
            raise ParameterError(
                f"--out {place} is there, and not of the run that this one resumes: "
                "give another file"
            )
        mark = None
    elif mark["kind"] != kind:
        raise ParameterError(f"--out {place} was begun as {mark['kind']}: keep to it")
    return KeptParquet(path, mark) if kind == "parquet" else KeptLines(path, kind, mark)


class KeptLines(Lines):
    """CSV or JSON lines whose length and digest are known."""

    def __init__(self, path: Path, kind: str, mark: Mark | None, out: Path | None = None) -> None:
        self.path, self.out = path, out or path
        self.length, self.digest = 0, hashlib.sha256()
        file = path.open("wb") if mark is None else self._taken_up(mark)
        self.resumed = self.length > 0
        super().__init__(file, kind, header=not self.resumed)

    def _taken_up(self, mark: Mark) -> IO[bytes]:
        """The file of an earlier run, without what that run wrote after its state."""
        wanted = int(mark["length"])
        try:
            file = self.path.open("r+b")
        except FileNotFoundError:
            raise ParameterError(f"--out {self.out} is gone: {REMEDY}") from None
        while part := file.read(min(READ, wanted - self.length)):
            self.length += len(part)
            self.digest.update(part)
        if self.length < wanted or self.digest.hexdigest() != mark["sha256"]:
            file.close()
            missing = f"is {wanted - self.length:,} bytes shorter than when"
            what = missing if self.length < wanted else "is not what it was when"
            raise ParameterError(f"--out {self.out} {what} the state was written: {REMEDY}")
        file.truncate()
        return file

    def _put(self, text: bytes) -> None:
        super()._put(text)
        self.length += len(text)
        self.digest.update(text)

    def mark(self) -> Mark:
        """Where the output is, when all of it is on the disk."""
        os.fsync(self.file.fileno())
        files.fsync_directory(self.path.parent)
        place, digest = str(self.out), self.digest.hexdigest()
        return {"path": place, "kind": self.kind, "length": self.length, "sha256": digest}


class KeptParquet(KeptLines):
    """Parquet, whose footer is written last: till then all rows are in a CSV file beside it."""

    def __init__(self, path: Path, mark: Mark | None) -> None:
        rows = path.with_name(f"{path.name}.part.csv")
        self.arrow = module("pyarrow", "writing Parquet")
        self.parquet = module("pyarrow.parquet", "writing Parquet")
        files.sweep(path)
        files.sweep(rows)
        if mark is not None and not rows.exists() and path.exists():
            self._unpack(path, rows)
        super().__init__(rows, "csv", mark, out=path)

    def mark(self) -> Mark:
        """Where the text is that the file is made of."""
        return super().mark() | {"kind": "parquet"}

    def close(self) -> None:
        """Make the file of its text."""
        super().close()
        if self.length:
            self._pack()
        self.path.unlink()

    def _pack(self) -> None:
        csv = module("pyarrow.csv", "writing Parquet")
        with self.path.open("rb") as file:
            place, *names = file.readline().decode().strip().split(",")
        types = {name: self.arrow.float64() for name in names} | {place: self.arrow.int64()}
        types |= {"time": self.arrow.string()} if "time" in names else {}
        reader = csv.open_csv(
            self.path,
            parse_options=csv.ParseOptions(newlines_in_values=True),
            convert_options=csv.ConvertOptions(
                column_types=types, null_values=[""], strings_can_be_null=True
            ),
        )
        with (
            files.replaced(self.out) as new,
            reader,
            self.parquet.ParquetWriter(new, reader.schema) as writer,
        ):
            for batch in reader:
                writer.write_batch(batch, row_group_size=Parquet.ROWS)

    def _unpack(self, path: Path, rows: Path) -> None:
        """The text of a file that is whole, as it was."""
        try:
            with files.replaced(rows) as text, self.parquet.ParquetFile(path) as file:
                lines = Lines(text, "csv", header=True)
                for batch in file.iter_batches(batch_size=Parquet.ROWS):
                    named = zip(batch.schema.names, batch.columns)
                    lines.write({name: self._values(column) for name, column in named})
        except (OSError, self.arrow.ArrowException) as wrong:
            said = " ".join(str(wrong).split())
            raise ParameterError(f"--out {path} cannot be read ({said}): {REMEDY}") from None

    def _values(self, column: pa.Array) -> Written:
        if self.arrow.types.is_string(column.type):
            texts: list[str | None] = column.to_pylist()
            return texts
        numbers: Vector = column.to_numpy(zero_copy_only=False)
        return numbers
