"""Making a pilot: the evaluations, in threads, kept in a CSV file as they come in."""

from __future__ import annotations

import csv
import io
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, NamedTuple

from mfbai.analysis.evidence import read_problem
from mfbai.analysis.pairs import FEWEST, plain_fidelities
from mfbai.analysis.pilot import Pilot, read_pilot
from mfbai.analysis.values import PAIRED, Values, read_rows
from mfbai.checks import check_integers, check_workers
from mfbai.engines import open_engine
from mfbai.errors import EvaluationFailed, Fault, Faults, InvalidInput, NothingToAsk, StudyOver, suggestion
from mfbai.model.instance import Instance
from mfbai.model.problem import Problem
from mfbai.model.spec import load
from mfbai.study.jobs import Function
from mfbai.study.settings import check_value, permute
from mfbai.study.status import Trial
from mfbai.study.workers import Crew, work
from mfbai.terminal import bar

if sys.platform != "win32":
    import fcntl

KEY = "pilot"  # of the seeds: other ones than those of studies, whose keys are drawn at random
ENDLESS = datetime.max.replace(tzinfo=UTC)

Evaluate = Callable[[str, str, int], float]


def pilot(
    evaluate: Evaluate | Values,
    problem: Problem | Instance | str | Path,
    seeds: int = 8,
    arms: Sequence[str | int] | None = None,
    *,
    workers: int | None = None,
    executor: Any = None,
    file: str | Path | None = None,
) -> Pilot:
    """Find out what cheap fidelities have in common with the top: evaluate arms at all fidelities with the same seeds.
    Returns a `Pilot`.

    evaluate  called as `evaluate(arm, fidelity, seed)`. In its place, values that exist: rows of arm, fidelity, seed
              (or item) and value, a DataFrame with these columns, or the path of a CSV file.
    problem   a `Problem`, or the path of its spec file
    seeds     how many, the same for all arms and fidelities
    arms      some of them; all by default
    workers   as for `identify`
    executor  as for `identify`
    file      where values are kept as CSV as they come in: repeat the call to resume, or with more seeds to go on

    >>> import random
    >>> from mfbai import Problem, Symmetric, pilot
    >>> problem = Problem(["plain", "wide"], costs=[0.05, 5], biases=[float("inf"), 0], family=Symmetric(0, 2))
    >>> def evaluate(arm, fidelity, seed):
    ...     material, error = random.Random(f"{arm} {seed}").gauss(0, 0.1), random.Random(seed).gauss(0, 0.02)
    ...     return len(arm) / 5 + material + (0.3 + error if fidelity == "fidelity 1" else 0.0)
    >>> found = pilot(evaluate, problem)
    >>> found.control.verdict, found.problem().fidelities
    ('pays', ('fidelity 1', 'fidelity 2 by fidelity 1', 'fidelity 2'))
    """
    known = read_problem(load(problem, ties=True) if isinstance(problem, str | Path) else problem)
    if not callable(evaluate):
        if file is not None or arms is not None:
            told = "is given with values that exist already: leave it out"
            raise InvalidInput([Fault("file" if file is not None else "arms", told)])
        return read_pilot(known, evaluate)
    check_workers(workers)
    with (
        open_engine(executor, 1 if workers is None and executor is None else workers) as (engine, most),
        open_notes(known, seeds, arms, file) as notes,
    ):
        crew = Crew(notes, Function(evaluate), most, engine=engine)
        with progress(notes) as show:
            work(crew, show)
        return conclude(notes, crew)


def conclude(notes: Notes, crew: Crew) -> Pilot:
    """What the pilot found; raises EvaluationFailed if it could not be finished."""
    if crew.failures:
        trial, reason = crew.failures[0]
        where = f"{trial.arm!r} at {trial.fidelity!r} with seed {trial.seed}"
        raise EvaluationFailed(f"the pilot has no value of {where}, and needs all: {reason}")
    return notes.result()


class Cell(NamedTuple):
    """An evaluation of a pilot."""

    arm: int
    fidelity: int
    seed: str


class Notes:
    """The evaluations of a pilot, handed out and written down: what a crew works on."""

    name = "pilot"

    def __init__(self, problem: Problem, cells: list[Cell], known: dict[Cell, float], file: IO[str] | None) -> None:
        self.problem = problem
        self.wanted = len(cells)
        self._values = known
        self._open = [cell for cell in cells if cell not in known]
        self._under_way: dict[str, Cell] = {}
        self._file = file
        self._mutex = threading.Lock()

    @property
    def done(self) -> int:
        return self.wanted - len(self._open) - len(self._under_way)

    @property
    def state(self) -> str:
        return "running" if self._open or self._under_way else "decided"

    def ask(self, *, lease: float) -> Trial:
        with self._mutex:
            if not self._open:
                raise NothingToAsk("all is under way") if self._under_way else StudyOver("all is evaluated")
            cell = self._open.pop(0)
            number = f"{self.problem.arms[cell.arm]}, {self.problem.fidelities[cell.fidelity]}, {cell.seed}"
            self._under_way[number] = cell
        names = self.problem.arms[cell.arm], cell.arm, self.problem.fidelities[cell.fidelity], cell.fidelity
        return Trial(number, *names, float(self.problem.costs[cell[:2]]), int(cell.seed), ENDLESS)

    def check_value(self, value: Any, fidelity: int | None = None) -> float:
        return check_value(self.problem, value, fidelity)

    def tell(self, trial: Trial, value: Any, /) -> None:
        """It is on disk when this returns."""
        with self._mutex:
            self._write([trial.arm, trial.fidelity, trial.seed, repr(value)])
            self._values[self._under_way.pop(trial.id)] = value

    def fail(self, trial: Trial, reason: str, /) -> None:
        with self._mutex:
            del self._under_way[trial.id]

    def release(self, trial: Trial, /) -> None:
        with self._mutex:
            self._open.insert(0, self._under_way.pop(trial.id))

    def renew(self, trial: Trial, *, lease: float) -> None:
        """Nobody else has it."""

    def result(self) -> Pilot:
        arms, fidelities = self.problem.arms, self.problem.fidelities  # names may be numbers, which would be no index
        rows = [(arms[arm], fidelities[m], seed, value) for (arm, m, seed), value in self._values.items()]
        return read_pilot(self.problem, rows)

    def _write(self, row: Sequence[Any]) -> None:
        if self._file is None:
            return
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow(row)
        self._file.write(line.getvalue())
        self._file.flush()
        os.fsync(self._file.fileno())


@contextmanager
def open_notes(problem: Problem, seeds: Any, arms: Any, file: str | Path | None) -> Iterator[Notes]:
    """The notes of a pilot, with what the file has of it already."""
    faults = Faults()
    with faults.absorb():
        plain_fidelities(problem)
    if type(seeds) is not int or seeds > 0:
        check_integers(faults, {"seeds": seeds})
    if not faults and seeds < FEWEST:
        faults.add("seeds", f"is {seeds}: give {FEWEST} or more, better 8, as one says nothing of noise")
    chosen = _read_arms(faults, problem, arms)
    faults.raise_if_any("call")
    if file is None:
        yield Notes(problem, _cells(problem, chosen, seeds, {}), {}, None)
        return
    path = Path(file)
    try:
        notes = path.open("a+", encoding="utf-8", newline="")
    except OSError as error:
        raise InvalidInput([Fault(str(path), f"cannot be written: {error.strerror}")]) from None
    with notes:
        _lock(notes, path)
        _mend(notes)
        known = _read(problem, path)
        yield Notes(problem, _cells(problem, chosen, seeds, known), known, notes)


def _cells(problem: Problem, arms: list[int], seeds: int, known: dict[Cell, float]) -> list[Cell]:
    """What the pilot evaluates, seed by seed: the seeds known first, then new ones, and the arms known too."""
    exact = problem.deterministic
    own = list(dict.fromkeys(cell.seed for cell in known if not exact[cell.fidelity]))
    new = (str(permute(KEY, n)) for n in range(1, 2**31))
    while len(own) < seeds:
        seed = next(new)
        own += [seed] if seed not in own else []
    arms = sorted({*arms, *(cell.arm for cell in known)})
    settled = {cell[:2] for cell in known}
    cells = [
        Cell(arm, m, seed)
        for s, seed in enumerate(own)
        for arm in arms
        for m in plain_fidelities(problem)
        if not exact[m] or (s == 0 and (arm, m) not in settled)
    ]
    for cell in cells:
        if cell not in known and not cell.seed.removeprefix("-").isdecimal():
            what = f"{problem.arms[cell.arm]!r} at {problem.fidelities[cell.fidelity]!r} with seed {cell.seed!r}"
            raise InvalidInput([Fault("file", f"has none of {what}, and only whole numbers can be evaluated as seeds")])
    return cells


def _read_arms(faults: Faults, problem: Problem, given: Any) -> list[int]:
    if given is None:
        return list(range(problem.n_arms))
    found: list[int] = []
    for entry in [given] if isinstance(given, str | int) else list(given):
        if isinstance(entry, str) and entry in problem.arm_indices:
            found.append(problem.arm_indices[entry])
        elif isinstance(entry, int) and not isinstance(entry, bool) and 0 <= entry < problem.n_arms:
            found.append(entry)
        else:
            faults.add("arms", f"has {entry!r:.60}: {suggestion(str(entry), problem.arms)}")
    if not found and not faults:
        faults.add("arms", "is empty: give the names of some arms")
    return found


def _read(problem: Problem, path: Path) -> dict[Cell, float]:
    faults = Faults()
    known: dict[Cell, float] = {}
    for row in read_rows(faults, problem, path, PAIRED):
        cell = Cell(row.arm, row.fidelity, row.seed)
        if cell in known:
            faults.add(row.place, "gives an evaluation again that an earlier line has")
        known[cell] = row.value
    faults.raise_if_any("values")
    return known


def _lock(file: IO[str], path: Path) -> None:
    """So that no evaluation is made and written twice; but on Windows two pilots do not notice each other."""
    if sys.platform == "win32":
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise InvalidInput([Fault(str(path), "is being written by another pilot: wait for it to end")]) from None


def _mend(file: IO[str]) -> None:
    """Cut off a last line that was not finished, and begin with the header."""
    file.seek(0)
    text = file.read()
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        file.truncate(len(whole.encode()))
    file.seek(0, os.SEEK_END)
    if not whole:
        file.write(",".join(PAIRED) + "\n")
        file.flush()


@contextmanager
def progress(notes: Notes) -> Iterator[Callable[[], None]]:
    """How many evaluations are done, on standard error, if that is a terminal."""
    with bar("pilot", "{task.completed:.0f}/{task.total:.0f}", time_left=True) as shown:
        if shown is None:
            yield lambda: None
            return
        task = shown.add_task("", total=notes.wanted)
        yield lambda: shown.update(task, completed=notes.done)
