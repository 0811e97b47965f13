"""The sentences about a study: its state, its verdict, its alarms, its progress."""

import json

import pytest

from mfbai import Gaussian, Problem, create_study, load_study
from mfbai.study import sentences
from mfbai.study.status import status_from_dict

PROBLEM = Problem(["plain", "wide"], costs=[0.1, 1.0], biases=[0.1, 0.0], family=Gaussian(0.01))
SINGLE = Problem(["plain", "wide"], costs=[1.0], biases=[0.0], family=Gaussian(0.01))
EXACT = Problem(["plain", "wide"], costs=[0.1, 1.0], biases=[0.0, 0.0], family=Gaussian(0.01))
MEANS = {"plain": 0.5, "wide": 0.8}


@pytest.fixture
def make_study(tmp_path):
    def make(problem=PROBLEM, **options):
        return create_study(problem, 0.05, name="s", storage=f"sqlite:///{tmp_path / 's.db'}", **options)

    return make


def tell(study, count):
    for _ in range(count):
        trial = study.ask()
        study.tell(trial, MEANS[trial.arm])


def finish(study):
    while study.result is None:
        tell(study, 1)
    return study.result


def test_a_study_without_results_says_so(make_study):
    status = make_study().status()
    assert sentences.state_of(status) == "Running: no results yet."
    assert sentences.progress(status) == "cost 0; 0 evaluations"
    assert repr(status) == "<Status of 's': running, no results yet, risk 1, cost 0; 0 evaluations>"


@pytest.mark.parametrize("strategy", ["frugal", "race"])
def test_a_running_study_says_what_leads_the_risk_and_the_goal(make_study, strategy):
    study = make_study(strategy=strategy)
    tell(study, 1)
    while study.status().leader is None:
        assert sentences.state_of(study.status()) == "Running: no arm leads yet."
        tell(study, 1)
    said = sentences.state_of(study.status())
    assert said == f"Running: {study.status().leader!r} leads; nothing is proven yet, the goal is 0.05."
    while study.status().risk == 1:
        tell(study, 1)
    risk = study.status().risk
    said = sentences.state_of(study.status())
    assert said == f"Running: 'wide' leads; answering it now has a risk of {risk:.2g} at most, the goal is 0.05."


@pytest.mark.parametrize(
    ("options", "rule"), [({"stopping": "stylised"}, "the rule 'stylised'"), ({"strategy": "lucb"}, "own rule")]
)
def test_where_another_rule_decides_the_state_and_the_verdict_name_it(make_study, options, rule):
    study = make_study(SINGLE, **options)
    tell(study, 2)
    assert f"{rule} decides." in sentences.state_of(study.status())
    assert f"The best is 'wide', by {'the strategy' if rule == 'own rule' else rule}" in str(finish(study))


@pytest.mark.parametrize(
    ("problem", "assumed"), [(PROBLEM, True), (EXACT, True), (SINGLE, False)], ids=["biased", "exact", "single"]
)
def test_only_the_verdict_of_several_fidelities_rests_on_bias_bounds(make_study, tmp_path, problem, assumed):
    """A bias of 0 is a bound too. The same is said of a study that is loaded, and of a status that was sent."""
    study = make_study(problem)
    text = str(finish(study))
    assert text.startswith("The best is 'wide': the risk is 0.05 at most")
    assert ("if the bias bounds hold" in text) == assumed
    assert str(load_study("s", storage=f"sqlite:///{tmp_path / 's.db'}").result) == text
    assert sentences.state_of(study.status()) == text
    sent = json.loads(json.dumps(study.status().to_dict()))
    assert sentences.state_of(status_from_dict(sent, problem)) == text
    assert "rests_on_bounds" not in sent["result"]


def test_an_undecided_study_says_what_leads(make_study):
    study = make_study(max_cost=0.2, strategy="frugal")
    text = str(finish(study))
    risk = f"{study.result.risk:.2g}"
    assert text == f"Undecided within the budget: 'wide' leads, with a risk of {risk} at most; it cost 0.2."
    assert sentences.progress(study.status()) == "cost 0.2 of 0.2; 2 evaluations"


def test_alarms_name_the_arm_the_fidelity_and_the_probability(make_study):
    study = make_study()
    study.add("plain", 0, [0.9] * 40)
    study.add("plain", 1, [0.1] * 40)
    (alarm,) = study.status().alarms
    assert sentences.alarm(alarm, PROBLEM) == (
        "'fidelity 1' is off by more than was stated for 'plain': its results contradict those of the top. "
        f"If all bounds held, this would happen with a probability of {alarm.level:.2g} at most."
    )
    assert str(finish(study)).endswith(" BIAS ALARM: the data contradict a bias bound.")


def test_progress_counts_what_there_is(make_study):
    study = make_study()
    tell(study, 1)
    study.ask()
    study.fail(study.ask())
    assert sentences.progress(study.status()) == "cost 0.1; 1 evaluation, 1 under way, 1 failed"
