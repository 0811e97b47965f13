"""Folders to call commands in."""

import json
import os
import sys

import pytest

import mfbai
from support.commands import CSV, EVALUATE, PROBLEM, STUDY, TABLES, TRUTH
from support.seeds import fix_keys


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with problems, an instance, data and a program, and a terminal's usual width."""
    (tmp_path / "problem.toml").write_text(PROBLEM)
    (tmp_path / "instance.toml").write_text(PROBLEM + TRUTH)
    (tmp_path / "evaluations.csv").write_text(CSV)
    (tmp_path / "tables.json").write_text(json.dumps(TABLES))
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "evaluate.py").write_text(EVALUATE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # other processes run this package, from any folder
    return tmp_path


@pytest.fixture
def study(folder, succeed, monkeypatch):
    fix_keys(monkeypatch)
    succeed("study", "create", "study.toml", "--name", "designs", "--delta", "0.05")
    return mfbai.load_study("designs")
