"""Spark: one learner of all rows, one learner per key, and the same as a stream."""

from noregret.adapters.spark.blocks import certificate_table, fleet_in, states
from noregret.adapters.spark.fitting import SparkFit, fit
from noregret.adapters.spark.replaying import SparkReplay, replay
from noregret.adapters.spark.streaming import SETTINGS, stream

__all__ = [
    "SETTINGS",
    "SparkFit",
    "SparkReplay",
    "certificate_table",
    "fit",
    "fleet_in",
    "replay",
    "states",
    "stream",
]
