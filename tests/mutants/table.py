"""All mutants: by file, the tests that should notice and (old text, new text, what it breaks).

The old text stands in its file exactly once; run.py fails loudly where it does not.
"""

from __future__ import annotations

import table_command
import table_core
import table_files
import table_pools
import table_theorems

MUTANTS = {
    **table_core.MUTANTS,
    **table_theorems.MUTANTS,
    **table_pools.MUTANTS,
    **table_files.MUTANTS,
    **table_command.MUTANTS,
}

EQUIVALENT: dict[str, str] = {}
"""Survivors by their old text, and why no test can or need notice."""
