"""Dense, slow, obvious twins, written from the formulas, for tests and audits."""
