"""Studies whose arms share seeds: rounds are planned as a whole, counted in order, and nothing of them is lost."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mfbai import InvalidInput, NothingToAsk, StudyOver, create_study, identify, load_study, verify
from mfbai.analysis.bearing import trusted
from mfbai.kernels.stats import make_stats
from mfbai.run import loop
from mfbai.stopping.contrasts import watched
from mfbai.strategies import ask
from mfbai.strategies.interface import seed as seed_of
from mfbai.study import ledger
from support.certificates import forged, numbers, rejected_at, resealed
from support.folds import records_of, same_bits
from support.rounds import SHARED, act, actions, asks, check_counts, evaluate, finish, rounds_of, value_of
from support.studies import PROBLEM

NEVER = 1e-200  # a risk so small that there is no verdict


@pytest.fixture
def study():
    return create_study(SHARED, 0.05, storage="sqlite://")


# --- what is handed out


def test_the_arms_of_a_round_are_evaluated_at_the_same_seeds(study):
    trials = study.ask_many(60)
    for trial, body in zip(trials, asks(study), strict=True):
        assert trial.seed == body["seed"] == study.settings.seed(body["seed_number"] + 1)
    for bodies in rounds_of(study)[:-1]:
        assert {body["arm"] for body in bodies} == {0, 1, 2}
        for arm in range(3):
            assert {body["seed"] for body in bodies if body["arm"] == arm} <= {body["seed"] for body in bodies}
    shared = {trial.seed for trial in trials if trial.arm == "plain"}
    assert shared & {trial.seed for trial in trials if trial.arm == "wide"}


def test_no_evaluation_is_made_twice(study):
    """The same arm and fidelity at the same seed would give the same value."""
    finish(study)
    cells = [(body["arm"], body["fidelity"], body["seed"]) for body in asks(study)]
    assert len(set(cells)) == len(cells)


def test_a_round_begins_with_the_arm_that_the_others_are_compared_with(study):
    study.ask_many(60)
    for bodies in rounds_of(study)[:-1]:
        first, *others = [body["part"] for body in bodies]
        assert first == -len(bodies)
        assert min(others) >= 1


def test_a_trial_that_is_handed_out_again_has_the_seed_of_its_round(study):
    first, second = study.ask_many(2)
    study.release(second)
    again = study.ask()
    assert (again.id, again.seed) == (second.id, second.seed)
    assert study.under_way()[1][2] == second.seed
    study.tell(first, 0.5)
    study.tell(again, 0.5)


def test_a_study_asks_and_answers_as_the_simulator_does_step_for_step(study):
    """The plain loop, one evaluation at a time, and the study: the same cells, seed numbers, parts, and end."""
    parts = study.settings.parts
    state = watched(parts.make_state(), ~trusted(SHARED))
    records = (make_stats(SHARED.shape), state, parts.make_rule(state), loop.make_outcome(1))
    nothing = np.zeros(SHARED.shape, dtype=np.int64)
    while study.result is None:
        assert not records[3].levels[0]
        cell = tuple(map(int, ask(parts.model, records[0], state, nothing)))
        number, part = map(int, seed_of(parts.model, records[0], state, nothing))
        trial = study.ask()
        body = asks(study)[-1]
        assert (trial.arm_index, trial.fidelity_index) == cell
        assert (body["seed_number"], body["part"]) == (number, part)
        value = value_of(trial)
        records[0].seed[:] = number, part
        loop.step(parts.model, *records, *cell, value)
        study.tell(trial, value)
    assert records[3].levels[0] == 1
    assert study.result.arm_index == records[3].answer[0] == 1
    assert same_bits(records_of(study._fold)[:4], records)


# --- counting, whatever happens


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
@given(actions=actions, snapshots=st.sampled_from([1, 4, 10_000]))
def test_results_count_in_the_order_of_asking_whatever_happens(actions, snapshots):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ledger, "SNAPSHOT_EVERY", snapshots)
        study = create_study(SHARED, NEVER, storage="sqlite://")
        act(study, actions)
        check_counts(study)
        assert verify(study.export())


def test_rounds_begin_before_earlier_ones_are_back(study):
    trials = study.ask_many(40)
    assert len(rounds_of(study)) > 3
    for trial in reversed(trials):
        study.tell(trial, value_of(trial))
    check_counts(study) if study.result is None else verify(study.export())


def test_a_fast_worker_waits_for_a_slow_one_of_any_arm(study):
    slow, *fast = study.ask_many(6)
    for trial in fast:
        study.tell(trial, value_of(trial))
    assert (study.status().waiting, study.status().counts.sum()) == (5, 0)
    with pytest.raises(NothingToAsk, match=r"20 results wait for trial '1-\w{8}', which was asked for before them"):
        finish(study)
    study.fail(slow, "its machine is gone")
    assert study.status().waiting == 0
    assert study.status().counts.sum() == 20


# --- the end


def test_the_verdict_says_that_it_rests_on_symmetric_differences(study):
    text = str(finish(study))
    assumed = "if differences at the same seed are symmetric and the bias bounds hold"
    assert text.startswith(f"The best is 'wide': the risk is 0.05 at most, {assumed}; it cost ")
    assert "rests_on" not in study.status().to_dict()["result"]
    found = verify(study.export())
    assert found
    assert str(found.verdict) == text


def test_a_single_fidelity_has_no_bias_bounds_to_rest_on():
    study = create_study(SHARED.replace(costs=[1.0], biases=[0.0], fidelities=1), 0.05, storage="sqlite://")
    assert "differences at the same seed are symmetric; it cost" in str(finish(study))


def test_shared_luck_cancels():
    """The same values but for the seeds: with seeds of their own, the arms' luck does not cancel."""
    costs = {}
    for seeds in ("common", "independent"):
        found = [identify(evaluate, SHARED, 0.05, seeds=seeds) for _ in range(5)]
        assert {verdict.arm for verdict in found} == {"wide"}
        costs[seeds] = np.mean([verdict.cost for verdict in found])
    assert costs["common"] < 2 * costs["independent"]


@pytest.mark.parametrize("max_cost", [0.25, 1.0, 1.75])
def test_a_budget_may_end_in_the_middle_of_a_round(max_cost):
    study = create_study(SHARED, NEVER, max_cost=max_cost, storage="sqlite://")
    while study.result is None:
        trial = study.ask()
        study.tell(trial, value_of(trial))
    assert study.result.state == "undecided"
    assert study.status().cost <= max_cost
    assert verify(study.export()).verdict == study.result
    with pytest.raises(StudyOver):
        study.ask()


# --- what is refused


def test_values_from_elsewhere_are_refused_with_the_reason(study):
    before = list(study.journal())
    with pytest.raises(InvalidInput, match="cannot be added: the arms of this study share seeds"):
        study.add("wide", 1, [0.5])
    assert list(study.journal()) == before


@pytest.mark.parametrize("entry", ["seed", "seed_number", "part", "arm"])
def test_a_certificate_with_another_place_in_a_round_is_rejected(study, entry):
    finish(study)
    made = study.export()
    n = numbers(made, "ask")[4]
    assert rejected_at(forged(made, n, **{entry: made["journal"][n][entry] + 1}), n, f"the {entry} handed out is")


def test_a_certificate_with_values_from_elsewhere_is_rejected(study):
    trial = study.ask()
    study.tell(trial, 0.5)
    made = study.export()
    added = {"n": 3, "at": 1.0, "kind": "add", "arm": 0, "fidelity": 0, "values": [0.5]}
    assert rejected_at(resealed(made, [*made["journal"], added]), 3, "cannot be added")


@pytest.mark.parametrize(
    "asked", [{"strategy": "frugal"}, {"stopping": "e-process"}, {"strategy": "uniform", "stopping": "stylised"}]
)
def test_other_strategies_and_rules_are_refused(asked):
    with pytest.raises(InvalidInput, match="seed"):
        create_study(SHARED, 0.05, storage="sqlite://", **asked)


# --- how it is asked for


@pytest.mark.parametrize(
    ("problem", "seeds", "expected"),
    [(PROBLEM, "common", "common"), (SHARED, None, "common"), (SHARED, "independent", "independent")],
)
def test_the_seeds_of_the_problem_can_be_replaced(tmp_path, problem, seeds, expected):
    url = f"sqlite:///{tmp_path / 's.db'}"
    made = create_study(problem, 0.05, name="s", storage=url, seeds=seeds)
    assert made.problem.seeds == load_study("s", storage=url).problem.seeds == expected
    stated = made.journal()[0].body["problem"]["problem"]
    assert stated.get("seeds") == (expected if expected == "common" else None)


def test_seeds_that_there_are_not_are_refused():
    with pytest.raises(InvalidInput, match="seeds is 'shared'"):
        create_study(PROBLEM, 0.05, storage="sqlite://", seeds="shared")


def test_identify_resumes_a_study_with_common_seeds(tmp_path):
    url = f"sqlite:///{tmp_path / 's.db'}"
    first = identify(evaluate, PROBLEM, 0.05, name="s", storage=url, seeds="common", workers=2)
    assert first.arm == "wide"
    assert identify(evaluate, PROBLEM, 0.05, name="s", storage=url, seeds="common") == first
    with pytest.raises(InvalidInput, match="exists with another problem"):
        identify(evaluate, PROBLEM, 0.05, name="s", storage=url)
