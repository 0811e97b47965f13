"""Pictures to be shown: of studies, statuses, runs, plans, pilots and oracles."""

import subprocess
import sys

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure

import mfbai
from mfbai import Gaussian, Guess, InvalidInput, Problem, create_study, oracle, plan, simulate
from support.pilots import draw_pilot, make_problem
from support.studies import PROBLEM, finish

KINDS = ["evidence", "intervals", "spend", "history"]


@pytest.fixture(scope="module")
def study():
    made = create_study(PROBLEM, 0.05, name="designs", storage="sqlite://")
    finish(made)
    return made


def words(figure):
    found = [text.get_text() for axes in figure.axes for text in axes.texts]
    return found + [text.get_text() for axes in figure.axes for text in axes.get_yticklabels()]


def test_a_study_has_a_panel_of_each_kind(study):
    assert [len(study.plot(kind).axes) for kind in (None, *KINDS)] == [4, 1, 1, 1, 1]


def test_long_names_that_differ_at_their_end_are_told_apart_and_the_leader_is_named():
    arms = [f"gradient boosting with an odd number of trees of depth {depth}" for depth in (6, 8, 10)]
    problem = Problem(arms, costs=[0.1, 1.0], biases=[0.1, 0.0], family=Gaussian(0.01))
    study = create_study(problem, 0.05, storage="sqlite://", strategy="frugal")
    study.add_table([(arms[1], 1, 0.9), (arms[0], 1, 0.3), (arms[2], 1, 0.4)])
    named = [told for told in words(study.plot("intervals")) if told.startswith("gradient")]
    assert len(set(named)) == 3
    assert [told.endswith("(leads)") for told in named] == [False, True, False]
    lines = [line.removesuffix(" (leads)") for told in named for line in told.split("\n")]
    assert len(lines) == 6
    assert max(map(len, lines)) <= 25


def test_a_status_has_all_but_the_history(study):
    assert len(study.status().plot().axes) == 3
    with pytest.raises(InvalidInput, match=r"kind is 'history': known: evidence, intervals, spend"):
        study.status().plot("history")


@pytest.mark.parametrize("kind", ["evidense", 3, ""])
def test_other_kinds_are_refused(study, kind):
    with pytest.raises(InvalidInput, match="kind is"):
        study.plot(kind)


def test_the_evidence_is_that_of_each_rival_beside_what_is_needed(study):
    figure, status = study.plot("evidence"), study.status()
    lengths = [bar.get_width() for bar in figure.axes[0].patches]
    rivals = [a for a in range(3) if a != status.leader_index]
    assert lengths == pytest.approx(status.evidence[rivals])
    assert f"needed: {status.needed:.2f}" in words(figure)


def test_what_was_spent_is_stacked_by_fidelity(study):
    figure, status = study.plot("spend"), study.status()
    lengths = np.array([bar.get_width() for bar in figure.axes[0].patches]).reshape(2, 3).T
    assert lengths == pytest.approx(status.spent)


def test_the_history_ends_with_the_verdict(study):
    (line, *_), last = study.plot("history").axes[0].lines, study.history()[-1]
    assert [line.get_xdata()[-1], line.get_ydata()[-1]] == pytest.approx([last.cost, last.evidence])


def test_a_study_without_results_says_so():
    made = create_study(PROBLEM, 0.05, storage="sqlite://")
    assert words(made.plot()).count("no results yet") == 3


def test_with_common_seeds_differences_are_drawn():
    made = create_study(PROBLEM.replace(seeds="common"), 0.05, storage="sqlite://")
    finish(made)
    assert made.plot("intervals").axes[0].get_xlabel() == "difference"


def test_each_picture_is_a_png_with_words_for_those_who_do_not_see_it(study):
    instance = mfbai.load("paper-5x2")
    problem = Problem(3, costs=[0.05, 5], biases=[0.03, 0], family=Gaussian(0.01))
    pilot = draw_pilot(np.random.default_rng(1), make_problem())[0]
    runs = simulate(instance, "mf-grad", delta=[0.1, 0.01], runs=20)
    for what in (study, study.status(), runs, plan(problem, Guess(gap=0.13)), pilot, oracle(instance)):
        figure = what.plot()
        assert isinstance(figure, Figure)
        png, about = figure._repr_png_()
        assert png.startswith(b"\x89PNG")
        assert len(about["alt"]) > 20
        assert about["width"] > about["height"] > 100


def test_pictures_leave_nothing_in_pyplot_and_no_setting_behind(study):
    from matplotlib import pyplot

    before = dict(matplotlib.rcParams)
    for _ in range(25):
        study.plot("spend")
    assert pyplot.get_fignums() == []
    assert dict(matplotlib.rcParams) == before


def test_odd_names_are_drawn_as_they_are():
    problem = Problem(["$x_1$", "_b", "<b>"], costs=[1.0], biases=[0.0], family=Gaussian(0.04))
    made = create_study(problem, 0.05, storage="sqlite://")
    finish(made)
    figure = made.plot()
    figure._repr_png_()
    assert {"$x_1$", "_b"} <= set(words(figure))


def test_without_matplotlib_the_error_says_what_to_install():
    code = "import sys; sys.modules['matplotlib'] = None; import mfbai; mfbai.oracle('paper-5x2').plot()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip().endswith("ImportError: plot needs matplotlib: pip install 'mfbai[plot]'")
