import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfbai.checks import check_delta
from mfbai.errors import Fault, Faults, InvalidInput, UnknownName, unknown_name
from mfbai.model.families import Bernoulli, Exponential, Gaussian, Poisson, SubGaussian
from mfbai.model.problem import Instance, Problem

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
        ({"biases": [np.inf, 0]}, "biases[0] is inf: give a finite number; check fidelity 'fidelity 1'"),
        ({"biases": [np.nan, 0]}, "biases[0] is nan: give a finite number; check fidelity 'fidelity 1'"),
        ({"biases": None}, "biases is None: give numbers"),
        ({"biases": [0.1, 0.1]}, "biases[1] is 0.1: the last fidelity is the true one: its bias must be 0; check"),
        (
            {"biases": 0.1},
            "biases is 0.1: the last fidelity is the true one: its bias must be 0; give one per fidelity",
        ),
        ({"biases": ([0.2, 0], [0.1, 0])}, "bias_low[0] is 0.2: it is above its bias_high, 0.1; check fidelity"),
        ({"biases": ([0, 0], [0.1, 0.1])}, "bias_high[1] is 0.1: the last fidelity is the true one"),
        ({"biases": ([0, 0], [np.nan, 0])}, "bias_high[0] is nan: give a finite number"),
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


# --- instances


def test_instance_knows_the_best_arm_and_the_gap():
    made = instance([[0.4, 0.5], [0.7, 0.6], [0.1, 0.2]])
    assert made.best == 1
    assert made.gap == pytest.approx(0.1)
    assert made.shape == (3, 2)


def test_the_best_arm_of_a_minimising_instance_has_the_least_mean():
    made = instance([[0.4, 0.5], [0.7, 0.6], [0.1, 0.2]], direction="minimise")
    assert made.best == 2
    assert made.gap == pytest.approx(0.3)


def test_an_instance_cannot_be_changed():
    made = instance()
    with pytest.raises(FrozenInstanceError):
        made.name = "other"
    with pytest.raises(ValueError, match="read-only"):
        made.means[0, 0] = 7


def test_the_name_is_a_label_and_no_part_of_equality():
    assert instance(name="a") == instance(name="b")
    assert instance() != instance([[0.4, 0.5], [0.7, 0.65]])


def test_repr_of_an_instance_names_the_best_arm():
    assert repr(instance(arms=["a", "b"], name="demo")) == (
        "<Instance 'demo': 2 arms (a, b), 2 fidelities (fidelity 1, fidelity 2), gaussian, maximise, best 'b' by 0.1>"
    )


@given(top=st.floats(-1e6, 1e6), radius=st.floats(0, 1e3))
def test_means_at_the_very_edge_of_the_bias_bounds_pass(top, radius):
    made = instance([[top - radius, top], [top + radius + 1, top + 1]], biases=[radius, 0])
    assert made.best == 1


@pytest.mark.parametrize(
    ("wrong", "fault"),
    [
        ({"means": [0.5, 0.6]}, "means has shape (2,): give 2 rows of 2: arms x fidelities"),
        (
            {"means": [[0.5, 0.6]] * 3, "arms": ["a", "b"]},
            "means has shape (3, 2): give 2 rows of 2: arms x fidelities",
        ),
        ({"means": [[1, 2], [1]]}, "means has rows of different lengths"),
        ({"means": [["a", "b"], ["c", "d"]]}, "means is [['a', 'b'], ['c', 'd']]: give numbers"),
        (
            {"means": [[0.4, 0.5], [np.nan, 0.6]]},
            "means[1, 0] is nan: give a finite number; check arm 'arm 2', fidelity",
        ),
        (
            {"means": [[0.8, 0.9], [1.1, 1.0]], "family": Bernoulli()},
            "means[1, 0] is 1.1: a mean of this bernoulli family must be in [0, 1]; check arm 'arm 2', fidelity 'fid",
        ),
        (
            {"means": [[-0.1, 0.1], [1.1, 1.0]], "family": Poisson()},
            "means[0, 0] is -0.1: a mean of this poisson family must be in [0, inf]; check",
        ),
        (
            {"means": [[0, 0.1], [1.1, 1.0]], "family": Exponential()},
            "means[0, 0] is 0.0: a mean of this exponential family must be strictly between 0 and inf; check",
        ),
        (
            {"means": [[0.5, 0.5], [0.7, 0.6]], "family": SubGaussian(bounds=(0, 0.6))},
            "means[1, 0] is 0.7: a mean of this subgaussian family must be in [0, 0.6]; check",
        ),
        (
            {"means": [[0.4, 0.5], [0.9, 0.6]]},
            "means[1, 0] is 0.9: it is +0.3 from the arm's top mean, outside the bias bounds [-0.25, 0.25]; check arm",
        ),
        (
            {"means": [[0.4, 0.6], [0.7, 0.6]], "arms": ["a", "b"]},
            "means of arms 'a' and 'b' tie at the top fidelity; the best arm must be unique",
        ),
    ],
    ids=lambda value: None if isinstance(value, str) else str(value),
)
def test_instance_refuses(wrong, fault):
    faults = faults_of(instance, **wrong)
    assert len(faults) == 1
    assert faults[0].startswith(fault)


def test_bernoulli_means_may_be_certain():
    assert instance([[0.0, 0.0], [1.0, 1.0]], family=Bernoulli()).best == 1


def test_faults_of_the_problem_and_of_the_means_come_together():
    faults = faults_of(instance, [[0.4, 0.6], [0.9, 0.6]], costs=[1, -1], direction="maximise")
    assert [fault.split(":")[0] for fault in faults] == [
        "costs[1] is -1.0",
        "means[1, 0] is 0.9",
        "means of arms 'arm 1' and 'arm 2' tie at the top fidelity; the best arm must be unique",
    ]


@pytest.mark.parametrize("family", [Gaussian(1.0), SubGaussian(variance=1.0)], ids=lambda family: family.name)
def test_with_variance_replaces_the_variance_alone(family):
    before = instance(family=family, name="demo")
    after = before.with_variance([4.0, 9.0])
    np.testing.assert_array_equal(after.problem.model().law.deviation, [[2, 3], [2, 3]])
    assert type(after.problem.family) is type(family)
    assert after.name == "demo"
    assert after.with_variance(1.0) == before


@pytest.mark.parametrize("family", [Bernoulli(), SubGaussian(bounds=(0, 1))], ids=lambda family: family.name)
def test_a_family_without_variance_cannot_be_given_one(family):
    assert faults_of(instance(family=family).with_variance, 1.0) == [
        f"variance cannot be set: the {family.name} family of this problem has none to replace"
    ]


def test_with_variance_refuses_a_wrong_variance():
    assert faults_of(instance().with_variance, -1.0) == ["variance is -1.0: a variance must be positive"]


# --- errors and shared checks


def test_one_fault_is_one_line_and_several_are_a_list():
    one, two = Fault("costs", "is bad"), Fault("biases", "is worse")
    assert str(InvalidInput([one])) == "costs is bad"
    assert str(InvalidInput([one, two], "problem")) == "2 faults in the problem:\n  costs is bad\n  biases is worse"


def test_invalid_input_is_a_value_error_that_pickles():
    error = InvalidInput([Fault("costs", "is bad")], "problem")
    assert isinstance(error, ValueError)
    assert pickle.loads(pickle.dumps(error)).faults == error.faults


def test_unknown_name_suggests_the_nearest():
    error = unknown_name("strategy", "mf-gard", ["mf-grad", "uniform"])
    assert isinstance(error, UnknownName)
    assert str(error) == "unknown strategy 'mf-gard': did you mean 'mf-grad'? known: mf-grad, uniform"


def test_unknown_name_without_a_near_one_lists_what_is_known():
    assert str(unknown_name("strategy", "xyz", ["mf-grad"])) == "unknown strategy 'xyz': known: mf-grad"


@pytest.mark.parametrize("delta", [0.05, [0.1, 1e-10], np.array([0.5])], ids=str)
def test_risks_between_0_and_1_pass(delta):
    faults = Faults()
    check_delta(faults, delta)
    assert not faults


@pytest.mark.parametrize(
    ("delta", "fault"),
    [
        (0, "delta is 0.0: a risk must lie strictly between 0 and 1"),
        (1.0, "delta is 1.0: a risk must lie strictly between 0 and 1"),
        ([0.1, np.nan], "delta[1] is nan: a risk must lie strictly between 0 and 1"),
        ("0.1", "delta is '0.1': give numbers"),
        ([], "delta is empty: give at least one risk"),
    ],
    ids=str,
)
def test_other_risks_are_refused(delta, fault):
    faults = Faults()
    check_delta(faults, delta)
    with pytest.raises(InvalidInput) as caught:
        faults.raise_if_any("run")
    assert str(caught.value).startswith(fault)
