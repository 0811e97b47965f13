"""A certificate with events of every kind, and what a forger does to one."""

import copy

import numpy as np

from mfbai import Gaussian, Problem, create_study, verify
from mfbai.study.journal import NOTHING, canonical, seal

PROBLEM = Problem(["a", "b", "c"], costs=[0.1, 1.0], biases=[0.1, 0.0], family=Gaussian(0.04))
MEANS = [0.3, 0.9, 0.4]


def run(storage="sqlite://", late=False, **settings):
    """A study to its verdict: results out of order, a failure, values from elsewhere, and one that comes late."""
    study = create_study(PROBLEM, **{"delta": 0.05, "name": "s", "storage": storage, **settings})
    rng = np.random.default_rng(4)
    study.add("a", 0, [0.31, 0.28])
    held = study.ask()
    while study.result is None:
        *trials, last = study.ask_many(4)  # the last is told in the next round
        for trial in (*reversed(trials), held):
            if trial is held and study.result is not None:
                break
            study.tell(trial, float(rng.normal(MEANS[trial.arm_index], 0.2)))
        else:
            held = last
        if study.status().failed == 0 and study.result is None:
            study.fail(study.ask(), "the disk was full")
    if late:
        study.tell(last, 0.5)
    return study


def resealed(certificate, journal=None):
    """As a forger would: numbers, hashes, and all that a certificate says beside its journal, made to fit."""
    journal = certificate["journal"] if journal is None else journal
    head, made = NOTHING, []
    for n, event in enumerate(journal):
        body = {**{name: value for name, value in event.items() if name != "hash"}, "n": n}
        head = seal(head, canonical(body))
        made.append({**body, "hash": head})
    verdicts = [event for event in made if event["kind"] == "verdict"]
    about = {"problem": made[0]["problem"], "verdict": verdicts[0] if verdicts else None}
    return {**certificate, **about, "study": made[0]["name"], "events": len(made), "head": head, "journal": made}


def numbers(certificate, kind):
    return [event["n"] for event in certificate["journal"] if event["kind"] == kind]


def rejected_at(certificate, n, reason=""):
    found = verify(certificate)
    assert not found
    assert found.confirmed is False
    assert found.event == n, found.reason
    assert reason in found.reason
    assert found.verdict is None
    return True


def forged(certificate, n, **changes):
    journal = copy.deepcopy(certificate["journal"])
    journal[n].update(changes)
    return resealed(certificate, journal)
