"""The values of a pilot: some arms at every fidelity, all with the same seeds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mfbai.analysis.values import PAIRED, Row, Values, read_rows
from mfbai.checks import SHOWN_CELLS
from mfbai.errors import Fault, Faults, InvalidInput
from mfbai.model.problem import Array, Problem

FEWEST = 2  # seeds: one says nothing of noise
ENOUGH_FOR_RANGE = 6  # seeds: means at an end of the range would have all values beyond it with a probability of 1/32


class Pairs(NamedTuple):
    """Values that can be compared seed by seed."""

    arms: list[int]  # of the problem
    fidelities: list[int]  # of the problem: all but the controlled ones, the top last
    seeds: list[str]
    values: Array  # (arms, seeds, fidelities)


def plain_fidelities(problem: Problem) -> list[int]:
    """Those that are evaluated themselves: all but the controlled. Raises InvalidInput if nothing can be compared."""
    plain = [m for m, control in enumerate(problem.controls) if control is None]
    if len(plain) == 1:
        told = f"has one fidelity, {problem.fidelities[-1]!r}: a pilot compares cheaper ones with it"
        raise InvalidInput([Fault("problem", told)])
    if problem.deterministic[-1]:
        told = f"{problem.fidelities[-1]!r} is deterministic: one value settles an arm, and no pilot is needed"
        raise InvalidInput([Fault("problem", told)])
    top = problem.costs[:, -1]
    dearer = [problem.fidelities[m] for m in plain[:-1] if problem.unbounded[m] and (problem.costs[:, m] > top).all()]
    if dearer:
        told = f"costs more than {problem.fidelities[-1]!r}, which is the last, and so the true one"
        raise InvalidInput([Fault(repr(dearer[0]), f"{told}: put the true one last, or leave the dear one out")])
    return plain


def read_pairs(problem: Problem, given: Values) -> Pairs:
    """The values as told, in rows of arm, fidelity, seed (or item) and value: all fidelities of an arm with the same
    seeds, those of all arms. Every fault is told."""
    plain = plain_fidelities(problem)
    faults = Faults()
    found: dict[tuple[int, int, str], Row] = {}
    for row in read_rows(faults, problem, given, PAIRED):
        _take(faults, problem, found, row)
    faults.raise_if_any("values")
    if not found:
        raise InvalidInput([Fault("values", "has no rows: give arm, fidelity, seed and value of each evaluation")])
    noisy = [m for m in plain if not problem.deterministic[m]]
    arms = sorted({arm for arm, _, _ in found})
    seeds = list(dict.fromkeys(seed for _, m, seed in found if m in noisy))
    exact = {(arm, m): row.value for (arm, m, _), row in found.items() if m not in noisy}
    values = np.full((len(arms), len(seeds), len(plain)), np.nan)
    missing = []
    for i, arm in enumerate(arms):
        for n, m in enumerate(plain):
            for s, seed in enumerate(seeds):
                told = found.get((arm, m, seed))
                values[i, s, n] = exact.get((arm, m), np.nan) if told is None else told.value
                if np.isnan(values[i, s, n]):
                    with_seed = f" with seed {seed!r}" if m in noisy else ""
                    missing.append(f"{problem.arms[arm]!r} at {problem.fidelities[m]!r}{with_seed}")
    _refuse_gaps(faults, missing)
    pairs = Pairs(arms, plain, seeds, values)
    if not missing:
        _refuse_too_few(faults, problem, pairs)
    faults.raise_if_any("values")
    return pairs


def _take(faults: Faults, problem: Problem, found: dict[tuple[int, int, str], Row], row: Row) -> None:
    key = row.arm, row.fidelity, row.seed
    name = problem.fidelities[row.fidelity]
    if problem.controls[row.fidelity] is not None:
        faults.add(row.place, f"{name!r} is controlled: give the values of what it is made of")
    elif not row.seed and not problem.deterministic[row.fidelity]:
        faults.add(row.place, "has no seed: values of two fidelities are compared at the same seed or item")
    elif key in found:
        again = f"{problem.arms[row.arm]!r} at {name!r} with seed {row.seed!r}"
        faults.add(row.place, f"gives {again} again: see {found[key].place.rstrip(':')}")
    else:
        found[key] = row


def _refuse_gaps(faults: Faults, missing: list[str]) -> None:
    for what in missing[:SHOWN_CELLS]:
        told = "an arm needs each seed at all fidelities, as values are compared in pairs"
        faults.add("values", f"has none of {what}: {told}")
    if len(missing) > SHOWN_CELLS:
        faults.add("values", f"has {len(missing) - SHOWN_CELLS} more gaps of this kind")


def _refuse_too_few(faults: Faults, problem: Problem, pairs: Pairs) -> None:
    """One seed, or fidelities that return the same at every seed."""
    if len(pairs.seeds) < FEWEST:
        faults.add("values", f"has one seed: give {FEWEST} or more, better 8, as one says nothing of noise")
        return
    for n, m in enumerate(pairs.fidelities):
        constant = (pairs.values[:, :, n] == pairs.values[:, :1, n]).all()
        if constant and not problem.deterministic[m]:
            told = f"returns the same value at all {len(pairs.seeds)} seeds, for every arm"
            advice = "if it has no noise, write deterministic = true; else check that the seed is used"
            faults.add(f"fidelity {problem.fidelities[m]!r}", f"{told}: {advice}")
    _refuse_another_range(faults, problem, pairs)


def _refuse_another_range(faults: Faults, problem: Problem, pairs: Pairs) -> None:
    """Noise may take a value out of the range of the means, but hardly ever all of them: they may be per cent."""
    top = pairs.values[:, :, -1]
    low, high = (float(ends[-1]) for ends in problem.family.ranges(problem.n_fidelities))
    where = "above" if (top > high).all() else "below" if (top < low).all() else ""
    if where and len(pairs.seeds) >= ENOUGH_FOR_RANGE:
        told = f"has only values {where} {low:g} to {high:g}, the range of the family"
        faults.add(f"fidelity {problem.fidelities[-1]!r}", f"{told}: give the family the range of the true means")
