"""Spark: one learner of all rows, one learner per key, and the same as a stream."""

from noregret.adapters.spark.blocks import certificates, states, to_fleet
from noregret.adapters.spark.fitting import SparkFit, fit
from noregret.adapters.spark.replaying import SparkReplay, replay
from noregret.adapters.spark.streaming import SETTINGS, stream

__all__ = [
    "SETTINGS",
    "SparkFit",
    "SparkReplay",
    "certificates",
    "fit",
    "replay",
    "states",
    "stream",
    "to_fleet",
]
