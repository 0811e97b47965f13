"""A whole study in one call: evaluate a function until there is a verdict. The study is in a database, or on a server
(`mfbai.client`)."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

from mfbai.checks import check_integers, real
from mfbai.client import RemoteStudy
from mfbai.client.client import connect, is_server
from mfbai.engines import open_engine
from mfbai.errors import EvaluationFailed, Fault, Faults, InvalidInput, TimedOut, UnknownName
from mfbai.model.guess import Guess
from mfbai.model.instance import Instance
from mfbai.model.problem import Problem
from mfbai.planning.fidelities import plan_fidelities
from mfbai.study import sentences
from mfbai.study.jobs import Function
from mfbai.study.settings import STOP
from mfbai.study.status import Status
from mfbai.study.storage import DEFAULT, IN_MEMORY, NameTaken
from mfbai.study.study import Study, create_study, load_study
from mfbai.study.verdict import Verdict
from mfbai.study.watch import watched
from mfbai.study.workers import GIVE_UP, Crew, work

IN_MEMORY_LOST = "The study was in memory, and is lost: give it a name=, and the same call resumes it."


def identify(
    evaluate: Callable[[str, str, int], float],
    problem: Problem | Instance | str | Path,
    delta: float,
    *,
    workers: int | None = None,
    executor: Any = None,
    name: str | None = None,
    storage: str | None = None,
    strategy: str | None = None,
    stopping: str | None = None,
    tolerance: float = 0.0,
    max_cost: float | None = None,
    direction: str | None = None,
    seeds: str | None = None,
    options: Mapping[str, float] | None = None,
    audit: float = 0.0,
    on_alarm: str | None = None,
    plan: bool | Guess = False,
    callback: Callable[[Status], Any] | None = None,
    timeout: float | None = None,
) -> Verdict:
    """Find the best arm: call `evaluate(arm, fidelity, seed)` until there is a `Verdict`.

    evaluate  returns the value of one evaluation, with random numbers from the seed. An exception ends the call;
              `EvaluationFailed` counts the trial as failed and goes on; three failures in a row of one cell end the
              call.
    problem   a `Problem`, or the path of its spec file
    delta     the risk of a wrong answer that you accept
    workers   how many evaluations to have under way: one by default or, with an executor that says how many it makes at
              a time, as many
    executor  where to make them: "threads" of this process (the default), "processes", any
              `concurrent.futures.Executor`, a Dask client, cluster or address ("tcp://..."), or "ray". It is not shut
              down. Only this process touches the storage; if a worker dies, another makes its evaluation again, with
              the same seed, and after five deaths the call ends with `WorkerLost`.
    name      keeps the study: repeat the call to resume it, in this process or another. Ctrl-C ends the call, and a
              resumed study repeats that trial.
    storage   where it is kept: mfbai.db by default, another database, or a server's address, "http://..."
    plan      a `Guess`, or true for that of the problem's file: fidelities that a plan does not call worth having are
              left out, which is said on standard error
    callback  called with the `Status` when results have come in: in the thread of the caller, ten times a second at
              most, and so seldom that this takes a tenth of the time; and a last time at the end. What it returns is
              ignored. An exception in it ends the call, as one of `evaluate` does.
    timeout   seconds, after which the call raises `TimedOut`, with the status. Evaluations under way have one more
              second to end, and are given back. A study with a name is kept: the same call resumes it. The time runs
              from the first evaluation on: what the first use of a family compiles does not count.

    The others, `strategy`, `stopping`, `tolerance`, `max_cost`, `direction`, `seeds`, `options`, `audit` and
    `on_alarm`, are those of `create_study`. A study that an alarm stops returns a verdict whose state is "alarm":
    `print` says what contradicts what. The progress is shown on terminals and in notebooks.

    >>> import random
    >>> from mfbai import Gaussian, Problem, identify
    >>> problem = Problem(["plain", "wide"], costs=[0.1, 1.0], biases=[0.1, 0.0], family=Gaussian(0.01))
    >>> def evaluate(arm, fidelity, seed):
    ...     return random.Random(seed).gauss(0.8 if arm == "wide" else 0.5, 0.1)
    >>> identify(evaluate, problem, delta=0.05).arm
    'wide'
    """
    seconds = _check(evaluate, workers, callback, timeout)
    asked: dict[str, Any] = {"strategy": strategy, "stopping": stopping, "tolerance": tolerance, "max_cost": max_cost}
    asked |= {"direction": direction, "seeds": seeds, "options": options, "audit": audit, "on_alarm": on_alarm or STOP}
    if storage is None:
        storage = IN_MEMORY if name is None else DEFAULT
    if plan:
        guess = plan if isinstance(plan, Guess) else None
        planned = plan_fidelities(problem, guess, delta, tolerance, direction, seeds)
        print(planned.choice, file=sys.stderr)
        problem = planned.advised
    study = _resume(problem, delta, name, _home(storage), asked, {"on_alarm"} if on_alarm is None else set())
    found = study.result
    if found is not None:
        if callback is not None:
            callback(study.status())
        return found
    with open_engine(executor, 1 if workers is None and executor is None else workers) as (engine, most):
        study.warm_up()
        crew = Crew(study, Function(evaluate), most, engine=engine, until=time.monotonic() + seconds)
        with watched(study, callback) as watch:
            work(crew, watch.look)
            status = watch.finish(needed=crew.timed_out)
    if crew.timed_out and (status is None or status.result is None):
        raise TimedOut(_told(status, timeout, study, name), status)
    return _outcome(study, crew)


def _check(evaluate: Any, workers: Any, callback: Any, timeout: Any) -> float:
    """Refuses what is wrong; returns the seconds that there are."""
    faults = Faults()
    if not callable(evaluate):
        faults.add("evaluate", f"is {evaluate!r:.60}: give a function of an arm, a fidelity and a seed")
    check_integers(faults, {"workers": workers})
    if callback is not None and not callable(callback):
        faults.add("callback", f"is {callback!r:.60}: give a function of a Status")
    seconds = inf if timeout is None else real(timeout)
    if timeout is not None and (seconds is None or not 0 < seconds < inf):
        faults.add("timeout", f"is {timeout!r:.60}: give a positive number of seconds, or leave it out")
    faults.raise_if_any("call")
    assert seconds is not None
    return seconds


def _told(status: Status | None, timeout: float | None, study: Study | RemoteStudy, name: str | None) -> str:
    """What to say when the time is over: where the study stands, and how to go on."""
    stands = "" if status is None else f" {sentences.state_of(status)} So far: {sentences.progress(status)}."
    if study.storage == IN_MEMORY:
        onward = IN_MEMORY_LOST
    elif name is None:
        onward = f"Call again with name={study.name!r} to resume it."
    else:
        onward = f"Repeat the call to resume study {study.name!r}."
    if status is not None and status.paused:
        onward = f"It hands out nothing while it is paused: `load_study(...).resume()` ends that. {onward}"
    return f"there is no verdict after {timeout:g} s.{stands} {onward}"


def _outcome(study: Study | RemoteStudy, crew: Crew) -> Verdict:
    verdict = study.result
    if verdict is None:
        trial, reason = crew.failures[-1]
        told = f"{GIVE_UP} trials of {trial.arm!r} at {trial.fidelity!r} failed in a row: {reason}"
        lost = f". {IN_MEMORY_LOST}" if study.storage == IN_MEMORY else ""
        raise EvaluationFailed(f"{told}{lost}")
    return verdict


class _Home(NamedTuple):
    """Where studies are kept."""

    create: Callable[..., Study | RemoteStudy]
    load: Callable[[str], Study | RemoteStudy]


def _home(storage: str) -> _Home:
    if is_server(storage):
        client = connect(storage)
        return _Home(client.create_study, client.load_study)
    return _Home(partial(create_study, storage=storage), partial(load_study, storage=storage))


def _resume(
    problem: Any, delta: Any, name: str | None, home: _Home, asked: dict[str, Any], unsaid: set[str]
) -> Study | RemoteStudy:
    """The study of that name, if there is one and it is the same, up to what was not said; else a new one."""
    if name is None:
        return home.create(problem, delta, **asked)
    try:
        found = home.load(name)
    except UnknownName:
        try:
            return home.create(problem, delta, name=name, **asked)
        except NameTaken:  # by another process, this very moment
            found = home.load(name)
    if asked["strategy"] is None and asked["stopping"] is None:
        unsaid = unsaid | {"strategy", "stopping"}
    asked |= {setting: getattr(found.settings, setting) for setting in unsaid}  # it goes on under what it began with
    wanted = create_study(problem, delta, name=name, storage=IN_MEMORY, **asked)
    differing = wanted.settings.differences(found.settings)
    if differing:
        told = f"exists with another {', '.join(differing)}: choose another name, or give the same"
        raise InvalidInput([Fault(f"study {name!r}", told)])
    return found
