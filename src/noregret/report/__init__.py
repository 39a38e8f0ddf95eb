"""Reports that people look at: one HTML page about a run, without any network.

>>> import noregret as nr
>>> from noregret import report
>>> learners = {"AAR": nr.AAR(), "ridge": nr.Ridge()}
>>> X, y = [[1.0], [2.0], [1.0]], [1.0, 1.5, 1.0]
>>> runs = [report.play(learner, X, y, name=name) for name, learner in learners.items()]
>>> report.write("/dev/null", runs, title="Three rounds", about={"data": "made up"})
"""

from noregret.report.page import page, write
from noregret.running.player import play
from noregret.running.recording import Recording

__all__ = ["Recording", "page", "play", "write"]
