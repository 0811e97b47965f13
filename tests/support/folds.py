"""Comparing the states of studies, to the bit."""

from mfbai import Gaussian, Problem
from mfbai.run.state import arrays_of
from mfbai.study.fold import Fold

SMALL = Problem(["a", "b", "c"], costs=[0.1, 0.3, 1.0], biases=[0.2, 0.1, 0.0], family=Gaussian(0.04))
TRUTH = [[0.4, 0.45, 0.5], [0.6, 0.65, 0.6], [0.3, 0.2, 0.2]]


def same_bits(these, those):
    first, second = arrays_of(these), arrays_of(those)
    assert len(first) == len(second)
    return all(a.dtype == b.dtype and a.tobytes() == b.tobytes() for a, b in zip(first, second, strict=True))


def records_of(fold):
    fold.flush()
    return (fold.stats, fold.state, fold.rule, fold.outcome, (fold.pending,))


def book_of(fold):
    return {**fold._book(), "queue": sorted(map(tuple, map(repr, fold._book()["queue"])))}


def replayed(study):
    """The state of a study by a replay of its whole journal."""
    fold = Fold(study.settings)
    for event in study.journal():
        fold.apply(event.body, event.hash)
    return fold


def same_fold(one, other):
    return same_bits(records_of(one), records_of(other)) and book_of(one) == book_of(other)
