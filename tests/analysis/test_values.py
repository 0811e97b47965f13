"""evidence, risk, intervals and bias_alarms of single values: what they are given as, and what is refused."""

import numpy as np
import pytest

from mfbai import Bounded, Gaussian, InvalidInput, Problem, Symmetric, bias_alarms, evidence, intervals, risk

PROBLEM = Problem(["a", "b"], [0.1, 1.0], [0.1, 0.0], Gaussian(0.04), fidelities=["coarse", "fine"])
ROWS = [
    ("a", "coarse", 0.41),
    ("b", "fine", 0.93),
    ("a", "coarse", 0.55),
    ("b", "coarse", 0.88),
    ("a", "fine", 0.52),
    ("b", "coarse", 0.97),
]
COUNTS = [[2, 1], [2, 1]]
MEANS = [[0.48, 0.52], [0.925, 0.93]]


class Frame:
    """As much of a DataFrame as is needed."""

    def __init__(self, rows):
        self.columns = ["value", "arm", "fidelity"]
        self._rows = rows

    def __getitem__(self, name):
        position = ("arm", "fidelity", "value").index(name)
        return np.array([row[position] for row in self._rows], dtype=object)


def forms(folder):
    """The same values in every form."""
    text = "arm,fidelity,value\n" + "".join(f"{arm},{fidelity},{value}\n" for arm, fidelity, value in ROWS)
    (folder / "values.csv").write_text(text)
    numbered = "fidelity,arm,value\n" + "".join(
        f"{1 + ['coarse', 'fine'].index(fidelity)},{1 + 'ab'.index(arm)},{value}\n" for arm, fidelity, value in ROWS
    )
    (folder / "numbered.csv").write_text(numbered)
    return {
        "tuples": ROWS,
        "lists": [list(row) for row in ROWS],
        "indices": [("ab".index(arm), ["coarse", "fine"].index(fidelity), value) for arm, fidelity, value in ROWS],
        "numpy": [(np.int64("ab".index(arm)), fidelity, np.float64(value)) for arm, fidelity, value in ROWS],
        "dicts": [{"value": value, "arm": arm, "fidelity": fidelity} for arm, fidelity, value in ROWS],
        "a frame": Frame(ROWS),
        "an iterator": iter(ROWS),
        "a path": folder / "values.csv",
        "a path as text": str(folder / "values.csv"),
        "numbers in a file": folder / "numbered.csv",
    }


def test_values_in_every_form_are_the_same_as_their_counts_and_means(tmp_path):
    expected = evidence(PROBLEM, COUNTS, MEANS)
    for form, values in forms(tmp_path).items():
        found = evidence(PROBLEM, values=values)
        assert found.value == pytest.approx(expected.value, rel=1e-12), form
        np.testing.assert_array_equal(found.counts, expected.counts)


@pytest.mark.parametrize("direction", ["maximise", "minimise"])
def test_all_functions_take_values(direction):
    problem = PROBLEM.towards(direction)
    assert risk(problem, values=ROWS).level == pytest.approx(risk(problem, COUNTS, MEANS).level)
    np.testing.assert_allclose(intervals(problem, values=ROWS, delta=0.1), intervals(problem, COUNTS, MEANS, 0.1))
    assert bias_alarms(problem, values=ROWS, delta=0.1) == bias_alarms(problem, COUNTS, MEANS, 0.1) == []


@pytest.mark.parametrize("family", [Symmetric(0.0, 2.0), Bounded(0.0, 2.0)], ids=lambda family: family.name)
@pytest.mark.parametrize("direction", ["maximise", "minimise"])
def test_families_that_learn_need_values_and_judge_them(family, direction):
    problem = Problem(["a", "b"], [0.1, 1.0], [0.1, 0.0], family, direction=direction)
    with pytest.raises(InvalidInput, match=f"the {family.name} family learns the size of the noise"):
        evidence(problem, COUNTS, MEANS)
    rng = np.random.default_rng(2)
    tops = {"maximise": [0.6, 1.4], "minimise": [1.4, 0.6]}[direction]
    rows = [(arm, 0, tops[arm] + 0.05 * rng.standard_normal()) for _ in range(40) for arm in range(2)]
    found = risk(problem, values=rows)
    assert found.leader == 1
    assert found.level < 1e-3
    assert evidence(problem, values=rows).leader == 1
    ends = intervals(problem, values=rows, delta=0.05)
    assert (ends[:, 0] < tops).all()
    assert (ends[:, 1] > tops).all()
    assert (ends[:, 1] - ends[:, 0] < 0.6).all()
    assert bias_alarms(problem, values=rows) == []
    alarms = bias_alarms(problem, values=[*rows, *((0, 1, tops[0] + (0.5 if n % 2 else 0.52)) for n in range(40))])
    assert [(alarm.arm, alarm.fidelity, alarm.certain) for alarm in alarms] == [(0, 0, True)]


def test_no_values_at_all_prove_nothing():
    problem = Problem(["a", "b"], [0.1, 1.0], [0.1, 0.0], Symmetric(0.0, 2.0))
    assert risk(problem, values=[]).level == 1.0
    np.testing.assert_array_equal(intervals(problem, values=[]), [[0.0, 2.0]] * 2)


BAD = {
    "nothing": ({}, "values are missing: give all values, or both counts and means"),
    "counts alone": ({"counts": COUNTS}, "values are missing"),
    "both": ({"counts": COUNTS, "means": MEANS, "values": ROWS}, "values are given beside counts or means"),
    "a number": ({"values": 3}, "values is 3: give rows of arm, fidelity and value"),
    "a short row": ({"values": [("a", 0.5)]}, "values[0] is ('a', 0.5): give arm, fidelity and value"),
    "a missing entry": ({"values": [{"arm": "a", "value": 1.0}]}, "values[0] has an unknown fidelity, None"),
    "an unknown arm": ({"values": [("c", 0, 1.0)]}, "values[0] has an unknown arm, 'c': known: a, b; or an index"),
    "an index too large": ({"values": [("a", 2, 1.0)]}, "values[0] has an unknown fidelity, 2"),
    "a truth value": ({"values": [("a", True, 1.0)]}, "values[0] has an unknown fidelity, True"),
    "text": ({"values": [("a", 0, "high")]}, "values[0] the value is 'high': give a number"),
    "NaN": ({"values": [("a", 0, float("nan"))]}, "values[0] the value is nan: a gaussian evaluation cannot return"),
    "no file": ({"values": "none.csv"}, "none.csv cannot be read"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_values_are_refused(case):
    given, told = BAD[case]
    with pytest.raises(InvalidInput) as caught:
        evidence(PROBLEM, **given)
    assert told in str(caught.value)


def test_a_frame_without_a_column_is_refused():
    frame = Frame(ROWS)
    frame.columns = ["arm", "value"]
    with pytest.raises(InvalidInput, match="has no column 'fidelity'"):
        evidence(PROBLEM, values=frame)


def test_values_outside_the_range_of_their_fidelity_are_refused():
    problem = Problem(["a", "b"], [0.1, 1.0], [0.1, 0.0], Bounded(0.0, [2.0, 1.0]))
    assert risk(problem, values=[("a", 0, 1.5)]).level == 1.0
    with pytest.raises(InvalidInput, match=r"values\[1\] the value is 1.5: a bounded evaluation cannot return that"):
        risk(problem, values=[("a", 0, 1.5), ("a", 1, 1.5)])


def test_only_the_first_of_many_faults_are_told():
    with pytest.raises(InvalidInput) as caught:
        evidence(PROBLEM, values=[("c", 0, 1.0)] * 1000)
    assert len(caught.value.faults) == 11


def test_values_with_common_seeds_are_refused():
    with pytest.raises(InvalidInput, match="common seeds"):
        evidence(PROBLEM.replace(seeds="common"), values=ROWS)
