"""Small problems and instances, and the faults of wrong ones."""

import pytest

from mfbai.errors import InvalidInput
from mfbai.model.families import Gaussian
from mfbai.model.instance import Instance
from mfbai.model.problem import Problem

GAUSSIAN = Gaussian(0.01)


def problem(arms=3, costs=(0.1, 1), biases=(0.25, 0), family=GAUSSIAN, **kwargs):
    return Problem(arms, costs, biases, family, **kwargs)


def instance(means=((0.4, 0.5), (0.7, 0.6)), costs=(0.1, 1), biases=(0.25, 0), family=GAUSSIAN, **kwargs):
    return Instance(means, costs, biases, family, **kwargs)


def faults_of(build, *args, **kwargs):
    """The faults, as sentences, of an input that must be refused."""
    with pytest.raises(InvalidInput) as caught:
        build(*args, **kwargs)
    return [str(fault) for fault in caught.value.faults]
