"""A whole study in one call: evaluate a function until there is a verdict. The study is in a database, or on a server
(`mfbai.client`)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from mfbai.checks import check_integers
from mfbai.client import RemoteStudy
from mfbai.client.client import connect, is_server
from mfbai.engines import open_engine
from mfbai.errors import EvaluationFailed, Fault, Faults, InvalidInput, UnknownName
from mfbai.model.guess import Guess
from mfbai.model.instance import Instance
from mfbai.model.problem import Problem
from mfbai.planning.fidelities import plan_fidelities
from mfbai.study import sentences
from mfbai.study.jobs import Function
from mfbai.study.settings import STOP
from mfbai.study.status import proven
from mfbai.study.storage import DEFAULT, IN_MEMORY, NameTaken
from mfbai.study.study import Study, create_study, load_study
from mfbai.study.verdict import Verdict
from mfbai.study.workers import GIVE_UP, Crew, work
from mfbai.terminal import bar, seldom


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
) -> Verdict:
    """Find the best arm: call `evaluate(arm, fidelity, seed)` until there is a verdict.

    workers     how many evaluations to have under way: one by default or, with an executor that says how many it makes
                at a time, as many
    executor    where to make them: "threads" of this process (the default), "processes", any
                `concurrent.futures.Executor`, a Dask client, cluster or address ("tcp://..."), or "ray". It is not shut
                down. Only this process touches the storage; if a worker dies, another makes its evaluation again, with
                the same seed, and after five deaths the call ends with `WorkerLost`.

    With a `name`, the study is kept in a `storage` (mfbai.db by default, or a server's address, "http://..."): repeat
    the call to resume it, in this process or another. An exception of `evaluate` ends the call, and so does Ctrl-C; a
    resumed study repeats that trial.
    `EvaluationFailed` counts the trial as failed and goes on; three failures in a row of one cell end the call.
    A study that an alarm stops returns a verdict whose state is "alarm": `print` says what contradicts what.
    With `plan`, a Guess or true for that of the problem's file, fidelities that a plan does not call worth having are
    left out, which is said on standard error. Other parameters are those of `create_study`.

    >>> import random
    >>> from mfbai import Gaussian, Problem, identify
    >>> problem = Problem(["plain", "wide"], costs=[0.1, 1.0], biases=[0.1, 0.0], family=Gaussian(0.01))
    >>> def evaluate(arm, fidelity, seed):
    ...     return random.Random(seed).gauss(0.8 if arm == "wide" else 0.5, 0.1)
    >>> identify(evaluate, problem, delta=0.05).arm
    'wide'
    """
    _check(evaluate, workers)
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
    return _run(study, evaluate, workers, executor) if found is None else found


def _check(evaluate: Any, workers: Any) -> None:
    faults = Faults()
    if not callable(evaluate):
        faults.add("evaluate", f"is {evaluate!r:.60}: give a function of an arm, a fidelity and a seed")
    check_integers(faults, {"workers": workers})
    faults.raise_if_any("call")


def _run(study: Study | RemoteStudy, evaluate: Callable[..., float], workers: int | None, executor: Any) -> Verdict:
    with open_engine(executor, 1 if workers is None and executor is None else workers) as (engine, most):
        study.warm_up()
        crew = Crew(study, Function(evaluate), most, engine=engine)
        with _progress(study) as show:
            work(crew, show)
    verdict = study.result
    if verdict is None:
        trial, reason = crew.failures[-1]
        raise EvaluationFailed(f"{GIVE_UP} trials of {trial.arm!r} at {trial.fidelity!r} failed in a row: {reason}")
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


@contextmanager
def _progress(study: Study | RemoteStudy) -> Iterator[Callable[[], None]]:
    """How far the proof is, on standard error, if that is a terminal."""
    with bar("proof", "{task.description}") as shown:
        if shown is None:
            yield lambda: None
            return
        task = shown.add_task("", total=1.0)

        def show() -> None:
            status = study.status()
            text = f"{sentences.leader(status)}; {sentences.progress(status)}"
            shown.update(task, completed=proven(status), description=text)

        yield seldom(show)
