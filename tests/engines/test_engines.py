"""The same on every engine: simulations, studies, and errors of the functions that workers call."""

import json
import threading

import numpy as np
import pytest

import mfbai
from mfbai import InvalidInput, identify, load_study, pilot, plan, simulate, trace, verify
from mfbai.study.journal import canonical
from support.engines import CLOSE, PROBLEM, WORKERS, Odd, evaluate, evaluate_close, raise_odd
from support.seeds import fix_keys

TABLES = ("costs", "answers", "steps", "stopped", "pulls")


@pytest.fixture(autouse=True)
def same_seeds(monkeypatch):
    fix_keys(monkeypatch)


def equal(one, other):
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in TABLES)


@pytest.mark.parametrize("workers", [1, WORKERS, 5])
def test_simulations_are_the_same_to_the_bit(executor, workers):
    expected = simulate("paper-4x5", "frugal", [0.1, 0.01], runs=60, seed=3, workers=1)
    found = simulate("paper-4x5", "frugal", [0.1, 0.01], runs=60, seed=3, workers=workers, executor=executor)
    assert equal(found, expected)


def test_traces_are_the_same_to_the_bit(executor):
    expected, found = (
        trace("paper-5x2", "mf-grad", steps=300, runs=7, workers=WORKERS, executor=on) for on in (None, executor)
    )
    assert np.array_equal(found.shares, expected.shares)


def test_plans_are_the_same(executor):
    expected, found = (plan("paper-5x2", executor=on, workers=WORKERS).to_dict() for on in (None, executor))
    assert json.dumps(found) == json.dumps(expected)


def course(name, url):
    """A journal without the times, and so without the hashes."""
    bodies = [event.body for event in load_study(name, storage=url).journal()]
    return [canonical({key: value for key, value in body.items() if key not in ("at", "name")}) for body in bodies]


def test_with_one_worker_the_journal_is_that_of_a_thread(executor, tmp_path, monkeypatch):
    url, verdicts = f"sqlite:///{tmp_path / 's.db'}", []
    for name, on in (("here", None), ("there", executor)):
        fix_keys(monkeypatch)
        verdicts.append(identify(evaluate_close, CLOSE, 0.01, name=name, storage=url, workers=1, executor=on))
    assert verdicts[0] == verdicts[1]
    assert verdicts[0].told > 60
    assert course("here", url) == course("there", url)


def test_several_workers_find_the_best_arm_and_the_journal_holds(executor, tmp_path):
    url = f"sqlite:///{tmp_path / 's.db'}"
    found = identify(evaluate_close, CLOSE, 0.01, name="s", storage=url, workers=WORKERS, executor=executor)
    assert found.arm == "wide"
    study = load_study("s", storage=url)
    status = study.status()
    assert (status.failed, status.told) == (0, found.told + status.late)
    assert verify(study.export())
    asked = {body["trial"]: body for event in study.journal() if (body := event.body)["kind"] == "ask"}
    for told in (body for event in study.journal() if (body := event.body)["kind"] == "tell"):
        trial = asked[told["trial"]]
        assert told["value"] == evaluate_close(CLOSE.arms[trial["arm"]], "", trial["seed"])


def test_a_pilot_s_values_are_the_same(executor):
    expected, found = (
        pilot(evaluate, PROBLEM, seeds=3, workers=WORKERS, executor=on).to_dict() for on in (None, executor)
    )
    assert json.dumps(found) == json.dumps(expected)


# --- functions that go wrong


@pytest.mark.parametrize(
    ("returned", "told"),
    [(float("nan"), "give a finite number"), ("0.5", "'0.5': give a number"), (None, "None: give a number")],
)
def test_a_value_that_is_none_ends_the_call_and_the_study_can_go_on(executor, tmp_path, returned, told):
    url = f"sqlite:///{tmp_path / 's.db'}"
    call = {"name": "s", "storage": url, "workers": WORKERS, "executor": executor}
    with pytest.raises(InvalidInput, match=f"the value of '(plain|wide)' at 'fidelity 1' with seed .* is .*{told}"):
        identify(lambda arm, fidelity, seed: returned, PROBLEM, 0.05, **call)
    assert load_study("s", storage=url).status().told == 0
    assert identify(evaluate, PROBLEM, 0.05, **call).arm == "wide"


def test_an_exception_shows_the_worker_s_traceback_and_the_study_can_go_on(executor, engine_name, tmp_path):
    def deep_inside(arm):
        raise ZeroDivisionError(f"no {arm}")

    call = {"name": "s", "storage": f"sqlite:///{tmp_path / 's.db'}", "workers": WORKERS, "executor": executor}
    with pytest.raises(ZeroDivisionError, match=r"no (plain|wide)") as caught:
        identify(lambda arm, fidelity, seed: deep_inside(arm), PROBLEM, 0.05, **call)
    seen = "".join(caught.value.__notes__) if hasattr(caught.value, "__notes__") else ""
    local = engine_name in ("threads", "thread pool")
    assert "while evaluating '" in seen
    assert local or "deep_inside" in seen
    assert not local or any(entry.name == "deep_inside" for entry in caught.traceback)
    assert identify(evaluate, PROBLEM, 0.05, **call).arm == "wide"


def test_an_exception_that_cannot_travel_is_told_by_its_name(executor, engine_name):
    kind, told = (Odd, "") if engine_name in ("threads", "thread pool") else (Exception, "Odd: ")
    with pytest.raises(kind, match=f"{told}salt and pepper"):
        identify(raise_odd, PROBLEM, 0.05, workers=WORKERS, executor=executor)


def test_a_number_of_any_kind_will_do(executor):
    class Score(float):
        pass

    def score(arm, fidelity, seed):
        return Score(evaluate(arm, fidelity, seed))

    assert identify(score, PROBLEM, 0.05, workers=WORKERS, executor=executor).arm == "wide"


def test_a_result_that_cannot_travel_is_told_by_its_text(executor):
    with pytest.raises(InvalidInput, match=r"is <function|is .*lock.*: give a number"):
        identify(lambda arm, fidelity, seed: threading.Lock(), PROBLEM, 0.05, workers=WORKERS, executor=executor)


def test_a_function_that_cannot_be_sent_is_refused_by_name_before_anything_is_asked(executor, engine_name, tmp_path):
    lock, url = threading.Lock(), f"sqlite:///{tmp_path / 's.db'}"

    def guarded(arm, fidelity, seed):
        with lock:
            return evaluate(arm, fidelity, seed)

    call = {"name": "s", "storage": url, "workers": WORKERS, "executor": executor}
    if engine_name in ("threads", "thread pool"):
        assert identify(guarded, PROBLEM, 0.05, **call).arm == "wide"
        return
    with pytest.raises(InvalidInput, match=r"evaluate '.*guarded' cannot be sent to other processes .*lock"):
        identify(guarded, PROBLEM, 0.05, **call)
    assert [event.body["kind"] for event in load_study("s", storage=url).journal()] == ["create"]


def test_failures_count_as_such(executor):
    def never(arm, fidelity, seed):
        raise mfbai.EvaluationFailed("no licence")

    with pytest.raises(mfbai.EvaluationFailed, match="3 trials of 'plain' at 'fidelity 1' failed in a row: no licence"):
        identify(never, PROBLEM, 0.05, workers=1, executor=executor)


def test_what_the_caller_made_is_still_open(executor):
    """After all of the above."""
    assert identify(evaluate, PROBLEM, 0.05, workers=WORKERS, executor=executor).arm == "wide"


def test_a_function_that_ends_its_process_politely_does_not_end_the_caller(executor):
    def leave(arm, fidelity, seed):
        raise SystemExit(3)

    with pytest.raises(Exception, match=r"SystemExit|sys.exit") as caught:
        identify(leave, PROBLEM, 0.05, workers=1, executor=executor)
    assert not isinstance(caught.value, SystemExit)
