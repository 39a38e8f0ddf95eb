"""Lower bounds are tests too: each stream shows what its theorem says, at any parameters."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import DotProduct

import noregret as nr
from noregret.adversaries import ADVERSARIES, BayesOpponent, bayes_sample, doubling, play, reversal
from noregret.errors import InputError, ParameterError
from noregret.reference import exact
from noregret.types import Normal

LIMIT = 3.0 / (2.0 * math.log(2.0))

LEARNERS = {
    "ridge": nr.Ridge,
    "clipped ridge": lambda a: nr.Ridge(a, clip=1.0),
    "AAR": nr.AAR,
    "AARCh": lambda a: nr.AAR(a, drift=0.05),
    "KAAR": lambda a: nr.AAR(a, kernel=DotProduct(sigma_0=0.0)),
    "Bayesian ridge": nr.BayesianRidge,
    "Bayesian ridge, wrong noise": lambda a: nr.BayesianRidge(a, noise_var=5.0),
    "Bayesian ridge, wrong prior": lambda a: nr.BayesianRidge(30.0 * a, noise_var=0.2),
}
every_learner = pytest.mark.parametrize("make", LEARNERS.values(), ids=LEARNERS)
precisions = st.sampled_from([1e-3, 0.1, 0.7, 1.0, 3.0, 1e2])
scales = st.sampled_from([0.01, 0.5, 1.0, 4.0, 300.0])


def best(X, y, a: float) -> float:
    return nr.Ridge(a).fit(X, y).certificate().comparator


# Zhdanov and Vovk after (3): 4Y^2 cannot become less than 3/(2 ln 2) Y^2 ---------------------


def factor(learner, T: int, a: float = 1.0, Y: float = 1.0) -> float:
    """(loss - V)/(Y^2 ln det)."""
    X, y = doubling(T, prior_precision=a, outcome_bound=Y)
    regret = play((X, y), learner).loss.sum() - best(X, y, a)
    return float(regret) / (Y * Y * math.log((4 ** (T + 1) - 1) // 3))


def test_doubling_in_rational_arithmetic() -> None:
    X, y = doubling(12)
    assert X.tolist() == [[2.0**t] for t in range(1, 13)]
    assert y.tolist() == [-1.0, 1.0] * 6
    assert exact.determinant(X.tolist(), 1.0) == Fraction(4**13 - 1, 3)
    means, _ = exact.looks(X.tolist(), y.tolist(), 1.0)
    for t, m in enumerate(means, start=1):
        assert m == Fraction(-((-4) ** t) - 2 ** (t + 1), 4**t - 1)  # tends to -y


@pytest.mark.parametrize("T", [10, 400, 1000])
def test_doubling_costs_ridge_four_a_round(T: int) -> None:
    """V = T - b^2/A -> T - 1/3, the loss 4T - O(1): unclipped it is 4T too."""
    X, y = doubling(T)
    b, A = sum((-2) ** t for t in range(1, T + 1)), (4 ** (T + 1) - 1) // 3
    assert best(X, y, 1.0) == pytest.approx(float(T - Fraction(b * b, A)), rel=1e-9)
    assert 4 * T - 6.0 < play((X, y), nr.Ridge(clip=1.0)).loss.sum() < 4 * T
    assert play((X, y), nr.Ridge()).loss.sum() == pytest.approx(4 * T, abs=1.0)


def test_doubling_needs_the_factor_of_the_paper() -> None:
    found = [factor(nr.Ridge(clip=1.0), T) for T in (10, 30, 100, 400, 1000)]
    assert found == pytest.approx([1.8456313, 2.0563384, 2.1315752, 2.1559131, 2.1607898], rel=1e-7)
    assert factor(nr.AAR(), 1000) == pytest.approx(9.0 / (32.0 * math.log(2.0)), rel=1e-3)


@pytest.mark.parametrize("smaller", [1.0, 1.8, 2.0, 2.1, 2.15, 2.16])
def test_no_smaller_factor_will_do(smaller: float) -> None:
    """With c for 4, c < 3/(2 ln 2), the bound breaks at some T; 2.16 takes 1000 rounds."""
    T = next(T for T in (10, 30, 100, 300, 1000) if factor(nr.Ridge(clip=1.0), T) > smaller)
    X, y = doubling(T)
    certificate = nr.Ridge(clip=1.0).fit(X, y).certificate()
    assert certificate.holds
    allowance = (certificate.bound - certificate.comparator) / 4.0
    assert certificate.loss > certificate.comparator + smaller * allowance


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 80), precisions, scales)
def test_doubling_scales_with_prior_and_outcomes(T: int, a: float, Y: float) -> None:
    clipped = factor(nr.Ridge(a, clip=Y), T, a, Y)
    assert clipped == pytest.approx(factor(nr.Ridge(clip=1.0), T), rel=1e-9)
    assert clipped < LIMIT
    X, y = doubling(T, prior_precision=a, outcome_bound=Y)
    assert X.shape == (T, 1)
    assert np.abs(y).max() == Y
    for learner in (nr.Ridge(a, clip=Y), nr.AAR(a), nr.BayesianRidge(a)):
        assert learner.fit(X, y).certificate().holds


@pytest.mark.parametrize(("a", "most"), [(1.0, 1000), (4.0, 999), (0.25, 1001), (3.0, 999)])
def test_doubling_ends_where_learners_refuse(a: float, most: int) -> None:
    X, y = doubling(most, prior_precision=a)
    assert X[-1, 0] <= 2.0**1000 < 2.0 * X[-1, 0]
    assert nr.Ridge(a, clip=1.0).fit(X, y).certificate().holds
    with pytest.raises(ParameterError, match=rf"rounds = {most + 1}: .* give at most {most} at"):
        doubling(most + 1, prior_precision=a)


# Kakade and Ng, Theorem 3.2: MAP pays Omega(T) ---------------------------------------------


@pytest.mark.parametrize("root", [1, 2, 4, 8])
def test_reversal_in_rational_arithmetic(root: int) -> None:
    """inf = T/3, not T/4; L_MAP >= 3T/8; the gap is at least T/24."""
    T = root * root
    X, y = reversal(T + 1)
    means, _ = exact.looks(X.tolist(), y.tolist(), 1.0)
    paid = sum((Fraction(v) - m) ** 2 for v, m in zip(y, means, strict=True)) / 2
    assert exact.best_loss(X.tolist(), y.tolist(), 1.0) / 2 == Fraction(T, 3)
    assert Fraction(3 * T, 8) < paid <= Fraction(3 * T, 8) + Fraction(1, 4)


@pytest.mark.parametrize("T", [10, 100, 1000, 10_000])
def test_reversal_costs_ridge_a_share_of_every_round(T: int) -> None:
    """The gap is T/24 + 3/16 + O(1/T): below the T/8 that is printed."""
    X, y = reversal(T + 1)
    gap = (((nr.Ridge().replay(X, y).forecast - y) ** 2).sum() - best(X, y, 1.0)) / 2.0
    assert T / 24.0 < gap < T / 24.0 + 0.2
    assert best(X, y, 1.0) / 2.0 == pytest.approx(T / 3.0, rel=1e-9)


@settings(max_examples=100, deadline=None)
@given(st.integers(2, 300), precisions, scales, scales)
def test_reversal_for_any_prior_norm_and_outcome(rounds: int, a: float, Z: float, Y: float) -> None:
    X, y = reversal(rounds, norm_bound=Z, outcome_bound=Y)
    assert X.shape == (rounds, 1)
    assert np.abs(X).max() == Z
    unit, z = Y * Y * (rounds - 1), Z * Z / a
    V = best(X, y, a)
    assert abs(V - unit * (1 + z) / (1 + 2 * z)) <= 1e-9 * V
    loss = play((X, y), nr.Ridge(a)).loss.sum()
    assert loss >= unit * (1 + z + z * z) / (1 + z) ** 2 * (1 - 1e-9)
    assert loss - V >= unit * z**3 / ((1 + z) ** 2 * (1 + 2 * z)) - 1e-9 * loss
    assert loss <= (1 + z) * V * (1 + 1e-9)  # ZV Corollary 2
    assert play((X, y), nr.AAR(a)).loss.sum() - V <= Y * Y * math.log1p(2 * z) + 1e-9 * V
    assert play((X, y), nr.Ridge(a, clip=Y)).loss[-1] <= Y * Y


# Kakade and Ng, Theorem 2.3: nobody beats Bayes ---------------------------------------------


@pytest.mark.parametrize(("T", "a", "s2"), [(1, 1.0, 1.0), (50, 1.0, 1.0), (200, 0.3, 4.0)])
def test_bayes_equality_for_one_feature(T: int, a: float, s2: float) -> None:
    """L_BMA = inf + ln(1 + T/a)/2 on x = 1, whatever the outcomes."""
    for y in (np.random.default_rng(T).standard_normal(T), np.full(T, 7.0)):
        certificate = nr.BayesianRidge(a, noise_var=s2).fit(np.ones((T, 1)), y).certificate()
        assert certificate.regret == pytest.approx(0.5 * math.log1p(T / a), rel=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 60), st.integers(1, 7), precisions, scales)
def test_bayes_meets_the_bound_exactly(T: int, n: int, a: float, s2: float) -> None:
    opponent = BayesOpponent(T, n, prior_precision=a, noise_var=s2)
    learner = nr.BayesianRidge(a, noise_var=s2)
    game = play(opponent, learner)
    assert game.loss.sum() == pytest.approx(opponent.best + opponent.margin, rel=1e-9, abs=1e-9)
    certificate = learner.certificate()
    assert certificate.comparator == pytest.approx(opponent.best, rel=1e-9, abs=1e-9)
    assert opponent.margin >= 0.5 * n * math.log1p(T // n / a) - 1e-12
    if T % n == 0:  # the upper bound of KN Theorem 2.2: Bayes is minimax
        assert opponent.margin == pytest.approx(0.5 * n * math.log1p(T / (n * a)), rel=1e-9)


@every_learner
@pytest.mark.parametrize(
    ("T", "n", "a", "s2"),
    [(1, 1, 1.0, 1.0), (60, 1, 1.0, 1.0), (50, 4, 0.3, 2.0), (3, 5, 7.0, 0.1)],
)
def test_nobody_beats_bayes(make, T: int, n: int, a: float, s2: float) -> None:
    """In every round, and in square loss for those who forecast numbers."""
    opponent, learner = BayesOpponent(T, n, prior_precision=a, noise_var=s2), make(a)
    game = play(opponent, learner)
    assert game.X.shape == (T, n)
    V = float(exact.best_loss(game.X.tolist(), game.y.tolist(), a))
    assert opponent.best == pytest.approx(
        0.5 * T * math.log(2.0 * math.pi * s2) + V / (2.0 * s2), rel=1e-9, abs=1e-9
    )
    size = 1e-9 * np.abs(game.loss).sum()
    bayes = nr.BayesianRidge(a, noise_var=s2).replay(game.X, game.y)
    assert (game.loss - bayes.loss >= -1e-9).all()
    assert game.loss.sum() >= opponent.best + opponent.margin - size
    if not isinstance(learner, nr.BayesianRidge):
        square = play((game.X, game.y), make(a)).loss.sum()
        assert square >= V + 2.0 * s2 * opponent.margin - 1e-9 * square


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(st.floats(-1e3, 1e3), st.floats(-6.0, 6.0)), min_size=1, max_size=12),
    st.integers(1, 3),
    precisions,
    scales,
)
def test_every_answer_has_no_more_density_than_bayes_gave_it(forecasts, n, a, s2) -> None:
    """Whatever normal distributions are forecast, q(y) <= p(y) in every round."""
    opponent = BayesOpponent(len(forecasts), n, prior_precision=a, noise_var=s2)
    bayes = nr.BayesianRidge(a, noise_var=s2)
    for mean, log_var in forecasts:
        x, q = opponent.ask(), Normal(mean=mean, var=s2 * 10.0**log_var)
        p = bayes.predictive(x)
        y = opponent.answer(q)
        assert q.log_density(y) <= p.log_density(y) + 1e-9 * abs(q.log_density(y)) + 1e-9
        assert opponent.loss(q, y) == -q.log_density(y)
        bayes.learn_one(x, y)


class Blend:
    """A mixture of normal distributions."""

    def __init__(self, *parts: tuple[float, float, float]) -> None:
        self.parts = [(weight, Normal(mean=m, var=v)) for weight, m, v in parts]
        self.mean = sum(w * part.mean for w, part in self.parts)
        self.var = sum(w * (part.var + (part.mean - self.mean) ** 2) for w, part in self.parts)

    def log_density(self, y: float) -> float:
        logs = [math.log(w) + part.log_density(y) for w, part in self.parts]
        return max(logs) + math.log(sum(math.exp(v - max(logs)) for v in logs))


weights = st.floats(0.01, 0.99)
means, log_vars = st.floats(-5.0, 5.0), st.floats(-5.0, 3.0)


@settings(max_examples=200, deadline=None)
@given(weights, means, log_vars, means, log_vars)
def test_mixtures_do_not_beat_bayes_either(w, m1, v1, m2, v2) -> None:
    q = Blend((w, m1, 10.0**v1), (1.0 - w, m2, 10.0**v2))
    opponent, bayes = BayesOpponent(4, prior_precision=0.5), nr.BayesianRidge(0.5)
    for _ in range(4):
        x = opponent.ask()
        p, y = bayes.predictive(x), opponent.answer(q)
        assert q.log_density(y) <= p.log_density(y) + 1e-9
        bayes.learn_one(x, y)


def test_a_density_that_is_above_bayes_wherever_one_looks() -> None:
    """A little more than Bayes on narrow spikes, nothing between them, is refused."""
    deviation = math.sqrt(2.0)
    heights = [(k / 8.0, math.exp(-k * k / 128.0)) for k in range(-64, 65)]
    whole = sum(height for _, height in heights)
    comb = Blend(*((h / whole, z * deviation, 1e-6) for z, h in heights))
    opponent = BayesOpponent(3)
    with pytest.raises(InputError, match=r"above Bayes at each of .* play bayes_sample"):
        opponent.answer(comb)
    assert opponent.played == 0
    flat = Blend(*((0.25, m, 0.2) for m in (-1.2, -0.4, 0.4, 1.2)))  # met beyond one deviation
    for humps in (flat, Blend((0.5, -0.7, 0.1), (0.5, 0.7, 0.1))):
        y, p = opponent.answer(humps), Normal(mean=0.0, var=2.0)
        assert humps.log_density(y) <= p.log_density(y)
        opponent = BayesOpponent(3)


def test_a_forecast_equal_to_bayes_but_wider_gains_nothing() -> None:
    """Bayes with a larger variance is met at the mean, with a smaller one off it."""
    for var, y in ((2.0 * 1.5, 0.0), (2.0 / 1.5, math.sqrt(2.0))):
        opponent = BayesOpponent(5)
        assert abs(opponent.answer(Normal(mean=0.0, var=var))) == pytest.approx(y, rel=1e-12)


def test_where_either_side_will_do_outcomes_stay_small() -> None:
    """Ridge and Bayes have the opponent's own mean: it answers towards 0, so y does not grow."""
    for learner in (nr.Ridge(), nr.BayesianRidge()):
        y = play(BayesOpponent(200), learner).y
        assert 0.5 < np.abs(y).min() <= np.abs(y).max() <= math.sqrt(2.0)


@pytest.mark.parametrize(("T", "n"), [(12, 3), (14, 3), (2, 5), (7, 1)])
def test_features_come_in_blocks(T: int, n: int) -> None:
    X = play(BayesOpponent(T, n), nr.AAR()).X
    order = X.argmax(axis=1)
    lengths = np.bincount(order, minlength=n)
    assert (np.sort(order) == order).all()
    assert set(lengths.tolist()) <= {T // n, T // n + 1}
    assert (X.sum(axis=1) == 1.0).all()
    np.testing.assert_array_equal(X, bayes_sample(T, n)[0])


def test_asking_changes_nothing_and_rounds_end() -> None:
    opponent = BayesOpponent(2)
    for _ in range(3):
        assert opponent.ask().tolist() == [1.0]
    assert opponent.played == 0
    assert opponent.best == opponent.margin == 0.0
    play(opponent, nr.Ridge())
    with pytest.raises(ParameterError, match="rounds = 2: all have been played; make a new"):
        play(opponent, nr.Ridge())


@pytest.mark.parametrize(
    "forecast",
    [
        math.nan,
        math.inf,
        None,
        "1",
        Normal(0.0, 0.0),
        Normal(math.nan, 1.0),
        Normal([0.0, 1.0], 1.0),
    ],
    ids=repr,
)
def test_odd_forecasts_are_refused_and_change_nothing(forecast) -> None:
    opponent = BayesOpponent(3)
    opponent.answer(0.5)
    before = (opponent.played, opponent.best, opponent.margin)
    with pytest.raises(InputError, match="forecast = "):
        opponent.answer(forecast)
    assert (opponent.played, opponent.best, opponent.margin) == before


def test_nobody_beats_bayes_on_average() -> None:
    """Drawn from the prior: mean differences are positive by five standard errors or more."""
    T, n, a, s2 = 30, 2, 0.5, 4.0
    rivals = {
        "prior": nr.BayesianRidge(20.0 * a, noise_var=s2),
        "noise": nr.BayesianRidge(a, noise_var=0.5 * s2),
        "drift": nr.BayesianRidge(a, noise_var=s2, drift=0.05),
    }
    games = [bayes_sample(T, n, prior_precision=a, noise_var=s2, seed=k) for k in range(300)]
    bayes = [nr.BayesianRidge(a, noise_var=s2).replay(*game) for game in games]
    for name, rival in rivals.items():
        extra = [rival.fit(*g).certificate().loss - b.loss.sum() for g, b in zip(games, bayes)]
        assert np.mean(extra) > 5.0 * np.std(extra) / math.sqrt(len(extra)), name
    ridge, aar = (
        np.array([play(game, make(a)).loss.sum() for game in games]) for make in (nr.Ridge, nr.AAR)
    )
    assert np.mean(aar - ridge) > 5.0 * np.std(aar - ridge) / math.sqrt(len(games))
    assert ridge.mean() == pytest.approx(s2 * bayes[0].spread.sum(), rel=0.03)


def test_samples_are_what_the_seed_says() -> None:
    one, other = bayes_sample(20, 3, seed=4), bayes_sample(20, 3, seed=4)
    np.testing.assert_array_equal(one[1], other[1])
    assert (one[1] != bayes_sample(20, 3, seed=5)[1]).all()
    scaled = bayes_sample(20, 3, noise_var=9.0, seed=4)
    np.testing.assert_allclose(scaled[1], 3.0 * one[1], rtol=1e-12)


# All of them ------------------------------------------------------------------------------


@every_learner
@pytest.mark.parametrize("name", ADVERSARIES)
def test_every_learner_plays_every_adversary(name: str, make) -> None:
    learner = make(0.4)
    game = play(ADVERSARIES[name](25), learner)
    assert len(game.X) == len(game.y) == len(game.loss) == learner.n_samples_seen_ == 25
    assert np.isfinite(game.loss).all()
    for certificate in learner.certificates():
        assert certificate.holds is not False, str(certificate)


@pytest.mark.parametrize("stream", [doubling(30), reversal(30), bayes_sample(30, 2)])
def test_playing_a_stream_is_replaying_it(stream) -> None:
    game, replay = play(stream, nr.AAR(0.3)), nr.AAR(0.3).replay(*stream)
    np.testing.assert_allclose(game.loss, replay.loss, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ADVERSARIES)
@pytest.mark.parametrize("rounds", [0, -3, 2.0, True, "10", None])
def test_odd_numbers_of_rounds_are_refused(name: str, rounds) -> None:
    with pytest.raises(ParameterError, match=r"rounds = .*: it must be a whole number of at least"):
        ADVERSARIES[name](rounds)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (doubling, "prior_precision"),
        (doubling, "outcome_bound"),
        (reversal, "norm_bound"),
        (reversal, "outcome_bound"),
        (bayes_sample, "prior_precision"),
        (bayes_sample, "noise_var"),
        (BayesOpponent, "prior_precision"),
        (BayesOpponent, "noise_var"),
    ],
)
@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf, 1e200, True, "1", None])
def test_odd_parameters_are_refused(make, name: str, value) -> None:
    with pytest.raises(ParameterError, match=rf"{name} = .*: it must be a number > 0"):
        make(5, **{name: value})


def test_other_odd_parameters_are_refused() -> None:
    for make in (bayes_sample, BayesOpponent):
        with pytest.raises(ParameterError, match="features = 0"):
            make(5, 0)
    with pytest.raises(ParameterError, match="seed = -1"):
        bayes_sample(5, seed=-1)
    with pytest.raises(ParameterError, match="rounds = 1: it must be a whole number of at least 2"):
        reversal(1)
