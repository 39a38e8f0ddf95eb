"""Mistakes that people make: what they type, and what one line must say."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

__all__ = ["HEAVY", "MISTAKES", "files"]

HEAVY = ("scipy", "sklearn", "polars", "pyarrow", "pandas", "rich", "matplotlib", "duckdb", "river")
"""Modules that no mistake of the table may load."""

GOOD = "time,load,temp,colour,y\n" + "".join(
    f"2024-01-{1 + t // 24:02d}T{t % 24:02d}:00,{100 + t},{t % 7},{colour},{t % 5}\n"
    for t, colour in enumerate(["red", "red", "blue"] * 20)
)


def files(folder: Path) -> None:
    """The files that the mistakes are made with."""
    rows = GOOD.splitlines()
    made: dict[str, str | bytes] = {
        "good.csv": GOOD,
        "empty.csv": "",
        "blank.csv": "\n\n  \n",
        "header.csv": rows[0] + "\n",
        "twice.csv": "a,a,y\n1,2,3\n",
        "nameless.csv": "a,,y\n1,2,3\n",
        "headless.csv": "1,2,3\n4,5,6\n7,8,9\n",
        "word.csv": GOOD.replace(",103,", ",abc,"),
        "dash.csv": GOOD.replace(",103,", ",unknown,").replace(",104,", ",unknown,"),
        "gap.csv": GOOD.replace(",103,", ",,"),
        "inf.csv": GOOD.replace(",103,", ",inf,"),
        "none.csv": "a,y\n" + "1,\n2,NA\n3,-\n",
        "labels.csv": "a,y\n" + "1,no\n2,yes\n" * 5,
        "three.csv": "a,y\n" + "1,no\n2,yes\n3,maybe\n" * 5,
        "codes.csv": "a,id,y\n" + "".join(f"{t},n{t},{t % 3}\n" for t in range(100)),
        "semicolon.csv": "a;b;y\n1;2;3\n4;5;6\n",
        "thousand.csv": "y;a\n1;2,500\n2;3,500\n",
        "ambiguous.csv": "day,a,y\n03/04/2024,1,2\n04/04/2024,3,4\n",
        "shuffled.csv": "\n".join([rows[0], *rows[30:], *rows[1:30]]),
        "quote.csv": GOOD.replace(",103,", ',"103,'),
        "short.csv": GOOD.replace(",103,3,", ",103,"),
        "long.csv": GOOD.replace(",103,", ",103,7,"),
        "latin.csv": GOOD.replace("red", "größer").encode("latin-1"),
        "wide16.csv": GOOD.encode("utf-16-le"),
        "picture.csv": b"\x89PNG\r\n\x1a\n" + b"\0" * 50,
        "book.csv": b"PK\x03\x04" + b"\0" * 50,
        "old.csv": b"\xd0\xcf\x11\xe0" + b"\0" * 50,
        "page.csv": "<!DOCTYPE html><html>log in</html>",
        "table.csv": b"PAR1" + b"\0" * 50,
        "data.db.csv": b"SQLite format 3\0" + b"\0" * 50,
        "packed.csv": b"BZh91AY" + b"\0" * 50,
        "torn.csv.gz": gzip.compress(GOOD.encode())[:200],
        "array.json": '[{"a": 1, "y": 2}]',
        "bad.jsonl": '{"a":1,"y":2}\n{"a":1,\n',
        "objects.txt": '{"a":1,"y":2}\n{"a":3,"y":4}\n',
        "shop.duckdb": b"\xa5" * 8 + b"DUCK" + b"\0" * 50,
        "bad.svm": "1 1:2\n",
        "only.csv": "time,y\n2024-01-01,1\n2024-01-02,2\n",
    }
    for name, content in made.items():
        data = content.encode() if isinstance(content, str) else content
        (folder / name).write_bytes(data)
    with zipfile.ZipFile(folder / "data.zip", "w") as archive:
        archive.writestr("good.csv", GOOD)
    (folder / "folder").mkdir(exist_ok=True)


MISTAKES = {
    # Commands, models, options
    "rnu good.csv -y load": "there is no command 'rnu'; did you mean 'run'?",
    "good.csv -y load": "to forecast a file: noregret run good.csv --target COLUMN",
    "run": "Missing argument 'DATA'",
    "run good.csv": "say what to forecast with --target COLUMN; the columns are time, load, temp",
    "run good.csv --traget load": "Did you mean",
    "run good.csv -y load -m auto --horizon 60": "--horizon 60: 60 rows have an outcome, so at",
    "run good.csv -y load -m rigde": "there is no 'rigde'; did you mean 'ridge'?",
    "run good.csv -y load -m kaar": "'kaar' is here --model aar --kernel rbf",
    "models kar": "there is none of that name; did you mean",
    "compare good.csv -y load --models ridge,outo": "model 'outo': there is none of that name; did",
    "compare good.csv -y load --models aar:drfit=1": "did you mean 'drift'?",
    "compare good.csv -y load --models aar,aar": "--models has aar twice",
    "run good.csv -y load --clip 1": "aar has no clip: it takes prior_precision",
    "run good.csv -y load --prior-precision much": "prior_precision",
    "run good.csv -y load --prior-precision -1": "prior_precision = -1.0: it must be a number > 0",
    "run good.csv -y load --lags 0": "'0': give whole numbers from 1 on, as 1,2,24 or 1-24",
    "run good.csv -y load --lags 24-1": "'24-1': a range goes up",
    "run good.csv -y load --lags one": "'one': give whole numbers from 1 on",
    "run good.csv -y load --horizon 48": "--horizon needs --lags",
    "run good.csv -y load --missing men": "'men' is not one of 'refuse', 'zero', 'last', 'mean'",
    "run good.csv -y load --late forget": "'forget' is not one of 'refuse', 'skip', 'learn'",
    "run good.csv -y load --skip-bad many": "'many' is not a whole number",
    "run good.csv -y load --encoding utf-99": "--encoding utf-99: give one of utf-8, latin-1",
    "run good.csv -y load --date-format DD.MM": "--date-format DD.MM: give d/m/Y",
    "run good.csv -y load --decimal comma": "--decimal comma: give one character",
    "run good.csv -y load --decimal , --thousands ,": "--decimal and --thousands are both ','",
    "run good.csv -y load --delimiter ab": "delimiter 'ab': give one character, or tab",
    "run good.csv -y load --format xls": "'xls' is not one of 'text', 'json', 'csv'",
    "run good.csv -y load --positive yes": "--positive needs --binary",
    "run good.csv -y y -m ridge --binary": "ridge forecasts numbers: leave out --binary, or take",
    "run good.csv -y load --out forecasts.xls": "--out forecasts.xls: end it in .csv, .parquet",
    "run good.csv -y load --out no/such/out.csv": "/out.csv: there is no folder no/such",
    "run good.csv -y load --out folder": "--out folder is a folder: name a file in it",
    "run good.csv -y load --state no/such.nr": "--state no/such.nr: there is no folder no",
    "run good.csv -y load --query SELECT": "a query needs a database: give sqlite:FILE",
    "run sqlite:good.db -y load": "sqlite:good.db: say which rows with --query",
    # Columns
    "run good.csv -y laod": "there is no column 'laod'; did you mean 'load'?",
    "run good.csv -y Load": "there is no column 'Load'; did you mean 'load'?",
    "run good.csv -y load --features temp,colur": "no column 'colur'; did you mean 'colour'?",
    "run good.csv -y load --time tiem": "there is no column 'tiem'; did you mean 'time'?",
    "run good.csv -y load --drop tmep": "there is no column 'tmep'; did you mean 'temp'?",
    "run good.csv -y load --text colr": "there is no column 'colr'; did you mean 'colour'?",
    "run good.csv -y load --features load,temp": "--features has the target 'load' in it",
    "run good.csv -y load --time load": "--time is the target 'load'",
    "run good.csv -y colour": "the target 'colour' is not a column of numbers",
    "run good.csv -y time": "it holds times; give another --target",
    "run good.csv -y load --time temp --calendar": "column 'temp' is not a column of times",
    "run labels.csv -y y": "it has two labels: noregret run --binary",
    "run three.csv -y y --binary": "the target 'y' has 3 different values ('no', 'yes', 'maybe')",
    "run codes.csv -y y --features id": "column 'id' is text, and 100 of 100 values differ",
    "run none.csv -y y": "the target 'y' has no value in any row",
    "run only.csv -y y": "there is no feature to forecast from: give --lags, --calendar",
    # Files
    "run god.csv -y load": "god.csv: there is no such file; did you mean good.csv?",
    "run folder -y load": "folder is a folder",
    "run empty.csv -y load": "the file is empty",
    "run blank.csv -y load": "the file is empty",
    "run header.csv -y load": "there is not one row in it",
    "run headless.csv -y y": "the first line looks like a row (1, 2, 3): name the columns with",
    "run twice.csv -y y": "line 1: columns 1 and 2 are both called 'a'",
    "run nameless.csv -y y": "line 1: column 2 of the header has no name",
    "run semicolon.csv -y y --delimiter ,": "the only one is 'a;b;y': try --delimiter ';'",
    "run word.csv -y y": "(59 numbers and 1 text): give --na abc if it means missing",
    "run dash.csv -y y": "line 5, column 'load': 'unknown' in a column of numbers (58 numbers",
    "run gap.csv -y y": "line 5, column 'load': the value is missing: choose one with --missing",
    "run inf.csv -y y": "line 5, column 'load': 'inf' is not a finite number",
    "run thousand.csv -y y": "'2,500' can be read in two ways: give --decimal , or --thousands ,",
    "run ambiguous.csv -y y --time day": "give --date-format d/m/Y or m/d/Y",
    "run shuffled.csv -y y --time time": "29 rows are not newer than a row before, the first in",
    "run quote.csv -y y": "line 5: a quote opens in this row and never closes",
    "run short.csv -y y": "line 5: 4 cells in a file of 5 columns",
    "run long.csv -y y": "line 5: 6 cells in a file of 5 columns",
    "run latin.csv -y y": "which is not UTF-8: try --encoding cp1252 ('ö')",
    "run wide16.csv -y y": "NUL: this is not text, or not UTF-8; try --encoding utf-16",
    "run good.csv -y y --encoding utf-16": "is not utf-16",
    "run picture.csv -y y": "this is a PNG image, not a table in text",
    "run book.csv -y y": "this is a zip archive, not a table in text: unpack it first; an Excel",
    "run old.csv -y y": "this is an old Excel workbook (.xls)",
    "run page.csv -y y": "this is an HTML page, not a table in text: was a login page saved",
    "run table.csv -y y": "this is a Parquet file, not a table in text: give --format parquet",
    "run data.db.csv -y y": "an SQLite database, not a table in text: give sqlite:data.db.csv",
    "run packed.csv -y y": "this is packed with bzip2",
    "run data.zip -y y": "this is a zip archive",
    "run torn.csv.gz -y y": "truncated gzip: it ends after",
    "run array.json -y y": "this is one JSON array: write one object per line",
    "run bad.jsonl -y y": "line 2: ",
    "run objects.txt -y y": "line 1: this looks like JSON lines, not CSV: give --input-format",
    "run shop.duckdb -y y": "a DuckDB database, not a table in text: give duckdb:shop.duckdb and",
    "run good.csv -y load --sheet B": "good.csv: --sheet B is for Excel workbooks",
    "certify good.csv": "",
    "certify": "Missing argument 'STATE'",
    "certify good.cvs": "there is no such file; did you mean good.csv?; noregret run DATA --target",
    "certify folder": "folder is a folder: name a model file in it",
    "certify https://there.org/a.nr": "a.nr: a model file is read from this machine: download it",
    "certify a.nr b.nr": "certify takes one model file at a time, and here are 2",
}
"""Commands, by their words, and what the one line on standard error has in it."""
