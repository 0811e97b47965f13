"""What a study was asked to find out, and how: the content of its first event."""

from __future__ import annotations

import dataclasses
import hashlib
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from mfbai.analysis.evidence import read_problem
from mfbai.checks import check_choice, check_delta, real
from mfbai.errors import Fault, Faults, InvalidInput
from mfbai.model.control import Control
from mfbai.model.problem import DIRECTIONS, SEEDS, Problem
from mfbai.model.spec import from_dict, load
from mfbai.run.assemble import Parts, assemble, choose
from mfbai.stopping import RULES, contrasts
from mfbai.stopping.own import OWN
from mfbai.strategies import STRATEGIES
from mfbai.study.limits import KEY, LARGEST, LONGEST_NAME, SMALLEST_RISK

STRIDE = 0x9E3779B1  # odd, so that no two trials of a study have the same seed
PROGRESSION, HASH = "progression", "hash"  # how trials get their seeds; the journals of mfbai 0.1.0 do not say
STOP, CONTINUE = ON_ALARM = ("stop", "continue")  # what an alarm does
# Settings that journals leave out when they are these, as those of earlier versions did.
UNSAID: dict[str, Any] = {"audit": 0.0, "on_alarm": CONTINUE, "reopens": None}
CHANGES: dict[str, Iterable[str]] = {"direction": DIRECTIONS, "seeds": SEEDS}  # what a study may replace of a problem
NAMED: dict[str, Iterable[str]] = {"strategy": STRATEGIES, "stopping": RULES}
LAST_SEED = 2**31 - 1  # the greatest number of a seed
# A bound on how far a fidelity is off: a radius, or the ends of an interval.
Bias: TypeAlias = float | tuple[float, float]
ROUNDS = 4  # of a Feistel network: as many as make it look random both ways
NO_SEED = (
    "the arms of this study share seeds, and values from elsewhere have none of these, so that they cannot be compared "
    "with those of other arms at the same seed"
)
NO_ROUND = (
    "race compares the arms of this study in rounds, whose evaluations are settled before any of their values is "
    "known, and would not count others; create it with frugal and the e-process, which count all"
)


@dataclass(frozen=True, eq=False)
class Settings:
    """Everything that decides the course of a study, except the values told."""

    name: str
    key: str  # a few random digits that tell its trials from those of other studies
    problem: Problem
    delta: float
    strategy: str
    stopping: str
    tolerance: float = 0.0
    max_cost: float | None = None
    options: Mapping[str, float] = field(default_factory=dict)
    seeds: str = HASH  # how they are drawn; whether arms share them, the problem says
    audit: float = 0.0  # the share of the cost for evaluations without bias, of the leader and its closest rival
    on_alarm: str = CONTINUE  # what an alarm does
    reopens: Mapping[str, Any] | None = (
        None  # the study whose values it goes on with: its name, last hash, and how many
    )

    @cached_property
    def parts(self) -> Parts:
        deltas = np.array([self.delta])
        return assemble(self.problem, self.strategy, self.stopping, deltas, self.options, self.tolerance, self.audit)

    @property
    def rule(self) -> str:
        """What decides: the stopping rule, unless the strategy has one of its own."""
        return OWN if STRATEGIES[self.strategy].own_rule else self.stopping

    @property
    def taken_over(self) -> int:
        """Values of an earlier study that it begins with."""
        return 0 if self.reopens is None else int(self.reopens["values"])

    @property
    def shares_seeds(self) -> bool:
        """Whether arms are evaluated with the same seeds."""
        return self.problem.seeds == "common"

    @cached_property
    def in_rounds(self) -> bool:
        """Whether the strategy plans rounds, in which arms are compared; with seeds that they share, or their own."""
        return STRATEGIES[self.strategy].round is not None and contrasts.in_rounds(self.parts.model)

    @cached_property
    def ordered(self) -> bool:
        """Whether all results count in the order of asking, not only those of each cell."""
        return self.in_rounds or (self.rule in RULES and RULES[self.rule].ordered)

    @property
    def bets_on_contrasts(self) -> bool:
        """Whether the rule `contrasts` decides, which has evidence of its own."""
        return self.rule == contrasts.RULES[0].name

    def seed(self, number: int) -> int:
        """A seed, from 1 on, such as that of a trial: 31 bits, which any random number generator accepts."""
        if self.seeds == PROGRESSION:
            return (int(self.key, 16) + number * STRIDE) % 2**31
        return permute(self.key, number)

    def part_seeds(self, number: int, control: Control) -> list[int]:
        """The other seeds of a controlled trial whose own seed has that number. Their numbers are counted from the far
        end, so that no two trials share any, unless they share their own."""
        return [self.seed(LAST_SEED - number * self.most_others - k) for k in range(control.others)]

    @cached_property
    def most_others(self) -> int:
        """That a trial has; 0 if no fidelity is controlled."""
        return max((control.others for control in self.problem.controls if control is not None), default=0)

    def check_value(self, value: Any, fidelity: int | None = None) -> float:
        """The value as a number, if an evaluation of this problem can return it: at that fidelity, or at any."""
        return check_value(self.problem, value, fidelity)

    def refusal_to_add(self, fidelity: int, *, taken_over: bool = False) -> str | None:
        """Why values from elsewhere cannot be counted at a fidelity; None if they can. The earlier study that a study
        reopens has made values of their parts already."""
        name = self.problem.fidelities[fidelity]
        if self.problem.controls[fidelity] is not None and not taken_over:
            return f"only values with their parts can be counted at {name!r}; ask and tell"
        if self.problem.parts_only[fidelity]:
            return f"values of {name!r} count only as parts of a controlled fidelity; ask and tell"
        if self.in_rounds and not self.problem.deterministic[fidelity]:
            return NO_SEED if self.shares_seeds else NO_ROUND
        return None

    def to_dict(self) -> dict[str, Any]:
        entries = {entry.name: getattr(self, entry.name) for entry in dataclasses.fields(self)}
        if self.seeds == PROGRESSION:
            del entries["seeds"]  # as the journals of mfbai 0.1.0 were written
        for name, unsaid in UNSAID.items():
            if entries[name] == unsaid:
                del entries[name]  # as in earlier journals, too
        return {
            **entries,
            "problem": self.problem.to_dict(),
            "options": {name: float(value) for name, value in self.options.items()},
        }

    def differences(self, other: Settings) -> list[str]:
        """The names of the settings that were asked for differently in another study, which has the same name now."""
        return [
            entry.name
            for entry in dataclasses.fields(self)
            if entry.name not in ("name", "key", "seeds", "reopens")
            and getattr(self, entry.name) != getattr(other, entry.name)
        ]


@lru_cache(1000)  # an evaluation that is handed out needs its seed more than once
def permute(key: str, number: int) -> int:
    """Another number of 31 bits, which looks random; different ones for different numbers, in an order of each key.

    A plain hash of 31 bits would give two trials of a study the same seed, with a chance of 1 in 480 after 3,000 trials
    and of 1/2 after 55,000. An evaluation that is a function of its seed would then return the same sample twice, but
    the guarantee needs independent ones. A Feistel network, whose round function is a hash, has no such collisions.
    """
    left, right = number >> 15, number & 0x7FFF  # 16 and 15 bits
    for round_ in range(0, ROUNDS, 2):
        left ^= _hash(key, round_, right)
        right ^= _hash(key, round_ + 1, left) & 0x7FFF
    return left << 15 | right


def _hash(key: str, round_: int, half: int) -> int:
    return int.from_bytes(hashlib.blake2b(f"{key} {round_} {half}".encode(), digest_size=2).digest(), "big")


def check_value(problem: Problem, value: Any, fidelity: int | None = None) -> float:
    """The value as a number, if an evaluation of the problem can return it: at that fidelity, or at any."""
    x = real(value)
    if x is None:
        raise InvalidInput([Fault("value", f"is {value!r:.60}: give a number")])
    if not abs(x) < LARGEST:
        told = "give a finite number" if not math.isfinite(x) else f"give a number below {LARGEST:g}"
        raise InvalidInput([Fault("value", f"is {x!r}: {told}, or report the trial with fail")])
    possible = range(problem.n_fidelities) if fidelity is None else (fidelity,)
    if not any(problem.admits(x, m) for m in possible):
        told = f"a {problem.family.name} evaluation cannot return that"
        raise InvalidInput([Fault("value", f"is {x!r}: {told}; check the [family] of the problem")])
    return x


def is_proven(rule: str) -> bool:
    """Whether a verdict of what decides (see `Settings.rule`) has the risk that was asked for, by proof."""
    return rule in RULES and RULES[rule].proven


def read_settings(body: Mapping[str, Any]) -> Settings:
    """The settings that a `create` event states."""
    entries = {entry.name: body.get(entry.name) for entry in dataclasses.fields(Settings)}
    problem = entries["problem"]
    entries["problem"] = read_problem(from_dict(problem if isinstance(problem, Mapping) else {}))
    entries["seeds"] = body.get("seeds", PROGRESSION)
    entries |= {name: body.get(name, unsaid) for name, unsaid in UNSAID.items()}
    faults = Faults()
    for name, known in NAMED.items():
        check_choice(faults, name, entries[name], known)
    return check_settings(faults, entries)


def new_settings(given: Mapping[str, Any], direction: Any, seeds: Any) -> Settings:
    """Settings of a study to create. A strategy or rule that is None is chosen for the problem; `direction` and
    `seeds` replace the problem's own, unless they are None."""
    faults = Faults()
    check_new_name(faults, given["name"])
    problem = _read_problem(faults, given["problem"], {"direction": direction, "seeds": seeds})
    names = {name: given[name] for name in NAMED}
    for name, known in NAMED.items():
        if names[name] is not None:
            check_choice(faults, name, names[name], known)
    if problem is not None and not faults:
        chosen = choose(problem, names["strategy"], names["stopping"], real(given["tolerance"]) or 0.0)
        names = dict(zip(NAMED, chosen, strict=True))
    return check_settings(faults, {**given, **names, "problem": problem})


def check_settings(faults: Faults, given: Mapping[str, Any]) -> Settings:
    """Settings from an entry for each field, with every fault reported at once, those found before too."""
    check_name(faults, given["name"])
    if not isinstance(given["key"], str) or not re.fullmatch(KEY, given["key"]):
        faults.add("key", f"is {given['key']!r:.80}: it must be 8 hexadecimal digits")
    problem = given["problem"]
    _check_risk(faults, given["delta"])
    check_choice(faults, "seeds", given["seeds"], (PROGRESSION, HASH))
    check_choice(faults, "on_alarm", given["on_alarm"], ON_ALARM)
    if given["reopens"] is not None and not _is_origin(given["reopens"]):
        faults.add(
            "reopens", f"is {given['reopens']!r:.80}: it must name a study, its last hash and a number of values"
        )
    if problem is not None:
        _check_costs(faults, problem, given["tolerance"], given["max_cost"])
    settings = None
    if problem is not None and not faults:
        settings = _make_settings(given, problem)
        with faults.absorb():
            assert settings.parts
    elif real(given["audit"]) is None:
        faults.add("audit", f"is {given['audit']!r:.60}: give a number from 0 to less than 1")
    faults.raise_if_any("study")
    assert settings is not None
    return settings


def _make_settings(given: Mapping[str, Any], problem: Problem) -> Settings:
    return Settings(
        name=str(given["name"]),
        key=str(given["key"]),
        problem=problem,
        delta=float(given["delta"]),
        strategy=given["strategy"],
        stopping=given["stopping"],
        tolerance=float(given["tolerance"]),
        max_cost=None if given["max_cost"] is None else float(given["max_cost"]),
        options={} if given["options"] is None else given["options"],
        seeds=given["seeds"],
        audit=given["audit"] if real(given["audit"]) is None else float(given["audit"]),
        on_alarm=given["on_alarm"],
        reopens=given["reopens"],
    )


def _is_origin(given: Any) -> bool:
    """Whether it is what `reopen` writes about the earlier study."""
    if not isinstance(given, Mapping) or set(given) != {"study", "head", "values"}:
        return False
    named = isinstance(given["study"], str) and isinstance(given["head"], str)
    return named and re.fullmatch("[0-9a-f]{64}", given["head"]) is not None and type(given["values"]) is int


def check_name(faults: Faults, name: Any) -> None:
    told = f"give printable text of {LONGEST_NAME} characters at most that is not blank and does not begin with '-'"
    good = isinstance(name, str) and name.strip() and name.isprintable() and not name.startswith("-")
    if not good or len(name) > LONGEST_NAME:
        faults.add("name", f"is {name!r:.80}: {told}")


def check_new_name(faults: Faults, name: Any) -> None:
    """What a name must not be, beside `check_name`; studies of earlier versions may have such a name."""
    if name in (".", ".."):  # in an address, these stand for folders
        faults.add("name", f"is {name!r}: give another one, as this has another meaning in addresses")
    elif isinstance(name, str) and name.strip() and name != name.strip():
        faults.add("name", f"is {name!r:.80}: it must not begin or end with a blank")


def _read_problem(faults: Faults, problem: Any, changes: Mapping[str, Any]) -> Problem | None:
    found: Problem | None = None
    with faults.absorb():
        found = read_problem(load(problem, ties=True) if isinstance(problem, str | Path) else problem)
    for entry, value in changes.items():
        if value is not None:
            check_choice(faults, entry, value, CHANGES[entry])
            if found is not None and isinstance(value, str) and value in CHANGES[entry]:
                found = found.replace(**{entry: value})
    return found


def _check_risk(faults: Faults, delta: Any) -> None:
    before = len(faults)
    check_delta(faults, delta)
    if np.ndim(delta):
        faults.add("delta", f"is {delta!r}: a study has one risk")
    elif len(faults) == before and delta < SMALLEST_RISK:
        faults.add("delta", f"is {delta!r}: a risk below {SMALLEST_RISK:g} is too small to compute with")


def _check_costs(faults: Faults, problem: Problem, tolerance: Any, max_cost: Any) -> None:
    with faults.absorb():
        problem.model(tolerance)
    if problem.costs.max() >= LARGEST:
        faults.add("costs", f"has {problem.costs.max():g}: a cost of {LARGEST:g} or more is too large to compute with")
    budget = real(max_cost)
    if max_cost is None:
        return
    if budget is None or not 0 < budget < math.inf:
        faults.add("max_cost", f"is {max_cost!r:.60}: give a positive number, or leave it out")
    elif budget < problem.costs.min():
        faults.add("max_cost", f"is {max_cost!r}: the cheapest evaluation costs {problem.costs.min():g}")
