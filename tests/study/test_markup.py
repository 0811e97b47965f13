"""What notebooks show of each object: readable as text, whatever the names, and never an error."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mfbai
from mfbai import Gaussian, Guess, Problem, create_study, load_study, oracle, simulate
from mfbai.study.sentences import times_as_wide
from mfbai.study.verdict import Verdict
from support.notebooks import Shown
from support.pilots import draw_pilot, make_problem
from support.studies import PROBLEM, finish

ODD = '<script>alert("x")</script>'
NAMES = st.text(max_size=20).filter(str.isprintable).map(lambda tail: f"{ODD}'{tail}".strip())
DECIDED = Verdict("decided", "a", 0, 0.05, 0.05, "contrasts", 3.0, 30, ())


def shown(what):
    return Shown(what._repr_html_())


def test_a_status_says_all_that_its_table_draws():
    study = create_study(PROBLEM, 0.05, name="s", storage="sqlite://")
    finish(study)
    status = study.status()
    text = shown(status).text
    for arm, against in zip(PROBLEM.arms, status.evidence, strict=True):
        assert arm in text
        assert np.isinf(against) or f"{against:.2f}" in text  # the figure beside the bar
    assert "proof (of 3.00)" in text
    assert str(study.result) in text


def test_notebooks_draw_no_formulas_of_names():
    shown_here = Problem(["$5 plan", "$10 plan"], costs=[1.0], biases=[0.0], family=Gaussian(0.01))._repr_html_()
    assert shown_here.startswith('<div class="tex2jax_ignore mathjax_ignore"')
    assert "$5 plan" in Shown(shown_here).text


def test_a_study_says_its_name_where_it_is_and_how_to_go_on(tmp_path):
    url = f"sqlite:///{tmp_path / 's.db'}"
    study = create_study(PROBLEM, 0.05, name="s", storage=url)
    text = shown(study).text
    assert text.startswith(f"Study 's' in {url}")
    assert "no results yet" in text
    assert "study.ask()" in text
    study.pause()
    assert "Paused: " in shown(study).text
    assert "study.resume()" in shown(study).text
    assert "paused" in repr(study.status())


def test_a_verdict_says_no_more_than_is_true():
    study = create_study(PROBLEM, 0.05, storage="sqlite://")
    verdict = finish(study)
    text = shown(verdict).text
    assert text.startswith(str(verdict))
    assert float(times_as_wide(verdict.breakdown)) <= verdict.breakdown
    assert f"as wide {times_as_wide(verdict.breakdown)} " in text


def test_alarms_are_spelled_out():
    study = create_study(PROBLEM, 0.05, storage="sqlite://")
    study.add("plain", 0, [0.9] * 40)
    study.add("plain", 1, [0.1] * 40)
    assert "Bias alarm: 'fidelity 1' is off by more than was stated" in shown(study.status()).text


def test_a_study_that_was_deleted_is_shown_as_text(tmp_path):
    url = f"sqlite:///{tmp_path / 's.db'}"
    study = create_study(PROBLEM, 0.05, name="s", storage=url)
    load_study("s", storage=url).delete()
    assert study._repr_html_() is None
    assert repr(study) == f"<Study 's' in {url}>"


def test_of_many_arms_the_first_are_shown_and_the_others_counted():
    problem = Problem(1000, costs=[0.1, 1.0], biases=[0.1, 0.0], family=Gaussian(0.04))
    assert "and 990 more arms" in shown(problem).text
    instance = problem.instance(np.linspace(0, 1, 1000)[:, None].repeat(2, axis=1))
    assert "and 980 more arms" in shown(instance).text
    study = create_study(problem, 0.05, storage="sqlite://")
    assert "and 980 more arms, 0 of them ruled out" in shown(study).text


@pytest.mark.parametrize("name", ["paper-4x5", "paper-5x2"])
def test_instances_oracles_and_runs_are_shown(name):
    instance = mfbai.load(name)
    assert "the best" in shown(instance).text
    assert "C* = " in shown(oracle(instance)).text
    assert "3 runs of mf-grad" in shown(simulate(instance, "mf-grad", runs=3)).text


def test_a_plan_says_what_the_command_says():
    problem = Problem(3, costs=[0.05, 5], biases=[0.03, 0], family=Gaussian(0.01), fidelities=["coarse", "fine"])
    text = shown(mfbai.plan(problem, Guess(gap=0.13))).text
    assert "Expect a cost of " in text
    assert "worth having" in text
    assert "simulated: 200 runs of race" in text


@settings(max_examples=15, deadline=None)
@given(NAMES, NAMES, NAMES)
def test_names_are_text_in_all_that_is_shown(arm, fidelity, name):
    """None of them becomes a tag, or ends one: a reader sees them as they are."""
    about = {"family": Gaussian(0.04), "fidelities": [fidelity, "f"]}
    problem = Problem([arm, "other"], costs=[0.1, 1.0], biases=[0.1, 0.0], **about)
    instance = problem.instance([[0.2, 0.1], [0.8, 0.9]], name=name)
    study = create_study(problem, 0.05, storage="sqlite://")
    study.add(0, 0, [0.9, 0.8])
    pilot = draw_pilot(np.random.default_rng(0), make_problem([arm, "b", "c"]), arms=3)[0]
    runs = simulate(instance, "mf-grad", runs=2)
    verdict = dataclasses.replace(DECIDED, arm=arm)
    for what in (problem, instance, oracle(instance), study, study.status(), pilot, runs, verdict):
        assert ODD in shown(what).text
