"""Reading what a Problem or an Instance is given: every fault is noted, to be raised with all others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mfbai.checks import SHOWN_CELLS, Cells, check_choice, check_names, real, shape_of
from mfbai.errors import Faults
from mfbai.model.control import Control, read_controls, refuse_exact_parts
from mfbai.model.families import Family, noise_free

Array = NDArray[np.float64]
DIRECTIONS = {"maximise": 1.0, "minimise": -1.0}
SEEDS = ("independent", "common")  # of evaluations: one for each, or one for all arms in turn
ROUNDING = 1e-9  # relative slack for means written at the very edge of their bias bounds, such as 0.5 - 0.1


class Known(NamedTuple):
    """What the checks could read; None where a fault was noted."""

    costs: Array | None
    bias_low: Array | None
    bias_high: Array | None
    family: Family | None
    sign: float | None
    deterministic: NDArray[np.bool_]  # (M,)
    controls: tuple[Control | None, ...]  # (M,)
    charged: float


def read_names(
    faults: Faults, arms: Any, fidelities: Any, costs: Any, biases: Any, family: Any, means: Any = None
) -> Cells:
    """The names of the arms and fidelities, counted from the tables where they are not given."""
    shapes = [shape_of(value) for value in (means, costs, *_bias_parts(biases), getattr(family, "variance", None))]
    n_arms = next((shape[0] for shape in shapes if len(shape) == 2), 2)
    n_fidelities = next((shape[-1] for shape in shapes if shape), 1)
    if arms is None and means is None:
        faults.add("arms", "is None: give how many arms there are, or a list of their names")
    return Cells(
        faults,
        check_names(faults, "arms", arms, count=n_arms, least=2),
        check_names(faults, "fidelities", fidelities, count=n_fidelities, least=1),
    )


def check_known(
    cells: Cells,
    costs: Any,
    biases: Any,
    family: Any,
    direction: Any,
    seeds: Any,
    deterministic: Any,
    controls: Any,
    charged: Any,
) -> Known:
    """What could be read of all that is known beforehand."""
    exact = _check_deterministic(cells, deterministic, family)
    controls = read_controls(cells, controls)
    refuse_exact_parts(cells.faults, cells.fidelities, controls, exact)
    costs = cells.read("costs", costs)
    if costs is not None:
        free = exact if costs.ndim else exact.all()
        cells.refuse("costs", costs, (costs < 0) | ((costs == 0) & ~free), "a cost must be positive")
        costs = _of_parts(costs, cells.shape, controls, lambda table, control: control.cost(table))
    low, high = (
        None if end is None else _of_parts(end, cells.shape, controls, lambda table, control: 0.0)
        for end in _check_biases(cells, biases)
    )
    family = _check_family(cells, family)
    if family is not None and any(controls):
        family = family.controlled(cells.faults, controls)
    if low is not None and high is not None and family is not None:
        _refuse_impossible_arms(cells, low, high, family)
    check_choice(cells.faults, "direction", direction, DIRECTIONS)
    check_choice(cells.faults, "seeds", seeds, SEEDS)
    sign = DIRECTIONS.get(direction) if isinstance(direction, str) else None
    share = real(charged)
    if share is None or not 0 <= share < 1:
        why = "give the probability that stated bounds or variances are wrong, of 0 or more and below 1"
        cells.faults.add("charged", f"is {charged!r:.60}: {why}")
    return Known(costs, low, high, family, sign, exact, controls, share or 0.0)


def _of_parts(
    table: Array,
    shape: tuple[int, int],
    controls: Sequence[Control | None],
    follows: Callable[[Array, Control], Array | float],
) -> Array:
    """The table, in which the columns of controlled fidelities follow from the others, whatever was given for them."""
    if not any(controls):
        return table
    full = np.broadcast_to(table, shape).copy()
    for m, control in enumerate(controls):
        if control is not None:
            full[:, m] = follows(full, control)
    return full


def _check_deterministic(cells: Cells, given: Any, family: Any) -> NDArray[np.bool_]:
    """(M,) which fidelities have no noise: those named, and those whose stated variance is 0."""
    exact = np.zeros(cells.shape[1], dtype=np.bool_)
    variance = getattr(family, "variance", None)
    if variance is not None:
        with suppress(ValueError, TypeError, OverflowError):  # `check` of the family reports what is wrong with it
            exact |= noise_free(np.asarray(variance, dtype=np.float64))
    if given is None:
        return exact
    entries = [given] if isinstance(given, str) or np.ndim(given) == 0 else list(given)
    if len(entries) == len(exact) and all(isinstance(entry, bool | np.bool_) for entry in entries):
        return exact | np.array(entries, dtype=np.bool_)
    for entry in entries:
        if isinstance(entry, str) and entry in cells.fidelities:
            exact[cells.fidelities.index(entry)] = True
        elif isinstance(entry, int | np.integer) and type(entry) is not bool and 0 <= entry < len(exact):
            exact[entry] = True
        else:
            known = f"the names or indices of fidelities, or true or false for each of the {len(exact)}"
            cells.faults.add("deterministic", f"has {entry!r:.60}: give {known}")
    return exact


def _bias_parts(biases: Any) -> tuple[Any, ...]:
    """(low, high) of a pair, or the radii alone; Problem's docstring has the rule."""
    pair = isinstance(biases, tuple) and len(biases) == 2 and any(shape_of(part) for part in biases)
    return biases if pair else (biases,)


def _check_biases(cells: Cells, biases: Any) -> tuple[Array, Array] | tuple[None, None]:
    if biases is None:  # nothing is known
        biases = [*[np.inf] * (cells.shape[1] - 1), 0.0]
    parts = _bias_parts(biases)
    if len(parts) == 2:
        return _check_bias_bounds(cells, *parts)
    radius = cells.read("biases", *parts, infinite=True)
    if radius is None:
        return None, None
    _refuse_half_known(cells, "biases", radius, radius == np.inf)
    cells.refuse(
        "biases", radius, radius < 0, "a radius cannot be negative; bounds are a pair such as ([-0.1, 0], [0.2, 0])"
    )
    _refuse_top_bias(cells, "biases", radius)
    radius = np.broadcast_to(radius, cells.shape)
    return 0.0 - radius, radius


def _check_bias_bounds(cells: Cells, low: Any, high: Any) -> tuple[Array, Array] | tuple[None, None]:
    low, high = cells.read("bias_low", low, infinite=True), cells.read("bias_high", high, infinite=True)
    if low is None or high is None:
        return None, None
    _refuse_top_bias(cells, "bias_low", low)
    _refuse_top_bias(cells, "bias_high", high)
    low, high = (part.copy() for part in np.broadcast_arrays(low, high))
    unknown = (low == -np.inf) & (high == np.inf)
    _refuse_half_known(cells, "bias_low", low, unknown)
    _refuse_half_known(cells, "bias_high", high, unknown)
    cells.refuse("bias_low", low, low > high, lambda index: f"it is above its bias_high, {float(high[index])!r}")
    return np.broadcast_to(low, cells.shape), np.broadcast_to(high, cells.shape)


def _refuse_half_known(cells: Cells, field: str, given: Array, unknown: NDArray[np.bool_]) -> None:
    """A bound may be missing, but then on both sides and of all arms."""
    everywhere = unknown.all(axis=0) if given.ndim == 2 else unknown
    why = "give finite bounds, or infinite ones on both sides and for all arms if nothing is known"
    cells.refuse(field, given, np.isinf(given) & ~everywhere, why)


def _refuse_top_bias(cells: Cells, field: str, given: Array) -> None:
    why = "the last fidelity is the true one: its bias must be 0"
    if given.ndim == 0:
        cells.refuse(field, given, abs(given) > 0, f"{why}; give one per fidelity, the last of them 0")
        return
    at_top = np.arange(given.shape[-1]) == given.shape[-1] - 1
    cells.refuse(field, given, at_top & (abs(given) > 0), why)


def _check_family(cells: Cells, family: Any) -> Family | None:
    if not isinstance(family, Family):
        cells.faults.add("family", f"is {family!r}: give a family, such as Symmetric(0, 1) or Gaussian(variance=0.01)")
        return None
    before = len(cells.faults)
    family.check(cells)
    return family if len(cells.faults) == before else None


def _refuse_impossible_arms(cells: Cells, low: Array, high: Array, family: Family) -> None:
    top_low, top_high = top_interval(low, high, family.ranges(cells.shape[1]))
    for arm in np.flatnonzero(top_low > top_high)[:SHOWN_CELLS]:
        why = f"leave no possible mean: {family.name} means are in {list(family.mean_range)}"
        cells.faults.add("biases", f"{why}; check arm {cells.arms[arm]!r}")


def check_means(cells: Cells, known: Known, means: Any) -> Array | None:
    """The true means, (K, M), if they can be read."""
    table = cells.read("means", means, full=True)
    if table is None:
        return None
    if known.family is not None:
        known.family.check_means(cells, table)
    if known.bias_low is not None and known.bias_high is not None:
        _refuse_beyond_bias(cells, table, known.bias_low, known.bias_high)
    return table


def _refuse_beyond_bias(cells: Cells, means: Array, low: Array, high: Array) -> None:
    top = means[:, -1:]
    off = means - top
    slack = ROUNDING * (abs(means) + abs(top))

    def why(index: tuple[int, ...]) -> str:
        bounds = f"[{low[index]:g}, {high[index]:g}]"
        return f"it is {off[index]:+.6g} from the arm's top mean, outside the bias bounds {bounds}"

    cells.refuse("means", means, (off < low - slack) | (off > high + slack), why)


def refuse_tie(faults: Faults, arms: Sequence[str], top: Array) -> None:
    """The best of the top means (larger is better) must be unique."""
    tied = np.flatnonzero(top == top.max())
    if len(tied) > 1:
        names = " and ".join(repr(arms[arm]) for arm in tied[:2])
        faults.add("means", f"of arms {names} tie at the top fidelity; the best arm must be unique")


def top_interval(low: Array, high: Array, ranges: tuple[Array, Array]) -> tuple[Array, Array]:
    """(K,) ends of {x : x + [low, high] meets the range of the means at every fidelity}."""
    return (ranges[0] - high).max(axis=1), (ranges[1] - low).min(axis=1)


def check_deviation(cells: Cells, family: Family | None, deviation: Any) -> Array | None:
    """The standard deviations of a simulation, if they can be read and the family needs them."""
    if family is None:
        return None
    if not family.learns:
        if deviation is not None:
            told = f"is given: the {family.name} family says itself how noisy values are"
            cells.faults.add("deviation", f"{told}; leave it out")
        return None
    if deviation is None:
        told = f"is missing: the {family.name} family does not say how noisy values are"
        cells.faults.add("deviation", f"{told}; give their standard deviation")
        return None
    table = cells.read("deviation", deviation)
    if table is not None:
        cells.refuse("deviation", table, table < 0, "a deviation cannot be negative")
    return table


def read_only(table: Array | None, shape: tuple[int, int]) -> Array:
    array = np.array(np.broadcast_to(np.asarray(table), shape), order="C")
    array.flags.writeable = False
    return array
