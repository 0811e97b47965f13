"""What a problem holds, what kernels see of it, and what is refused."""

import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfbai.model.families import Bernoulli, Gaussian, Poisson, SubGaussian, Symmetric
from mfbai.model.problem import Problem
from support.problems import faults_of, instance, problem

# --- what a problem holds


@pytest.mark.parametrize("costs", [2, [2, 2], np.full((3, 2), 2)], ids=["one", "(M,)", "(K, M)"])
def test_costs_fill_every_cell(costs):
    np.testing.assert_array_equal(problem(costs=costs).costs, np.full((3, 2), 2.0))


@pytest.mark.parametrize(
    "biases",
    [
        (0.25, 0),
        [0.25, 0],
        np.array([0.25, 0]),
        [[0.25, 0]] * 3,
        ([-0.25, 0], [0.25, 0]),
        ([[-0.25, 0]] * 3, (0.25, 0)),
    ],
    ids=["tuple", "list", "array", "table", "pair", "mixed pair"],
)
def test_biases_are_radii_or_a_pair(biases):
    made = problem(biases=biases)
    np.testing.assert_array_equal(made.bias_low, [[-0.25, 0]] * 3)
    np.testing.assert_array_equal(made.bias_high, [[0.25, 0]] * 3)


def test_a_pair_may_have_one_number_for_a_side():
    made = problem(biases=(0, [0.3, 0]))
    np.testing.assert_array_equal(made.bias_low, np.zeros((3, 2)))
    np.testing.assert_array_equal(made.bias_high, [[0.3, 0]] * 3)


def test_a_list_of_two_rows_is_radii_and_a_tuple_of_two_rows_a_pair():
    rows = [[0.1, 0], [0.2, 0]]
    np.testing.assert_array_equal(problem(2, biases=rows).bias_low, [[-0.1, 0], [-0.2, 0]])
    np.testing.assert_array_equal(problem(2, biases=tuple(rows)).bias_low, [[0.1, 0], [0.1, 0]])


@pytest.mark.parametrize(
    ("given_", "count"),
    [
        ({"costs": [1, 2, 3], "biases": 0}, 3),
        ({"costs": 1, "biases": [0.2, 0.1, 0]}, 3),
        ({"costs": 1, "biases": ([-0.1, 0], 0)}, 2),
        ({"costs": 1, "biases": 0, "family": Gaussian([1, 2, 3, 4])}, 4),
        ({"costs": 1, "biases": 0, "fidelities": ["coarse", "fine"]}, 2),
        ({"costs": 1, "biases": 0, "fidelities": 2}, 2),
        ({"costs": 1, "biases": 0}, 1),
    ],
    ids=["costs", "biases", "pair", "variance", "names", "number", "nothing"],
)
def test_the_number_of_fidelities_is_found_wherever_it_shows(given_, count):
    assert problem(**given_).shape == (3, count)


def test_arms_and_fidelities_are_named_from_one_unless_named():
    made = problem(2)
    assert made.arms == ("arm 1", "arm 2")
    assert made.fidelities == ("fidelity 1", "fidelity 2")
    named = problem(["a", "b"], fidelities=["coarse", "fine"])
    assert (named.arms, named.fidelities) == (("a", "b"), ("coarse", "fine"))


def test_a_problem_cannot_be_changed():
    made = problem()
    with pytest.raises(FrozenInstanceError):
        made.direction = "minimise"
    with pytest.raises(ValueError, match="read-only"):
        made.costs[0, 0] = 7


def test_a_problem_does_not_follow_the_arrays_it_was_made_of():
    costs, variance = np.array([1.0, 2.0]), np.array([1.0, 1.0])
    made = problem(costs=costs, family=Gaussian(variance))
    costs[0] = variance[0] = 9
    assert made.costs[0, 0] == 1
    assert made.model().law.deviation[0, 0] == 1


def test_replace_changes_what_is_given_and_nothing_else():
    known = problem(arms=["a", "b"], costs=[[0.1, 1], [0.2, 2]], biases=([-0.1, 0], [0.3, 0]), direction="minimise")

    assert known.replace() == known
    assert known.replace(costs=known.costs * 2).to_dict() == {
        **known.to_dict(),
        "fidelity": [{**table, "cost": [2 * cost for cost in table["cost"]]} for table in known.to_dict()["fidelity"]],
    }
    assert known.replace(direction="maximise").replace(direction="minimise") == known


def test_replace_checks_what_is_given():
    (fault,) = faults_of(problem().replace, costs=[0.1, -1])
    assert fault.startswith("costs[1] is -1.0: a cost must be positive")


def test_a_problem_and_its_means_are_an_instance():
    known = problem(arms=["a", "b"], direction="minimise")

    truth = known.instance([[0.4, 0.5], [0.7, 0.6]], name="mine")

    assert (truth.problem, truth.name, truth.arms[truth.best]) == (known, "mine", "a")


def test_problems_are_equal_however_they_were_written():
    assert problem(costs=[0.1, 1]) == problem(costs=[[0.1, 1]] * 3, family=Gaussian([0.01, 0.01]))


@pytest.mark.parametrize(
    "other",
    [
        {"costs": (0.1, 2)},
        {"biases": (0.2, 0)},
        {"family": Gaussian(1)},
        {"family": SubGaussian(variance=0.01)},
        {"arms": ["a", "b", "c"]},
        {"direction": "minimise"},
    ],
    ids=str,
)
def test_problems_that_differ_are_not_equal(other):
    assert problem() != problem(**other)


def test_repr_names_what_there_is_and_shortens_long_lists():
    assert repr(problem(["a", "b"])) == (
        "<Problem: 2 arms (a, b), 2 fidelities (fidelity 1, fidelity 2), gaussian, maximise>"
    )
    assert "100 arms (arm 1, arm 2, arm 3, ..., arm 100)" in repr(problem(100))
    assert "1 fidelity (only)" in repr(problem(costs=1, biases=0, fidelities=["only"]))


def test_problems_and_instances_survive_pickling():
    assert pickle.loads(pickle.dumps(problem())) == problem()
    assert pickle.loads(pickle.dumps(instance())) == instance()


# --- what kernels see


def test_model_of_a_maximising_problem_is_the_problem():
    model = problem(biases=([-0.1, 0], [0.3, 0]), family=Bernoulli()).model(tolerance=0.05)
    np.testing.assert_array_equal(model.cost, [[0.1, 1]] * 3)
    np.testing.assert_array_equal(model.bias_low, [[-0.1, 0]] * 3)
    np.testing.assert_array_equal(model.bias_high, [[0.3, 0]] * 3)
    assert model.tolerance == 0.05
    assert model.law.sign == 1


def test_model_of_a_minimising_problem_is_reflected():
    model = problem(biases=([0.2, 0], [0.3, 0]), family=Bernoulli(), direction="minimise").model()
    np.testing.assert_array_equal(model.bias_low, [[-0.3, 0]] * 3)
    np.testing.assert_array_equal(model.bias_high, [[-0.2, 0]] * 3)
    np.testing.assert_array_equal(model.top_low, [-0.8] * 3)
    np.testing.assert_array_equal(model.top_high, [0] * 3)
    assert model.law.sign == -1


@pytest.mark.parametrize(
    ("family", "biases", "interval"),
    [
        (Gaussian(1), ([-0.1, 0], [0.3, 0]), (-np.inf, np.inf)),
        (Bernoulli(), (0.25, 0), (0, 1)),
        (Bernoulli(), ([0.2, 0], [0.3, 0]), (0, 0.8)),
        (Bernoulli(), ([-0.3, 0], [-0.2, 0]), (0.2, 1)),
        (Poisson(), ([-3, 0], [-2, 0]), (2, np.inf)),
        (SubGaussian(bounds=(-1, 1)), ([0.5, 0], [0.5, 0]), (-1, 0.5)),
    ],
    ids=["unbounded", "loose", "above", "below", "half-line", "bounds"],
)
def test_top_means_leave_every_fidelity_a_possible_mean(family, biases, interval):
    model = problem(biases=biases, family=family).model()
    np.testing.assert_allclose([model.top_low, model.top_high], np.tile(interval, (3, 1)).T)


EIGHTHS = st.integers(-8, 8).map(lambda n: n / 8)  # sums of these are exact


@given(low=EIGHTHS, width=EIGHTHS.map(abs), x=EIGHTHS, direction=st.sampled_from(["maximise", "minimise"]))
def test_top_interval_is_exactly_the_admissible_means(low, width, x, direction):
    """A top mean is inside the interval if and only if every cell's interval meets [0, 1]."""
    made = problem(biases=([low, 0], [low + width, 0]), family=Bernoulli(), direction=direction)
    model = made.model()
    admissible = 0 <= x <= 1 and x + low <= 1 and x + low + width >= 0
    assert (model.top_low[0] <= made.sign * x <= model.top_high[0]) == admissible


def test_model_arrays_are_writable_copies():
    """Read-only arrays are another type to the compiler, which would compile every kernel twice."""
    made = problem()
    columns = np.full((3, 2), 0.1, order="F")
    for model in (problem(costs=columns).model(), problem(direction="minimise").model()):
        arrays = (model.cost, model.bias_low, model.bias_high, model.top_low, model.top_high)
        assert all(array.flags.writeable and array.flags.c_contiguous for array in arrays)
    made.model().cost[0, 0] = 99
    assert made.costs[0, 0] == 0.1


@pytest.mark.parametrize("tolerance", [-0.1, np.nan, np.inf])
def test_a_tolerance_is_finite_and_not_negative(tolerance):
    assert faults_of(problem().model, tolerance)[0].startswith(f"tolerance is {tolerance}: ")


# --- problems refused


@pytest.mark.parametrize(
    ("wrong", "fault"),
    [
        ({"costs": [0.1, -0.5]}, "costs[1] is -0.5: a cost must be positive; check fidelity 'fidelity 2'"),
        ({"costs": [0.1, 0]}, "costs[1] is 0.0: a cost must be positive; check fidelity 'fidelity 2'"),
        ({"costs": [np.nan, 1]}, "costs[0] is nan: give a finite number; check fidelity 'fidelity 1'"),
        ({"costs": [1, np.inf]}, "costs[1] is inf: give a finite number; check fidelity 'fidelity 2'"),
        (
            {"costs": [[1, 1], [1, 1], [1, -2]]},
            "costs[2, 1] is -2.0: a cost must be positive; check arm 'arm 3', fidelity",
        ),
        ({"costs": -1}, "costs is -1.0: a cost must be positive"),
        ({"costs": ["0.1", "1"]}, "costs is ['0.1', '1']: give numbers"),
        ({"costs": True}, "costs is True: give numbers"),
        ({"costs": [[1, 1], [1]]}, "costs has rows of different lengths"),
        (
            {"costs": [1, 1], "fidelities": 3, "biases": 0},
            "costs has shape (2,): give one number, 3 (one per fidelity) or 3",
        ),
        ({"costs": np.ones((2, 2))}, "costs has shape (2, 2): give one number, 2 (one per fidelity) or 3 rows of 2"),
        (
            {"biases": [-0.1, 0]},
            "biases[0] is -0.1: a radius cannot be negative; bounds are a pair such as ([-0.1, 0], [0.2, 0]); check",
        ),
        ({"biases": [0.1, np.inf]}, "biases[1] is inf: the last fidelity is the true one: its bias must be 0; check"),
        ({"biases": [np.nan, 0]}, "biases[0] is nan: give a number; check fidelity 'fidelity 1'"),
        ({"biases": "none"}, "biases is 'none': give numbers"),
        ({"biases": [0.1, 0.1]}, "biases[1] is 0.1: the last fidelity is the true one: its bias must be 0; check"),
        (
            {"biases": 0.1},
            "biases is 0.1: the last fidelity is the true one: its bias must be 0; give one per fidelity",
        ),
        ({"biases": ([0.2, 0], [0.1, 0])}, "bias_low[0] is 0.2: it is above its bias_high, 0.1; check fidelity"),
        ({"biases": ([0, 0], [0.1, 0.1])}, "bias_high[1] is 0.1: the last fidelity is the true one"),
        ({"biases": ([0, 0], [np.nan, 0])}, "bias_high[0] is nan: give a number"),
        ({"biases": ([0, 0, 0], [0.1, 0])}, "bias_low has shape (3,): give one number, 2 (one per fidelity) or 3 rows"),
        ({"arms": 1}, "arms gives 1 of them: there must be at least 2"),
        ({"arms": ["only"]}, "arms gives 1 of them: there must be at least 2"),
        ({"arms": -3}, "arms gives 0 of them: there must be at least 2"),
        ({"arms": None}, "arms is None: give how many"),
        ({"arms": 2.5}, "arms is 2.5: give how many"),
        ({"arms": "abc"}, "arms is 'abc': give how many"),
        ({"arms": ["a", "b", "a"]}, "arms[2] is 'a', as is arms[0]: names must be unique"),
        ({"arms": ["a", " ", "c"]}, "arms[1] is ' ': a name must be printable text and not blank"),
        ({"arms": ["a", "b\n", "c"]}, "arms[1] is 'b\\n': a name must be printable text and not blank"),
        ({"arms": ["a", "b", 3]}, "arms[2] is 3: a name must be printable text and not blank"),
        ({"fidelities": ["x", "x"]}, "fidelities[1] is 'x', as is fidelities[0]: names must be unique"),
        ({"costs": 1, "biases": 0, "fidelities": []}, "fidelities gives 0 of them: there must be at least 1"),
        ({"direction": "maximize"}, "direction is 'maximize': did you mean 'maximise'? known: maximise, minimise"),
        ({"direction": None}, "direction is None: known: maximise, minimise"),
        ({"family": "gaussian"}, "family is 'gaussian': give a family, such as"),
        ({"family": Gaussian(0)}, "variance is 0.0: a variance must be positive"),
        ({"family": Gaussian([1, np.nan])}, "variance[1] is nan: give a finite number; check fidelity 'fidelity 2'"),
        ({"family": Gaussian("big")}, "variance is 'big': give numbers"),
        ({"family": Gaussian([1, 2, 3])}, "variance has shape (3,): give one number, 2 (one per fidelity) or 3 rows"),
        ({"family": SubGaussian()}, "family is subgaussian, which needs a variance or bounds: give exactly one"),
        (
            {"family": SubGaussian(1, (0, 1))},
            "family is subgaussian, which needs a variance or bounds: give exactly one",
        ),
        ({"family": SubGaussian(-1)}, "variance is -1.0: a variance must be positive"),
        ({"family": SubGaussian(bounds=(1, 0))}, "bounds is (1, 0): give two finite numbers, the lower one first"),
        ({"family": SubGaussian(bounds=(0, np.inf))}, "bounds is (0, inf): give two finite numbers"),
        ({"family": SubGaussian(bounds=(1,))}, "bounds is (1,): give two finite numbers"),
        ({"family": SubGaussian(bounds=("a", "b"))}, "bounds is ('a', 'b'): give numbers"),
    ],
    ids=str,
)
def test_problem_refuses(wrong, fault):
    """One wrong input is one fault, which says what is wrong, where and what to do."""
    faults = faults_of(problem, **wrong)
    assert len(faults) == 1
    assert faults[0].startswith(fault)


def test_problem_refuses_biases_that_leave_an_arm_no_mean():
    low, high = np.zeros((3, 2)), np.zeros((3, 2))
    low[1, 0], high[1, 0] = 1.5, 2.0
    assert faults_of(problem, biases=(low, high), family=Bernoulli()) == [
        "biases leave no possible mean: bernoulli means are in [0.0, 1.0]; check arm 'arm 2'"
    ]


def test_every_fault_of_a_problem_is_told_at_once():
    faults = faults_of(
        problem,
        ["a", "a"],
        [[1, -1], [np.nan, 1]],
        [-0.1, 0.1],
        SubGaussian(variance=-1, bounds=(1, 0)),
        fidelities=["", "fine"],
        direction="up",
    )
    names = ["arms[1]", "fidelities[0]", "costs[1, 0]", "costs[0, 1]", "biases[0]", "biases[1]"]
    names += ["family", "variance", "bounds", "direction"]
    assert [fault.split(" is ")[0] for fault in faults] == names


def test_a_table_of_wrong_entries_is_told_in_a_few_lines():
    faults = faults_of(problem, 1000, np.full((1000, 2), -1.0))
    assert len(faults) == 11
    assert faults[-1] == "costs has 1990 more entries with the same fault"


def test_none_says_that_no_bias_is_known():
    """Of the fidelities below the top; that of a controlled one is zero."""
    plain = Problem(3, costs=[0.1, 1.0, 5.0], biases=None, family=Symmetric(0, 1))
    assert plain == Problem(3, costs=[0.1, 1.0, 5.0], biases=[np.inf, np.inf, 0], family=Symmetric(0, 1))
    assert plain.unbounded.tolist() == [True, True, False]
    both = plain.controlled(by=0, others=3, coefficient=1.0)
    assert both.bias_high[0].tolist() == [np.inf, np.inf, 0.0, 0.0]
    assert Problem(2, costs=1, biases=None, family=Symmetric(0, 1)).bias_high.tolist() == [[0.0], [0.0]]
