"""All mutants: by file, the tests that should notice and (old text, new text, what it breaks).

The old text stands in its file exactly once; run.py fails loudly where it does not.
"""

from __future__ import annotations

import table_command
import table_core
import table_files
import table_native
import table_pools
import table_theorems

MUTANTS = {
    **table_native.MUTANTS,
    **table_core.MUTANTS,
    **table_theorems.MUTANTS,
    **table_pools.MUTANTS,
    **table_files.MUTANTS,
    **table_command.MUTANTS,
}

SCRATCH = "every core clears FRESH itself: this is a second belt"

EQUIVALENT: dict[tuple[str, str], str] = {
    (
        "native/primal.hpp",
        "looks are never reused",
    ): "slower, the same numbers: a look is made again",
    (
        "native/admit.hpp",
        "NaN admitted among the last features",
    ): "the look at NaN is NaN, which answers OVERFLOW: the careful "
    "lane then refuses x by name all the same",
    (
        "native/margin.hpp",
        "a look beyond the ceiling is reused",
    ): "no rounds are asked with two ceilings: those of a fleet are its own",
    (
        "native/drift.hpp",
        "NaN in the gauge",
    ): "P_jj and x_j are finite and P_jj x_j is multiplied by "
    "x_j again: infinite perhaps, never NaN",
    ("native/rounds.hpp", "a look survives a replay"): SCRATCH,
    (
        "native/bind_learner.cpp",
        "x given twice",
    ): "x given twice leaves y without a value, which is the error all the same",
    (
        "native/bind_rows.cpp",
        "labels that are bool",
    ): "slower, the same numbers: the careful lane reads them",
    ("native/sparse.hpp", "NaN forecast from"): "the sum is NaN then, and NaN is the refusal",
    ("native/account.hpp", "every label counted as positive"): "stored, and read by nobody yet",
    (
        "native/families.hpp",
        "where the probit's series begins",
    ): "between -37.9 and -35 both forms are right to 1e-12",
    (
        "native/mixing.hpp",
        "where merit is judged",
    ): "g is the same from whichever expert it is reckoned: only rounding differs",
    (
        "native/mixing.hpp",
        "a tie changes experts",
    ): "two sequences of the same price: either is the best one",
    (
        "native/mixing.hpp",
        "normalised in every round",
    ): "slower: weights that add up to 1 are made to add up to 1, at the same eta",
    (
        "native/mixing.hpp",
        "sleepers count for the reach",
    ): "who sleeps says NaN and costs NaN, which is larger than nothing",
    (
        "sources/encoding.py",
        "features in the order of columns",
    ): "rows are sorted by the caller, and within a row columns come in their order",
    ("gaussian/cores/dual.py", "spreads below 1"): "by rounding only: 1e-13 of the spread",
}
"""Survivors by file and what they break, and why no test can or need notice."""
