"""How faults are told, and the checks that everything shares."""

import pickle

import numpy as np
import pytest

from mfbai.checks import check_delta
from mfbai.errors import Fault, Faults, InvalidInput, UnknownName, unknown_name

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


def test_of_long_names_only_some_are_listed():
    told = str(unknown_name("study", "xyz", [f"{k}{'n' * 199}" for k in range(20)]))
    assert told.endswith(f"known: 0{'n' * 199} and 19 more")


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
