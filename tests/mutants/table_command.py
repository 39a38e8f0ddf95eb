"""Mutants of the command line: playing, sessions, states, sources."""

from __future__ import annotations

PLAY = (
    "cli/test_command_edges.py",
    "cli/test_cli.py::test_run_equals_replay_in_every_output",
    "cli/test_cli.py::test_a_failing_certificate_is_exit_code_1",
    "cli/test_cli_state.py::test_a_state_of_another_run_is_refused",
    "cli/test_cli_state.py::test_kinds_of_columns_are_remembered",
    "cli/test_cli_state.py::test_a_file_that_grows_is_read_on",
    "cli/test_cli_state.py::test_what_is_missing_is_remembered",
    "cli/test_cli_state.py::test_files_chain_to_the_last_bit",
    "cli/test_cli_robustness.py::test_the_data_are_never_written_over",
    "cli/test_cli_state.py::test_a_signal_halfway_then_resumed_is_one_run",
)
FOUND = ("sources/test_reading.py",)
MEMORY = ("cli/test_state_memory.py", "sources/test_reading.py")
LABELS = ("cli/test_labels.py",)
READ = ("cli/test_command_edges.py", "sources/test_sources.py")
QUOTES = (*READ, "sources/test_parser.py")
PARSED = (*READ, "sources/test_parser.py::test_where_polars_would_read_otherwise")

MUTANTS = {
    "running/player.py": (
        PLAY,
        [
            (
                "block.places[0] <= reading.past",
                "block.places[0] < reading.past",
                "a row at the edge of a block is learned twice",
            ),
            ("block.places > reading.past", "block.places >= reading.past", "the last row again"),
            (
                "self.loss += float(said.loss[known].sum())",
                "self.loss = float(said.loss[known].sum())",
                "a run's loss is that of its last block",
            ),
            ("self.errors += float(", "self.errors = float(", "RMSE of the last block"),
            (
                "        self.rounds += int(known.sum())\n",
                "        self.rounds = int(known.sum())\n",
                "outcomes of the last block",
            ),
            (
                "except (InputError, NumericalError) as refused:",
                "except InputError as refused:",
                "a numerical refusal ends the run",
            ),
            (
                "said.bound[-1] = self.certificate.bound",
                "said.bound[-1] = 0.0",
                "the last bound is 0",
            ),
            (
                "            said.bound[:] = bounds\n",
                "            pass\n",
                "no running bound",
            ),
            ("np.sqrt(noise * replay.spread)", "np.sqrt(replay.spread)", "std without the noise"),
            ("np.sqrt(noise * replay.spread)", "noise * replay.spread", "variance for std"),
            (
                "np.flatnonzero(known[1:] != known[:-1]) + 1",
                "np.flatnonzero(known[1:] != known[:-1])",
                "runs of rows cut one too early",
            ),
            (
                "reading.skip(int(part.places[0]), complaint)",
                "reading.skip(0, complaint)",
                "the place of a refused row",
            ),
            ("complaint = str(refused)", "return", "a refused row is not counted"),
            (
                "said.rows(t, t + 1), reading)",
                "said.rows(0, 1), reading)",
                "rows one by one go to one place",
            ),
            (
                "if self.binary and not np.isin(y, (0.0, 1.0)).all():",
                "if False:",
                "outcomes that are neither 0 nor 1",
            ),
            ("return in_blocks(", "return False and in_blocks(", "wide rows in blocks"),
        ],
    ),
    "cli/session.py": (
        PLAY,
        [
            (
                "                self.rows += len(piece.y)\n",
                "                self.rows = len(piece.y)\n",
                "rows of the last piece",
            ),
            ("int(piece.places[-1]) +", "int(piece.places[0]) +", "where a run stopped"),
            (
                "if saving is not None and whole and self.rows > saving.rows:",
                "if saving is not None and self.rows > saving.rows:",
                "a piece half taken is saved",
            ),
            (
                "if saving is not None and whole and self.rows > saving.rows:",
                "if False:",
                "nothing is saved at the end",
            ),
            ("return 128 + self.stop.signal", "return 0", "an interrupted run succeeds"),
            ("return 1 if failed else 0", "return 0", "a failing certificate succeeds"),
            ("if c.holds is False]", "if c.holds is None]", "which certificates fail"),
            (
                "if self.stop.signal and not self.source.live:",
                "if False:",
                "signals are not heard",
            ),
            ("        self.reading.wanted = encoding.wanted()\n", "", "all columns are read"),
            ("            recall(state, self)\n", "", "a state is never read"),
        ],
    ),
    "cli/apart.py": (PLAY, [("if own in taken:", "if False:", "data are written over")]),
    "cli/state.py": (
        PLAY,
        [
            ("rows - self.rows >= self.every", "rows - self.rows > self.every", "saved late"),
            (
                '_head(key, source["head"][0]) == source["head"]',
                "True",
                "a changed file goes on",
            ),
            (
                'session.last = int(source["last"])',
                "pass",
                "the last place is forgotten",
            ),
            ("if settings[name] != before:", "if False:", "a state of another run"),
            ('    encoding.recall(kept["encoding"])\n', "", "the memory of columns"),
            ("_chosen(learner) != _chosen(player.learner)", "False", "other parameters go on"),
            ('same = source["key"] == key\n', "same = True\n", "another file is skipped into"),
            (
                "    session.reading.kinds |= encoding.kinds\n",
                "",
                "kinds of columns are forgotten",
            ),
        ],
    ),
    "sources/block.py": (
        READ,
        [
            (
                "        if number <= self.past:\n            return\n",
                "",
                "bad rows of an earlier run count again",
            ),
            (
                "if self.bad >= self.allowed:",
                "if self.bad + 1 >= self.allowed:",
                "one bad row too few",
            ),
            (
                "if self.bad >= self.allowed:",
                "if self.bad > self.allowed:",
                "one bad row too many",
            ),
            (
                "                    del self.kinds[column]\n",
                "                    pass\n",
                "a bad row settles a kind",
            ),
            ("self.first = self.first or message", "self.first = message", "the last complaint"),
            (
                "if typed and isinstance(value, str) and kind_of_text(value) == NUMBER:",
                "if False:",
                "text that looks like a number begins a column of numbers",
            ),
            ("if name in self.names[:i]:", "if False:", "two columns of one name"),
            (
                "self.places[keep], self.open, self.whole)",
                "self.places, self.open, self.whole)",
                "places of rows left out",
            ),
        ],
    ),
    "sources/fitting.py": (
        READ,
        [
            ("if isinstance(value, int) and taken != value:", "if False:", "integers lose digits"),
            (
                "    if not math.isfinite(taken):\n        raise",
                "    if False:\n        raise",
                "infinities are numbers",
            ),
            (
                "if isinstance(value, str) and not typed and NUMERIC",
                "if isinstance(value, str) and NUMERIC",
                "text that looks like a number",
            ),
        ],
    ),
    "sources/survey.py": (
        FOUND,
        [
            ("if numbers > most or", "if", "most values are numbers, and the column is not"),
            ("or word:", "or False:", "a word that must mean missing makes a column text"),
            (
                "if one.open and commas != points and",
                "if False and",
                "no column decides for another",
            ),
            ("different <= max(MANY, len(texts) // 2)", "True", "names are features"),
            ("name.lower() in CALLED_TIME", "True", "any large number is a time"),
        ],
    ),
    "sources/dates.py": (
        FOUND,
        [
            ('("b", "a") if order == "dmY"', '("a", "b") if order == "dmY"', "day and month"),
            ('"mdY" if tie and differ else ""', '""', "days and months are guessed"),
            ('hour % 12 + 12 * (half == "P")', 'hour + 12 * (half == "P")', "noon and midnight"),
            ("datetime.fromisoformat(when)  #", "pass  #", "the 31st of February"),
        ],
    ),
    "sources/cells.py": (
        FOUND,
        [
            ("found.setdefault(tuple", "found.__setitem__(tuple", "the last style of many"),
            ("(?:{re.escape(thousands)}\\d{{3}})+", "(?:{re.escape(thousands)}\\d+)+", "12.34"),
        ],
    ),
    "sources/clock.py": (
        MEMORY,
        [
            ("if self.repeated else seconds <= self.edge", "", "the last row is learned again"),
            ("late = behind > (HOUR if naive else 0.0)", "pass", "shuffled rows are learned"),
            ("(HOUR if naive else 0.0)", "0.0", "clocks do not go back"),
            ("return ~late", "return late", "late rows are the ones that are learned"),
            ("size > 1.5 * self.every", "size > 1.0 * self.every + 9e9", "gaps are not seen"),
            ("self.last if elsewhere and not self.backward else None", "None", "no edge"),
        ],
    ),
    "sources/labels.py": (
        LABELS,
        [
            ("y[i] = float(text == self.one)", "y[i] = float(text == self.zero)", "labels"),
            ("            keep[i] = False\n", "", "a third label is learned"),
            ("self.one = max(seen, key=float)", "self.one = min(seen, key=float)", "1 and 2"),
            ("return [self.zero, self.one, self.plain]", "return [None, None, False]", "forgotten"),
        ],
    ),
    "sources/lines.py": (
        QUOTES,
        [
            ("            number += count\n", "            number += 1\n", "line numbers"),
            (
                "while chunk := file.read(READ):",
                "if chunk := file.read(READ):",
                "only the first chunk",
            ),
            ("READ = 1 << 24", "READ = 1 << 3", "tiny chunks"),
            ("raw = packer.unconsumed_tail\n", 'raw = b""\n', "what gzip has left"),
            ("    if not fresh:\n", "    if False:\n", "a truncated gzip"),
            ('packer.unused_data.lstrip(b"\\0")', 'b""', "further gzip members"),
            ("    if held and not skipping:\n", "    if False:\n", "a last line without its end"),
            ("            return row\n", "            return end\n", "blocks end inside quotes"),
            ('rfind(b"\\n", done, cell', 'rfind(b"\\n", 0, cell', "breaks inside cells end rows"),
            ("    if len(quotes) % 2:\n        return False\n", "", "quotes that do not close"),
            ('lines.removeprefix(b"\\xef\\xbb\\xbf")', "lines", "the mark of UTF-8"),
            ("        if len(held) > LONGEST:\n", "        if False:\n", "lines of any length"),
        ],
    ),
    "sources/delimited.py": (
        PARSED,
        [
            ("    if frame.height != rows:\n        return None\n", "", "blank lines shift places"),
            (
                "        return float(name)\n",
                "        return None\n",
                "years as names and the header again",
            ),
            (
                "rows = rows.filter(cells.is_null())",
                "return False",
                "a word for missing as a name and the header again",
            ),
            (
                "if np.count_nonzero(np.isfinite(values)) != rows - nulls:",
                "if False:",
                "infinities in a fast column",
            ),
            (
                "lines.count(delimiter.encode()) != rows * (len(names) - 1)",
                "False",
                "rows that are too short",
            ),
            ("if not reading.words.isdisjoint(texts):", "if False:", "blanks around NA"),
            (
                "np.arange(number, number + rows, dtype=np.int64)",
                "np.arange(1, 1 + rows, dtype=np.int64)",
                "line numbers of a fast block",
            ),
            ("if len(row) != len(names):", "if len(row) < len(names):", "rows that are too long"),
        ],
    ),
    "sources/prefetch.py": (
        READ,
        [
            (
                "coming.popleft().result()",
                "[] if (made_one := coming.popleft()).exception() else made_one.result()",
                "an error ends the data",
            ),
            (
                "worker.shutdown(cancel_futures=True)",
                "worker.shutdown(wait=False, cancel_futures=True)",
                "the reader is left behind",
            ),
        ],
    ),
    "sources/encoding.py": (
        READ,
        [
            (
                "there = ~gaps\n        if self.missing",
                "there = gaps\n        if self.missing",
                "gaps for values",
            ),
            (
                "self.sums[slot] = float(sums[-1])",
                "self.sums[slot] = float(sums[0])",
                "sums of the last block",
            ),
            (
                "counts = before + np.concatenate",
                "counts = np.concatenate",
                "counts of the last block",
            ),
            (
                "self.last[slot] = float(column[-1])",
                "self.last[slot] = float(column[0])",
                "the last value",
            ),
            (
                "self.counts[name] = self.counts.get(name, 0) + int((~gaps).sum())",
                "self.counts[name] = int((~gaps).sum())",
                "counts are overwritten",
            ),
            (
                "if slot >= self.max_features:",
                "if slot > self.max_features:",
                "one feature too many",
            ),
            (
                "return sorted(found, key=lambda birth: birth[:2])",
                "return found",
                "features in the order of columns",
            ),
            ("if feature in self.slots:", "if False:", "two features of one name"),
        ],
    ),
    "sources/calendar.py": (
        READ,
        [
            (
                "year = 2.0 * math.pi * (time.timetuple().tm_yday - 1)",
                "year = 2.0 * math.pi * time.timetuple().tm_yday",
                "the time of year",
            ),
            ("row[6 + time.weekday()] = 1.0", "row[6 + time.isoweekday() % 7] = 1.0", "weekdays"),
            ("time.minute / 60.0", "time.minute / 100.0", "minutes"),
        ],
    ),
}
