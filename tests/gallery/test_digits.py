"""docs/gallery/digits.md: a seed splits the pictures for all classifiers, and small sets are parts of full ones."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(scope="module")
def page(definitions):
    with threadpool_limits(1):  # many small products of matrices: threads would only wait for each other
        yield definitions("digits")


@pytest.fixture(scope="module")
def values(page):
    """(seeds, K, M)"""
    arms, fidelities = page.problem.arms, page.problem.fidelities
    return np.array([[[page.evaluate(arm, m, seed) for m in fidelities] for arm in arms] for seed in range(16)])


class Spy:
    """A classifier that keeps what it is shown."""

    def __init__(self):
        self.learnt = self.tested = None

    def fit(self, pictures, shown):
        self.learnt = np.column_stack([pictures, shown])
        return self

    def score(self, pictures, shown):
        self.tested = np.column_stack([pictures, shown])
        return 0.5


@pytest.fixture
def spied(page, monkeypatch):
    """What a classifier learns from and is tested on."""

    def spied(fidelity, seed):
        spy = Spy()
        monkeypatch.setitem(page.CLASSIFIERS, "spy", lambda: spy)
        assert page.evaluate("spy", fidelity, seed) == 0.5
        return spy.learnt, spy.tested

    return spied


def test_the_full_set_is_one_half_and_the_test_the_other(page, spied):
    learn, test = spied("full", 3)
    assert (len(learn), len(test)) == (899, 898)
    every = np.column_stack(page.digits())
    assert np.array_equal(np.unique(np.vstack([learn, test]), axis=0), np.unique(every, axis=0))
    assert len(every) == len(learn) + len(test)


def test_the_small_set_is_a_part_of_the_full_one_with_the_same_test(spied):
    (small, test), (full, same) = spied("small", 3), spied("full", 3)
    assert np.array_equal(small, full[:100])
    assert np.array_equal(test, same)


def test_seeds_make_splits(spied):
    (learn, _), (again, _), (other, _) = spied("full", 1), spied("full", 1), spied("full", 2)
    assert np.array_equal(learn, again)
    assert not np.array_equal(learn, other)


def test_every_classifier_reads_most_digits(page, values):
    """Few of them after 100 pictures; chance would be 0.1."""
    small, full = values.mean(axis=0).T
    assert 0.7 < small.min() < small.max() < 0.95
    assert 0.96 < full.min() < full.max() < 0.995
    assert [page.evaluate(arm, "full", 3) for arm in page.problem.arms] == values[3, :, 1].tolist()


def test_shared_splits_correlate_classifiers(page, values):
    """With a confidence of 99.9 % if the correlation is 0.8, as over a thousand splits."""
    smooth, sharp = (page.problem.arms.index(arm) for arm in ("gamma-0.1", "gamma-0.2"))
    assert np.corrcoef(values[:, smooth, 1], values[:, sharp, 1])[0, 1] > 0.3


def test_little_data_likes_smooth_kernels(page, values):
    """gamma = 0.05 against 0.4, on average over these splits."""
    smooth, sharp = (page.problem.arms.index(arm) for arm in ("gamma-0.05", "gamma-0.4"))
    small, full = (values[:, smooth] - values[:, sharp]).mean(axis=0)
    assert small > 0.01
    assert full < 0


def test_prices_are_the_pictures_learnt_from(page):
    problem = page.problem
    assert (list(problem.arms), list(problem.fidelities)) == (list(page.CLASSIFIERS), list(page.SIZES))
    small, full = page.SIZES.values()
    assert problem.costs[0, 1] / problem.costs[0, 0] == pytest.approx(full / small, rel=0.002)
    assert (problem.direction, problem.seeds, problem.idle) == ("maximise", "common", ["small"])
