"""A learner in a run: playing a stream, and keeping what is shown of it."""
