"""The state of a study: what its journal amounts to.

Results of a cell are counted in the order in which they were asked for, not in the order in which they come back: a
result waits until those before it have come back, or failed. So the values that the stopping rule sees are always the
first ones of the cell's sequence, and a program that returns good values faster than bad ones cannot mislead it. A rule
that compares arms with each other step by step (`Rule.ordered`) needs the same of all results: they wait in one queue.
The value of a deterministic fidelity is no matter of luck, and counts at once.
"""

from __future__ import annotations

import io
import json
from collections import deque
from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import cached_property
from math import inf, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfbai.analysis.bearing import trusted
from mfbai.analysis.guarantee import (
    BiasAlarm,
    Risk,
    all_alarms,
    contradictions,
    find_differences,
    find_intervals,
    find_risk,
    needed_for_risk,
)
from mfbai.analysis.variance import VarianceAlarm, variances_of
from mfbai.files import sources_digest
from mfbai.kernels.exact import certain
from mfbai.kernels.jit import COMPILED
from mfbai.kernels.stats import make_stats
from mfbai.model.problem import Array
from mfbai.run.exact import wanted_exact
from mfbai.run.loop import make_outcome
from mfbai.run.play import Play
from mfbai.run.state import arrays_of, changing, own_model
from mfbai.stopping import contrasts, e_process
from mfbai.strategies import STRATEGIES
from mfbai.study import bearing
from mfbai.study.bearing import Values
from mfbai.study.history import SHARES, History, Point
from mfbai.study.rounds import OWN, Planned, Rounds
from mfbai.study.settings import STOP, Settings, is_proven
from mfbai.study.surplus import Scratch, make_scratch, needed_for_surplus, surplus
from mfbai.study.verdict import Verdict, assumptions_of, reasons_of

HELD_UP = 20  # results of a queue that may wait for a trial, at least, before no more are asked for
SLACK = 1 + 1e-9  # of a budget, for the rounding of sums
GROWTH, SLOW_GROWTH = 1.02, 1.25  # of the results, at which to look for alarms again; where the noise is learnt, slowly
# A fold's numbers and texts.
PLAIN = ("events", "head", "asked", "told", "failed", "imported", "late", "cost", "counted", "look_at", "alarmed")
MANY, CLOSEST = 1000, 200  # of so many arms in rounds, only the closest rivals' differences are computed: 4 ms each
FAILED = None  # stands for the value of a trial that failed
VARIED = "variance_alarms"  # an entry of verdicts
BEARS = ("breakdown", "untrusted")  # others
ANY = "any"  # stands for a breakdown factor without limit: JSON knows no infinity
ALL = (-1, -1)  # stands for the cell of a queue for all cells

Cell = tuple[int, int]


class Fold:
    """Everything that follows from a study's settings and its events so far. Only `apply` changes it."""

    def __init__(self, settings: Settings) -> None:
        shape = settings.problem.shape
        parts = settings.parts
        seen = parts.model.cost.shape
        self.settings = settings
        self.model = own_model(parts.model)  # it changes, too, as the noise is learnt
        self.events = 0  # applied
        self.head = ""  # hash of the last of them
        self.asked = 0  # trials are numbered 1, 2, ... as they are asked for
        self.told = self.failed = self.imported = self.late = 0
        self.cost = 0.0  # of the results told, late ones too
        self.counted = 0  # results that count, imported ones too
        self.look_at = 1  # as many of them, to look for alarms
        self.alarmed = False  # whether there was one, if that stops the study
        self.open: dict[int, Cell] = {}  # trials that are neither told nor failed
        # Of each cell, or of ALL: trials that are not counted yet, in order; and values from elsewhere, as minus the
        # number of their event.
        self.queue: dict[Cell, deque[int]] = {}
        # Cells and values of those that wait for earlier ones of their queue; no values if the trial failed.
        self.waiting: dict[int, tuple[Cell, list[float]]] = {}
        self.pending = np.zeros(seen, dtype=np.int64)  # trials in the queues, as kernels see them
        self.open_counts = np.zeros(shape, dtype=np.int64)
        self.told_counts = np.zeros(shape, dtype=np.int64)  # results that were paid for: late ones too, imported not
        self.verdict: Verdict | None = None
        self.stats = make_stats(seen)
        self.state = parts.make_state()
        if settings.bets_on_contrasts:
            self.state = contrasts.watched(self.state, ~trusted(settings.problem)[settings.problem.noisy])
        self.rule = parts.make_rule(self.state)
        self.values = Values()  # that the kernels have seen, where a verdict will look at each of them again
        self.outcome = make_outcome(1)
        self._play = Play(self.model, self.stats, self.state, self.rule, self.outcome, self.pending)
        self.history = History(stride=max(1, shape[0] // 2))  # a look at many arms takes long, and few change
        self.rounds = Rounds(self._next_round) if settings.in_rounds else None
        self._counted: list[tuple[int, int, float, int, int]] = []  # results that the kernels have not seen yet

    # --- events

    def apply(self, body: Mapping[str, Any], seal: str) -> None:
        """Take in the next event of the journal, which is trusted: `Study` and `verify` check it first."""
        kind = body["kind"]
        if kind == "tell":
            self._close(body["trial"], body["value"])
        elif kind == "ask":
            self._ask(body["trial"], (body["arm"], body["fidelity"]), body)
        elif kind == "fail":
            self.failed += 1
            self._close(body["trial"], FAILED)
        elif kind == "add":
            self._add((body["arm"], body["fidelity"]), body["values"])
        elif kind == "verdict":
            self._conclude(body)
        elif kind != "create":
            raise ValueError(f"no event is of the kind {kind!r}")
        if self.settings.on_alarm == STOP and kind in ("tell", "fail", "add"):
            self._look_for_alarms()
        self.events += 1
        self.head = seal

    def _ask(self, trial: int, cell: Cell, body: Mapping[str, Any]) -> None:
        self.asked = trial
        self.open[trial] = cell
        self.open_counts[cell] += 1
        arm, seen = cell[0], self.settings.problem.seen_as(cell[1])
        if seen < 0:
            self.model.exact.pending[arm, -1 - seen] += 1
            return
        if self.rounds is not None:
            self.rounds.hand_out(trial, Planned(arm, seen, body["seed_number"], body["part"]))
        self.pending[arm, seen] += 1
        self._queue_of(cell).append(trial)

    def _close(self, trial: int, value: float | None) -> None:
        cell = self.open.pop(trial)
        self.open_counts[cell] -= 1
        arm, seen = cell[0], self.settings.problem.seen_as(cell[1])
        if seen < 0:
            self.model.exact.pending[arm, -1 - seen] -= 1
        if value is not FAILED:
            self.told += 1
            self.told_counts[cell] += 1
            self.cost += float(self.settings.problem.costs[cell])
        if self.verdict is not None:
            self.late += value is not FAILED
            return
        values = [] if value is FAILED else [value]
        if seen < 0:
            self._count(arm, seen, values)
        else:
            self.waiting[trial] = cell, values
            self._advance(self._queue_of(cell))
        if value is not FAILED and self.history.is_due(self.told):
            self.history.add(self.point())

    def _add(self, cell: Cell, values: list[float]) -> None:
        self.imported += len(values)
        arm, seen = cell[0], self.settings.problem.seen_as(cell[1])
        if seen < 0:
            self._count(arm, seen, values)
            return
        queue = self._queue_of(cell) if self.settings.ordered else deque()
        place = -self.events
        queue.append(place)
        self.waiting[place] = cell, values
        self._advance(queue)

    def _queue_of(self, cell: Cell) -> deque[int]:
        return self.queue.setdefault(ALL if self.settings.ordered else cell, deque())

    def _advance(self, queue: deque[int]) -> None:
        """Count what no longer has to wait."""
        while queue and queue[0] in self.waiting:
            first = queue.popleft()
            cell, values = self.waiting.pop(first)
            seen = cell[0], self.settings.problem.seen_as(cell[1])
            self.pending[seen] -= first > 0
            seed = OWN if self.rounds is None else self.rounds.forget(first)
            self._count(*seen, values, seed)
            if self.rounds is not None:
                for value in values:
                    self.rounds.count(seen, value, *seed)

    def _count(self, arm: int, seen: int, values: list[float], seed: tuple[int, int] = OWN) -> None:
        self.counted += len(values)
        self._counted += [(arm, seen, value, *seed) for value in values]

    def _look_for_alarms(self) -> None:
        """At numbers of results that do not depend on their values, so that a replay looks at the same ones."""
        if self.alarmed or self.verdict is not None or self.counted < self.look_at or not self.complete:
            return
        growth = GROWTH if self.model.law.known else SLOW_GROWTH
        self.look_at = self.counted + max(1, len(self.pending) // 10, int((growth - 1) * self.counted))
        self.alarmed = bool(self.alarms() or self.variance_alarms())

    @property
    def complete(self) -> bool:
        """Whether a study that goes on with the values of another one has them."""
        return self.imported >= self.settings.taken_over

    def _conclude(self, body: Mapping[str, Any]) -> None:
        self.flush()
        problem, arm = self.settings.problem, body["arm"]
        varied = body.get(VARIED)  # journals of mfbai 0.1.0 do not say
        self.verdict = Verdict(
            state=body["state"],
            arm=None if arm is None else problem.arms[arm],
            arm_index=arm,
            risk=body["risk"],
            delta=self.settings.delta,
            stopping=self.settings.rule,
            cost=body["cost"],
            told=body["told"],
            alarms=tuple(BiasAlarm(**alarm) for alarm in body["alarms"]),
            variance_alarms=tuple(self.variance_alarms() if varied is None else (VarianceAlarm(**x) for x in varied)),
            tolerance=self.settings.tolerance,
            **self._bears(body),
            charged=problem.charged,
            rests_on=assumptions_of(problem, self.settings.rule),
        )
        self.verdict = replace(self.verdict, because=reasons_of(self.verdict, problem))
        self.values = Values()

    def _bears(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """What a verdict can bear, by its event; earlier journals do not say, and it is found here."""
        if not set(BEARS) <= set(body):
            body = self._bearing(body["state"], body["arm"], body["risk"])
        factor = body["breakdown"]
        return {"breakdown": inf if factor == ANY else factor, "untrusted": body["untrusted"]}

    def flush(self) -> None:
        """Let the kernels see all results that count."""
        if not self._counted:
            return
        arms, fidelities, values, *seeds = map(np.array, zip(*self._counted, strict=True))
        self._counted.clear()
        self._replay(arms, fidelities, values.astype(np.float64), np.stack(seeds, axis=1))

    def _replay(
        self, arms: NDArray[np.int64], fidelities: NDArray[np.int64], values: Array, seeds: NDArray[np.int64]
    ) -> None:
        told = (arms, fidelities, self.settings.problem.sign * values)
        if self.settings.bets_on_contrasts and self.verdict is None:
            self.values.add(*told, *seeds.T)
        self._play.replay(*told, seeds)

    def compile(self) -> None:
        """See that all is compiled that asking and telling need, and do nothing else."""
        self._play.ready([*needed_for_risk(self.model, self.stats), *needed_for_surplus(self)])
        if self.verdict is None:
            self.next_trial()
        self.risk()

    # --- what follows from them

    def next_trial(self) -> dict[str, int]:
        """The evaluation that the strategy wants next, as the body of an `ask` event has it."""
        number, problem = self.asked + 1, self.settings.problem
        exact = self._next_exact() if problem.exact else None
        if self.rounds is not None:
            arm, fidelity, place, part = (*exact, *OWN) if exact is not None else self.rounds.coming()[0]
            seed = self.settings.seed(place + 1 if self.settings.shares_seeds else number)
            entries = {"seed": seed, "seed_number": place, "part": part}
        else:
            self.flush()
            arm, fidelity = exact or self._play.ask()
            entries = {"seed": self.settings.seed(number)}
        m = problem.noisy[fidelity] if exact is None else problem.exact[fidelity]
        return {"trial": number, "arm": int(arm), "fidelity": m, **entries}

    def _next_exact(self) -> tuple[int, int] | None:
        """The arm and the number of a deterministic fidelity, if its value is wanted next; if the top fidelity is one,
        another that is under way, once all that are wanted are."""
        self.flush()
        arm, d = wanted_exact(self.model, self.stats)
        exact = self.model.exact
        if arm < 0 and exact.top:
            arm, d = next(zip(*np.nonzero(exact.pending > 0), strict=True), (0, exact.value.shape[1] - 1))
        return None if arm < 0 else (int(arm), int(d))

    def next_cell(self) -> Cell:
        """Its cell."""
        wanted = self.next_trial()
        return wanted["arm"], wanted["fidelity"]

    def _next_round(self) -> list[tuple[int, int, int, int]]:
        self.flush()
        plan = STRATEGIES[self.settings.strategy].round
        assert plan is not None  # `assemble` refuses the others
        return plan(self.state)

    def seed_number(self, trial: int) -> int:
        """The number of the seed of a trial that is under way."""
        if self.rounds is None or not self.settings.shares_seeds:
            return trial
        return self.rounds.seeds.get(trial, OWN)[0] + 1

    def known(self, cell: Cell) -> float | None:
        """The value of a deterministic cell, as soon as it was told or added; None for all others."""
        problem, arm = self.settings.problem, cell[0]
        seen = problem.seen_as(cell[1])
        if seen >= 0:
            return None
        self.flush()
        value = problem.sign * float(self.model.exact.value[arm, -1 - seen])
        return None if np.isnan(value) else value

    @property
    def counts(self) -> Array:
        """(K, M) results that count."""
        self.flush()
        return self.settings.problem.whole(self.stats.count, ~np.isnan(self.model.exact.value))

    @property
    def means(self) -> Array:
        """(K, M) of these; NaN where there are none."""
        problem, counts = self.settings.problem, self.counts
        means = problem.sign * problem.whole(self.stats.mean, self.model.exact.value)
        return np.where(counts > 0, means, np.nan)

    def affords(self, cell: Cell) -> bool:
        """Whether the budget allows one more evaluation, on top of those under way."""
        if self.settings.max_cost is None:
            return True
        costs = self.settings.problem.costs
        under_way = float((self.open_counts * costs).sum())
        return bool(self.cost + under_way + costs[cell] <= self.settings.max_cost * SLACK)

    def line(self, cell: Cell) -> tuple[int | None, int]:
        """The trial that others of the cell's queue wait for, if there is one, and how many results do."""
        queue = self._queue_of(cell)
        if not queue or not self.waiting:
            return None, 0
        held = self.waiting.items() if self.settings.ordered else ((n, self.waiting.get(n)) for n in queue)
        return queue[0], sum(1 for _, told in held if told and told[1])  # failed trials have no values

    def under_way(self) -> str:
        return f"{len(self.open)} evaluation{'s are' if len(self.open) != 1 else ' is'} under way"

    def obstacle(self, cell: Cell) -> str | None:
        """Why an evaluation of a cell must not be handed out now, and what to do about it; None if it may be.

        While many results wait for a trial that does not come back, more of them would be paid for and not counted.
        Many is as many as count already, and twice as many as are under way: some are merely slower.
        """
        if not self.affords(cell):
            return f"{self.under_way()} and the budget allows no more; tell the results"
        seen = self.settings.problem.seen_as(cell[1])
        if seen < 0:
            once = f"the value of {self.settings.problem.arms[cell[0]]!r} is under way, and needed only once; tell it"
            return once if self.model.exact.pending[cell[0], -1 - seen] > 0 else None
        first, waiting = self.line(cell)
        counted = self.stats.steps[0] if self.settings.ordered else self.stats.count[cell[0], seen]
        if first is not None and waiting >= max(HELD_UP, 2 * len(self.open), counted):
            late = f"{waiting} results wait for trial '{first}-{self.settings.key}', which was asked for before them"
            return f"{late}: tell it, or release it if its worker is gone"
        return self.surplus(cell)

    def surplus(self, cell: Cell) -> str | None:
        """The same of an evaluation that would probably be a waste: see `mfbai.study.surplus`."""
        return surplus(self, cell)

    @cached_property
    def scratch(self) -> Scratch:
        return make_scratch(self.model)

    def conclusion(self) -> dict[str, Any] | None:
        """The verdict that is due now, as the body of an event; None if there is none, or it was given."""
        self.flush()
        if self.verdict is not None or not self.complete:
            return None
        if self.outcome.levels[0] and not self._contradicted():
            answer = int(self.outcome.answer[0])
            known = self.certain() >= 0 or not is_proven(self.settings.rule)
            risk = self.risk(answer).level if known else self.settings.delta
            return self._verdict("decided", answer, risk)
        if self.alarmed or self.outcome.levels[0]:
            found = self.risk()
            return self._verdict("alarm", self.leader(found), found.level)
        if self.settings.max_cost is None or self.open or self.affords(self.next_cell()):
            return None
        found = self.risk()
        return self._verdict("undecided", self.leader(found), found.level)

    def _contradicted(self) -> bool:
        """Whether the data contradict what an answer rests on, and the study is to stop then without one."""
        return self.settings.on_alarm == STOP and bool(self.alarmed or self.alarms() or self.variance_alarms())

    def _verdict(self, state: str, arm: int | None, risk: float) -> dict[str, Any]:
        spent = {"cost": self.cost, "told": self.told}
        alarms = {
            "alarms": [asdict(alarm) for alarm in self.alarms()],
            VARIED: [asdict(alarm) for alarm in self.variance_alarms()],
        }
        bears = self._bearing(state, arm, risk)
        return {"kind": "verdict", "state": state, "arm": arm, "risk": risk, **spent, **alarms, **bears}

    def _bearing(self, state: str, arm: int | None, risk: float) -> dict[str, Any]:
        """What the verdict that is due can bear, as its event says it."""
        factor = bearing.breakdown(self, arm) if state == "decided" and arm is not None else None
        return {"breakdown": ANY if factor == inf else factor, "untrusted": self.untrusted(arm, risk)}

    def untrusted(self, answer: int | None, risk: float) -> float:
        """The risk of an answer without trust in any bias bound, given that with it."""
        self.flush()
        return bearing.untrusted(self, answer, risk)

    def risk(self, answer: int | None = None) -> Risk:
        """The risk that is proven so far, for the leader or another answer: by the books of the rule `contrasts` if
        that decides, else by the e-process."""
        self.flush()
        model, kept = self.model, [self.rule, getattr(self.state, "rule", None)]
        best = self.certain()
        if best >= 0 and answer in (None, best):
            return Risk(0.0, best, np.full(len(model.beaten), np.inf))
        if self.settings.bets_on_contrasts:
            standing = contrasts.standing(self.rule, answer)
            return Risk(standing.level, standing.leader, standing.evidence)
        rule = next((record for record in kept if isinstance(record, e_process.State)), None)
        return find_risk(model, self.stats, rule, answer)

    def certain(self) -> int:
        """The arm that deterministic fidelities show to be the best, whatever the noisy ones say; -1 if none is."""
        return int(certain(self.model)) if self.settings.problem.exact else -1

    def needed(self) -> float:
        """What the evidence against each rival must reach."""
        if self.settings.bets_on_contrasts:
            return contrasts.standing(self.rule).needed
        return log((self.settings.problem.n_arms - 1) / self.settings.delta)

    def leader(self, found: Risk) -> int | None:
        """The arm that a risk is about; None while nothing is known."""
        return found.leader if found.leader >= 0 and self.counts.any() else None

    def point(self) -> Point:
        """Where the study stands now, for its history."""
        found = self.risk(None if self.verdict is None else self.verdict.arm_index)
        spent = (self.told_counts * self.settings.problem.costs).sum(axis=1)
        shares = tuple(spent.tolist()) if len(spent) <= SHARES else ()
        return Point(self.cost, found.level, float(found.log_evidence.min()), self.leader(found), shares)

    def intervals(self) -> Array:
        """(K, 2) of the top means. With common seeds none is known, as nobody states how the values of an arm vary."""
        self.flush()
        settings = self.settings
        if settings.shares_seeds:
            return np.full((settings.problem.n_arms, 2), np.nan)
        return find_intervals(self.model, self.stats, settings.problem.sign, settings.delta)

    def differences(self, leader: int | None, intervals: Array) -> Array:
        """(K, 2) intervals of the leader's top mean minus each other's, given those of the top means."""
        self.flush()
        model, delta, sign = self.model, self.settings.delta, self.settings.problem.sign
        K = self.settings.problem.n_arms
        if leader is None:
            return np.tile([-np.inf, np.inf], (K, 1))
        if self.rounds is None:
            return find_differences(model, self.stats, sign, delta, leader, intervals)
        target = log(K * (K - 1) / delta)  # all pairs at once, whichever arm leads
        ends = np.column_stack([model.top_low[leader] - model.top_high, model.top_high[leader] - model.top_low])
        for arm in range(K) if K <= MANY else self.risk(leader).log_evidence.argsort(kind="stable")[:CLOSEST].tolist():
            ends[arm] = self.rounds.differences(model, leader, arm, sign, target)
        ends[leader] = 0.0
        return ends if sign > 0 else 0.0 - ends[:, ::-1]

    def alarms(self) -> list[BiasAlarm]:
        """With common seeds there are none: values at the same seed depend on each other, so that the proof fails."""
        self.flush()
        if self.settings.shares_seeds:
            return contradictions(self.settings.problem, self.model)
        return all_alarms(self.settings.problem, self.model, self.stats, self.settings.delta)

    def variance_alarms(self) -> list[VarianceAlarm]:
        """Of stated variances, at the same level as bias alarms."""
        self.flush()
        return variances_of(self.settings.problem, self.model, self.stats, self.settings.delta)

    # --- snapshots: a cache that saves replaying; other versions of the code ignore it

    def dump(self) -> bytes:
        """The whole fold, for `load` to read."""
        self.flush()
        memory = io.BytesIO()
        arrays = {f"array{n}": array for n, array in enumerate(self._arrays())}
        arrays |= {f"values{n}": column for n, column in enumerate(self.values.columns())}
        book = json.dumps(self._book()).encode()
        np.savez(memory, book=np.frombuffer(book, dtype=np.uint8), **arrays)  # type: ignore[arg-type]
        return memory.getvalue()

    @classmethod
    def load(cls, settings: Settings, dumped: bytes) -> Fold:
        fold = cls(settings)
        with np.load(io.BytesIO(dumped), allow_pickle=False) as parts:
            for n, array in enumerate(fold._arrays()):
                array[...] = parts[f"array{n}"]
            fold.values.add(*(parts[f"values{n}"] for n in range(len(fold.values.columns()))))
            book = json.loads(parts["book"].tobytes())
        for name in PLAIN:
            setattr(fold, name, book[name])
        fold.open = {trial: (arm, fidelity) for trial, arm, fidelity in book["open"]}
        fold.queue = {(arm, fidelity): deque(trials) for arm, fidelity, trials in book["queue"]}
        fold.waiting = {place: ((arm, fidelity), values) for place, (arm, fidelity), values in book["waiting"]}
        if fold.rounds is not None:
            fold.rounds.load(book["rounds"])
        points = [Point(*plain)._replace(spent=tuple(spent)) for *plain, spent in book["points"]]
        fold.history = History(book["stride"], points)
        if (verdict := book["verdict"]) is not None:
            verdict["alarms"] = tuple(BiasAlarm(**alarm) for alarm in verdict["alarms"])
            verdict[VARIED] = tuple(VarianceAlarm(**alarm) for alarm in verdict[VARIED])
            words = {name: tuple(verdict[name]) for name in ("rests_on", "because")}
            fold.verdict = Verdict(**{**verdict, **words})
        return fold

    def _book(self) -> dict[str, Any]:
        return {
            **{name: getattr(self, name) for name in PLAIN},
            "open": [(trial, *cell) for trial, cell in self.open.items()],
            "queue": [(*cell, list(trials)) for cell, trials in self.queue.items() if trials],
            "waiting": [(place, *held) for place, held in self.waiting.items()],
            "rounds": None if self.rounds is None else self.rounds.dump(),
            "stride": self.history.stride,
            "points": self.history.points,
            "verdict": None if self.verdict is None else asdict(self.verdict),
        }

    def _arrays(self) -> list[NDArray[Any]]:
        counts = (self.pending, self.open_counts, self.told_counts)
        return arrays_of((changing(self.model), self.stats, self.state, self.rule, self.outcome, counts))


def contradiction(fold: Fold, cell: Cell, values: list[float]) -> str | None:
    """Why values of a cell cannot be: a deterministic one has another value. None if they can."""
    problem = fold.settings.problem
    if not problem.deterministic[cell[1]]:
        return None
    known = fold.known(cell)
    first = values[0] if known is None and values else known
    other = next((value for value in values if value != first), None)
    if other is None:
        return None
    where = f"{problem.arms[cell[0]]!r} at {problem.fidelities[cell[1]]!r}"
    return f"is {other!r}, but {where} has {first!r}: that fidelity is stated to be deterministic"


def snapshot_format() -> str:
    """Names the code that writes a snapshot: only the same code can read it."""
    return sources_digest(*COMPILED, "analysis", "study")
