"""What tests of several commands need."""

import os
import sys

import pytest

import mfbai
from support.commands import write_files
from support.seeds import fix_keys


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with a problem, an instance and data, and a terminal's usual width."""
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # other processes run this package, from any folder
    return tmp_path


@pytest.fixture
def study(folder, succeed, monkeypatch):
    fix_keys(monkeypatch)
    succeed("study", "create", "study.toml", "--name", "designs", "--delta", "0.05")
    return mfbai.load_study("designs")
