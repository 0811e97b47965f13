"""What is written as a spec loads as the same; and anything at all is loaded or refused."""

import contextlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfbai.errors import InvalidInput
from mfbai.model.families import Exponential, Gaussian, Poisson, SubGaussian
from mfbai.model.instance import Instance
from mfbai.model.instances import names
from mfbai.model.problem import Problem
from mfbai.model.spec import dumps, from_dict, load, loads
from support.specs import SPEC

# --- writing

NAMES = st.text(min_size=1, max_size=8).filter(lambda name: name.isprintable() and name.strip())
POSITIVE = st.floats(1e-6, 1e6)
WIDTHS = st.floats(0, 1e3)


def tables(K, M, cells):
    """(K, M), or one row for all arms."""
    row = st.lists(cells, min_size=M, max_size=M)
    return row | st.lists(row, min_size=K, max_size=K)


@st.composite
def problems(draw):
    K, M = draw(st.integers(2, 4)), draw(st.integers(1, 3))
    variance = draw(POSITIVE | tables(K, M, POSITIVE))
    family = draw(st.sampled_from([Gaussian(variance), SubGaussian(variance=variance), Poisson(), Exponential()]))
    low, width = (np.array(draw(tables(K, M, cells))) for cells in (st.floats(-1e3, 1e3), WIDTHS))
    high = low + width
    low[..., -1] = high[..., -1] = 0.0
    return Problem(
        draw(st.lists(NAMES, min_size=K, max_size=K, unique=True)),
        draw(tables(K, M, POSITIVE)),
        draw(st.sampled_from([(low, high), abs(low)])),
        family,
        fidelities=draw(st.lists(NAMES, min_size=M, max_size=M, unique=True)),
        direction=draw(st.sampled_from(["maximise", "minimise"])),
    )


@given(problem=problems())
def test_problems_round_trip_through_text(problem):
    assert loads(dumps(problem)) == problem


@given(problem=problems())
def test_problems_round_trip_through_a_dict(problem):
    assert from_dict(problem.to_dict()) == problem


SHARES = st.floats(0, 1, exclude_max=True)
TABLES = st.fixed_dictionaries(
    {"arms": SHARES}, optional={"fidelities": SHARES, "factor": st.sampled_from(["normal", "heavy"])}
)


@given(problem=problems(), data=st.data())
def test_instances_round_trip_through_text(problem, data):
    share = data.draw(st.floats(0, 1))
    top = np.arange(1.0, problem.n_arms + 1)[:, None] + 3e3  # above every bias: possible for all families
    means = top + problem.bias_low + share * (problem.bias_high - problem.bias_low)
    normal = isinstance(problem.family, Gaussian | SubGaussian)
    instance = Instance(
        means,
        problem.costs,
        (problem.bias_low, problem.bias_high),
        problem.family,
        arms=problem.arms,
        fidelities=problem.fidelities,
        direction=problem.direction,
        correlation=data.draw(st.none() | SHARES | TABLES) if normal else None,
    )
    assert loads(dumps(instance)) == instance
    assert from_dict(instance.to_dict()) == instance


@pytest.mark.parametrize("name", names())
def test_the_catalogue_round_trips(name):
    assert loads(dumps(load(name))) == load(name)


def test_dumps_writes_the_short_forms():
    assert dumps(loads(SPEC)) == SPEC.lstrip().replace("cost = 5.0", "cost = 5.0\nbias = 0.0").replace("0.80", "0.8")


def test_bounded_rewards_round_trip():
    problem = Problem(2, [1, 2], [0.1, 0], SubGaussian(bounds=(np.float64(0), 1)))
    assert loads(dumps(problem)) == problem


# --- anything at all

SCALARS = st.none() | st.booleans() | st.integers(-3, 4) | st.floats() | st.sampled_from(["", "a", "gaussian"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "arms", "factor"]), inner, max_size=2)
    ),
)


@given(
    change=st.dictionaries(
        st.sampled_from(["problem", "fidelity", "family", "truth", "arms", "direction", "name", "cost", "bias"])
        | st.sampled_from(["variance", "bounds", "means", "correlation"]),
        VALUES,
        min_size=1,
        max_size=3,
    ),
)
def test_a_spec_with_anything_in_it_loads_or_is_refused(change):
    """No input, however odd, fails in another way than InvalidInput."""
    document = loads(SPEC + "correlation = 0.5\n").to_dict()
    for table in (document["problem"], document["fidelity"][0], document["family"], document["truth"]):
        table.update({key: value for key, value in change.items() if key in table or key == "bounds"})
    document.update({key: value for key, value in change.items() if key in document})
    with contextlib.suppress(InvalidInput):
        from_dict(document)
