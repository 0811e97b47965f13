"""Problems to plan for, and the faults of a call."""

import pytest

from mfbai import Bernoulli, Gaussian, Instance, InvalidInput, Problem
from mfbai.model.spec import dumps

PROBLEM = Problem(["plain", "wide", "deep"], [0.05, 5.0], [0.03, 0.0], Gaussian(0.01), fidelities=["coarse", "fine"])
COINS = Problem(["a", "b"], [0.1, 1.0], [0.1, 0.0], Bernoulli())
INSTANCE = Instance([[0.84, 0.85], [0.82, 0.84], [0.96, 0.98]], [0.05, 5.0], [0.03, 0.0], Gaussian(0.01))
SPEC = dumps(PROBLEM)
LIKE_NONE = 1e-9  # relative, for figures that must agree but for rounding


def faults_of(call, *arguments, **named):
    with pytest.raises(InvalidInput) as caught:
        call(*arguments, **named)
    return [str(fault) for fault in caught.value.faults]
