"""Making a pilot: what is evaluated, what is kept, and how it goes on after any end."""

import os
import random
import signal
import threading

import pytest

import mfbai
from mfbai import EvaluationFailed, InvalidInput
from support.interrupts import start, wait_until

PROBLEM = mfbai.Problem(
    ["plain", "wide", "deep"],
    costs=[0.05, 5.0],
    biases=[float("inf"), 0.0],
    family=mfbai.Symmetric(0, 3),
    fidelities=["coarse", "fine"],
)
HEADER = "arm,fidelity,seed,value\n"
# Evaluates for ever, once it has made some evaluations.
ENDLESS = """
import sys, time
import mfbai
sys.path.insert(0, {tests!r})
from study.test_pilot import PROBLEM, evaluate
calls = iter(range(10))
def slow(*cell):
    if next(calls) == 7:
        time.sleep(600)
    return evaluate(*cell)
mfbai.pilot(slow, PROBLEM, file="values.csv")
"""


def evaluate(arm, fidelity, seed):
    shared, own = random.Random(seed).gauss(0, 0.1), random.Random(f"{arm} {fidelity} {seed}").gauss(0, 0.02)
    return {"plain": 1.0, "wide": 1.1, "deep": 1.4}[arm] + shared + own + (0.5 if fidelity == "coarse" else 0.0)


class Counting:
    """Evaluates, and says what it was called with."""

    def __init__(self):
        self.calls = []

    def __call__(self, *cell):
        self.calls.append(cell)
        return evaluate(*cell)


def test_every_arm_is_evaluated_at_every_fidelity_with_the_same_seeds():
    counting = Counting()
    found = mfbai.pilot(counting, PROBLEM, seeds=5)
    seeds = {seed for *_, seed in counting.calls}
    assert len(seeds) == 5
    assert sorted(counting.calls) == sorted((a, f, s) for a in PROBLEM.arms for f in PROBLEM.fidelities for s in seeds)
    assert found.cost == pytest.approx(5 * 3 * 5.05)
    assert found.means[2, 1] == pytest.approx(sum(evaluate("deep", "fine", s) for s in seeds) / 5)


def test_some_arms_by_name_or_index():
    assert mfbai.pilot(evaluate, PROBLEM, seeds=3, arms=["deep", 0]).arms == ("plain", "deep")


def test_workers_share_the_evaluations():
    """Two are under way at once: each of the first two waits for the other."""
    both = threading.Barrier(2, timeout=60)
    waited = set()

    def together(*cell):
        if threading.get_ident() not in waited:
            waited.add(threading.get_ident())
            both.wait()
        return evaluate(*cell)

    found = mfbai.pilot(together, PROBLEM, workers=2)
    assert len(waited) == 2
    assert found.to_dict() == mfbai.pilot(evaluate, PROBLEM).to_dict()


def test_a_pilot_of_a_file_goes_on_where_it_was_and_with_more_seeds(tmp_path):
    file, counting = tmp_path / "values.csv", Counting()
    first = mfbai.pilot(counting, PROBLEM, seeds=3, file=file)
    again = mfbai.pilot(counting, PROBLEM, seeds=3, file=file)
    assert len(counting.calls) == 18
    assert again.to_dict() == first.to_dict()
    assert mfbai.pilot(counting, PROBLEM, seeds=5, file=file).seeds == 5
    assert len(counting.calls) == len(set(counting.calls)) == 30
    assert mfbai.pilot(file, PROBLEM).to_dict() == mfbai.pilot(counting, PROBLEM, seeds=5, file=file).to_dict()


def test_an_unfinished_last_line_is_evaluated_again(tmp_path):
    file, counting = tmp_path / "values.csv", Counting()
    whole = mfbai.pilot(evaluate, PROBLEM, seeds=3, file=file)
    text = file.read_text()
    file.write_text(text[:-4])
    assert mfbai.pilot(counting, PROBLEM, seeds=3, file=file).to_dict() == whole.to_dict()
    assert len(counting.calls) == 1
    assert file.read_text() == text


def test_a_killed_pilot_loses_nothing_and_doubles_nothing(tmp_path):
    file = tmp_path / "values.csv"
    process = start("-c", ENDLESS.format(tests=os.path.dirname(os.path.dirname(__file__))), cwd=tmp_path)
    wait_until(lambda: file.exists() and file.read_text().count("\n") == 8)
    with pytest.raises(InvalidInput, match="is being written by another pilot"):
        mfbai.pilot(evaluate, PROBLEM, file=file)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    counting = Counting()
    assert mfbai.pilot(counting, PROBLEM, file=file).to_dict() == mfbai.pilot(evaluate, PROBLEM).to_dict()
    assert len(counting.calls) == 48 - 7


def test_an_exception_ends_the_call_and_keeps_the_values(tmp_path):
    file, counting = tmp_path / "values.csv", Counting()

    def broken(*cell):
        if len(counting.calls) == 10:
            raise RuntimeError("broken")
        return counting(*cell)

    with pytest.raises(RuntimeError, match="broken"):
        mfbai.pilot(broken, PROBLEM, file=file)
    mfbai.pilot(counting, PROBLEM, file=file)
    assert len(counting.calls) == len(set(counting.calls)) == 48


def test_an_evaluation_that_fails_is_reported_and_tried_again_by_the_next_call(tmp_path):
    file, tried = tmp_path / "values.csv", []

    def fails(arm, fidelity, seed):
        if not tried:
            tried.append((arm, fidelity, seed))
            raise EvaluationFailed("the rig broke")
        return evaluate(arm, fidelity, seed)

    with pytest.raises(EvaluationFailed, match="no value of 'plain' at 'coarse' with seed"):
        mfbai.pilot(fails, PROBLEM, seeds=3, file=file)
    assert mfbai.pilot(fails, PROBLEM, seeds=3, file=file).seeds == 3


def test_what_has_no_noise_is_evaluated_once_an_arm(tmp_path):
    problem = mfbai.Problem(
        ["plain", "wide", "deep"],
        [0.0, 0.05, 5.0],
        [float("inf"), float("inf"), 0.0],
        mfbai.Symmetric(0, 3),
        fidelities=["formula", "coarse", "fine"],
        deterministic="formula",
    )
    counting, file = Counting(), tmp_path / "values.csv"

    def with_formula(arm, fidelity, seed):
        counting(arm, "fine" if fidelity == "formula" else fidelity, seed)
        return 1.5 if fidelity == "formula" else evaluate(arm, fidelity, seed)

    first = mfbai.pilot(with_formula, problem, seeds=4, file=file)
    assert len(counting.calls) == 3 * (1 + 2 * 4)
    assert mfbai.pilot(with_formula, problem, seeds=4, file=file).to_dict() == first.to_dict()
    assert len(counting.calls) == 3 * (1 + 2 * 4)


def test_values_that_are_not_possible_end_the_call():
    with pytest.raises(InvalidInput, match=r"the value of '.*' at '.*' with seed \d+ is nan: give a finite number"):
        mfbai.pilot(lambda arm, fidelity, seed: float("nan"), PROBLEM)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seeds": 1}, "seeds is 1: give 2 or more"),
        ({"seeds": 2.5}, "seeds is 2.5: give a whole number"),
        ({"arms": ["plian"]}, "arms has 'plian': did you mean 'plain'"),
        ({"arms": []}, "arms is empty"),
        ({"workers": 0}, "workers is 0: give a whole number of 1 or more"),
        ({"file": "no/such/folder/values.csv"}, "cannot be written: No such file or directory"),
    ],
)
def test_a_wrong_call_is_refused(options, message):
    with pytest.raises(InvalidInput, match=message):
        mfbai.pilot(evaluate, PROBLEM, **options)


def test_values_that_exist_need_no_file_and_no_arms():
    with pytest.raises(InvalidInput, match="file is given with values that exist already"):
        mfbai.pilot([], PROBLEM, file="values.csv")


def test_a_file_of_items_cannot_be_gone_on_with(tmp_path):
    file = tmp_path / "values.csv"
    file.write_text(HEADER + "plain,coarse,first question,1.0\n")
    with pytest.raises(InvalidInput, match="only whole numbers can be evaluated as seeds"):
        mfbai.pilot(evaluate, PROBLEM, file=file)


def test_a_file_that_gives_an_evaluation_twice_is_refused(tmp_path):
    file = tmp_path / "values.csv"
    file.write_text(HEADER + "plain,coarse,1,1.0\n" * 2)
    with pytest.raises(InvalidInput, match="line 3: gives an evaluation again"):
        mfbai.pilot(evaluate, PROBLEM, file=file)


def test_what_a_pilot_writes_can_be_studied():
    """From a problem without bias bounds to a verdict."""
    problem = mfbai.pilot(evaluate, PROBLEM).problem()
    assert mfbai.identify(evaluate, problem, delta=0.05).arm == "deep"


def test_names_may_be_numbers():
    """As of cycles, or of grid points: "100" is a name then, and 0 the index of nothing."""
    problem = PROBLEM.replace(fidelities=["100", "1000"])
    found = mfbai.pilot(lambda arm, m, seed: evaluate(arm, "coarse" if m == "100" else "fine", seed), problem)
    assert found.means.shape == (3, 2)
