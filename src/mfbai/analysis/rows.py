"""Rows of the tables of what analyses found, as texts: for the command line and for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfbai.text import digits

if TYPE_CHECKING:
    from mfbai.analysis.onward import Onward
    from mfbai.analysis.oracle import Oracle
    from mfbai.analysis.paired_noise import Interval
    from mfbai.analysis.pilot import Pilot
    from mfbai.model.problem import Array

CONTROLS = ("by", "correlation", "other seeds", "coefficient", "cost", "deviation", "times cheaper", "")


def largest(values: Array, most: int) -> list[int]:
    """Where the largest values are, in order of place; all of them if there are no more than `most`."""
    found: list[int] = np.argsort(-values, kind="stable")[:most].tolist()
    return sorted(found)


def share_row(found: Oracle, arm: int, columns: list[int]) -> list[str]:
    """Of an arm: its optimal shares at these fidelities, in %, and all fidelities that get any."""
    weights, names = found.weights[arm], found.problem.fidelities
    used = [names[m] for m in np.flatnonzero(weights > 0)]
    shares = [f"{100 * weights[m]:.3f}" if weights[m] > 0 else "0" for m in columns]
    return [*shares, " and ".join(used) or "nothing"]


def control_rows(onward: Onward) -> list[list[str]]:
    """What control by each fidelity below the top brings, then the top alone: columns `CONTROLS`."""
    pilot = onward.pilot
    alone = float(pilot.given.costs[pilot.pairs.arms, -1].mean())
    rows = []
    for one in onward.controls:
        cells = [interval(one.correlation), f"{one.others}", digits(one.coefficient), digits(alone * one.cost)]
        rows.append([one.fidelity, *cells, digits(one.deviation), interval(one.gain), one.verdict])
    noise = (pilot.deviations[:, -1] ** 2).mean() ** 0.5
    return [*rows, [f"{pilot.fidelities[-1]} alone", "", "", "", digits(alone), digits(noise), "1", ""]]


def bias_rows(pilot: Pilot, level: float, most: int) -> list[list[str]]:
    """An arm, and where its bias is at each fidelity below the top."""
    lower = pilot.fidelities[:-1]
    found = {(one.arm, one.fidelity): one for one in pilot.biases(level)}
    rows = []
    for arm in pilot.given.arms[:most]:
        cells = []
        for name in lower:
            one = found[arm, name]
            known = "" if one.estimate is None else f"{digits(one.estimate)} "
            cells.append(f"{known}({digits(one.low)} to {digits(one.high)})")
        rows.append([arm, *cells])
    return rows


def interval(known: Interval) -> str:
    estimate, low, high = (digits(one, 2) for one in known)
    return f"{estimate} ({low} to {high})" if known.low < known.high else estimate
