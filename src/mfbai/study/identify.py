"""A whole study in one call: evaluate a function until there is a verdict."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mfbai.checks import check_integers
from mfbai.errors import EvaluationFailed, Fault, Faults, InvalidInput, UnknownName
from mfbai.model.guess import Guess
from mfbai.model.instance import Instance
from mfbai.model.problem import Problem
from mfbai.planning.fidelities import plan_fidelities
from mfbai.study import sentences
from mfbai.study.settings import STOP
from mfbai.study.status import Part, Trial, proven
from mfbai.study.storage import DEFAULT, IN_MEMORY, NameTaken
from mfbai.study.study import Study, create_study, load_study
from mfbai.study.verdict import Verdict
from mfbai.study.workers import GIVE_UP, Crew, work
from mfbai.terminal import bar


def identify(
    evaluate: Callable[[str, str, int], float],
    problem: Problem | Instance | str | Path,
    delta: float,
    *,
    workers: int = 1,
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
    """Find the best arm: call `evaluate(arm, fidelity, seed)` until there is a verdict, in `workers` threads.

    With a `name`, the study is kept in a `storage` (mfbai.db by default): repeat the call to resume it, in this process
    or another. An exception of `evaluate` ends the call, and so does Ctrl-C; a resumed study repeats that trial.
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
    study = _resume(problem, delta, name, storage, asked, {"on_alarm"} if on_alarm is None else set())
    return _run(study, lambda what: evaluate(what.arm, what.fidelity, what.seed), workers)


def _check(evaluate: Any, workers: Any) -> None:
    faults = Faults()
    if not callable(evaluate):
        faults.add("evaluate", f"is {evaluate!r:.60}: give a function of an arm, a fidelity and a seed")
    check_integers(faults, {"workers": workers if workers is not None else 0})
    faults.raise_if_any("call")


def _run(study: Study, evaluate: Callable[[Trial | Part], float], workers: int) -> Verdict:
    study.warm_up()
    crew = Crew(study, evaluate, workers)
    with _progress(study) as show:
        work(crew, show)
    verdict = study.result
    if verdict is None:
        trial, reason = crew.failures[-1]
        raise EvaluationFailed(f"{GIVE_UP} trials of {trial.arm!r} at {trial.fidelity!r} failed in a row: {reason}")
    return verdict


def _resume(problem: Any, delta: Any, name: str | None, storage: str, asked: dict[str, Any], unsaid: set[str]) -> Study:
    """The study of that name, if there is one and it is the same, up to what was not said; else a new one."""
    if name is None:
        return create_study(problem, delta, storage=storage, **asked)
    try:
        found = load_study(name, storage=storage)
    except UnknownName:
        try:
            return create_study(problem, delta, name=name, storage=storage, **asked)
        except NameTaken:  # by another process, this very moment
            found = load_study(name, storage=storage)
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
def _progress(study: Study) -> Iterator[Callable[[], None]]:
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

        yield show
