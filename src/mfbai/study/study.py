"""A live study: hand out evaluations, take in their values, in any number of processes, until there is a verdict."""

from __future__ import annotations

import os
import platform
import re
import secrets
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from mfbai._version import __version__
from mfbai.analysis.values import Values
from mfbai.checks import check_integers, real
from mfbai.errors import Fault, Faults, InvalidInput, NothingToAsk, StudyOver, StudyPaused, TrialClosed, suggestion
from mfbai.model.instance import Instance
from mfbai.model.problem import Problem
from mfbai.study import storage as storages
from mfbai.study.additions import read_table, refuse_repeated
from mfbai.study.batches import entries_of_all, read_pairs
from mfbai.study.fold import Cell, Fold, contradiction
from mfbai.study.ledger import next_event
from mfbai.study.limits import (
    LEASE,
    LONGEST_LEASE,
    LONGEST_REASON,
    LONGEST_WORKER,
    MOST_AT_ONCE,
    MOST_PARTS,
    REQUEST,
    REQUEST_IN_WORDS,
)
from mfbai.study.parts import Told, entries_of, listed, parts_of, read_told
from mfbai.study.settings import HASH, STOP, Bias, Settings, check_name, new_settings
from mfbai.study.standing import Standing, refusal
from mfbai.study.status import Trial
from mfbai.study.storage import Storage, Turn


def create_study(
    problem: Problem | Instance | str | Path,
    delta: float,
    *,
    name: str | None = None,
    storage: str | Storage = storages.DEFAULT,
    strategy: str | None = None,
    stopping: str | None = None,
    tolerance: float = 0.0,
    max_cost: float | None = None,
    direction: str | None = None,
    seeds: str | None = None,
    options: Mapping[str, float] | None = None,
    audit: float = 0.0,
    on_alarm: str = STOP,
) -> Study:
    """A new study: which arm of the problem is best, with a risk of `delta` at most?

    problem    a `Problem`, or the path of its spec file
    delta      the risk of a wrong answer that you accept
    name       to find it by; without one, mfbai makes one up
    storage    where the journal is kept: sqlite:///FILE, or postgresql://...; "sqlite://" is memory; or an open one
    strategy   by default the cheapest that the problem allows: "race", or "frugal" for values that are `Bernoulli`,
               `Poisson` or `Exponential`, unless seeds are common
    stopping   by default the proven rule that goes with the strategy: "contrasts" or "e-process"
    tolerance  an arm this close to the best counts as best
    max_cost   a budget: when it is spent, the verdict is "undecided"
    direction  "maximise" or "minimise", to override the problem's own
    seeds      "independent", or "common" to evaluate the arms with the same seeds, to override the problem's own
    options    of the strategy and the stopping rule, as for `simulate`
    audit      the share of the cost that goes to evaluations without bias, of the arm that leads and of its closest
               rival: they count like all others, and show if a bias bound is wrong
    on_alarm   "stop" to end the study when the data contradict a bias bound or a variance, or "continue"

    >>> from mfbai import Gaussian, Problem, create_study
    >>> problem = Problem(["plain", "wide"], costs=[0.1, 1.0], biases=[0.1, 0.0], family=Gaussian(0.01))
    >>> create_study(problem, delta=0.05, name="widths", storage="sqlite:///widths.db")
    <Study 'widths' in sqlite:///widths.db>
    """
    key = secrets.token_hex(4)
    given = f"study-{key}" if name is None else name
    entries: dict[str, Any] = {"name": given, "key": key, "problem": problem, "delta": delta, "strategy": strategy}
    entries |= {"stopping": stopping, "tolerance": tolerance, "max_cost": max_cost, "options": options, "seeds": HASH}
    entries |= {"audit": audit, "on_alarm": on_alarm, "reopens": None}
    return Study._create(new_settings(entries, direction, seeds), _opened(storage, create=True))


def load_study(name: str, *, storage: str | Storage = storages.DEFAULT) -> Study:
    """Open a study that was created before, in this process or another: the one of this `name` in a `storage`.

    >>> from mfbai import Bernoulli, Problem, create_study, load_study
    >>> problem = Problem(["old", "new"], costs=1, biases=0, family=Bernoulli())
    >>> study = create_study(problem, delta=0.05, name="signs", storage="sqlite:///signs.db")
    >>> study.tell(study.ask(), 1)
    >>> load_study("signs", storage="sqlite:///signs.db").status().told
    1
    """
    faults = Faults()
    check_name(faults, name)
    faults.raise_if_any("call")
    opened = _opened(storage)
    return Study(opened, opened.find(name))


def list_studies(*, storage: str | Storage = storages.DEFAULT) -> list[str]:
    """The names of the studies in a `storage`, in the order they were created.

    >>> from mfbai import Bernoulli, Problem, create_study, list_studies
    >>> problem = Problem(["old", "new"], costs=1, biases=0, family=Bernoulli())
    >>> for name in ("first", "second"):
    ...     study = create_study(problem, delta=0.05, name=name, storage="sqlite:///list.db")
    >>> list_studies(storage="sqlite:///list.db")
    ['first', 'second']
    """
    return _opened(storage).names()


def _opened(storage: str | Storage, *, create: bool = False) -> Storage:
    return storage if isinstance(storage, Storage) else Storage(storage, create=create)


class Study(Standing):
    """A study in a storage: what `create_study` and `load_study` return.

    Any number of processes and threads may have the same study open. What `tell` has acknowledged is on disk.

    >>> from mfbai import Bernoulli, Problem, create_study
    >>> study = create_study(Problem(["old", "new"], costs=1, biases=0, family=Bernoulli()), 0.05, storage="sqlite://")
    >>> while study.result is None:
    ...     trial = study.ask()
    ...     study.tell(trial, 1 if trial.arm == "new" else 0)
    >>> study.result.arm
    'new'
    """

    @classmethod
    def _create(
        cls, settings: Settings, storage: Storage, taken_over: Iterable[tuple[Cell, list[float]]] = ()
    ) -> Study:
        """A new study, with values of another one if it reopens that."""
        fold = Fold(settings)
        if settings.max_cost is not None and not fold.affords(cell := fold.next_cell()):
            first_cell = float(settings.problem.costs[cell])
            told = (
                f"is {settings.max_cost:g}: the first evaluation that {settings.strategy} asks for costs {first_cell:g}"
            )
            raise InvalidInput([Fault("max_cost", told)])
        first = {"kind": "create", "mfbai": __version__, **settings.to_dict()}
        events = [next_event(fold, first)]
        for (arm, fidelity), values in taken_over:
            events.append(next_event(fold, {"kind": "add", "arm": arm, "fidelity": fidelity, "values": values}))
        verdict = fold.conclusion()
        if verdict is not None:
            events.append(next_event(fold, verdict))
        return cls(storage, storage.create(settings.name, events))

    def reopen(self, name: str, bias: Mapping[str, Bias], *, max_cost: float | None = None) -> Study:
        """Go on with other bias bounds, in a new study of that name in the same storage, which counts all values.

        `bias` has the bounds that change, by the fidelity's name: `{"coarse": 0.2}`, or a pair such as `(-0.1, 0.3)`.
        The budget is what is left of this study's, unless `max_cost` gives another. See `mfbai.study.reopen`.
        """
        from mfbai.study.reopen import reopened

        settings, values = reopened(self, name, bias, max_cost)
        return Study._create(settings, self._storage, values)

    def __repr__(self) -> str:
        return f"<Study {self.name!r} in {self._storage.url}>"

    # --- what workers do

    def ask(self, *, lease: float = LEASE, request: str | None = None, worker: str | None = None) -> Trial:
        """The next evaluation to make, a `Trial`, for a worker that will take no more than `lease` seconds.

        If a lease runs out, the trial is handed out again, with the same seed: the first value that comes back counts.
        Raises `StudyOver` if there is a verdict, and `NothingToAsk` if results must come back first: what is under way
        will use up the budget or may well decide, or many results wait for one that was asked for earlier; a study that
        is paused raises `StudyPaused`, which is one of these.

        `request` is an idempotency key of up to 64 letters, digits, hyphens and underscores: repeating it returns the
        same trials, as long as they have not been told. `worker` is a name for tables (`to_frame`): by default that of
        this machine, and the number of this process.
        """
        return self.ask_many(1, lease=lease, request=request, worker=worker)[0]

    def ask_many(
        self, n: int, *, lease: float = LEASE, request: str | None = None, worker: str | None = None
    ) -> list[Trial]:
        """Up to n evaluations to make at once: fewer if no more can be handed out before results are back.

        That is 1000 at most, or as many as there are arms: the first evaluation of each can be one batch.
        """
        faults = Faults()
        if request is not None and not (isinstance(request, str) and re.fullmatch(REQUEST, request)):
            faults.add("request", f"is {request!r:.80}: {REQUEST_IN_WORDS}")
        check_integers(faults, {"n": n})
        if not faults and n > (allowed := max(MOST_AT_ONCE, self.problem.n_arms)):
            faults.add("n", f"is {n}: ask for {allowed} at once, at most")
        seconds = _check_lease(faults, lease)
        named = check_worker(faults, worker)
        faults.raise_if_any("call")
        why = None
        with self._turn() as turn:  # what it finds is used later: by then another thread may have changed the fold
            self._settle()
            verdict, paused = self._fold.verdict, self.paused
            idle = verdict is not None or paused
            trials = [] if idle else self._hand_out(turn, min(int(n), self._most_trials), seconds, request)
            turn.assign([self._number(trial) for trial in trials], named)
            if not idle and not trials:
                why = self._fold.obstacle(self._fold.next_cell())
        if verdict is not None:
            raise StudyOver(f"study {self.name!r} is over: {verdict}", verdict.state)
        if paused:
            raise StudyPaused(f"study {self.name!r} is paused: it hands out nothing until somebody resumes it")
        if not trials:
            raise NothingToAsk(f"study {self.name!r} has nothing to hand out now: {why}, and ask again")
        return trials

    @property
    def _most_trials(self) -> int:
        """In one `ask`: where trials have parts, all of them count."""
        others = self.settings.most_others
        return max(1, MOST_PARTS // (2 + others)) if others else max(MOST_AT_ONCE, self.problem.n_arms)

    def _hand_out(self, turn: Turn, n: int, lease: float, request: str | None) -> list[Trial]:
        fold = self._fold
        now = turn.now()
        repeated = [] if request is None else turn.requested(request)
        numbers = repeated or turn.expired(now, n)
        for number in numbers:
            turn.hand_over(number, now + lease, request)
        first = fold.asked + 1
        while not repeated and len(numbers) < n:
            wanted = fold.next_trial()
            if fold.obstacle((wanted["arm"], wanted["fidelity"])) is not None:
                break
            self._append({"kind": "ask", **wanted})
            numbers.append(fold.asked)
        turn.lease_all(range(first, fold.asked + 1), now + lease, request)
        return [self._trial(number, now + lease) for number in numbers]

    def _trial(self, number: int, until: float) -> Trial:
        problem, cell = self.problem, self._fold.open[number]
        arm, fidelity = cell
        identity, of_seed = f"{number}-{self.settings.key}", self._fold.seed_number(number)
        return Trial(
            id=identity,
            arm=problem.arms[arm],
            arm_index=arm,
            fidelity=problem.fidelities[fidelity],
            fidelity_index=fidelity,
            cost=float(problem.costs[cell]),
            seed=self.settings.seed(of_seed),
            lease_until=datetime.fromtimestamp(until, UTC),
            parts=parts_of(self.settings, identity, cell, of_seed),
        )

    def tell(self, trial: Trial | str, value: float | Iterable[float]) -> None:
        """Report the value of a trial, given as a `Trial` or its id, or the list of values of its parts, if it has
        some. It is on disk when this returns. Telling the same again does nothing."""
        number = self._number(trial)
        told = read_told(self.settings, value)
        with self._turn() as turn:
            entries = self._new_entries(turn, number, told)
            if entries is not None:
                self._append({"kind": "tell", "trial": number, **entries})
                turn.end_lease(number)
                self._settle()

    def tell_many(self, pairs: Iterable[tuple[Trial | str, float | Iterable[float]]]) -> None:
        """Report the values of many trials at once: pairs of a trial and what `tell` takes. All are on disk when this
        returns; if one of them is rejected, none is kept. Telling the same again does nothing."""
        given = read_pairs(self, pairs)
        with self._turn() as turn:
            new = entries_of_all(self, turn, given)
            for number, entries in new.items():
                self._append({"kind": "tell", "trial": number, **entries})
                self._settle()
            turn.end_leases(list(new))

    def _new_entries(self, turn: Turn, number: int, told: Told) -> dict[str, Any] | None:
        """What the event says that tells a trial; None if it was told the same already."""
        before, label = self._outcome(turn, number), f"{number}-{self.settings.key}"
        if before is None:
            cell = self._fold.open[number]
            entries = entries_of(self.settings, told, cell[1])
            self._check_cell(cell, [entries["value"]])
            return entries
        if before["kind"] == "fail":
            why = "was reported as failed, and later ones may have been counted: it cannot be told"
            raise refusal(label, why, TrialClosed)
        if (known := before.get("parts", before["value"])) != told:
            why = f"was told {known!r:.60} already, now {told!r:.60}: a value that was told cannot be changed"
            raise refusal(label, why, TrialClosed)
        return None

    def fail(self, trial: Trial | str, reason: str = "") -> None:
        """Report that a trial has no value and never will: later ones need not wait for it.

        Reporting it again does nothing. Failures must not depend on the value that there would have been.
        """
        number = self._number(trial)
        if not isinstance(reason, str):
            raise InvalidInput([Fault("reason", f"is {reason!r:.60}: give text")])
        with self._turn() as turn:
            before = self._outcome(turn, number)
            if before is None:
                self._append({"kind": "fail", "trial": number, "reason": reason[:LONGEST_REASON]})
                turn.end_lease(number)
                self._settle()
            elif before["kind"] == "tell":
                raise refusal(trial, f"was told {before['value']!r}: it cannot fail any more", TrialClosed)

    def renew(self, trial: Trial | str, *, lease: float = LEASE) -> None:
        """Extend the lease of a worker that is still busy: it has `lease` seconds from now."""
        faults = Faults()
        seconds = _check_lease(faults, lease)
        faults.raise_if_any("call")
        number = self._number(trial)
        with self._turn() as turn:
            self._outcome(turn, number)
            turn.renew(number, turn.now() + seconds)

    def release(self, trial: Trial | str) -> None:
        """Give a trial back: the next worker that asks gets it."""
        number = self._number(trial)
        with self._turn() as turn:
            self._outcome(turn, number)
            turn.renew(number, 0.0)

    def add(self, arm: str | int, fidelity: str | int, values: float | Iterable[float]) -> None:
        """Count values that were measured elsewhere, at no cost to this study. Add all values of a cell that you have,
        not a selection. Arm and fidelity are names, or indices from 0. Studies that compare arms in rounds refuse them:
        those with common seeds, and `race` where the size of the noise is unknown; but for the values of deterministic
        fidelities."""
        faults = Faults()
        a = _index(faults, "arm", arm, self.problem.arm_indices)
        m = _index(faults, "fidelity", fidelity, {name: m for m, name in enumerate(self.problem.fidelities)})
        why = self.settings.refusal_to_add(m)
        if why is not None:
            raise InvalidInput([Fault("values", f"cannot be added: {why}")])
        several = listed(values)
        read = []
        for value in [values] if several is None else several:
            with faults.absorb():
                read.append(self.check_value(value, m))
        faults.raise_if_any("values")
        if read:
            with self._turn():
                self._add({(a, m): read})

    def add_table(self, rows: Values) -> int:
        """Count values that were measured elsewhere, of any cells: rows of arm, fidelity and value, a DataFrame with
        these columns, or the path of a CSV file. All of them are looked at before the first is counted.

        Returns how many count: if they bring the verdict, what comes after it does not. The same table cannot be added
        twice, so that a call can be repeated.
        """
        table = read_table(self, rows)
        with self._turn() as turn:
            refuse_repeated(turn.read(0), table)
            return self._add(table)

    def _add(self, table: dict[Cell, list[float]]) -> int:
        if (verdict := self._fold.verdict) is not None:
            raise StudyOver(f"study {self.name!r} is over, no values can be added: {verdict}", verdict.state)
        for cell, values in table.items():
            self._check_cell(cell, values)
        counted = 0
        for (arm, fidelity), values in table.items():
            if self._fold.verdict is None:
                self._append({"kind": "add", "arm": arm, "fidelity": fidelity, "values": values})
                self._settle()
                counted += len(values)
        return counted

    # --- reading what was given

    def check_value(self, value: Any, fidelity: int | None = None) -> float:
        """The value as a number, if an evaluation of this problem can return it: at that fidelity, or at any. Raises
        `InvalidInput` if it cannot."""
        return self.settings.check_value(value, fidelity)

    def _check_cell(self, cell: Cell, values: list[float]) -> None:
        """A deterministic cell has one value."""
        for value in values:
            self.check_value(value, cell[1])
        told = contradiction(self._fold, cell, values)
        if told is not None:
            raise InvalidInput([Fault("value", told)])

    def _outcome(self, turn: Turn, number: int) -> dict[str, Any] | None:
        """The event that closed a trial; None if it is open."""
        if number in self._fold.open:
            return None
        if not 1 <= number <= self._fold.asked:
            told = f"was never handed out: study {self.name!r} has had {self._fold.asked} trials"
            raise refusal(f"{number}-{self.settings.key}", told)
        unwritten = [event for trial, event in self._log if trial == number]
        return (unwritten or turn.events_of(number))[-1].body


def check_worker(faults: Faults, worker: Any) -> str:
    """A worker's name; if none is given, one for this process."""
    if worker is None:
        return f"{platform.node()}:{os.getpid()}"[:LONGEST_WORKER]
    if not isinstance(worker, str) or len(worker) > LONGEST_WORKER or not worker.isprintable():
        faults.add("worker", f"is {worker!r:.60}: give printable text of {LONGEST_WORKER} characters at most")
        return ""
    return worker


def _check_lease(faults: Faults, lease: Any) -> float:
    seconds = real(lease)
    if seconds is None or not 0 < seconds <= LONGEST_LEASE:
        faults.add("lease", f"is {lease!r:.60}: give a positive number of seconds, of 1e9 at most")
        return LEASE
    return seconds


def _index(faults: Faults, kind: str, given: Any, names: Mapping[str, int]) -> int:
    if isinstance(given, str) and given in names:
        return names[given]
    if type(given) is not bool and isinstance(given, int | np.integer) and 0 <= given < len(names):
        return int(given)
    faults.add(kind, f"is {given!r:.60}: {suggestion(str(given), names)}; or an index from 0 to {len(names) - 1}")
    return 0
