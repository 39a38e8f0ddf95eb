"""One learner per key, for thousands to tens of millions of keys."""
