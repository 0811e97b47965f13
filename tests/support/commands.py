"""Files that commands are called with, and what their JSON says."""

import json
import shlex
import sys

import pytest

PROBLEM = """
[problem]
arms = ["baseline", "wide", "deep"]
[[fidelity]]
name = "coarse"
cost = 0.05
bias = 0.03
[[fidelity]]
name = "fine"
cost = 5.0
[family]
name = "gaussian"
variance = 0.01
"""
TRUTH = """
[truth]
means = [[0.84, 0.85], [0.82, 0.84], [0.96, 0.98]]
"""
CSV = """arm,fidelity,value
baseline,coarse,0.8
baseline,1,0.9
2,coarse,0.7
deep,coarse,0.95
3,fine,1.0
deep,2,1.1
"""
TABLES = {"counts": [[2, 0], [1, 0], [1, 2]], "means": [[0.85, 0], [0.7, 0], [0.95, 1.05]]}
# A study whose names a shell or a terminal might take for something else.
STUDY = """
[problem]
arms = ["plain", "wide & [bold]deep[/bold]; echo no"]
[[fidelity]]
name = "coarse $HOME"
cost = 0.05
bias = 0.02
[[fidelity]]
name = "fine"
cost = 5.0
[family]
name = "gaussian"
variance = 0.01
"""
# Deterministic: the value of a trial depends on its arm and seed alone.
EVALUATE = """
import random, sys
arm, fidelity, seed = sys.argv[1:]
assert fidelity in ("coarse $HOME", "fine"), fidelity
print("some words first")
print(random.Random(seed).gauss(0.5 if arm == "plain" else 0.9, 0.1))
"""
PROGRAM = f"{shlex.quote(sys.executable)} evaluate.py {{arm}} {{fidelity}} {{seed}}"


def write_files(folder):
    """Problems, an instance, data and a program."""
    (folder / "problem.toml").write_text(PROBLEM)
    (folder / "instance.toml").write_text(PROBLEM + TRUTH)
    (folder / "evaluations.csv").write_text(CSV)
    (folder / "tables.json").write_text(json.dumps(TABLES))
    (folder / "study.toml").write_text(STUDY)
    (folder / "evaluate.py").write_text(EVALUATE)


def read_json(text):
    """The value; NaN and Infinity, which JSON does not have, are refused."""
    return json.loads(text, parse_constant=pytest.fail)
