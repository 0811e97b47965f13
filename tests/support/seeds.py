"""Studies whose trials have the same seeds in every run of the tests."""

import itertools


def fix_keys(monkeypatch):
    """The seeds of a study follow from its key, which is drawn at random otherwise: here the first is 1, and so on."""
    keys = itertools.count(1)
    monkeypatch.setattr("mfbai.study.study.secrets.token_hex", lambda size: f"{next(keys):0{2 * size}x}")
