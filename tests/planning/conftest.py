"""Plans that are quick."""

import pytest

from mfbai.planning import samples, truths


@pytest.fixture
def quick(monkeypatch):
    """Fewer truths and runs: enough where figures are compared with others of the same plan."""
    monkeypatch.setattr(truths, "TRUTHS", 12)
    monkeypatch.setattr(samples, "RUNS", 6)
