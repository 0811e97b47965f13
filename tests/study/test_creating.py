"""Settings of a new study: what they are, and which are rejected."""

import math
from dataclasses import replace

import numpy as np
import pytest

import mfbai
from mfbai import (
    Gaussian,
    Instance,
    InvalidInput,
    create_study,
    load_study,
)
from mfbai.study.settings import HASH, PROGRESSION, permute, read_settings
from support.studies import PROBLEM, again

# --- settings


def test_a_loaded_study_has_the_settings_it_was_created_with(storage_url):
    settings = {"delta": 0.07, "strategy": "mf-grad", "stopping": "stylised", "tolerance": 0.02, "max_cost": 9.0}
    made = create_study(PROBLEM, **settings, direction="minimise", options={"rate": 1}, name="s", storage=storage_url)
    found = again(made).settings
    assert found.problem == PROBLEM.towards("minimise")
    assert {name: getattr(found, name) for name in settings} == settings
    assert found.options == {"rate": 1.0}
    assert made.settings.differences(found) == []


def test_a_problem_is_given_as_such_or_by_its_file_or_with_its_truth(tmp_path):
    (tmp_path / "problem.toml").write_text(mfbai.dumps(PROBLEM))
    truth = Instance(
        [[0.3, 0.3], [0.9, 0.9], [0.4, 0.4]], [0.1, 1.0], [0.1, 0.0], Gaussian(0.04), arms=["plain", "wide", "deep"]
    )
    for given in (PROBLEM, str(tmp_path / "problem.toml"), tmp_path / "problem.toml", truth):
        assert create_study(given, 0.05, storage="sqlite://").problem == PROBLEM


def test_every_fault_of_the_settings_is_told_at_once(tmp_path):
    with pytest.raises(InvalidInput) as caught:
        create_study(
            PROBLEM,
            1.5,
            name="",
            storage=f"sqlite:///{tmp_path}/s.db",
            strategy="frugl",
            stopping=3,
            tolerance=-1,
            max_cost=0.01,
            direction="up",
        )
    fields = {fault.field for fault in caught.value.faults}
    assert fields == {"name", "delta", "strategy", "stopping", "tolerance", "max_cost", "direction"}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "settings",
    [
        {"delta": [0.05]},
        {"delta": 0},
        {"delta": "0.05"},
        {"delta": None},
        {"max_cost": math.nan},
        {"max_cost": True},
        {"max_cost": 10**400},
        {"max_cost": "9"},
        {"max_cost": -1},
        {"tolerance": math.inf},
        {"strategy": "oracle"},
        {"strategy": "lucb-explore-a"},
        {"options": {"rate": 1.0}},
        {"options": []},
        {"problem": "no-such-file.toml"},
        {"problem": 3},
        {"problem": None},
        {"direction": 1},
    ],
)
def test_settings_that_cannot_be_used_are_refused(tmp_path, settings):
    with pytest.raises((InvalidInput, TypeError)):
        create_study(**{"problem": PROBLEM, "delta": 0.05, "storage": f"sqlite:///{tmp_path}/s.db", **settings})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("seeds", [HASH, PROGRESSION])
def test_seeds_of_a_study_are_all_different(seeds):
    settings = replace(create_study(PROBLEM, 0.05, storage="sqlite://").settings, seeds=seeds)
    found = {settings.seed(trial) for trial in range(1, 100_001)}
    assert len(found) == 100_000
    assert 0 <= min(found) <= max(found) < 2**31


def test_seeds_of_a_study_show_no_pattern_and_no_other_study_has_them():
    """Each bit is as often set as not, to within five standard deviations, also of the differences; and of 20,000 seeds
    of each of two studies 0.2 on average are the same, more than 5 with a chance of 1e-7."""
    here, there = (np.array([permute(key, trial) for trial in range(1, 20_001)]) for key in ("00000000", "00000001"))
    for found in (here, there, np.diff(here) % 2**31, here ^ there):
        ones = (found[:, None] >> np.arange(31) & 1).mean(axis=0)
        assert np.abs(ones - 0.5).max() < 5 * 0.5 / math.sqrt(20_000)
    assert len(set(here) & set(there)) <= 5


def test_the_seeds_of_a_study_never_change():
    """They are in the journals of studies, which must verify for good."""
    expected = {1: 945553702, 2: 105276184, 3: 703655192, 999_999_999: 1691695839}
    assert {trial: permute("63f29dd9", trial) for trial in expected} == expected


# --- settings that could not work


def test_a_budget_below_the_first_evaluation_is_refused():
    with pytest.raises(InvalidInput, match="the first evaluation that track-and-stop asks for costs 1"):
        create_study(PROBLEM, 0.05, storage="sqlite://", max_cost=0.5, strategy="track-and-stop")


def test_strategies_that_need_to_know_more_say_what():
    with pytest.raises(InvalidInput, match="give the options mu1 and mu2"):
        create_study(PROBLEM, 0.05, storage="sqlite://", strategy="lucb-explore-a")
    with pytest.raises(InvalidInput, match="for simulations only"):
        create_study(PROBLEM, 0.05, storage="sqlite://", strategy="oracle")


@pytest.mark.parametrize("value", [1e100, -1e308, 10**400])
def test_values_that_nobody_could_compute_with_are_refused(value):
    study = create_study(PROBLEM, 0.05, storage="sqlite://")
    with pytest.raises(InvalidInput, match="value is"):
        study.add("plain", 0, [0.5, value])
    assert study.status().imported == 0


def test_a_name_that_no_command_could_name_is_refused():
    with pytest.raises(InvalidInput, match="does not begin with '-'"):
        create_study(PROBLEM, 0.05, name="-x", storage="sqlite://")


@pytest.mark.parametrize("name", [".", "..", " a", "a\N{IDEOGRAPHIC SPACE}"])
def test_names_that_would_be_lost_in_addresses_or_tables_are_refused(name, tmp_path):
    url = f"sqlite:///{tmp_path}/s.db"
    with pytest.raises(InvalidInput, match=r"name is .*(blank|another meaning)"):
        create_study(PROBLEM, 0.05, name=name, storage=url)
    with pytest.raises(InvalidInput, match=r"name is .*(blank|another meaning)"):
        create_study(PROBLEM, 0.05, name="s", storage=url).reopen(name, {"coarse": 0.2})


@pytest.mark.parametrize("name", ["..", " a "])
def test_a_study_of_an_earlier_version_may_have_any_name(name):
    body = create_study(PROBLEM, 0.05, name="s", storage="sqlite://").journal()[0].body
    assert read_settings({**body, "name": name}).name == name


@pytest.mark.parametrize("name", ["\ud800", "\0", "", 3, None])
def test_names_that_no_study_has_are_refused(tmp_path, name):
    url = f"sqlite:///{tmp_path}/s.db"
    create_study(PROBLEM, 0.05, name="s", storage=url)
    with pytest.raises(InvalidInput, match="name is"):
        load_study(name, storage=url)


@pytest.mark.parametrize("url", ["sqlite:///\ud800.db", "sqlite:///a\0b.db"])
def test_storages_that_no_system_can_name_are_refused(url):
    with pytest.raises(InvalidInput, match="give a URL such as"):
        create_study(PROBLEM, 0.05, name="s", storage=url)


def test_a_risk_too_small_to_compute_with_is_refused():
    with pytest.raises(InvalidInput, match="below 1e-300"):
        create_study(PROBLEM, 1e-320, storage="sqlite://")
