"""Problems whose arms are compared in rounds, and values that depend on the seed alone."""

import random

from hypothesis import strategies as st

from mfbai import Gaussian, NothingToAsk, Problem
from mfbai.analysis.bearing import trusted
from mfbai.kernels.stats import make_stats
from mfbai.model.families import Bounded, Symmetric
from mfbai.run import loop
from mfbai.run.state import own_model
from mfbai.stopping.contrasts import watched
from mfbai.strategies.interface import SEEDS
from mfbai.study.study import Study
from support.folds import records_of, replayed, same_bits, same_fold

SHARED = Problem(["plain", "wide", "deep"], costs=[0.1, 1.0], biases=[0.1, 0.0], family=Gaussian(0.04), seeds="common")
ALONE = {  # the same with seeds of their own, and noise of unknown size
    "symmetric": SHARED.replace(seeds="independent", family=Symmetric(0.0, 1.0)),
    "bounded": SHARED.replace(seeds="independent", family=Bounded([-2.0, -1.0], [3.0, 2.0])),
}
MEANS = {"plain": 0.3, "wide": 0.9, "deep": 0.4}


def evaluate(arm, fidelity, seed):
    """Luck that all arms have in common, and a little of their own."""
    return MEANS[arm] + random.Random(seed).gauss(0.0, 0.2) + random.Random(f"{seed} {arm}").gauss(0.0, 0.05)


def value_of(trial):
    return evaluate(trial.arm, trial.fidelity, trial.seed)


def finish(study):
    while study.result is None:
        trial = study.ask()
        study.tell(trial, value_of(trial))
    return study.result


def asks(study):
    return [event.body for event in study.journal() if event.body["kind"] == "ask"]


def rounds_of(study):
    """The `ask` events of each round, in order."""
    found = {}
    for body in asks(study):
        found.setdefault(body["seed_number"] // SEEDS, []).append(body)
    return list(found.values())


def counted(study):
    """The plain rule: all that was asked for before the first trial that is not back, but for what failed."""
    bodies = [event.body for event in study.journal()]
    back = {body["trial"]: body.get("value") for body in bodies if body["kind"] in ("tell", "fail")}
    rows = []
    for body in bodies:
        if body["kind"] != "ask":
            continue
        if body["trial"] not in back:
            break
        if back[body["trial"]] is not None:
            place = (body["seed_number"], body["part"])
            rows.append((body["arm"], body["fidelity"], back[body["trial"]], *place))
    return rows


def check_counts(study):
    """What the kernels saw is what the plain rule says, and what a replay gives, with and without a snapshot."""
    rows, parts = counted(study), study.settings.parts
    state, model = watched(parts.make_state(), ~trusted(study.problem)), own_model(parts.model)
    records = (make_stats(study.problem.shape), state, parts.make_rule(state), loop.make_outcome(1))
    for arm, fidelity, value, number, part in rows:
        records[0].seed[:] = number, part
        loop.step(model, *records, arm, fidelity, value)
    assert same_bits(records_of(study._fold)[:4], records)
    assert study.status().counts.sum() == len(rows)
    told = sum(event.body["kind"] == "tell" for event in study.journal())
    assert study.status().waiting == told - len(rows)
    assert same_fold(study._fold, replayed(study))
    opened = Study(study._storage, study._study)
    opened.status()
    assert same_fold(opened._fold, study._fold)
    assert opened.under_way() == study.under_way()


actions = st.lists(
    st.tuples(st.sampled_from(["ask", "ask", "tell", "tell", "tell", "fail", "release"]), st.integers(0, 10**6)),
    max_size=40,
)


def act(study, actions):
    """Ask, tell, fail and release as they say."""
    under_way = {}
    for kind, pick in actions:
        if kind == "ask":
            try:
                under_way |= {trial.id: trial for trial in study.ask_many(pick % 5 + 1)}
            except NothingToAsk:
                assert under_way  # enough of them
        elif under_way:
            trial = under_way[sorted(under_way)[pick % len(under_way)]]
            if kind == "release":
                study.release(trial)
                continue
            del under_way[trial.id]
            if kind == "tell":
                study.tell(trial, value_of(trial))
            else:
                study.fail(trial, "lost")
