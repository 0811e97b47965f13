"""Instances with their oracles: what several tests of the oracle start from."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mfbai.analysis.oracle import oracle
from mfbai.errors import InvalidInput
from mfbai.model import instances
from mfbai.model.families import Gaussian
from mfbai.model.instance import Instance
from support import naive_oracle
from support.naive_oracle import NAMES, random_instance

every_family = pytest.mark.parametrize("name", NAMES)
every_named = pytest.mark.parametrize("name", instances.names())
some_instances = given(seed=st.integers(0, 2**32 - 1), name=st.sampled_from(NAMES))
quick = settings(max_examples=60, deadline=None, derandomize=True)
SAME = 1e-9  # relative: twice the certified gap, and some rounding


def with_parts(instance, columns=slice(None), **parts):
    """The instance with some of its parts replaced, or with a selection of its fidelities."""
    problem = instance.problem
    family = parts.get("family", problem.family)
    if family.name == "gaussian":
        family = Gaussian(np.broadcast_to(family.variance, instance.shape)[:, columns])
    low, high = parts.get("low", problem.bias_low), parts.get("high", problem.bias_high)
    return Instance(
        parts.get("means", instance.means)[:, columns],
        parts.get("costs", problem.costs)[:, columns],
        (low[:, columns], high[:, columns]),
        family,
        direction=parts.get("direction", problem.direction),
        ties=True,
    )


def draw(seed, name, **options):
    """A random instance with an oracle that is precise enough to compare."""
    instance = random_instance(np.random.default_rng(seed), name, **options)
    return instance, oracle(instance)


def other_means(rng, instance):
    """Other means that the same problem allows; all between the two are allowed too."""
    problem = instance.problem
    while True:
        tops = rng.permutation(instance.means[:, -1])
        means = naive_oracle.random_means(rng, tops, problem.bias_low, problem.bias_high, problem.family)
        try:
            return with_parts(instance, means=means).means
        except InvalidInput:  # another arm's top mean can be impossible with one's own biases
            continue
