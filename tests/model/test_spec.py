"""Spec files: what is read, and what is refused."""

import numpy as np
import pytest

from mfbai.errors import InvalidInput, UnknownName
from mfbai.model.families import Bernoulli, Bounded, Exponential, Gaussian, Poisson, SubGaussian, Symmetric
from mfbai.model.instance import Instance
from mfbai.model.problem import Problem
from mfbai.model.spec import dumps, load, loads
from support.specs import SPEC

PROBLEM_SPEC = SPEC[: SPEC.index("[truth]")]


def edited(*edits):
    """The spec with each (old, new) replaced."""
    text = SPEC
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    return text


def faults_of(text):
    with pytest.raises(InvalidInput) as caught:
        loads(text)
    return [str(fault) for fault in caught.value.faults]


# --- reading


def test_a_spec_with_truth_is_an_instance():
    instance = loads(SPEC)
    assert isinstance(instance, Instance)
    assert instance.arms == ("baseline", "wide", "deep")
    assert instance.fidelities == ("coarse", "fine")
    assert instance.best == 2
    np.testing.assert_array_equal(instance.problem.costs, [[0.05, 5]] * 3)
    np.testing.assert_array_equal(instance.problem.bias_high, [[0.1, 0]] * 3)


def test_a_spec_without_truth_is_a_problem():
    assert loads(PROBLEM_SPEC) == loads(SPEC).problem


def test_arms_may_be_a_number_and_fidelities_nameless():
    text = edited(('arms = ["baseline", "wide", "deep"]', "arms = 3"), ('name = "coarse"', ""), ('name = "fine"', ""))
    assert loads(text).arms == ("arm 1", "arm 2", "arm 3")
    assert loads(text).fidelities == ("fidelity 1", "fidelity 2")


def test_direction_may_be_left_out_or_minimise():
    assert loads(edited(('direction = "maximise"', ""))).problem.direction == "maximise"
    assert loads(edited(("maximise", "minimise"))).best == 1


def test_a_truth_may_have_a_correlation():
    number = loads(SPEC + "correlation = 0.8\n").correlation
    assert number == (0.8, 0.8, "normal")
    table = loads(SPEC + 'correlation = {arms = 0.8, fidelities = 0.5, factor = "heavy"}\n').correlation
    assert table == (0.8, 0.5, "heavy")
    assert loads(SPEC).correlation is None


def test_faults_of_a_correlation_name_the_table():
    spoilt = SPEC.replace("variance = 0.01", "variance = -1") + 'correlation = {arms = 2, factor = "odd"}\n'
    assert faults_of(spoilt) == [
        "variance is -1.0: a variance must be positive; check the [family] table",
        "correlation.arms is 2: give a number of 0 or more and below 1; check the [truth] table",
        "correlation.factor is 'odd': known: normal, heavy; check the [truth] table",
    ]


def test_costs_may_be_one_per_arm():
    costs = loads(edited(("cost = 0.05", "cost = [0.05, 0.06, 0.09]"))).problem.costs
    np.testing.assert_array_equal(costs, [[0.05, 5], [0.06, 5], [0.09, 5]])


@pytest.mark.parametrize(
    ("bias", "low", "high"),
    [
        ("0.2", [-0.2, -0.2, -0.2], [0.2, 0.2, 0.2]),
        ("[-0.1, 0.3]", [-0.1, -0.1, -0.1], [0.3, 0.3, 0.3]),
        ("[0.1, 0.3]", [0.1, 0.1, 0.1], [0.3, 0.3, 0.3]),
        ("[0.1, 0.2, 0.3]", [-0.1, -0.2, -0.3], [0.1, 0.2, 0.3]),
        ("[[0, 0.1], [-0.1, 0], [-0.2, 0.3]]", [0, -0.1, -0.2], [0.1, 0, 0.3]),
        ("[0.1, [-0.1, 0], 0.3]", [-0.1, -0.1, -0.3], [0.1, 0, 0.3]),
    ],
    ids=["radius", "bounds", "one-sided bounds", "radii", "bounds per arm", "mixed"],
)
def test_bias_is_a_radius_or_bounds_for_all_arms_or_each(bias, low, high):
    problem = loads(PROBLEM_SPEC.replace("bias = 0.1", f"bias = {bias}"))
    np.testing.assert_array_equal(problem.bias_low[:, 0], low)
    np.testing.assert_array_equal(problem.bias_high[:, 0], high)
    np.testing.assert_array_equal(problem.bias_high[:, 1], [0, 0, 0])


@pytest.mark.parametrize(
    ("bias", "low", "high"),
    [
        ("[-0.1, 0.3]", [-0.1, -0.1], [0.3, 0.3]),
        ("[0, 0]", [0, 0], [0, 0]),
        ("[[0.1, 0.3], [0.1, 0.3]]", [0.1, 0.1], [0.3, 0.3]),
    ],
)
def test_with_two_arms_a_bias_that_reads_in_one_way_is_read(bias, low, high):
    text = PROBLEM_SPEC.replace('["baseline", "wide", "deep"]', "2").replace("bias = 0.1", f"bias = {bias}")
    np.testing.assert_array_equal(loads(text).bias_low[:, 0], low)
    np.testing.assert_array_equal(loads(text).bias_high[:, 0], high)


@pytest.mark.parametrize("bias", ["[0.1, 0.2]", "[0, 0.2]", "[0.1, 0.1]"])
def test_with_two_arms_a_bias_that_reads_in_two_ways_is_refused(bias):
    text = PROBLEM_SPEC.replace('["baseline", "wide", "deep"]', "2").replace("bias = 0.1", f"bias = {bias}")
    (fault,) = faults_of(text)
    assert fault.startswith(f'[[fidelity]] "coarse" has bias {bias}: with two arms this could be bounds or a radius')


def test_the_top_bias_may_be_written_as_zero():
    assert loads(edited(("cost = 5.0", "cost = 5.0\nbias = 0"))) == loads(SPEC)


@pytest.mark.parametrize(
    ("table", "family"),
    [
        ('name = "gaussian"\nvariance = [0.1, 0.2]', Gaussian([0.1, 0.2])),
        ('name = "gaussian"\nvariance = [[1, 2], [3, 4], [5, 6]]', Gaussian([[1, 2], [3, 4], [5, 6]])),
        ('name = "subgaussian"\nvariance = 0.3', SubGaussian(variance=0.3)),
        ('name = "subgaussian"\nbounds = [0, 1]', SubGaussian(bounds=(0, 1))),
        ('name = "bernoulli"', Bernoulli()),
        ('name = "poisson"', Poisson()),
        ('name = "exponential"', Exponential()),
    ],
)
def test_every_family_can_be_written(table, family):
    instance = loads(edited(('name = "gaussian"\nvariance = 0.01', table)))
    assert instance.problem == Problem(
        ["baseline", "wide", "deep"], [0.05, 5], [0.1, 0], family, fidelities=["coarse", "fine"]
    )


# --- files and names


def test_load_reads_a_file_and_labels_it(tmp_path):
    path = tmp_path / "choice.toml"
    path.write_text(SPEC, encoding="utf-8")
    assert load(path) == load(str(path)) == loads(SPEC)
    assert load(path).name == "choice"


def test_load_reads_a_file_that_starts_with_a_byte_order_mark(tmp_path):
    path = tmp_path / "choice.toml"
    path.write_text(SPEC, encoding="utf-8-sig")
    assert load(path) == loads(SPEC)


def test_load_finds_catalogue_names():
    assert load("paper-5x2").shape == (5, 2)


def test_load_can_replace_the_variance():
    assert load("paper-5x2", variance=0.1) == load("paper-5x2").with_variance(0.1)


def test_load_replaces_the_variance_of_a_problem_too(tmp_path):
    path = tmp_path / "choice.toml"
    path.write_text(PROBLEM_SPEC, encoding="utf-8")
    assert load(path, variance=2.0) == loads(PROBLEM_SPEC).with_variance(2.0)


def test_load_suggests_the_nearest_catalogue_name():
    with pytest.raises(UnknownName, match=r"unknown instance 'paper-4x4': did you mean 'paper-4x5'\? known: lucb-trap"):
        load("paper-4x4")


def test_load_suggests_the_nearest_file(tmp_path):
    (tmp_path / "choice.toml").write_text(SPEC, encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"chioce\.toml does not exist: did you mean 'choice\.toml'\?"):
        load(tmp_path / "chioce.toml")


def test_load_refuses_a_missing_file(tmp_path):
    with pytest.raises(InvalidInput, match=r"none\.toml does not exist: check the path"):
        load(tmp_path / "none.toml")


def test_load_refuses_a_folder(tmp_path):
    with pytest.raises(InvalidInput, match="cannot be read as text"):
        load(tmp_path)


def test_load_refuses_what_is_not_text(tmp_path):
    path = tmp_path / "binary.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidInput, match="cannot be read as text"):
        load(path)


def test_text_that_is_not_toml_is_refused_with_the_line():
    assert faults_of("[problem]\narms = ") == ["the text is not TOML: Invalid value (at end of document)"]


# --- specs refused


@pytest.mark.parametrize(
    ("edit", "fault"),
    [
        (("[truth]", "[wish]"), "the spec has an unknown entry 'wish': known: problem, fidelity, family, truth, guess"),
        (("[family]", "[familly]"), "the spec has an unknown entry 'familly': did you mean 'family'? known: problem"),
        (("[problem]", "[other]"), "the spec has no 'problem': add it"),
        (("arms =", "arm ="), "[problem] has an unknown entry 'arm': did you mean 'arms'? known: arms, direction"),
        (("arms =", "arm ="), "[problem] has no 'arms': add it"),
        (("cost = 0.05", ""), "[[fidelity]] \"coarse\" has no 'cost': add it"),
        (('name = "fine"', "price = 1"), "[[fidelity]] number 2 has an unknown entry 'price': known: cost, name, bias"),
        (("bias", "bais"), "[[fidelity]] \"coarse\" has an unknown entry 'bais': did you mean 'bias'?"),
        (("variance = 0.01", ""), "[family] has no 'variance': add it"),
        (("variance", "bounds"), "[family] has an unknown entry 'bounds': known: name, variance"),
        (("means", "mean"), "[truth] has no 'means': add it"),
        (('"gaussian"', '"gausian"'), "[family] name is 'gausian': did you mean 'gaussian'? known: gaussian, subg"),
        (('"gaussian"', "3"), "[family] name is 3: known: gaussian"),
        (('[family]\nname = "gaussian"', "[family]"), "[family] has no 'name': add it"),
        (
            ("cost = 0.05", "cost = -0.5"),
            'costs[0] is -0.5: a cost must be positive; check the [[fidelity]] "coarse" entry',
        ),
        (("cost = 0.05", "cost = nan"), 'costs[0] is nan: give a finite number; check the [[fidelity]] "coarse" entry'),
        (
            ("cost = 0.05", "cost = [1, 1, -1]"),
            "costs[2, 0] is -1.0: a cost must be positive; check the [[fidelity]] \"coarse\" entry, arm 'deep'",
        ),
        (
            ("cost = 0.05", 'cost = "cheap"'),
            "[[fidelity]] \"coarse\" has cost 'cheap': give a number, or a list of 3, one per arm",
        ),
        (("cost = 0.05", "cost = [1, 2]"), '[[fidelity]] "coarse" has cost [1, 2]: give a number, or a list of 3'),
        (("bias = 0.1", "bias = -0.1"), '[[fidelity]] "coarse" has bias -0.1: a radius cannot be negative; for bounds'),
        (
            ("bias = 0.1", "bias = true"),
            '[[fidelity]] "coarse" has bias True: give a radius, [low, high], or a list of 3',
        ),
        (("bias = 0.1", "bias = [1, 2, 3, 4]"), '[[fidelity]] "coarse" has bias [1, 2, 3, 4]: give a radius, [low,'),
        (("bias = 0.1", "bias = nan"), 'biases[0] is nan: give a number; check the [[fidelity]] "coarse" entry'),
        (
            ("bias = 0.1", "bias = [0.3, -0.3]"),
            "bias_low[0, 0] is 0.3: it is above its bias_high, -0.3; check the [[fid",
        ),
        (
            ("cost = 5.0", "cost = 5.0\nbias = 0.1"),
            'biases[1] is 0.1: the last fidelity is the true one: its bias must be 0; check the [[fidelity]] "fine"',
        ),
        (("variance = 0.01", "variance = 0"), "variance is 0.0: a variance must be positive; check the [family] table"),
        (
            ('"maximise"', '"maximize"'),
            "direction is 'maximize': did you mean 'maximise'? known: maximise, minimise; che",
        ),
        (
            ('["baseline", "wide", "deep"]', '"three"'),
            "arms is 'three': give how many there are, or a list of their na",
        ),
        (('"wide"', '"deep"'), "arms[2] is 'deep', as is arms[1]: names must be unique; check the [problem] table"),
        (
            ('"fine"', '"coarse"'),
            "fidelities[1] is 'coarse', as is fidelities[0]: names must be unique; check the [[fi",
        ),
        (
            ("[0.91, 0.98]]", "[0.91, 0.98, 1]]"),
            "means has rows of different lengths: give every row the same number of",
        ),
        (
            ("0.91, 0.98", "0.81, 0.98"),
            "means[2, 0] is 0.81: it is -0.17 from the arm's top mean, outside the bias boun",
        ),
        (
            (", [0.91, 0.98]", ""),
            "means has shape (2, 2): give 3 rows of 2: arms x fidelities; check the [truth] table",
        ),
    ],
    ids=str,
)
def test_spec_refuses(edit, fault):
    assert any(told.startswith(fault) for told in faults_of(edited(edit)))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("problem = 3", "problem is 3: write it as a table, [problem]"),
        ("family = 3", "family is 3: write it as a table, [family]"),
        ("[fidelity]\ncost = 1", "fidelity is not a list of tables: write each as [[fidelity]]"),
        ("fidelity = []", "fidelity is empty: add at least one [[fidelity]], the true one"),
        ("truth = 3", "truth is 3: write it as a table, [truth]"),
    ],
)
def test_what_should_be_a_table_is_told_how_to_be_written(text, fault):
    assert fault in faults_of(text)


def test_an_empty_spec_is_told_what_it_needs():
    assert faults_of("") == [f"the spec has no '{table}': add it" for table in ("problem", "fidelity", "family")]


def test_a_typo_and_a_wrong_value_are_told_at_once():
    text = edited(
        ("arms =", "arm ="), ("cost = 0.05", "cost = -1"), ("0.91, 0.98", "0.81, 0.98"), ("variance", "varience")
    )
    assert [fault.split(" ")[0] for fault in faults_of(text)] == [
        "[problem]",
        "[problem]",
        "[family]",
        "[family]",
        "costs[0]",
        "means[2,",
    ]


def test_an_unreadable_bias_raises_no_other_alarm():
    """The means cannot be held against bounds that could not be read."""
    (fault,) = faults_of(edited(("bias = 0.1", 'bias = "small"')))
    assert fault.startswith("[[fidelity]] \"coarse\" has bias 'small': give a radius")


def test_several_faults_are_told_under_the_name_of_the_spec(tmp_path):
    path = tmp_path / "choice.toml"
    path.write_text(edited(("cost = 0.05", "cost = -1"), ("cost = 5.0", "cost = 0")), encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"^2 faults in the spec 'choice':\n  costs\[0\]"):
        load(path)


# --- families that learn the noise

NOISE = 'name = "gaussian"\nvariance = 0.01'
LEARNT = {
    'name = "symmetric"\nlow = 0\nhigh = 2': (Symmetric(0.0, 2.0), 0.1),
    'name = "bounded"\nlow = -1.0\nhigh = 2.0': (Bounded(-1.0, 2.0), [0.1, 0.2]),
    'name = "bounded"\nlow = [-1, 0]\nhigh = [3.0, 2.0]': (Bounded([-1.0, 0.0], [3.0, 2.0]), [[0.1, 0.2]] * 3),
}


def learning(text, deviation):
    return edited((NOISE, text), ("means =", f"deviation = {deviation}\nmeans ="))


@pytest.mark.parametrize("text", LEARNT)
def test_families_that_learn_are_read_with_their_deviation_and_written_again(text):
    family, deviation = LEARNT[text]
    instance = loads(learning(text, deviation))
    known = instance.problem
    expected = Instance(
        instance.means,
        [0.05, 5.0],
        [0.1, 0.0],
        family,
        arms=known.arms,
        fidelities=known.fidelities,
        deviation=deviation,
    )
    assert instance == expected
    assert loads(dumps(instance)) == instance
    assert loads(dumps(known)) == known
    assert type(known.family) is type(family)


@pytest.mark.parametrize(
    ("text", "deviation", "fault"),
    [
        (
            'name = "symmetric"\nvariance = 0.1\nlow = 0\nhigh = 2',
            0.1,
            "[family] has 'variance', which symmetric does not need: leave it out, as the noise is learnt on the way",
        ),
        (
            'name = "bounded"\nbounds = [0, 2]',
            0.1,
            "[family] has 'bounds', which belongs to subgaussian: write low and",
        ),
        (
            'name = "bounded"\ndeviation = 1\nlow = 0\nhigh = 2',
            0.1,
            "[family] has 'deviation', which is the truth of a simulation: write it under [truth]",
        ),
        ('name = "symmetric"\nlow = 0', 0.1, "[family] has no 'high': add it"),
        ('name = "symmetric"\nlow = 2\nhigh = 0', 0.1, "low is 2, and high is 0: give two finite numbers"),
        ('name = "bounded"\nlow = [0, 1, 2]\nhigh = 3', 0.1, "low is [0, 1, 2]: give a finite number, or a list of 2"),
        (
            'name = "bounded"\nlow = 0\nhigh = 2',
            -1,
            "deviation is -1.0: a deviation cannot be negative; check the [truth]",
        ),
        ('name = "bounded"\nlow = 0\nhigh = 0.9', 0.1, "means[2, 0] is 0.91: a mean of this bounded family must be in"),
        (
            'name = "gaussian"\nvariance = 0.01',
            0.1,
            "deviation is given: the gaussian family says itself",
        ),
    ],
)
def test_families_that_learn_are_told_what_is_wrong(text, deviation, fault):
    told = faults_of(learning(text, deviation))
    assert any(line.startswith(fault) for line in told), told


def test_a_simulation_of_a_family_that_learns_needs_a_deviation():
    text = edited((NOISE, 'name = "symmetric"\nlow = 0\nhigh = 2'))
    assert any(fault.startswith("deviation is missing: the symmetric family does not") for fault in faults_of(text))
    assert loads(text[: text.index("[truth]")]).family.learns


def test_a_bias_left_out_is_not_known():
    for text in ("", "bias = inf"):
        assert loads(edited(("bias = 0.1", text))).problem.idle == ["coarse"]
