"""Every rule and family of the package keeps its contract, and what breaks it is told why.

Strategies: tests/strategies/test_strategies.py.
"""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from mfbai import Instance
from mfbai.kernels.jit import kernel
from mfbai.kernels.laws import divergence, exponent, sample, slopes, variance
from mfbai.kernels.laws.bernoulli import (
    bernoulli_divergence,
    bernoulli_exponent,
    bernoulli_sample,
    bernoulli_slopes,
    bernoulli_variance,
)
from mfbai.model.families import (
    FAMILIES,
    Bernoulli,
    Bounded,
    Exponential,
    Gaussian,
    Poisson,
    SubGaussian,
    Symmetric,
    traits,
)
from mfbai.model.spec import check_instance
from mfbai.stopping import RULES, Rule, decide, observe
from mfbai.strategies import STRATEGIES, Strategy, ask, tell
from mfbai.testing import check_family, check_rule, check_strategy, families
from mfbai.testing.strategies import check_ask_is_pure, check_pending_spreads, check_without_jit

FAMILY_CASES = [
    Gaussian(0.25),
    SubGaussian(0.25),
    SubGaussian(bounds=(-1.0, 2.0)),
    Bernoulli(),
    Poisson(),
    Exponential(),
    Symmetric(-1.0, 2.0),
    Bounded(0.0, [3.0, 2.0]),
]


@pytest.mark.parametrize("name", RULES)
def test_rule_keeps_the_contract(name):
    check_rule(RULES[name], options={"constant": 1.0} if name == "theorem" else None)


@pytest.mark.parametrize("family", FAMILY_CASES, ids=lambda family: family.name)
def test_family_keeps_the_contract(family):
    check_family(family)


def test_every_family_is_among_those_checked():
    assert {family.name for family in FAMILY_CASES} == set(FAMILIES)


# --- rules that break the contract


class Hasty(NamedTuple):
    target: np.ndarray  # (levels,) evaluations after which arm 0 is named


@kernel
def hasty_observe(model, stats, rule, arm, fidelity, x):
    pass


@kernel
def hasty_decide(model, stats, rule, level):
    return 0 if stats.steps[0] >= rule.target[level] else -1


observe.register(Hasty, hasty_observe)
decide.register(Hasty, hasty_decide)
SHARED = np.full(2, np.inf)


def always(model, deltas, fidelities):
    return Hasty(np.zeros(len(deltas)))


def after_few(model, deltas, fidelities):
    return Hasty(np.full(len(deltas), 50.0))


def with_shared_array(model, deltas, fidelities):
    return Hasty(SHARED)


def bold(model, deltas, fidelities):
    return Hasty(5000.0 + 100.0 * np.log(deltas))


def without_record(model, deltas, fidelities):
    return [deltas]


@pytest.mark.parametrize(
    ("init", "told"),
    [
        (without_record, "bad: init returns a list: make it a NamedTuple"),
        (with_shared_array, "bad: two records of init share an array"),
        (always, "bad: answers 0 at delta 0.1 before any evaluation; it must be -1"),
        (after_few, "bad: answers 0 at delta 0.1 though only one arm was evaluated"),
        (bold, "bad: decides delta 1e-09 after 2928 evaluations and 0.1 after 4770"),
    ],
    ids=["no record", "shared array", "no data", "one arm", "levels"],
)
def test_a_wrong_rule_is_told_why(init, told):
    with pytest.raises(AssertionError, match=told):
        check_rule(Rule("bad", "breaks the contract", init))


# --- strategies that break the contract


class Forgetful(NamedTuple):
    asked: np.ndarray  # (1,) how often


class Stubborn(NamedTuple):
    cell: np.ndarray  # (2,) the one to evaluate


def forgetful_init(model):
    return Forgetful(np.zeros(1, dtype=np.int64))


def stubborn_init(model):
    return Stubborn(np.zeros(2, dtype=np.int64))


@kernel
def forgetful_ask(model, stats, state, pending):
    state.asked[0] += 1
    return state.asked[0] % stats.count.shape[0], 0


@kernel
def stubborn_ask(model, stats, state, pending):
    return state.cell[0], state.cell[1]


@kernel
def learn_nothing(model, stats, state, arm, fidelity, x):
    pass


for state, function in ((Forgetful, forgetful_ask), (Stubborn, stubborn_ask)):
    ask.register(state, function)
    tell.register(state, learn_nothing)


@pytest.mark.parametrize(
    ("check", "init", "told"),
    [
        (check_ask_is_pure, forgetful_init, r"bad: ask answers \(3, 0\), and when asked again \(0, 0\)"),
        (check_pending_spreads, stubborn_init, r"bad: of 20 evaluations asked for at once none went to \['arm 2'"),
    ],
    ids=["impure ask", "pending ignored"],
)
def test_a_wrong_strategy_is_told_why(check, init, told):
    with pytest.raises(AssertionError, match=told):
        check(Strategy("bad", "breaks the contract", init), check_instance("paper-4x5"))


FROZEN = 0  # compiled code keeps the value that it had


@kernel
def frozen_ask(model, stats, state, pending):
    return FROZEN, 0


class Frozen(NamedTuple):
    cell: np.ndarray


ask.register(Frozen, frozen_ask)
tell.register(Frozen, learn_nothing)


@pytest.mark.parametrize(
    ("value", "told"),
    [(1, "bad: as plain Python it runs differently"), (None, "bad: fails as plain Python: TypeError")],
    ids=["another cell", "an error"],
)
def test_a_strategy_that_is_another_one_without_the_compiler_is_told_so(monkeypatch, value, told):
    strategy, instance = Strategy("bad", "breaks the contract", lambda model: Frozen(np.zeros(1))), "paper-4x5"
    check_without_jit(strategy, check_instance(instance), 5)
    monkeypatch.setattr(sys.modules[__name__], "FROZEN", value)
    with pytest.raises(AssertionError, match=told):
        check_without_jit(strategy, check_instance(instance), 5)


def test_a_strategy_of_a_script_is_checked():
    """No other process can import what it defines; nor what a notebook does."""
    skeleton = Path(__file__).parents[2] / "docs" / "developer" / "skeletons" / "strategy.py"
    script = f"{skeleton.read_text()}\nfrom mfbai.testing import check_strategy\ncheck_strategy(STRATEGIES[0])\n"
    done = subprocess.run([sys.executable, "-"], input=script, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_strategy_is_checked_on_noise_that_is_learnt():
    noisy = Instance([[0.2], [0.5], [0.9]], 1.0, 0.0, Symmetric(-1.0, 2.0), deviation=0.3)
    check_strategy(STRATEGIES["frugal"], noisy, steps=50)


# --- families that break the contract


@dataclass(frozen=True, eq=False)
class Coin(Bernoulli):
    """Bernoulli, of which tests replace parts."""

    name = "coin"
    law_type: type = tuple

    def law(self, shape, sign=1.0):
        return self.law_type(sign)


def half_divergence(law, arm, fidelity, p, e):
    return 0.5 * bernoulli_divergence(law, arm, fidelity, p, e)


def unsigned_divergence(law, arm, fidelity, p, e):
    return bernoulli_divergence(law._replace(sign=1.0), arm, fidelity, abs(p), e)


def shifted_divergence(law, arm, fidelity, p, e):
    return bernoulli_divergence(law, arm, fidelity, p, e) + 0.1


def mirrored_sample(law, rng, arm, fidelity, mean):
    return law.sign - bernoulli_sample(law, rng, arm, fidelity, mean)


def halved_sample(law, rng, arm, fidelity, mean):
    return 0.5 * bernoulli_sample(law, rng, arm, fidelity, mean)


def greedy_exponent(law, count, mean, q, tilt):
    return bernoulli_exponent(law, count, mean, q, tilt) + 0.5 * count * abs(tilt)


def constant_exponent(law, count, mean, q, tilt):
    return bernoulli_exponent(law, count, mean, 1.0 * law.sign - q, tilt)


@pytest.fixture
def coin(monkeypatch):
    """A family with the parts of Bernoulli, for a law of its own: what was compiled for another is no part of it."""

    @traits()
    class CoinLaw(NamedTuple):
        sign: float

    monkeypatch.setitem(FAMILIES, "coin", Coin)
    divergence.register(CoinLaw, bernoulli_divergence)
    slopes.register(CoinLaw, bernoulli_slopes)
    variance.register(CoinLaw, bernoulli_variance)
    sample.register(CoinLaw, bernoulli_sample)
    exponent.register(CoinLaw, bernoulli_exponent)
    return Coin(CoinLaw)


def parts_checked(family):
    """The checks of a family's compiled parts, which need no run."""
    points = np.array([0.2, 0.35, 0.5, 0.65, 0.8])
    laws = families.Laws(family.law((2, 2)), family.law((2, 2), -1.0))
    families.check_form(family)
    families.check_divergence(family, laws, points)
    families.check_slopes(family, laws, points)
    families.check_samples(family, laws, points)
    families.check_capital(family, laws, points, families.check_samples(family, laws, points))


def test_a_copy_of_a_family_passes_the_checks_of_its_parts(coin):
    parts_checked(coin)


@pytest.mark.parametrize(
    ("generic", "wrong", "told"),
    [
        (divergence, half_divergence, "coin: the slope of the divergence from 0.2 at .* by differences it is"),
        (divergence, unsigned_divergence, "coin: minimising, the divergence from 0.2 to 0.35"),
        (divergence, shifted_divergence, "coin: the divergence from 0.2 to 0.2 is 0.1"),
        (sample, mirrored_sample, "coin: 4000 draws at a mean of 0.2 have the mean 0.7"),
        (sample, halved_sample, "coin: sample draws 0.5, which the family does not admit"),
        (exponent, greedy_exponent, "coin: the capital of bets against the true mean 0.5 is"),
        (exponent, constant_exponent, "coin: the capital of a bet that the mean is above q must fall with q"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_wrong_part_of_a_family_is_told_why(coin, generic, wrong, told):
    generic.register(coin.law_type, wrong)
    with pytest.raises(AssertionError, match=told):
        parts_checked(coin)


def test_a_family_that_is_not_registered_is_told_so():
    with pytest.raises(AssertionError, match=r"coin: not registered; write FAMILIES\['coin'\] = Coin"):
        check_family(Coin())


def test_a_family_that_forgets_a_setting_is_told_so(monkeypatch):
    monkeypatch.setattr(Gaussian, "to_dict", lambda self: {"name": "gaussian", "variance": 1.0})
    with pytest.raises(AssertionError, match=r"gaussian: to_dict is .* which loads as another family"):
        check_family(Gaussian(0.25))
