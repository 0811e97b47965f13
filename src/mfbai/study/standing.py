"""Where a study stands: its status, history and trials, as tables and as a certificate."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mfbai.errors import Fault, InvalidInput
from mfbai.model.problem import Array, Problem
from mfbai.study.care import Care
from mfbai.study.fold import Cell
from mfbai.study.history import Point
from mfbai.study.ledger import readable
from mfbai.study.limits import TRIAL_ID
from mfbai.study.parts import parts_of
from mfbai.study.shown import Shown
from mfbai.study.status import Part, Status, Trial, describe_study
from mfbai.study.table import Row, csv_lines, frame_of, rows_of
from mfbai.study.verdict import Verdict
from mfbai.textfiles import write_text

if TYPE_CHECKING:
    from pandas import DataFrame


class Standing(Care, Shown):
    """What can be read of a study."""

    _latest: tuple[Any, Status] | None = None  # the status, and what it is of: with many arms it takes a while

    @property
    def problem(self) -> Problem:
        """Its `Problem`."""
        return self.settings.problem

    @property
    def storage(self) -> str:
        """Its URL, without a password."""
        return self._storage.url

    @property
    def result(self) -> Verdict | None:
        """The `Verdict`; None while there is none. It never changes."""
        with self._mutex:
            self._look()
            return self._fold.verdict

    @property
    def state(self) -> str:
        """ "running", "decided", "undecided" or "alarm", as this process knows it: nothing is read, so it is quick."""
        with self._mutex:
            return "running" if self._fold.verdict is None else self._fold.verdict.state

    def status(self) -> Status:
        """Where the study stands, a `Status`."""
        with self._mutex:
            self._look()
            at = self._fold.head, self.name, self.paused
            if self._latest is None or self._latest[0] != at:
                self._latest = at, describe_study(self._fold, self._label)
            return self._latest[1]

    def history(self) -> list[Point]:
        """Where it stood over time, in a few hundred points at most.

        cost      of the results told by then
        risk      of answering the leader of that time
        evidence  the least over its rivals
        leader    its index; None while no arm had data
        spent     on each arm; empty if there are many
        """
        with self._mutex:
            self._look()
            points = list(self._fold.history.points)
            now = self._fold.point()
            return points if points and points[-1] == now else [*points, now]

    def _deviation(self) -> Array | None:
        """(K, M) that of the values, as learnt so far; None if the family states it."""
        if not self.problem.family.learns:
            return None
        with self._mutex:
            return self.problem.whole(1 / np.sqrt(self._fold.model.law.precision), 0.0)

    def trials(self) -> list[tuple[str, Cell]]:
        """The ids and cells (arm, fidelity), as indices, of the trials under way."""
        with self._mutex:
            self._look()
            return [(f"{n}-{self.settings.key}", cell) for n, cell in self._fold.open.items()]

    def under_way(self, most: int | None = None) -> list[tuple[str, Cell, int]]:
        """The same with the seeds; the first `most` of them."""
        with self._mutex:
            self._look()
            fold = self._fold
            some = list(islice(fold.open.items(), most))
            seeds = {n: self.settings.seed(fold.seed_number(n)) for n, _ in some}
            return [(f"{n}-{self.settings.key}", cell, seeds[n]) for n, cell in some]

    def parts(self, trial: str) -> tuple[Part, ...]:
        """The parts of a trial that is under way; none if its fidelity is not controlled, or it is not under way."""
        number = self._number(trial)
        with self._mutex:
            if number not in self._fold.open:
                self._look()
            cell = self._fold.open.get(number)
            return () if cell is None else parts_of(self.settings, trial, cell, self._fold.seed_number(number))

    def to_frame(self) -> DataFrame:
        """A pandas table with a row for each trial: arm, fidelity, seed, value, cost, when it was asked for and told,
        worker, and state ("told", "late" if that was after the verdict, "failed", "under way")."""
        return frame_of(self.rows())

    def to_csv(self, path: str | Path | None = None) -> str:
        """The same table as CSV; also written to a file, if `path` is given."""
        text = "".join(csv_lines(self.rows()))
        if path is not None:
            write_text([text], path)
        return text

    def rows(self) -> list[Row]:
        """The trials in the order they were asked for: the rows of `to_frame`, as tuples with names."""
        with readable(self.name):
            return rows_of(self.problem, self.settings.key, self.journal(), self.workers())

    def workers(self) -> dict[int, str]:
        """The worker that each trial was handed out to last, by the trial's number, as far as it is known."""
        workers = self._storage.workers(self._study)
        self.mark()  # raises if the study is gone
        return workers

    def export(self, path: str | Path | None = None) -> dict[str, Any]:
        """A certificate that anyone can check with `mfbai.verify`; also written to a file, if `path` is given."""
        from mfbai.study.certificate import make_certificate, write_certificate

        made = make_certificate(self)
        if path is not None:
            write_certificate(made, path)
        return made

    def report(self, path: str | Path | None = None) -> str:
        """The certificate as a web page that opens without a server: pictures, the table of trials, and a check of the
        journal. `mfbai.verify` checks it. It is also written to a file, if `path` is given."""
        from mfbai.study.report.making import make_report

        made = make_report(self).html
        if path is not None:
            write_text([made], path)
        return made

    def _number(self, trial: Any) -> int:
        given = trial.id if isinstance(trial, Trial) else trial
        found = re.fullmatch(TRIAL_ID, given) if isinstance(given, str) else None
        if found is None:
            raise refusal(given, f"is not a trial: give a Trial, or its id, such as '1-{self.settings.key}'")
        if found[2] != self.settings.key:
            raise refusal(given, f"belongs to another study: those of {self.name!r} end in '-{self.settings.key}'")
        return int(found[1])


def refusal(trial: Any, told: str, kind: type[InvalidInput] = InvalidInput) -> InvalidInput:
    """The error for a trial that cannot be what it was given as."""
    label = trial.id if isinstance(trial, Trial) else trial
    return kind([Fault(f"trial {label!r:.60}", told)])
