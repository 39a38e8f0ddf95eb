"""Pools of experts: anything that forecasts, merged so that the best of them is hardly beaten."""
