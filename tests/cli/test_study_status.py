"""mfbai study status: the arms that it shows, and the forecast."""

import re

import pytest

import mfbai
from mfbai.study.forecast import Forecast
from support.commands import read_json

ARMS = [f"arm{n}" for n in range(30)]
BEST = 17


@pytest.fixture
def many(folder):
    """A study of 30 arms, each seen twice; the closer to the best by number, the better."""
    problem = mfbai.Problem(ARMS, [0.1, 1.0], [0.1, 0.0], mfbai.Gaussian(0.01))
    study = mfbai.create_study(problem, 0.05, name="many")
    for arm in range(30):
        study.add(arm, 1, [1 - 0.01 * abs(arm - BEST)] * 2)
    return study


def listed(out):
    return re.findall(r"^(arm\d+) ", out, flags=re.MULTILINE)


def closest_first(status, arms):
    """By the evidence against them and, where that is the same, by how far they seem to be from the leader."""
    return sorted(arms, key=lambda arm: (status.evidence[arm], abs(status.differences[arm].sum())))


def test_of_many_arms_the_leader_and_its_closest_rivals_are_shown(many, succeed):
    out = succeed("study", "status", "many")
    status = many.status()
    rivals = closest_first(status, set(range(30)) - {BEST})
    assert listed(out) == [ARMS[arm] for arm in [BEST, *rivals][:20]]
    out_of_it = int((status.evidence[rivals[19:]] >= many.status().needed).sum())
    told = f"and 10 more arms, {out_of_it} of them ruled out (mfbai study status many --all, or --search TEXT)"
    assert told in out


def test_of_rivals_with_equal_evidence_the_closest_are_shown(folder, succeed):
    problem = mfbai.Problem(100, [1.0], [0.0], mfbai.Gaussian(0.01))
    study = mfbai.create_study(problem, 0.05, name="equal")
    study.tell_many([(trial, trial.arm_index / 1000) for trial in study.ask_many(100)])
    shown = read_json(succeed("study", "status", "equal", "--top", 5, "--json"))["indices"]
    assert shown == [99, 98, 97, 96, 95]


def test_all_shows_every_arm_in_its_order(many, succeed):
    out = succeed("study", "status", "many", "--all")
    assert listed(out) == ARMS
    assert "more arms" not in out


def test_search_shows_the_arms_whose_names_contain_a_text(many, succeed):
    out = succeed("study", "status", "many", "--search", "ARM2")
    found = closest_first(many.status(), [2, *range(20, 30)])
    assert listed(out) == [ARMS[arm] for arm in found]
    assert "11 of 30 arms contain 'ARM2'" in out
    few = succeed("study", "status", "many", "--search", "arm2", "--top", 3)
    assert listed(few) == [ARMS[arm] for arm in found[:3]]
    assert "11 of 30 arms contain 'arm2'; 8 more with --all" in few


def test_search_without_a_match_says_so(many, succeed):
    out = succeed("study", "status", "many", "--search", "elsewhere")
    assert listed(out) == []
    assert "0 of 30 arms contain 'elsewhere'" in out


def test_search_in_json_says_which_arms_its_tables_have(many, succeed):
    body = read_json(succeed("study", "status", "many", "--json", "--search", "arm17"))
    assert (body["arms"], body["indices"]) == (["arm17"], [17])


def test_all_and_top_exclude_each_other(many, refuse):
    assert "--all is given beside --top 3: give one of them" in refuse("study", "status", "many", "--all", "--top", 3)


def test_top_says_how_many_arms_are_shown(many, succeed):
    assert listed(succeed("study", "status", "many", "--top", 3))[0] == ARMS[BEST]
    assert len(listed(succeed("study", "status", "many", "--top", 3))) == 3
    whole = succeed("study", "status", "many", "--top", 30)
    assert listed(whole) == ARMS
    assert "more arms" not in whole


def test_the_table_has_the_difference_to_the_leader(many, succeed):
    """The leader's true mean minus that of the arm."""
    out = succeed("study", "status", "many", "--top", 2)
    status = many.status()
    low, high = status.differences[closest_first(status, set(range(30)) - {BEST})[0]]
    assert f"{low:.4g} to {high:.4g}" in out
    assert "difference to" in out


def test_json_has_all_arms_unless_top_is_given(many, succeed):
    whole = read_json(succeed("study", "status", "many", "--json"))
    assert whole["arms"] == ARMS
    assert "indices" not in whole
    top = read_json(succeed("study", "status", "many", "--json", "--top", 2))
    assert top["indices"][0] == top["leader_index"] == BEST
    for table in ("arms", "evidence", "spent", "counts", "means", "intervals", "differences"):
        assert top[table] == [whole[table][arm] for arm in top["indices"]]
    assert set(top) == {*whole, "indices"}


def test_the_cost_to_the_verdict_is_forecast(many, succeed):
    remaining = Forecast(many).remaining(many.status())
    assert read_json(succeed("study", "status", "many", "--json"))["remaining"] == remaining > 0
    second = succeed("study", "status", "many").splitlines()[1]
    assert re.search(r"; about [\d.,]+ more to the verdict, by the results so far$", second)


def test_there_is_no_forecast_before_the_first_result_nor_after_the_verdict(folder, succeed):
    problem = mfbai.Problem(["plain", "wide"], [1.0], [0.0], mfbai.Gaussian(0.01))
    study = mfbai.create_study(problem, 0.05, name="few")
    assert "more to the verdict" not in succeed("study", "status", "few")
    assert read_json(succeed("study", "status", "few", "--json"))["remaining"] is None
    study.add("plain", 0, [0.1] * 20)
    study.add("wide", 0, [0.9] * 20)
    assert study.result is not None
    assert "more to the verdict" not in succeed("study", "status", "few")
    assert read_json(succeed("study", "status", "few", "--json"))["remaining"] == 0


def test_a_live_picture_takes_a_recent_status_while_a_new_one_would_take_long(many, monkeypatch):
    from mfbai.cli.views import study as views

    clock = iter([0.0, 1.0, 5.0, 10.5, 11.0])
    monkeypatch.setattr(views, "monotonic", lambda: next(clock))
    glance = views.Glance(many)
    first = glance.status()  # took from 0 to 1: the next one is due at 10
    many.add(0, 0, [0.5])
    assert glance.status() is first
    assert glance.status().imported == first.imported + 1
