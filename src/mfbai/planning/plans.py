"""Makes a plan: draws truths that fit the guess, and estimates each variant of the problem on the same truths."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mfbai.analysis.oracle import needed_for_oracle
from mfbai.analysis.pilot import Pilot
from mfbai.analysis.values import Values
from mfbai.checks import check_delta, check_integers, check_workers
from mfbai.engines import using
from mfbai.errors import Fault, Faults, InvalidInput
from mfbai.kernels.parts import load
from mfbai.model.correlation import Correlation, CorrelationLike, read_correlation
from mfbai.model.guess import Guess
from mfbai.model.instance import Instance
from mfbai.model.means import instance_of
from mfbai.model.problem import Array, Problem
from mfbai.model.spec import check_instance, load_with_guess
from mfbai.planning import results, truths, variants
from mfbai.planning.controlled import caution, flat, flat_guess, from_pilot, guess_of, more_pilot
from mfbai.planning.ideal import complete, ideal_costs, needed_for_proofs
from mfbai.planning.results import ALL, TOP, WORTH_HAVING, Change, Estimate, Plan, Spread, Worth, spread, spread_of_runs
from mfbai.planning.samples import RUNS, Simulations
from mfbai.planning.variants import Advance
from mfbai.run.assemble import choose
from mfbai.simulation.experiment import STAND_IN, needed, set_up
from mfbai.stopping import RULES, Rule
from mfbai.terminal import progress

EXAMPLES = "means = [0.8, 0.9], low = 0.5 and high = 1.0, or gap = 0.1"


def plan(
    spec: str | Path | Problem | Instance,
    guess: Guess | None = None,
    delta: float = 0.01,
    tolerance: float = 0.0,
    seed: int = 0,
    correlation: CorrelationLike = None,
    pilot: Pilot | Values | None = None,
    *,
    executor: Any = None,
    workers: int | None = None,
) -> Plan:
    """Predict, from a guess of the means, what it costs to find the best arm, and which fidelities are worth having.
    Returns a `Plan`.

    spec         a problem, an instance, or the name or file of one
    guess        a `Guess`; without one that of the file is taken, or else the true means of an instance
    delta        the risk of a wrong answer
    tolerance    an arm this close to the best is as good
    seed         results depend on it alone
    correlation  of values with the same seed, as for `Guess`: predict also what common seeds would save
    pilot        values of a pilot, or what `mfbai.pilot` returned: the plan is for the problem that it advises; what is
                 not guessed is as the pilot found it, and the plan says whether more pilot would pay
    executor     where simulations run, as for `simulate`
    workers      as for `simulate`

    >>> from mfbai import Gaussian, Guess, Problem, plan
    >>> problem = Problem(3, costs=[0.05, 5], biases=[0.03, 0], family=Gaussian(0.01), fidelities=["coarse", "fine"])
    >>> found = plan(problem, Guess(gap=0.13))
    >>> [(fidelity.fidelity, fidelity.verdict) for fidelity in found.fidelities]
    [('coarse', 'worth having'), ('fine', 'the true one')]
    """
    checked = check(spec, guess, delta, tolerance, seed, correlation, pilot)
    check_workers(workers)
    with using(executor, workers):
        return make(checked)


def make(checked: Checked) -> Plan:
    """The plan of what was checked."""
    given, problem, guess, source, means, shared, found, name, delta, tolerance, seed = checked
    noise = guess.noise(problem)
    known = variants.with_noise(problem, noise)
    chosen = choose(problem, None, None, tolerance)
    rules = () if problem.family.learns else [rule for rule in RULES.values() if not rule.ordered]
    _compile(checked, known, chosen, rules)
    optima = variants.Optima(known, means, tolerance)
    compared = _compare(optima)
    controlled = [problem.fidelities.index(name) for name in _controlled(given)]
    simulations = Simulations(problem, means, *chosen, delta, tolerance, seed, shared, noise, controlled)
    kept, sets, simulated = _simulate(simulations, compared.kept)
    estimates = [*_computed(optima, sets, rules, delta), simulated]
    if problem.family.learns:
        estimates.append(_otherwise(simulations, known, sets, "with the noise known"))
    if shared is not None and shared.arms and problem.seeds != "common":
        estimates.append(_otherwise(simulations, problem.replace(seeds="common"), sets, "with common seeds"))
    promising = results.is_promising(estimates, simulated, _name_of(sets, kept))
    alone = simulated.cost.get(TOP, simulated.cost[ALL]).median
    return Plan(
        name=name,
        problem=problem,
        given=given,
        guess=guess,
        source=source,
        delta=delta,
        tolerance=tolerance,
        seed=seed,
        truths=means,
        gap=spread(truths.gaps_of(problem, means)),
        sets={name: tuple(problem.fidelities[m] for m in members) for name, members in sets.items()},
        estimates=tuple(estimates),
        fidelities=tuple(_worth(problem, compared, m, kept, promising) for m in range(problem.n_fidelities)),
        changes=compared.changes,
        correlation=shared,
        more_pilot=None if found is None else more_pilot(found, alone),
        caution="" if found is None else caution(found, guess),
    )


def _compile(checked: Checked, known: Problem, chosen: tuple[str, str], rules: Sequence[Rule]) -> None:
    """See that what the plan needs is compiled: all of it at once."""
    model = known.model(checked.tolerance)
    instance = instance_of(
        checked.problem, checked.truths[0], checked.correlation, checked.guess.noise(checked.problem)
    )
    setup = set_up(instance, *chosen, np.array([checked.delta]), {}, checked.tolerance)
    proofs = needed_for_proofs(model, rules) if known.seeds != "common" else []
    load([*needed_for_oracle(model), *needed(setup), *proofs])


def _controlled(problem: Problem) -> list[str]:
    return [name for name, control in zip(problem.fidelities, problem.controls, strict=True) if control is not None]


class Checked(NamedTuple):
    """What a plan is made of."""

    given: Problem
    problem: Problem  # the same without what is no more than a part of controlled fidelities
    guess: Guess
    source: str  # where the guess is from
    truths: Array
    correlation: Correlation | None
    pilot: Pilot | None
    name: str | None
    delta: float
    tolerance: float
    seed: int


def check(spec: Any, guess: Any, delta: Any, tolerance: Any, seed: Any, correlation: Any, pilot: Any = None) -> Checked:
    """Draws the truths; raises InvalidInput with everything that is wrong."""
    faults = Faults()
    found = None
    with faults.absorb():
        found = _find(spec, guess, pilot)
    check_delta(faults, delta)
    if np.ndim(delta):
        faults.add("delta", f"is {delta!r}: give one risk")
    with faults.absorb():
        check_instance(STAND_IN).problem.model(tolerance)  # knows what a tolerance can be
    check_integers(faults, {"seed": seed})
    shared = read_correlation(faults, correlation, found[0].family if found else None)
    faults.raise_if_any("call")
    assert found is not None
    given, guess, source, own, made = found
    common = own if correlation is None else shared
    problem, guess = flat(given), flat_guess(given, guess, common, known=source == "truth")
    drawn = truths.draw(problem, guess, tolerance, seed)
    name = Path(spec).stem if isinstance(spec, str | Path) else getattr(spec, "name", None)
    numbers = float(delta), float(tolerance), int(seed)
    return Checked(given, problem, guess, source, drawn, common, made, name, *numbers)


def _find(spec: Any, guess: Any, pilot: Any) -> tuple[Problem, Guess, str, Correlation | None, Pilot | None]:
    loaded, stated = load_with_guess(spec) if isinstance(spec, str | Path) else (spec, None)
    if not isinstance(loaded, Problem | Instance):
        raise InvalidInput([Fault("spec", f"is {loaded!r}: give a Problem, an Instance, or the name or file of one")])
    source = "guess"
    guess = stated if guess is None else guess
    if guess is None and isinstance(loaded, Instance):
        guess, source = Guess(loaded.means, deviation=loaded.deviation), "truth"
    problem, own = (loaded.problem, loaded.correlation) if isinstance(loaded, Instance) else (loaded, None)
    made = None
    if pilot is not None:
        made, problem = from_pilot(problem, pilot)
        guess = guess_of(made, problem, guess if source == "guess" else None)
    if problem.idle:
        told = f"of {problem.idle[0]!r} are not bounded, and it controls nothing"
        raise InvalidInput([Fault("biases", f"{told}: state a bound, or give a pilot, whose advice is then planned")])
    if not isinstance(guess, Guess):
        told = f"is {guess!r}: what it costs depends on the means; give a Guess, or a [guess] table in the file"
        raise InvalidInput([Fault("guess", f"{told}, such as {EXAMPLES}")])
    guess.check(problem)
    if problem.family.learns and guess.deviation is None:
        told = f"has no 'deviation': the {problem.family.name} family does not say how noisy values are"
        raise InvalidInput([Fault("guess", f"{told}; add their standard deviation, as far as you can guess it")])
    return problem, guess, source, guess.correlation or own, made


class _Comparison(NamedTuple):
    """The fidelities, by the least possible cost."""

    shares: Array  # (truths, M) of the optimal cost
    extra: dict[int, Array]  # (truths,) what leaving each but the top out adds, relatively
    kept: list[int]  # those that are not useless
    changes: tuple[Change, ...]


def _compare(optima: variants.Optima) -> _Comparison:
    everything = list(range(optima.problem.n_fidelities))
    with progress((4 * len(everything) - 2) * len(optima.truths), "comparing fidelities") as advance:
        found = optima.of(everything, advance)
        least = variants.costs_of(found)
        extra = variants.extra_costs(optima, least, everything, advance)
        changes = _changes(optima.problem, optima.truths, optima.tolerance, least, advance)
    kept = variants.not_useless(optima, least, extra)
    return _Comparison(np.array([one.weights.sum(axis=0) for one in found]), extra, kept, changes)


def _changes(problem: Problem, means: Array, tolerance: float, least: Array, advance: Advance) -> tuple[Change, ...]:
    def saves(problems: Problem | list[Problem]) -> Spread:
        return spread(1.0 - variants.ratio(variants.least_costs(problems, means, tolerance, advance), least))

    changes = []
    for m, name in enumerate(problem.fidelities):
        changes.append(Change(name, "half the cost", saves(variants.half_cost(problem, m))))
        if m < problem.n_fidelities - 1 and (problem.bias_low[:, m] < problem.bias_high[:, m]).any():
            tighter = [variants.half_bias(problem, table, m) for table in means]
            changes.append(Change(name, "half the bias bound", saves(tighter)))
    return tuple(changes)


def _worth(problem: Problem, compared: _Comparison, m: int, kept: list[int], promising: bool) -> Worth:
    share, extra = compared.shares[:, m], compared.extra.get(m)
    used = float((share > 0).mean())  # be it little: of a cell without noise, one evaluation will do
    if extra is None:
        return Worth(problem.fidelities[m], spread(share), used, None, results.TRUE_ONE)
    verdict = results.NOT_LEARNT if m in compared.kept else results.USELESS
    if m in kept:
        verdict = results.WORTH_IT if promising else results.UNKNOWN
    return Worth(problem.fidelities[m], spread(share), used, spread(extra), verdict)


def _sets(n_fidelities: int, kept: list[int]) -> dict[str, list[int]]:
    """The sets of fidelities to compare, each once."""
    everything = list(range(n_fidelities))
    sets = {ALL: everything, WORTH_HAVING: kept, TOP: everything[-1:]}
    if kept in (everything, everything[-1:]):
        del sets[WORTH_HAVING]
    if len(everything) == 1:
        del sets[TOP]
    return sets


def _name_of(sets: dict[str, list[int]], members: list[int]) -> str:
    return next(name for name, fidelities in sets.items() if fidelities == members)


def _computed(
    optima: variants.Optima, sets: dict[str, list[int]], rules: Sequence[Rule], delta: float
) -> list[Estimate]:
    """The least possible costs, and the ideal ones of these rules, which go by the totals alone; none where values of
    the same seed may be correlated, as all of these take values to be independent."""
    problem, means, tolerance = optima.problem, optima.truths, optima.tolerance
    if problem.seeds == "common":
        return []
    with progress(len(sets) * (1 + len(rules)) * len(means), "ideal costs of each rule") as advance:
        found = {name: optima.of(members, advance) for name, members in sets.items()}
        bounds = {name: np.array([one.lower_bound(delta) for one in found[name]]) for name in sets}
        estimates = [Estimate(None, None, _spreads(bounds), _saving(bounds))]
        for rule in rules:
            ideal = {
                name: ideal_costs(
                    problem.only(members), means[:, :, members], found[name], rule, delta, tolerance, advance
                )
                for name, members in sets.items()
            }
            at_least = not complete(rule)
            estimates.append(Estimate(rule.name, None, _spreads(ideal, at_least), _saving(ideal)))
    return estimates


def _simulate(simulations: Simulations, kept: list[int]) -> tuple[list[int], dict[str, list[int]], Estimate]:
    """Those of the `kept` fidelities that are worth learning, the sets to compare, and what runs with each spent."""
    with progress(simulations.expected * RUNS, f"simulating {simulations.strategy}") as advance:
        simulations.advance = advance
        kept = simulations.worth_learning(simulations.check_useless(kept))
        sets = _sets(simulations.problem.n_fidelities, kept)
        return kept, sets, _simulated(simulations, sets)


def _otherwise(simulations: Simulations, problem: Problem, sets: dict[str, list[int]], how: str) -> Estimate:
    """The same truths, were the problem a little different, with the strategy for that."""
    strategy, rule = choose(problem, None, None, simulations.tolerance)
    noise = simulations.deviation if problem.family.learns else None
    with progress(len(sets) * RUNS, f"simulating {strategy} {how}") as advance:
        other = dataclasses.replace(
            simulations, problem=problem, strategy=strategy, rule=rule, deviation=noise, advance=advance, made={}
        )
        return _simulated(other, sets)


def _simulated(simulations: Simulations, sets: dict[str, list[int]]) -> Estimate:
    """What runs spent, and how well their medians are known."""
    found = {name: simulations.of(members) for name, members in sets.items()}
    cost = {name: spread_of_runs(simulated) for name, simulated in found.items()}
    saving = None
    if TOP in cost and not (cost[TOP].at_least or cost[ALL].at_least):
        # Of the medians: single runs' own ratios would show luck more than anything else.
        factor = float(variants.ratio(np.array(cost[TOP].median), np.array(cost[ALL].median)))
        saving = Spread(factor, factor, factor)
    runs = {name: len(simulated.spent) for name, simulated in found.items()}
    intervals = {name: simulated.interval for name, simulated in found.items()}
    how, problem = (simulations.rule, simulations.strategy), simulations.problem
    return Estimate(*how, cost, saving, runs, intervals, problem.seeds, problem.family.name)


def _spreads(found: dict[str, Array], at_least: bool = False) -> dict[str, Spread]:
    return {name: spread(values, at_least) for name, values in found.items()}


def _saving(found: dict[str, Array]) -> Spread | None:
    return spread(variants.ratio(found[TOP], found[ALL])) if TOP in found else None
