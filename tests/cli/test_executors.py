"""The options --processes, --dask and --ray, and functions in place of programs."""

import json

import pytest

import mfbai
from support.engines import dask_cluster, ray

EVALUATE = """
import random

def evaluate(arm, fidelity, seed):
    return random.Random(seed).gauss(0.8 if arm == "wide" else 0.5, 0.1)

nothing = 3
"""
PROBLEM = mfbai.Problem(["plain", "wide"], costs=[1.0], biases=[0.0], family=mfbai.Gaussian(0.01))
SIMULATE = ("simulate", "paper-5x2", "--strategy", "frugal", "--runs", 30, "--json")


@pytest.fixture(scope="module")
def cluster():
    with dask_cluster(1) as made:
        yield made


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "near_by.py").write_text(EVALUATE)
    (tmp_path / "broken.py").write_text("1 / 0")
    (tmp_path / "leaving.py").write_text("raise SystemExit(3)")
    mfbai.create_study(PROBLEM, 0.05, name="designs")
    return tmp_path


def numbers(out):
    return [{key: value for key, value in record.items() if key != "seconds"} for record in json.loads(out)]


def test_simulate_prints_the_same_on_every_engine(succeed, cluster):
    expected = numbers(succeed(*SIMULATE))
    assert numbers(succeed(*SIMULATE, "--processes", 2)) == expected
    assert numbers(succeed(*SIMULATE, "--dask", cluster.scheduler_address)) == expected
    with ray(1):
        assert numbers(succeed(*SIMULATE, "--ray")) == expected


def test_reproduce_takes_processes(succeed, tmp_path):
    out = succeed("reproduce", "shares", "--runs", 2, "--variance", 0.01, "--out", tmp_path, "--processes", 2, "--json")
    assert json.loads(out)["files"]


@pytest.mark.parametrize("where", ["threads", "processes", "dask"])
def test_study_run_calls_a_function(succeed, folder, cluster, where):
    given = {"threads": (), "processes": ("--processes", 2), "dask": ("--dask", cluster.scheduler_address)}[where]
    out = succeed("study", "run", "designs", "--python", "near_by:evaluate", *given, "--json")
    assert json.loads(out)["result"]["arm"] == "wide"


@pytest.mark.parametrize("module", ["near_by", "near_by.py", "./near_by.py", "{folder}/near_by.py"])
def test_a_module_may_be_given_as_a_file(succeed, folder, module):
    given = module.format(folder=folder)
    out = succeed("study", "run", "designs", "--python", f"{given}:evaluate", "--processes", 1, "--json")
    assert json.loads(out)["result"]["arm"] == "wide"


def test_study_run_starts_programs_on_a_cluster(succeed, folder, cluster):
    command = "python -c 'print(len(\"{arm}\") / 10 + {seed} % 7 / 1000)'"
    succeed("study", "run", "designs", "--command", command, "--dask", cluster.scheduler_address, "--json")
    told = [event.body["value"] for event in mfbai.load_study("designs").journal() if event.body["kind"] == "tell"]
    assert {int(10 * value) for value in told} <= {4, 5}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "--command or --python: give one of them"),
        (("--command", "true", "--python", "near_by:evaluate"), "--command and --python: give one"),
        (("--python", "near_by"), "--python is 'near_by': give MODULE:FUNCTION"),
        (("--python", "far:evaluate"), "--python is 'far:evaluate': No module named 'far'"),
        (("--python", "broken.py:evaluate"), "--python is 'broken.py:evaluate': the module raises ZeroDivisionError"),
        (("--python", "leaving:evaluate"), "the module raises SystemExit: 3"),
        (("--python", "no/such.py:evaluate"), "No module named 'such'"),
        (("--python", "near_by:nobody"), "module 'near_by' has no function 'nobody'"),
        (("--python", "near_by:nothing"), "module 'near_by' has no function 'nothing'"),
        (("--python", "near_by:evaluate", "--processes", 0), "--processes is 0: give 1 or more"),
        (("--python", "near_by:evaluate", "--processes", 2, "--ray"), "--ray and --processes are given: choose one"),
        (("--python", "near_by:evaluate", "--processes", 2, "--workers", 3), "give one of them"),
        (("--python", "near_by:evaluate", "--dask", "here"), "--dask is 'here': give the address of a scheduler"),
    ],
)
def test_what_does_not_go_together_is_refused(refuse, folder, words, told):
    assert told in refuse("study", "run", "designs", *words)


def test_simulate_refuses_two_engines_with_all_else_that_is_wrong(refuse):
    err = refuse("simulate", "paper-5x2", "--strategy", "frugle", "--dask", "tcp://127.0.0.1:1", "--processes", 2)
    assert "--dask and --processes are given: choose one" in err
    assert "did you mean 'frugal'" in err
