"""What MF-GRAD, IISE and GRAD cost: eight distributions of 1000 runs (Section 5, appendix D.3 and D.5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mfbai.analysis.oracle import oracle
from mfbai.paper.claims import AGREES, DISAGREES, UNDECIDED, Claim, above, together
from mfbai.paper.intervals import Interval, chance_of_errors, mean, ratio, ratio_of_ratios, share
from mfbai.paper.pieces import (
    DELTAS,
    RULE,
    SEED,
    Columns,
    Computation,
    Figure,
    Made,
    Noise,
    Part,
    Results,
    Scale,
    complete,
    stacked,
    where,
)
from mfbai.plots.distributions import Panel, Sample, plot_panels, with_error
from mfbai.simulation import simulate

GROUP = "costs"
INSTANCES = ("paper-4x5", "paper-5x2", "paper-mu2", "paper-mu3")
COMPARED = ("mf-grad", "iise", "grad")
STRATEGIES = (*COMPARED, "mf-grad-const")
SOURCES = {"paper-4x5": "Section 5", "paper-5x2": "Section 5", "paper-mu2": "App. D.3", "paper-mu3": "App. D.3"}


def computations(noise: Noise) -> Iterator[Computation]:
    """One for each instance, of both deltas; with MF-GRAD-CONST for `mfbai.paper.constant`."""
    for instance in INSTANCES:
        yield computation(name(instance, noise), instance, STRATEGIES, 80.0, noise)


def name(instance: str, noise: Noise) -> str:
    return noise.name(f"costs-{instance}")


def computation(name: str, instance: str, strategies: tuple[str, ...], pace: float, noise: Noise) -> Computation:
    """Takes `pace` seconds per unit of variance, in full."""
    about = {"instance": instance, "variance": noise.variance, "deltas": DELTAS}
    work = partial(compute, instance, strategies, noise)
    return Computation(name, pace * noise.variance, strategies, ("runs",), about, work)


def compute(instance: str, strategies: Sequence[str], noise: Noise, scale: Scale) -> Columns:
    problem = noise.load(instance)

    def run(strategy: str) -> Columns:
        return complete(simulate(problem, strategy, DELTAS, scale.runs, SEED, RULE).columns(), scale.runs)

    return stacked({strategy: run(strategy) for strategy in strategies}, "strategy")


def figures(noise: Noise) -> Iterator[Figure]:
    for delta in DELTAS:
        for instance in INSTANCES:
            source = SOURCES[instance] if delta == DELTAS[0] else "App. D.5"
            caption = f"What the strategies cost on {instance} at delta = {delta:g} (the paper's {source})."
            yield Figure(
                noise.name(f"costs-{instance}-{delta:g}"),
                GROUP,
                (name(instance, noise),),
                caption,
                partial(draw, instance, COMPARED, delta, noise),
            )


def draw(
    instance: str, strategies: Sequence[str], delta: float, noise: Noise, results: Results, files: Sequence[Path]
) -> None:
    table = where(results[name(instance, noise)], delta=delta)
    bound = oracle(noise.load(instance)).lower_bound(delta)
    samples = []
    for strategy in strategies:
        found = where(table, strategy=strategy)
        samples.append(Sample(strategy, found["cost"], found["stopped"]))
    heading = f"delta = {delta:g}, {len(samples[0].costs):,} runs"
    plot_panels(f"{instance}, variance {noise.variance:g}", [Panel(heading, samples, bound)], files)


def costs_of(table: Columns, strategy: str, delta: float) -> NDArray[np.float64]:
    found: NDArray[np.float64] = where(table, strategy=strategy, delta=delta)["cost"]
    return found


def claims(made: Made, noise: Noise) -> Iterator[Claim]:
    results = made.results
    tables = {i: results[name(i, noise)] for i in INSTANCES if name(i, noise) in results}
    for instance, table in tables.items():
        for delta in DELTAS:
            yield cheapest(instance, table, delta)
    if "paper-5x2" in tables:
        yield worst("paper-5x2", tables["paper-5x2"])
    for instance, table in tables.items():
        yield widens(instance, table)
    if tables:
        for delta in DELTAS:
            yield correct(tables, delta)


def cheapest(instance: str, table: Columns, delta: float) -> Claim:
    source = SOURCES[instance] if delta == DELTAS[0] else "App. D.5"
    base = costs_of(table, "mf-grad", delta)
    found = {rival: ratio(costs_of(table, rival, delta), base) for rival in ("iise", "grad")}
    return Claim(
        f"MF-GRAD is the cheapest on {instance} at delta = {delta:g}",
        source,
        f"mean cost {amount(mean(base))}; " + ", ".join(f"{rival.upper()} {times(r)}" for rival, r in found.items()),
        together([above(r, 1.0) for r in found.values()]),
    )


def worst(instance: str, table: Columns) -> Claim:
    iise = costs_of(table, "iise", DELTAS[0])
    found = {rival: ratio(iise, costs_of(table, rival, DELTAS[0])) for rival in ("mf-grad", "grad")}
    told = ", ".join(f"{times(r)} of {rival.upper()}" for rival, r in found.items())
    verdict = together([above(r, 1.0) for r in found.values()])
    return Claim(f"IISE is the worst on {instance}", "Section 5", f"mean cost {amount(mean(iise))}: {told}", verdict)


def widens(instance: str, table: Columns) -> Claim:
    """Both the difference of the mean costs and their ratio, run by run, as most strategies' two deltas are of one."""
    verdicts, told = [], []
    for rival in ("iise", "grad"):
        theirs, ours = ([costs_of(table, strategy, delta) for delta in DELTAS] for strategy in (rival, "mf-grad"))
        gaps = [their - our for their, our in zip(theirs, ours, strict=True)]
        growth = ratio_of_ratios(theirs[1], ours[1], theirs[0], ours[0])
        verdicts += [above(mean(gaps[1]), 0.0), above(mean(gaps[1] - gaps[0]), 0.0), above(growth, 1.0)]
        change = " to ".join(amount(mean(gap)) for gap in gaps)
        told.append(f"{rival.upper()}'s from {change}, its ratio grows by {times(growth)}")
    text = f"On {instance} the gap widens from delta = {DELTAS[0]:g} to {DELTAS[1]:g}"
    return Claim(text, "App. D.5", "; ".join(told), together(verdicts))


def correct(tables: dict[str, Columns], delta: float) -> Claim:
    """Of each strategy on each instance. It is disagreed with if one of them erred more often than chance explains."""
    rates: dict[str, Interval] = {}
    runs, chances = 0, []
    for instance, table in tables.items():
        for strategy in STRATEGIES:
            found = where(table, strategy=strategy, delta=delta)
            wrong = int((found["stopped"] & ~found["correct"]).sum())
            rates[f"{strategy} on {instance}"] = share(wrong, len(found["cost"]))
            chances.append(chance_of_errors(wrong, len(found["cost"]), delta))
            runs += len(found["cost"])
    most = max(rates, key=lambda key: rates[key])
    rate = rates[most]
    if rate.estimate > 0:
        told = f"errors at most {100 * rate.estimate:.2g} % ({most}; up to {100 * rate.high:.2g} % at 95 %)"
    else:
        told = f"no error in {runs:,} runs; of each strategy on each instance below {100 * rate.high:.2g} % at 95 %"
    verdict = AGREES if rate.high <= delta else DISAGREES if len(chances) * min(chances) < 0.05 else UNDECIDED
    named = ", ".join(strategy.upper() for strategy in STRATEGIES)
    on = "all instances" if len(tables) == len(INSTANCES) else ", ".join(tables)
    return Claim(f"Delta-correct at {delta:g} on {on}: {named}", "App. D.1", told, verdict)


def amount(found: Interval) -> str:
    return with_error(found.estimate, found.half)


def times(found: Interval) -> str:
    return f"{found.estimate:.2f}x ({found.low:.2f} to {found.high:.2f})"


PART = Part(GROUP, "What the strategies cost", figures, claims, computations)
