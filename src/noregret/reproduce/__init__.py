"""Published tables and figures, redone: each module has one paper or page."""
