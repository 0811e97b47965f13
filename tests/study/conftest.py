"""Fixtures of several test files: a study on each kind of storage, and a certificate to change."""

import copy

import pytest

from mfbai import create_study
from support.certificates import run
from support.studies import PROBLEM


@pytest.fixture
def study(storage_url):
    """With its kernels loaded: leases begin before an evaluation is chosen."""
    made = create_study(PROBLEM, 0.05, name="s", storage=storage_url)
    made.warm_up()
    return made


@pytest.fixture(scope="session")
def finished():
    return run().export()


@pytest.fixture
def certificate(finished):
    return copy.deepcopy(finished)
