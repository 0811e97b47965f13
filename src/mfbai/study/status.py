"""What a study returns: trials to evaluate, and its status."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from mfbai.analysis.guarantee import BiasAlarm
from mfbai.analysis.variance import VarianceAlarm
from mfbai.model.problem import Array, Problem
from mfbai.study import sentences
from mfbai.study.fold import ANY, Fold
from mfbai.study.storage import Label
from mfbai.study.verdict import Verdict, assumptions_of, reasons_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

IN_WORDS = ("rests_on", "because")  # of a verdict: they follow from the problem
TABLES = ("evidence", "spent", "means", "intervals", "differences")  # may hold what JSON does not know


@dataclass(frozen=True)
class Part:
    """One of the evaluations that a trial at a controlled fidelity is made of."""

    id: str  # the trial's
    arm: str
    arm_index: int
    fidelity: str
    fidelity_index: int
    cost: float
    seed: int

    def to_dict(self) -> dict[str, Any]:
        """What the trial does not say."""
        return {name: getattr(self, name) for name in ("fidelity", "fidelity_index", "cost", "seed")}


@dataclass(frozen=True)
class Trial:
    """An evaluation to make: of `arm` at `fidelity`, with random numbers from `seed`.

    id              to report it by
    arm             its name
    arm_index       its index
    fidelity        its name
    fidelity_index  its index
    cost            of the evaluation
    seed            of 31 bits; with common seeds, all arms get the same ones in turn
    lease_until     then it may go to another worker; a result that comes later still counts
    parts           at a controlled fidelity the evaluations to make, each with the same entries but `lease_until` and
                    `parts`; else empty

    `trial.parts or (trial,)` are the evaluations to make in any case.

    >>> from mfbai import Bernoulli, Problem, create_study
    >>> study = create_study(Problem(["old", "new"], costs=1, biases=0, family=Bernoulli()), 0.05, storage="sqlite://")
    >>> trial = study.ask()
    >>> trial.arm, trial.fidelity, trial.cost, trial.parts
    ('old', 'fidelity 1', 1.0, ())
    """

    id: str
    arm: str
    arm_index: int
    fidelity: str
    fidelity_index: int
    cost: float
    seed: int
    lease_until: datetime
    parts: tuple[Part, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        entries = {**vars(self), "lease_until": self.lease_until.isoformat(timespec="seconds")}
        del entries["parts"]
        return {**entries, "parts": [part.to_dict() for part in self.parts]} if self.parts else entries


def trial_from_dict(body: Mapping[str, Any]) -> Trial:
    """The reverse of `Trial.to_dict`."""
    shared = {name: body[name] for name in ("id", "arm", "arm_index")}
    parts = tuple(Part(**shared, **part) for part in body.get("parts", ()))
    return Trial(**{**body, "lease_until": datetime.fromisoformat(body["lease_until"]), "parts": parts})


@dataclass(frozen=True, eq=False)
class Status:
    """A study at one moment.

    name             of the study
    state            "running", "decided", "undecided" or "alarm"
    problem          its `Problem`
    strategy         what decides what to evaluate
    stopping         what decides when to stop
    delta            the risk that is accepted
    tolerance        an answer this close to the best is right
    max_cost         the budget; None if there is none
    leader           the arm that leads; None while no arm has data
    leader_index     its index
    risk             of answering the leader now, as far as it is proven; 1 if nothing is
    evidence         (K,) ln E: proof that each arm is not better than the leader (by the tolerance); infinite for
                     itself
    needed           what each of these must reach
    untrusted        the risk without trust in any bias bound: from top and controlled fidelities alone
    cost             of the results told
    told             how many these are
    waiting          told, but not counted yet: an earlier trial is still under way
    pending          handed out, and not back
    failed           reported as failed
    imported         values from elsewhere
    late             told after the verdict: kept, not counted
    spent            (K, M) what the results of each cell cost
    counts           (K, M) results that count
    means            (K, M) of these; NaN where there are none
    intervals        (K, 2) of the true means: all hold at all times with a probability of 1 - delta; NaN with common
                     seeds
    differences      (K, 2) the same of the leader's true mean minus each other's; 0 for the leader
    alarms           a `BiasAlarm` for each contradiction of the bias bounds
    variance_alarms  a `VarianceAlarm` for each contradiction of the stated variances
    result           the `Verdict`; None while there is none
    paused           whether it hands out nothing for now

    >>> from mfbai import Bernoulli, Problem, create_study
    >>> study = create_study(Problem(["old", "new"], costs=1, biases=0, family=Bernoulli()), 0.05, storage="sqlite://")
    >>> study.tell(study.ask(), 1)
    >>> status = study.status()
    >>> status.state, status.told, status.counts.tolist()
    ('running', 1, [[1.0], [0.0]])
    """

    name: str
    state: str
    problem: Problem
    strategy: str
    stopping: str
    delta: float
    tolerance: float
    max_cost: float | None
    leader: str | None
    leader_index: int | None
    risk: float
    evidence: Array
    needed: float
    untrusted: float
    cost: float
    told: int
    waiting: int
    pending: int
    failed: int
    imported: int
    late: int
    spent: Array
    counts: Array
    means: Array
    intervals: Array
    differences: Array
    alarms: tuple[BiasAlarm, ...]
    variance_alarms: tuple[VarianceAlarm, ...]
    result: Verdict | None
    paused: bool = False

    def to_dict(self) -> dict[str, Any]:
        """For JSON, which knows no infinities: they are None."""
        tables = {name: finite(getattr(self, name)) for name in TABLES}
        return {
            **{name: value for name, value in vars(self).items() if name != "problem"},
            **tables,
            "counts": self.counts.astype(int).tolist(),
            "arms": list(self.problem.arms),
            "fidelities": list(self.problem.fidelities),
            "direction": self.problem.direction,
            "seeds": self.problem.seeds,
            **_alarms_to_dict(self, self.problem),
            "result": None if self.result is None else result_to_dict(self.result, self.problem),
        }

    def __repr__(self) -> str:
        leads = f"{sentences.leader(self)}, risk {self.risk:.2g}"
        state = "paused" if self.paused else self.state
        return f"<Status of {self.name!r}: {state}, {leads}, {sentences.progress(self)}>"

    def _repr_html_(self) -> str:
        from mfbai.study.markup import status_as_html  # for notebooks alone

        return status_as_html(self)

    def plot(self, kind: str | None = None) -> Figure:
        """A picture of the "evidence" against each rival, the arms' "intervals", or what was spent ("spend"); all three
        if no kind is given. Needs matplotlib."""
        from mfbai.study.pictures import STATUS_KINDS, draw_study  # which loads much

        return draw_study(self, kind, STATUS_KINDS)


def status_from_dict(body: Mapping[str, Any], problem: Problem) -> Status:
    """The reverse of `Status.to_dict`, for a status that was sent."""
    result = body["result"]
    ends = np.array([-np.inf, np.inf])
    entries: dict[str, Any] = {entry.name: body.get(entry.name) for entry in fields(Status)}
    entries |= {
        "problem": problem,
        "evidence": _table(body["evidence"], np.inf),
        "spent": _table(body["spent"], np.nan),
        "counts": np.array(body["counts"], dtype=np.float64),
        "means": _table(body["means"], np.nan),
        "intervals": _table(body["intervals"], np.nan if problem.seeds == "common" else ends),
        "differences": _table(body["differences"], ends),
        "untrusted": body.get("untrusted", 1.0),  # a server of an earlier version does not say
        "paused": bool(body.get("paused")),
        **_alarms(body, problem),
        "result": None if result is None else verdict_from_dict(result, problem),
    }
    return Status(**entries)


def _table(rows: Any, missing: Any) -> Array:
    table = np.array(rows, dtype=np.float64)  # None is NaN
    found: Array = np.where(np.isnan(table), missing, table)
    return found


def verdict_from_dict(entries: Mapping[str, Any], problem: Problem) -> Verdict:
    """The reverse of `result_to_dict`."""
    rests_on = assumptions_of(problem, entries["stopping"])
    factor = inf if entries.get("breakdown") == ANY else entries.get("breakdown")
    found = Verdict(**{**entries, **_alarms(entries, problem), "breakdown": factor, "rests_on": rests_on})
    return replace(found, because=reasons_of(found, problem))


def _alarms(body: Mapping[str, Any], problem: Problem) -> dict[str, Any]:
    """Those of a status or a verdict; a server of an earlier version sends no variance alarms."""

    def indices(row: Mapping[str, Any]) -> dict[str, Any]:
        if row["arm"] is None:
            return {**row}
        return {**row, "arm": problem.arm_indices[row["arm"]], "fidelity": problem.fidelities.index(row["fidelity"])}

    return {
        "alarms": tuple(BiasAlarm(**indices(row)) for row in body["alarms"]),
        "variance_alarms": tuple(VarianceAlarm(**indices(row)) for row in body.get("variance_alarms", ())),
    }


def describe_study(fold: Fold, label: Label) -> Status:
    """The status of a study with that label whose journal amounts to `fold`."""
    settings, verdict, problem = fold.settings, fold.verdict, fold.settings.problem
    found = fold.risk(None if verdict is None else verdict.arm_index)
    leader, said = fold.leader(found), None if verdict is None else verdict.untrusted
    counts, intervals = fold.counts, fold.intervals()
    status = Status(
        name=label.name,
        state="running" if verdict is None else verdict.state,
        paused=label.paused and verdict is None,
        problem=problem,
        strategy=settings.strategy,
        stopping=settings.rule,
        delta=settings.delta,
        tolerance=settings.tolerance,
        max_cost=settings.max_cost,
        leader=None if leader is None else problem.arms[leader],
        leader_index=leader,
        risk=found.level if verdict is None else verdict.risk,
        evidence=found.log_evidence if leader is not None else np.zeros(problem.n_arms),
        needed=fold.needed(),
        untrusted=fold.untrusted(leader, found.level) if said is None else said,
        cost=fold.cost,
        told=fold.told,
        waiting=sum(len(values) for _, values in fold.waiting.values()),
        pending=len(fold.open),
        failed=fold.failed,
        imported=fold.imported,
        late=fold.late,
        spent=fold.told_counts * problem.costs,
        counts=counts,
        means=fold.means,
        intervals=intervals,
        differences=fold.differences(leader, intervals),
        alarms=tuple(fold.alarms()),
        variance_alarms=tuple(fold.variance_alarms()),
        result=verdict,
    )
    for name in (*TABLES, "counts"):  # several callers may have the same status
        getattr(status, name).flags.writeable = False
    return status


def describe(alarm: BiasAlarm | VarianceAlarm, problem: Problem) -> dict[str, Any]:
    """An alarm with names; None stands for all cells."""
    arm = None if alarm.arm is None else problem.arms[alarm.arm]
    fidelity = None if alarm.fidelity is None else problem.fidelities[alarm.fidelity]
    return {**asdict(alarm), "arm": arm, "fidelity": fidelity}


def _alarms_to_dict(what: Status | Verdict, problem: Problem) -> dict[str, Any]:
    return {
        "alarms": [describe(alarm, problem) for alarm in what.alarms],
        "variance_alarms": [describe(alarm, problem) for alarm in what.variance_alarms],
    }


def result_to_dict(verdict: Verdict, problem: Problem) -> dict[str, Any]:
    factor = ANY if verdict.breakdown == inf else verdict.breakdown
    entries = {**asdict(verdict), **_alarms_to_dict(verdict, problem), "breakdown": factor}
    return {name: value for name, value in entries.items() if name not in IN_WORDS}


def finite(table: Array) -> Any:
    """For JSON: None where a number is not finite."""
    values = table.astype(object)
    values[~np.isfinite(table)] = None
    return values.tolist()


def by_relevance(status: Status) -> list[int]:
    """All arms: the leader, then its rivals, those with the least evidence against them first and, of equals, those
    that seem to be the closest."""
    with np.errstate(invalid="ignore"):  # of an arm without data the difference may be anything
        apart = np.abs(status.differences.sum(axis=1))
    evidence = status.evidence.copy()
    if status.leader_index is not None:
        evidence[status.leader_index] = -np.inf
    order: list[int] = np.lexsort((np.where(np.isnan(apart), np.inf, apart), evidence)).tolist()
    return order


def proven(status: Status) -> float:
    """The part of the proof that there is, from 0 to 1."""
    if status.state == "decided":
        return 1.0
    return float(min(max(status.evidence.min() / status.needed, 0.0), 1.0)) if status.needed > 0 else 0.0
