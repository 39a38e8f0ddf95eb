"""Public checks that every learner must pass."""
