"""What every learner shares."""
