"""What a verdict can bear: wider bias bounds, or none; in the study, its certificate and its sentences."""

import json
from math import inf

import numpy as np
import pytest

from mfbai import Bounded, Gaussian, Problem, Symmetric, create_study, verify
from mfbai.analysis.bearing import MOST
from mfbai.study import sentences
from mfbai.study.fold import Fold
from mfbai.study.status import status_from_dict
from mfbai.study.verdict import Verdict, assumptions_of
from support.certificates import forged, numbers, rejected_at, resealed
from support.naive_bearing import KINDS, breakdown, random_study, untrusted
from support.studies import PROBLEM, finish

SINGLE = Problem(["plain", "wide"], costs=1.0, biases=0.0, family=Gaussian(0.04))
STATED = {"delta": 0.05, "stopping": "contrasts", "cost": 2.0, "told": 20, "alarms": ()}


@pytest.mark.parametrize("kind", KINDS)
def test_the_factor_and_the_risk_without_bounds_are_those_of_a_plain_replay(kind):
    for number in range(4):
        study = random_study(kind, number)
        verdict = study.result
        assert verdict.breakdown == pytest.approx(breakdown(study, kind), rel=0.01)
        assert np.log(verdict.untrusted) == pytest.approx(np.log(untrusted(study, kind)), abs=0.02)
        assert verify(study.export())


def test_a_study_that_was_read_again_half_way_finds_the_same():
    study = create_study(PROBLEM, 0.05, storage="sqlite://")
    verdict = finish(study)
    events = list(study.journal())
    fold = Fold(study.settings)
    for n, event in enumerate(events):
        if n == len(events) // 2:
            fold = Fold.load(study.settings, fold.dump())
        body = {name: entry for name, entry in event.body.items() if name not in ("breakdown", "untrusted")}
        fold.apply(body, event.hash)
    assert fold.verdict == verdict


def test_what_a_verdict_bears_is_sent():
    study = create_study(PROBLEM, 0.05, storage="sqlite://")
    finish(study)
    sent = json.loads(json.dumps(study.status().to_dict(), allow_nan=False))
    status = status_from_dict(sent, PROBLEM)
    assert status.result == study.result
    assert status.untrusted == study.status().untrusted == study.result.untrusted
    assert 1 <= sent["result"]["breakdown"] <= MOST


def test_a_verdict_without_biased_values_rests_on_no_bound():
    study = create_study(SINGLE, 0.05, storage="sqlite://")
    rng = np.random.default_rng(0)
    while study.result is None:
        trial = study.ask()
        study.tell(trial, float(rng.normal([0.3, 0.9][trial.arm_index], 0.2)))
    assert (study.result.breakdown, study.result.untrusted) == (inf, study.result.risk)
    assert str(study.result).endswith(" It rests on no bias bound.")
    sent = json.loads(json.dumps(study.status().to_dict(), allow_nan=False))
    assert sent["result"]["breakdown"] == "any"
    assert status_from_dict(sent, SINGLE).result == study.result
    found = verify(study.export())
    assert found, found.reason
    assert found.verdict == study.result


def test_an_undecided_verdict_has_no_factor():
    study = create_study(PROBLEM, 0.05, storage="sqlite://", max_cost=0.5)
    verdict = finish(study)
    assert (verdict.state, verdict.breakdown) == ("undecided", None)
    assert "stands" not in str(verdict)
    assert verify(study.export())


def test_a_rule_without_a_proof_has_no_factor():
    study = create_study(PROBLEM, 0.05, storage="sqlite://", strategy="frugal", stopping="stylised")
    verdict = finish(study)
    assert (verdict.state, verdict.breakdown) == ("decided", None)
    assert "stands" not in str(verdict)


def test_a_certificate_that_claims_more_than_its_verdict_bears_is_rejected():
    study = create_study(PROBLEM, 0.05, storage="sqlite://")
    finish(study)
    certificate = study.export()
    (n,) = numbers(certificate, "verdict")
    factor, risk = study.result.breakdown, study.result.untrusted
    assert rejected_at(forged(certificate, n, breakdown=2 * factor), n, "breakdown")
    assert rejected_at(forged(certificate, n, breakdown="any"), n, "breakdown")
    assert rejected_at(forged(certificate, n, untrusted=risk / 2), n, "untrusted")


def test_a_certificate_of_an_earlier_version_says_nothing_of_it_and_is_confirmed():
    study = create_study(PROBLEM, 0.05, storage="sqlite://")
    finish(study)
    certificate = study.export()
    (n,) = numbers(certificate, "verdict")
    for entry in ("breakdown", "untrusted"):
        del certificate["journal"][n][entry]
    found = verify(resealed(certificate))
    assert found, found.reason
    assert found.verdict == study.result  # the replay finds it


def test_values_without_noise_are_trusted_as_far_as_their_bounds():
    """Formula values 1 apart, each within 0.2 of the truth: certain up to bounds of 0.5."""
    problem = Problem(2, [0.1, 1.0], [0.2, 0.0], Gaussian(0.01), deterministic=[0])
    study = create_study(problem, 0.05, storage="sqlite://")
    for arm, value in enumerate([0.0, 1.0]):
        study.add(arm, 0, value)
    verdict = study.result
    assert (verdict.arm_index, verdict.risk) == (1, 0.0)
    assert verdict.breakdown == pytest.approx(2.5)
    assert verdict.untrusted == 1.0
    assert verify(study.export())


@pytest.mark.parametrize("strategy", ["race", "frugal"])
def test_values_without_noise_move_what_noisy_ones_have_to_show(strategy):
    """A rival that only its formula beats is back in the race as soon as the bound is wider."""
    problem = Problem(3, [0.01, 0.2, 1.0], [0.2, 0.1, 0.0], Gaussian(0.04), deterministic=[0])
    study = create_study(problem, 0.05, storage="sqlite://", strategy=strategy)
    tops, rng = [0.0, 0.75, 1.0], np.random.default_rng(1)
    for arm in (0, 2):
        study.add(arm, 0, tops[arm])
    while study.result is None:
        trial = study.ask()
        noise = 0.0 if trial.fidelity_index == 0 else 0.2 * rng.normal()
        study.tell(trial, float(tops[trial.arm_index] + noise))
    assert 1 <= study.result.breakdown <= 2.5
    assert verify(study.export())


@pytest.mark.parametrize(
    ("breakdown", "untrusted", "said"),
    [
        (1.7, 0.4, " It stands even if every bias bound is 1.7 times as wide. Without any bias bound: risk 0.4."),
        (
            1.0079,
            1.0,
            " It stands even if every bias bound is 1.007 times as wide. Without any bias bound: nothing is ",
        ),
        (1000.0, 0.06, " even if every bias bound is 1,000 times as wide. Without any bias bound: risk 0.06."),
        (1.0, 0.4, " It stands with no wider bounds. Without any bias bound: risk 0.4."),
        (None, 0.4, " Without any bias bound: risk 0.4."),
        (inf, 0.05, " It rests on no bias bound."),
    ],
)
def test_a_verdict_says_what_it_bears(breakdown, untrusted, said):
    text = str(Verdict("decided", "wide", 1, 0.05, **STATED, breakdown=breakdown, untrusted=untrusted))
    assert said in text
    assert text.startswith("The best is 'wide': the risk is 0.05 at most; it cost 2.")


def test_what_a_pilot_may_have_got_wrong_is_charged():
    problem = PROBLEM.replace(charged=0.01)
    study = create_study(problem, 0.05, storage="sqlite://")
    verdict = finish(study)
    assert (verdict.risk, verdict.charged) == (0.05, 0.01)
    pilot = "the stated bounds came from a pilot whose differences at one seed are normal"
    assumed = f"if the noise is normal with the stated variances and {pilot}"
    assert str(verdict).startswith(f"The best is 'wide': the risk is 0.05 + 0.01 at most, {assumed}; it cost ")
    assert verify(study.export()).verdict == verdict
    single = SINGLE.replace(charged=0.01)
    assert assumptions_of(single, "contrasts")[-1] == "the stated variances came from a pilot"


@pytest.mark.parametrize(
    ("family", "said"),
    [
        (Symmetric(-4.0, 4.0), ("the noise is symmetric", "top and control are jointly symmetric at the same seed")),
        (Bounded(-1.0, 2.0), ("values keep to the stated bounds",)),
    ],
)
def test_what_is_controlled_rests_on_no_bias_bound(family, said):
    problem = Problem(2, [0.1, 1.0], [inf, 0.0], family).controlled("fidelity 1", 4, 0.9)
    assert assumptions_of(problem, "contrasts") == said
    assert "the bias bounds hold" in assumptions_of(Problem(2, [0.1, 1.0], [0.1, 0.0], family), "contrasts")


def test_a_running_study_says_its_risk_without_bounds_where_something_is_proven():
    study = create_study(PROBLEM, 1e-6, storage="sqlite://", strategy="frugal")
    for arm, mean in enumerate([0.3, 0.9, 0.4]):
        study.add(arm, 0, [mean] * 3)
        study.add(arm, 1, [mean] * 3)
    status = study.status()
    assert status.risk < status.untrusted < 1
    assert sentences.state_of(status).endswith(f" Without any bias bound: risk {status.untrusted:.2g}.")
