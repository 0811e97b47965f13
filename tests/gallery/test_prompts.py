"""docs/gallery/prompts.md: graders read the texts, have other favourites, and agree about items."""

import random

import numpy as np
import pytest

import mfbai

ITEMS = 500


@pytest.fixture(scope="module")
def values(page):
    """(items, K, M)"""
    arms, graders = page.problem.arms, page.problem.fidelities
    return np.array([[[page.evaluate(arm, by, item) for by in graders] for arm in arms] for item in range(ITEMS)])


def no_whim():
    """Neither noise nor luck: a judge without whims that sees every error."""

    class Still(random.Random):
        def gauss(self, mu=0.0, sigma=1.0):
            return mu

        def random(self):
            return 0.0

    return Still()


@pytest.mark.parametrize(
    ("text", "reference", "grade"),
    [
        ("It began at 02:10.", "it began, at 02:10", 1.0),
        ("nothing in common", "quite another text", 0.0),
        ("", "a text", 0.0),
        ("the cat sat", "the cat sat down here", 2 * 3 / (3 + 5)),
        ("b a c", "a b c", 2 * 2 / (3 + 3)),  # "a c" or "b c"
        ("police killed the gunman", "police kill the gunman", 2 * 3 / (4 + 4)),
        ("the gunman kill police", "police kill the gunman", 2 * 2 / (4 + 4)),
    ],
)
def test_rouge_l_is_what_one_counts_by_hand(page, text, reference, grade):
    assert page.rouge_l(text, reference) == pytest.approx(grade)


def test_rouge_l_is_that_of_all_subsequences(page):
    """Against the definition, by brute force, for short texts of few words."""

    def longest(ours, theirs):
        if not ours or not theirs:
            return 0
        if ours[-1] == theirs[-1]:
            return 1 + longest(ours[:-1], theirs[:-1])
        return max(longest(ours[:-1], theirs), longest(ours, theirs[:-1]))

    rng = random.Random(5)
    for _ in range(200):
        ours, theirs = ("".join(rng.choices("abc", k=rng.randint(1, 8))) for _ in range(2))
        expected = 2 * longest(ours, theirs) / (len(ours) + len(theirs))
        assert page.rouge_l(" ".join(ours), " ".join(theirs)) == pytest.approx(expected)
        assert page.rouge_l(" ".join(theirs), " ".join(ours)) == pytest.approx(expected)


def test_the_reference_has_the_best_grades_there_are(page):
    for item in range(20):
        text = page.reference(item)
        assert page.read(text, item) == (len(page.FACTS), 0, True, len(page.words(text)))
        assert page.metric(text, item, no_whim()) == 1
        assert page.human(text, item, no_whim()) == pytest.approx(1)


def test_readers_find_a_fact_however_it_is_told_and_no_other_one(page):
    """No value is part of another sentence, or it would be found by accident."""
    for item in range(50):
        for fact, value in page.record(item).items():
            for sentence in page.FACTS[fact][:2]:
                assert page.read(sentence.format(value), item)[:2] == (1, 0)
                for other in page.FACTS[fact][2]:
                    if other != value:
                        assert page.read(sentence.format(other), item)[:2] == (0, 1)
    for filler in page.FILLERS:
        assert page.read(filler, 0)[:2] == (0, 0)


def test_graders_see_what_they_are_said_to_see(page):
    """Of an answer with one fact left out, one wrong and two exchanged, and of the same with padding."""
    item = 4
    right = page.record(item)
    told = {fact: page.FACTS[fact][0].format(value) for fact, value in right.items()}
    del told["plan"]
    another = next(value for value in page.FACTS["cause"][2] if value != right["cause"])
    told["cause"] = page.FACTS["cause"][0].format(another)
    first, second, *rest = told.values()
    short = " ".join([second, first, *rest])
    long = " ".join([short, *page.FILLERS])
    assert page.read(short, item)[:3] == (6, 1, False)
    whole = len(page.words(page.reference(item)))
    for text in (short, long):
        brevity = min(whole / len(page.words(text)), 1)
        assert page.human(text, item, no_whim()) == pytest.approx(0.6 * 5 / 8 + 0.2 * brevity)
        length = min(len(page.words(text)) / 120, 1)
        expected = (0.8 - page.TASTE) * 5 / 8 + page.TASTE * length
        assert page.judge(text, item, no_whim()) == pytest.approx(expected)
    assert page.human(long, item, no_whim()) < page.human(short, item, no_whim())
    assert page.judge(long, item, no_whim()) > page.judge(short, item, no_whim())


def test_answers_are_made_at_the_rates_of_their_prompts(page, monkeypatch):
    """Facts of middling hardness alone. Tolerances are five standard errors of 4,000 facts, or more."""
    monkeypatch.setitem(page.answer.__globals__, "HARDNESS", 0.0)
    for arm, prompt in page.PROMPTS.items():
        found = [page.read(page.answer(arm, item), item) for item in range(500)]
        right, wrong = (np.mean([getattr(one, name) for one in found]) / 8 for name in ("right", "wrong"))
        assert wrong == pytest.approx((1 - prompt.miss) * prompt.wrong, abs=0.025)
        assert right + wrong == pytest.approx(1 - prompt.miss, abs=0.04)
        assert np.mean([not one.in_order for one in found]) == pytest.approx(prompt.shuffle, abs=0.1)


def test_grades_are_between_0_and_1_and_stay_the_same(page, values):
    assert values.min() >= 0
    assert values.max() <= 1
    assert page.evaluate("steps", "human", 9) == page.evaluate("steps", "human", 9)
    assert page.evaluate("steps", "human", 9) != page.evaluate("steps", "human", 10)


def test_each_grader_has_another_favourite(page, values):
    """The closest is the judge's: 0.019 ahead, at a standard error of 0.008. Seeds are fixed."""
    favourites = [page.problem.arms[k] for k in values.mean(axis=0).argmax(axis=0)]
    assert favourites == ["quote", "thorough", "examples"]


def test_graders_agree_about_answers_of_one_prompt(values):
    """The least of the true correlations with humans are 0.46 and 0.59, five standard errors above the limit."""
    for k in range(values.shape[1]):
        by_metric, by_judge = np.corrcoef(values[:, k].T)[2, :2]
        assert by_metric > 0.25
        assert by_judge > 0.4


def test_items_are_hard_for_all_prompts(values):
    """A little: luck is larger. The true correlation with the best is 0.14, three standard errors above 0."""
    shared = np.corrcoef(values[:, :, 2].T)
    assert shared[np.triu_indices(len(shared), 1)].mean() > 0.05


def test_differences_of_humans_grades_are_hardly_skewed(values):
    """As `Symmetric` assumes: the largest true skewness is 0.2, and four standard errors are 0.44."""
    behind = values[:, [5], 2] - values[:, :5, 2]
    standard = (behind - behind.mean(axis=0)) / behind.std(axis=0)
    assert abs((standard**3).mean(axis=0)).max() < 0.64


def test_grades_that_exist_are_a_pilot(page):
    """The page's: rows are as good as calls, and the problem to go on with has all prompts."""
    problem = page.problem
    rows = [
        (arm, by, item, page.evaluate(arm, by, item))
        for item in range(16)
        for arm in problem.arms
        for by in problem.fidelities
    ]
    found = mfbai.pilot(rows, problem)
    assert found.control is not None
    onward = found.problem()
    assert (onward.arms, onward.seeds, onward.idle) == (problem.arms, "common", [])


def test_the_problem_states_no_bound(page):
    problem = page.problem
    assert list(problem.arms) == list(page.PROMPTS)
    assert list(problem.fidelities) == list(page.GRADERS)
    assert (problem.direction, problem.seeds, problem.idle) == ("maximise", "common", ["metric", "judge"])
