"""Deterministic fidelities in studies: handed out once an arm, whatever happens to the trial."""

import numpy as np
import pytest

from mfbai import Gaussian, InvalidInput, NothingToAsk, Problem, create_study, identify, verify
from mfbai.simulation.experiment import Run, prepare
from mfbai.study import ledger
from mfbai.study.study import Study
from support.certificates import resealed
from support.folds import replayed, same_fold
from support.studies import again

TOPS = np.array([0.9, 0.75, 0.6, 0.4])
MEANS = np.column_stack([np.add(TOPS, [-0.05, 0.05, 0.1, -0.1]), TOPS])
PROBLEM = Problem(
    ["plain", "wide", "deep", "both"],
    costs=[0.001, 1.0],
    biases=[0.1, 0.0],
    family=Gaussian(0.04),
    fidelities=["formula", "fine"],
    deterministic="formula",
)
FORMULAS = [(arm, 0) for arm in range(4)]


def evaluate(arm, fidelity, seed):
    """By indices or names."""
    a = PROBLEM.arms.index(arm) if isinstance(arm, str) else arm
    m = PROBLEM.fidelities.index(fidelity) if isinstance(fidelity, str) else fidelity
    return float(MEANS[a, m] + (0.2 * np.random.default_rng(seed).standard_normal() if m else 0.0))


def value_of(trial):
    return evaluate(trial.arm_index, trial.fidelity_index, trial.seed)


def cell_of(trial):
    return trial.arm_index, trial.fidelity_index


def finish(study, at_once=1):
    while study.result is None:
        for trial in study.ask_many(at_once):
            study.tell(trial, value_of(trial))
    return study.result


def asked(study):
    return [(event.body["arm"], event.body["fidelity"]) for event in study.journal() if event.body["kind"] == "ask"]


@pytest.fixture
def study():
    return create_study(PROBLEM, 0.05, storage="sqlite://")


@pytest.mark.parametrize(
    ("strategy", "seeds"), [("race", "independent"), ("frugal", "independent"), ("race", "common")]
)
@pytest.mark.parametrize("at_once", [1, 7])
def test_a_study_ends_and_its_certificate_is_confirmed(strategy, seeds, at_once):
    study = create_study(PROBLEM, 0.05, storage="sqlite://", strategy=strategy, seeds=seeds)
    assert finish(study, at_once).arm == "plain"
    assert sorted(cell for cell in asked(study) if cell[1] == 0) == FORMULAS
    assert verify(study.export())
    assert same_fold(study._fold, replayed(study))
    status = study.status()
    assert status.counts[:, 0].tolist() == [1, 1, 1, 1]
    assert status.means[:, 0].tolist() == MEANS[:, 0].tolist()
    assert status.spent[:, 0] == pytest.approx(0.001)
    assert status.counts.sum() == status.told - status.late
    if seeds == "independent":
        assert status.counts[3].tolist() == [1, 0]  # beaten before it was looked at


def test_a_study_asks_as_a_simulation_does(study):
    """The same cells, in the same order, given the same values."""
    [setup] = prepare(PROBLEM.instance(MEANS), "race", "contrasts", 0.05, {}, {})
    run = Run(setup)
    run.restart(1, 0)
    before, cells = run.counts, []
    while not run.decided:
        run.advance(int(run.stats.steps[0]) + 1)
        [(arm, fidelity)] = np.argwhere(run.counts != before).tolist()
        cells.append((arm, fidelity))
        total = run.stats.count[arm, 0] * run.stats.mean[arm, 0] if fidelity else 0.0
        trial = study.ask()
        assert cell_of(trial) == (arm, fidelity)
        before_total = study._fold.stats.count[arm, 0] * study._fold.stats.mean[arm, 0] if fidelity else 0.0
        study.tell(trial, float(total - before_total) if fidelity else float(MEANS[arm, 0]))
        before = run.counts
    assert cells[:4] == FORMULAS
    assert study.result.arm_index == run.outcome.answer[0]


def test_a_value_under_way_is_not_handed_out_again(study):
    cells = [cell_of(trial) for trial in study.ask_many(12)]
    assert cells[:4] == FORMULAS
    assert all(fidelity == 1 for _, fidelity in cells[4:])


def test_a_value_that_failed_may_be_asked_for_again(study):
    first = study.ask()
    study.fail(first)
    second = study.ask()
    assert cell_of(first) == cell_of(second) == (0, 0)
    assert finish(study).arm == "plain"
    assert verify(study.export())


def test_values_count_at_once_even_where_others_wait_for_their_turn(study):
    trials = study.ask_many(6)
    study.tell(trials[3], value_of(trials[3]))
    assert study.status().counts[3, 0] == 1
    assert study.status().waiting == 0


def test_another_value_is_refused_and_the_same_changes_nothing(study):
    trial = study.ask()
    study.add("plain", "formula", MEANS[0, 0])
    with pytest.raises(
        InvalidInput, match=r"'plain' at 'formula' has 0.85: that fidelity is stated to be deterministic"
    ):
        study.tell(trial, 0.8)
    with pytest.raises(InvalidInput, match="deterministic"):
        study.add("plain", "formula", [0.85, 0.86])
    with pytest.raises(InvalidInput, match="deterministic"):
        study.add("deep", "formula", [0.85, 0.86])
    low, high = study._fold.model.top_low.copy(), study._fold.model.top_high.copy()
    study.tell(trial, 0.85)
    study.add("plain", "formula", 0.85)
    assert (study._fold.model.top_low == low).all()
    assert (study._fold.model.top_high == high).all()
    assert study.status().counts[0, 0] == 1
    assert same_fold(study._fold, replayed(study))


def test_imported_values_are_not_asked_for(study):
    for arm in range(4):
        study.add(arm, "formula", MEANS[arm, 0])
    assert study.ask().fidelity == "fine"


def test_common_seeds_accept_values_without_noise():
    study = create_study(PROBLEM, 0.05, storage="sqlite://", seeds="common")
    study.add("plain", "formula", MEANS[0, 0])
    with pytest.raises(InvalidInput, match="share seeds"):
        study.add("plain", "fine", 0.9)
    finish(study)
    assert verify(study.export())


def test_a_forged_second_value_is_found(study):
    trial = study.ask()
    study.tell(trial, value_of(trial))
    study.add("plain", "formula", value_of(trial))
    finish(study)
    certificate = study.export()
    added = next(event for event in certificate["journal"] if event["kind"] == "add")
    added["values"] = [0.9]
    found = verify(resealed(certificate))
    assert not found
    assert "deterministic" in found.reason


def test_a_deterministic_top_is_asked_for_once_an_arm():
    problem = PROBLEM.replace(deterministic=[0, 1])
    study = create_study(problem, 0.05, storage="sqlite://")
    first = study.ask_many(10)
    assert [cell_of(trial) for trial in first] == FORMULAS
    with pytest.raises(NothingToAsk, match="needed only once"):
        study.ask()
    for trial in first:
        study.tell(trial, float(MEANS[cell_of(trial)]))
    while study.result is None:
        trial = study.ask()
        assert trial.fidelity == "fine"
        study.tell(trial, float(MEANS[cell_of(trial)]))
    assert (study.result.arm, study.result.risk) == ("plain", 0.0)
    assert len(set(asked(study))) == len(asked(study))
    assert verify(study.export())


def test_snapshots_keep_what_is_known(tmp_path, monkeypatch):
    monkeypatch.setattr(ledger, "SNAPSHOT_EVERY", 5)
    study = create_study(PROBLEM, 0.05, storage=f"sqlite:///{tmp_path}/studies.db")
    for _ in range(12):
        trial = study.ask()
        study.tell(trial, value_of(trial))
    loaded: Study = again(study)
    assert same_fold(loaded._fold, replayed(study))
    assert loaded._fold.model.top_low.tolist() == study._fold.model.top_low.tolist()
    assert finish(loaded).arm == "plain"


def test_identify_serves_formulas():
    found = identify(evaluate, PROBLEM, 0.05)
    assert found.arm == "plain"
