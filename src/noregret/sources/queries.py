"""Answers to SQL queries, from databases that the query can read and cannot write.

SQLite: the file is opened read-only, and an authorizer lets nothing through but reading, so that
VACUUM INTO, ATTACH and PRAGMA are refused too.  DuckDB: one SELECT, by DuckDB's own parser; the
configuration is locked, extensions are neither installed nor loaded.  With a file, nothing but the
file can be reached; `duckdb:` without one reads the files that the query names.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from noregret.declare.extras import module
from noregret.sources.block import Block, Reading
from noregret.sources.tables import ROWS, batches, damaged

__all__ = ["read_query"]

ONLY_SELECT = "the query must be one SELECT: it may read, and nothing else"
LOCKED = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "lock_configuration": "true",
    "python_enable_replacements": "false",
}


def read_query(kind: str, path: str, query: str, reading: Reading) -> Iterator[Block]:
    """The rows of a query, as the database gives them."""
    yield from _sqlite(path, query, reading) if kind == "sqlite" else _duckdb(path, query, reading)


def _sqlite(path: str, query: str, reading: Reading) -> Iterator[Block]:
    import sqlite3

    allowed = (
        *(sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION),
        sqlite3.SQLITE_RECURSIVE,
    )
    refused = []

    def authorizer(action: int, _: str | None, name: str | None, *__: str | None) -> int:
        if action in allowed and name != "load_extension":
            return sqlite3.SQLITE_OK
        refused.append(action)
        return sqlite3.SQLITE_DENY

    with damaged(reading, sqlite3.Error, sqlite3.Warning):
        place = f"{Path(path).resolve().as_uri()}?mode=ro"
        connection = sqlite3.connect(place, uri=True, isolation_level=None)
        try:
            connection.set_authorizer(authorizer)
            try:
                cursor = connection.execute(query)
            except sqlite3.DatabaseError:
                if refused:
                    raise reading.fail(ONLY_SELECT) from None
                raise
            if cursor.description is None:
                raise reading.fail(ONLY_SELECT)
            names = [column[0] for column in cursor.description]
            reading.name_columns(names)
            done = 0
            while rows := cursor.fetchmany(ROWS):
                block = reading.block(names, enumerate(rows, done + 1), typed=True)
                if not done:
                    reading.note_empty(block)
                yield block
                done += len(rows)
        finally:
            connection.close()


def _duckdb(path: str, query: str, reading: Reading) -> Iterator[Block]:
    duckdb, arrow = module("duckdb", "this query"), module("pyarrow", "this query")
    config: dict[str, str] = LOCKED | ({"enable_external_access": "false"} if path else {})
    with damaged(reading, duckdb.Error, arrow.ArrowException):
        connection = duckdb.connect(path or ":memory:", read_only=bool(path), config=config)
        try:
            kinds = [statement.type for statement in connection.extract_statements(query)]
            if kinds != [duckdb.StatementType.SELECT]:
                raise reading.fail(ONLY_SELECT)
            reader = connection.sql(query).to_arrow_reader(ROWS)
            reading.name_columns(reader.schema.names)
            yield from batches(reader, reading)
        finally:
            connection.close()
