"""The sentences about a study: its state, its verdict, its alarms, its progress."""

import json

import pytest

from mfbai import Bernoulli, Exponential, Gaussian, Poisson, Problem, SubGaussian, create_study, load_study
from mfbai.model.families import Bounded, Symmetric
from mfbai.study import sentences
from mfbai.study.status import status_from_dict
from mfbai.study.verdict import Verdict, assumptions_of

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
    verdict = finish(study)
    by = "the strategy's own rule" if rule == "own rule" else rule
    assert str(verdict).startswith(
        f"The best is 'wide', by {by}; by the e-process its risk is {verdict.risk:.2g} at most;"
    )


@pytest.mark.parametrize(
    ("problem", "bounds"),
    [(PROBLEM, " and the bias bounds hold"), (EXACT, " and the bias bounds hold"), (SINGLE, "")],
    ids=["biased", "exact", "single"],
)
def test_only_the_verdict_of_several_fidelities_rests_on_bias_bounds(make_study, tmp_path, problem, bounds):
    """A bias of 0 is a bound too. The same is said of a study that is loaded, and of a status that was sent."""
    study = make_study(problem)
    text = str(finish(study))
    assumed = f"if the noise is normal with the stated variances{bounds}; it cost "
    assert text.startswith(f"The best is 'wide': the risk is 0.05 at most, {assumed}")
    assert str(load_study("s", storage=f"sqlite:///{tmp_path / 's.db'}").result) == text
    assert sentences.state_of(study.status()) == text
    sent = json.loads(json.dumps(study.status().to_dict()))
    assert sentences.state_of(status_from_dict(sent, problem)) == text
    assert "rests_on" not in sent["result"]


@pytest.mark.parametrize(
    ("family", "stopping", "said"),
    [
        (Gaussian(0.01), "contrasts", ["the noise is normal with the stated variances"]),
        (SubGaussian(0.01), "e-process", ["the noise is sub-Gaussian with the stated variances"]),
        (SubGaussian(bounds=(-1, 0.5)), "e-process", ["values are between -1 and 0.5"]),
        (Bounded(0, 1), "contrasts", ["values are between 0 and 1"]),
        (Bounded([0, 0], [1, 2]), "e-process", ["values keep to the stated bounds"]),
        (Symmetric(0, 1), "contrasts", ["the noise is symmetric"]),
        (Symmetric(0, 1), "e-process", ["the noise is symmetric", "the true means are between 0 and 1"]),
        (Bernoulli(), "e-process", ["values are 0 or 1"]),
        (Poisson(), "e-process", ["values are Poisson counts"]),
        (Exponential(), "e-process", ["values are exponentially distributed"]),
    ],
)
def test_a_verdict_names_what_it_needs_of_the_family_and_nothing_else(family, stopping, said):
    problem = PROBLEM.replace(family=family)
    assert assumptions_of(problem, stopping) == (*said, "the bias bounds hold")
    if not isinstance(family, Bounded):  # with a range for each fidelity
        assert assumptions_of(SINGLE.replace(family=family), stopping) == tuple(said)
        shared = ("differences at the same seed are symmetric", "the bias bounds hold")
        assert assumptions_of(problem.replace(seeds="common"), "contrasts") == shared


def test_with_common_seeds_bounded_values_need_no_symmetry():
    problem = SINGLE.replace(family=Bounded(0, 1), seeds="common")
    assert assumptions_of(problem, "contrasts") == ("values are between 0 and 1",)


def test_three_assumptions_are_one_list():
    problem = PROBLEM.replace(family=Symmetric(0, 1))
    rests_on = assumptions_of(problem, "e-process")
    verdict = Verdict("decided", "wide", 1, 0.05, 0.05, "e-process", 2.0, 20, (), rests_on=rests_on)
    assumed = "if the noise is symmetric, the true means are between 0 and 1 and the bias bounds hold"
    assert str(verdict) == f"The best is 'wide': the risk is 0.05 at most, {assumed}; it cost 2."


def test_an_undecided_study_says_what_leads(make_study):
    study = make_study(max_cost=0.2, strategy="frugal")
    text = str(finish(study))
    risk = f"{study.result.risk:.2g}"
    assumed = "if the noise is normal with the stated variances and the bias bounds hold"
    assert text == f"Undecided within the budget: 'wide' leads, with a risk of {risk} at most, {assumed}; it cost 0.2."
    assert sentences.progress(study.status()) == "cost 0.2 of 0.2; 2 evaluations"


def test_alarms_name_the_arm_the_fidelity_and_the_probability(make_study):
    study = make_study(on_alarm="continue")
    study.add("plain", 0, [0.9] * 40)
    study.add("plain", 1, [0.1] * 40)
    (alarm,) = study.status().alarms
    assert sentences.alarm(alarm, PROBLEM) == (
        "'fidelity 1' is off by more than was stated for 'plain': its results contradict those of the top. "
        f"If all bounds held, this would happen with a probability of {alarm.level:.2g} at most."
    )
    assert str(finish(study)).endswith(" BIAS ALARM: the data contradict a bias bound.")


def test_variance_alarms_name_what_varies_and_by_how_much(make_study):
    study = make_study(strategy="frugal", on_alarm="continue")
    study.add("plain", 0, [0.4, 0.6] * 20)
    assert study.status().variance_alarms == ()
    study.add("plain", 1, [0.1, 0.9] * 5)
    every, one = study.status().variance_alarms
    assert sentences.variance_alarm(every, PROBLEM).startswith("All results, taken together, vary more than was stated")
    assert sentences.variance_alarm(one, PROBLEM) == (
        "The results of 'plain' at 'fidelity 2' vary more than was stated: "
        "their variance seems to be 18 times as large. "
        f"If it were as stated, this would happen with a probability of {one.level:.2g} at most."
    )
    assert str(finish(study)).endswith(
        " VARIANCE ALARM: results vary more than was stated; take mfbai.Symmetric, or state a larger variance."
    )


def test_progress_counts_what_there_is(make_study):
    study = make_study()
    tell(study, 1)
    study.ask()
    study.fail(study.ask())
    assert sentences.progress(study.status()) == "cost 0.1; 1 evaluation, 1 under way, 1 failed"
