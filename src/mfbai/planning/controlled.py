"""Controlled fidelities as a plan sees them: fidelities of their own, with a bias of 0, the cost of all their parts,
and noise that follows from the correlation of these. Fidelities without a bias bound are no more than parts."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mfbai.analysis.pilot import Pilot, read_pilot
from mfbai.errors import Fault, InvalidInput
from mfbai.model.correlation import Correlation
from mfbai.model.guess import Guess
from mfbai.model.problem import Array, Problem
from mfbai.text import digits

SURE = 2.0  # times its standard error: a gap so large is no accident


class MorePilot(NamedTuple):
    """Whether more seeds of a pilot would pay."""

    seeds: int  # that would tell whether a control pays; 0 if that is known
    cost: float  # of these
    saving: float  # what a control would then save, if it is as good as it seems
    pays: bool

    def __str__(self) -> str:
        if not self.seeds:
            return "More pilot would not pay: it would not change what to do."
        more = "1 more seed costs" if self.seeds == 1 else f"{self.seeds} more seeds cost"
        told = f"{more} {digits(self.cost)}, and control would save {digits(self.saving)} if it is as good"
        return f"{'More pilot would pay' if self.pays else 'More pilot would not pay'}: {told} as it seems."


def seen(problem: Problem) -> list[int]:
    """The fidelities that can be chosen: those with a bias bound, or a control."""
    return [m for m in range(problem.n_fidelities) if not problem.unbounded[m]]


def flat(problem: Problem) -> Problem:
    """The problem with these alone, each a fidelity of its own."""
    kept = seen(problem)
    if len(kept) == problem.n_fidelities and not any(problem.controls):
        return problem
    return problem.replace(
        costs=problem.costs[:, kept],
        biases=(problem.bias_low[:, kept], problem.bias_high[:, kept]),
        family=problem.family.at(kept),
        fidelities=[problem.fidelities[m] for m in kept],
        controls=None,
    )


def flat_guess(problem: Problem, guess: Guess, correlation: Correlation | None, known: bool) -> Guess:
    """The guess for these; `known` says whether it has the deviations of controlled values too."""
    kept, told = seen(problem), guess.to_dict()
    if guess.means is not None and guess.means.ndim == 2:
        told["means"] = guess.means[:, kept]
    noise = guess.noise(problem)
    if noise is not None:
        told["deviation"] = noise[:, kept] if known else _deviations(problem, noise, correlation)[:, kept]
    return Guess(**told)


def _deviations(problem: Problem, noise: Array, correlation: Correlation | None) -> Array:
    """(K, M) with those of controlled values."""
    if correlation is None and any(problem.controls):
        told = "has no 'correlation': what control saves depends on it; add that of values with the same seed"
        raise InvalidInput([Fault("guess", f"{told}, such as {{fidelities = 0.9}}, or give a pilot")])
    full = noise.copy()
    for m, control in enumerate(problem.controls):
        if control is not None and correlation is not None:
            full[:, m] = control.deviation(noise, np.full(problem.n_arms, correlation.fidelities))
    return full


def hide_top(controlled: list[int], members: list[int]) -> list[int]:
    """The fidelities that a study with these would evaluate: with a controlled one, the top is no more than a part, and
    that one stands for it."""
    used = [m for m in members if m in controlled]
    return [*(m for m in members[:-1] if m not in used), *used] if used else members


def whole(problem: Problem, names: tuple[str, ...]) -> Problem:
    """The problem with these fidelities, and those that control them."""
    chosen = {problem.fidelities.index(name) for name in names}
    parts = {control.by for m in chosen if (control := problem.controls[m]) is not None}
    return problem.only(sorted(chosen | parts))


def from_pilot(problem: Problem, values: Any) -> tuple[Pilot, Problem]:
    """What a pilot tells, and the problem that it advises; a variance that the family needs is as estimated."""
    pilot = values if isinstance(values, Pilot) else read_pilot(problem, values)
    chosen = pilot.control
    if chosen is None or getattr(problem.family, "variance", None) is None:
        return pilot, pilot.problem()
    kept = {*seen(problem), problem.fidelities.index(chosen.fidelity)}
    bare = problem.only(sorted(m for m in kept if problem.controls[m] is None))
    spread = chosen.deviation**2
    return pilot, bare.controlled(chosen.fidelity, chosen.others, chosen.coefficient, variance=spread)


def guess_of(pilot: Pilot, problem: Problem, guess: Guess | None) -> Guess | None:
    """The guess, with what the pilot says where it says nothing: noise, and the top means if all arms were in it."""
    told: dict[str, Any] = {} if guess is None else guess.to_dict()
    if guess is None and not pilot.left_out:
        told["means"] = pilot.means[:, -1]
    if problem.family.learns and "deviation" not in told and told:
        noise = np.sqrt((pilot.deviations**2).mean(axis=0))
        places = [pilot.fidelities.index(name) if name in pilot.fidelities else -1 for name in problem.fidelities]
        told["deviation"] = noise[places]
    if "correlation" not in told and told:
        told["correlation"] = correlation_of(pilot)
    return Guess(**told) if told else guess


def correlation_of(pilot: Pilot) -> Correlation | None:
    arms = 0.0 if pilot.between_arms is None else min(max(pilot.between_arms.estimate, 0.0), 0.999)
    found = 0.0 if pilot.control is None else min(max(pilot.control.correlation.estimate, 0.0), 0.999999)
    return Correlation(arms, found) if arms or found else None


def more_pilot(pilot: Pilot, cost: float) -> MorePilot:
    """Compare what more seeds cost with what a control would save of a study that costs so much without it."""
    seeds = pilot.more_seeds or 0
    gain = max((one.gain.estimate for one in pilot.controls), default=1.0)
    price = seeds * pilot.cost / pilot.seeds
    saving = cost * max(1.0 - 1.0 / gain, 0.0) if seeds else 0.0
    return MorePilot(seeds, price, saving, bool(seeds) and saving > price)


def caution(pilot: Pilot, guess: Guess) -> str:
    """A sentence on the gap that a guess takes from a pilot, if that cannot tell it from none; else nothing."""
    tops = pilot.given.sign * pilot.pairs.values[:, :, -1]
    if guess.means is None or not np.array_equal(guess.means, pilot.means[:, -1]) or len(tops) < 2:
        return ""
    second, first = np.argsort(tops.mean(axis=1))[-2:]
    ahead = tops[first] - tops[second]
    gap, error = float(ahead.mean()), float(ahead.std(ddof=1)) / len(ahead) ** 0.5
    if gap >= SURE * error:
        return ""
    told = f"In the pilot, {pilot.arms[first]!r} is ahead of {pilot.arms[second]!r} by {digits(gap, 2)}, give or take "
    told += f"{digits(error, 2)}: the true gap, and so the cost, may be quite different."
    return f"{told} A tolerance limits the cost."
