"""Whatever the caller holds becomes float64 exactly, or is refused by name."""
