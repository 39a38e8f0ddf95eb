"""Learners around learners: late outcomes, lags; and merging."""
