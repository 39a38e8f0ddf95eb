"""Forecasts 1..H steps ahead from rows with times: the room of nr.Forecaster."""
