"""A small problem, and what tests do with a study of it."""

from datetime import timedelta

import numpy as np
import pytest

from mfbai import Gaussian, Problem, load_study

PROBLEM = Problem(["plain", "wide", "deep"], costs=[0.1, 1.0], biases=[0.1, 0.0], family=Gaussian(0.04))
MEANS = [0.3, 0.9, 0.4]


def again(study):
    """The study as another process would see it."""
    return load_study(study.name, storage=study.storage)


def value_of(trial, rng):
    return float(rng.normal(MEANS[trial.arm_index], 0.2))


def finish(study, seed=0):
    rng = np.random.default_rng(seed)
    while study.result is None:
        trial = study.ask()
        study.tell(trial, value_of(trial, rng))
    return study.result


def finish_with_some_under_way(study):
    """To a verdict that comes while other trials are under way; returns these."""
    rng = np.random.default_rng(0)
    while True:
        trials = study.ask_many(9)
        for k, trial in enumerate(trials):
            study.tell(trial, value_of(trial, rng))
            if study.result is not None:
                assert k < 8
                return trials[k + 1 :]


def kinds(study):
    return [event.body["kind"] for event in study.journal()]


def unchanged(study, call, kind, match):
    """A call that is rejected, and leaves the journal and the leases as they were."""
    before, status = list(study.journal()), study.status().to_dict()
    with pytest.raises(kind, match=match):
        call()
    assert list(study.journal()) == before
    np.testing.assert_equal(study.status().to_dict(), status)
    np.testing.assert_equal(again(study).status().to_dict(), status)


def lasts(trial, seconds, before, after):
    """Whether a lease is of so many seconds, if it was given between two moments."""
    rounding = timedelta(milliseconds=1)
    lease = timedelta(seconds=seconds)
    return before + lease - rounding <= trial.lease_until <= after + lease + rounding
