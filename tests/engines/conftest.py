"""Engines are started once for a file: some take seconds."""

import pytest

from support.engines import ENGINES


@pytest.fixture(scope="module", params=ENGINES)
def engine_name(request):
    return request.param


@pytest.fixture(scope="module")
def executor(engine_name):
    with ENGINES[engine_name]() as made:
        yield made
