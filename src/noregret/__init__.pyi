# The public names, each once: __init__.py reads this file and imports a name on first use.

from noregret import plot as plot
from noregret import report as report
from noregret.budgets import Nystrom as Nystrom
from noregret.budgets import Polynomial as Polynomial
from noregret.budgets import RandomFourier as RandomFourier
from noregret.budgets import Taylor as Taylor
from noregret.budgets import Window as Window
from noregret.certificates import Certificate as Certificate
from noregret.experts.aggregating import AggregatingAlgorithm as AggregatingAlgorithm
from noregret.experts.aggregating import BayesianAlgorithm as BayesianAlgorithm
from noregret.experts.aggregating import ExponentialWeights as ExponentialWeights
from noregret.experts.aggregation import Aggregation as Aggregation
from noregret.experts.aggregation import aggregate as aggregate
from noregret.experts.auto import Auto as Auto
from noregret.experts.comparators import best_sequence as best_sequence
from noregret.experts.over import over as over
from noregret.experts.safe import SafeLogistic as SafeLogistic
from noregret.experts.safe import SafeOSLOG as SafeOSLOG
from noregret.gaussian.hindsight import Hindsight as Hindsight
from noregret.gaussian.learners import AAR as AAR
from noregret.gaussian.learners import BayesianRidge as BayesianRidge
from noregret.gaussian.learners import Ridge as Ridge
from noregret.glm.learners import BayesianLogistic as BayesianLogistic
from noregret.glm.learners import ImproperLogistic as ImproperLogistic
from noregret.glm.learners import MAPLogistic as MAPLogistic
from noregret.learner.base import Learner as Learner
from noregret.learner.base import OnlineLearner as OnlineLearner
from noregret.learner.replay import Replay as Replay
from noregret.lms.comparators import Expansion as Expansion
from noregret.lms.kernel_lms import KernelLMS as KernelLMS
from noregret.lms.net import KLMSNet as KLMSNet
from noregret.snapshot import from_bytes as from_bytes
from noregret.snapshot import load as load
from noregret.snapshot import save as save
from noregret.snapshot import to_bytes as to_bytes
from noregret.sparse.oslog import OSLOG as OSLOG
from noregret.sparse.slog import SLOG as SLOG
from noregret.types import Bernoulli as Bernoulli
from noregret.types import Mixture as Mixture
from noregret.types import Normal as Normal
from noregret.wrappers.delayed import Delayed as Delayed
from noregret.wrappers.lagged import Lagged as Lagged
from noregret.wrappers.merging import merge as merge

__version__: str
