"""Named instances, as spec files in the folder `catalogue`, and random ones from the paper's generator."""

from __future__ import annotations

from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mfbai.checks import numbers
from mfbai.errors import Faults, unknown_name
from mfbai.model.families import Gaussian
from mfbai.model.instance import Instance
from mfbai.model.problem import Problem

Array = NDArray[np.float64]

# The paper's generator for M = 5: the radius of fidelity m is xi_m = a_m + b_m / 2.
PAPER_RADII = np.array([0.075, 0.06, 0.04, 0.02, 0.0]) + np.array([0.05, 0.04, 0.02, 0.01, 0.0]) / 2
PAPER_COSTS = np.array([0.05, 0.1, 0.2, 0.4, 5.0])


def names() -> tuple[str, ...]:
    """The names of the catalogue, for `mfbai.model.spec.load`."""
    return tuple(sorted(_files()))


def describe() -> dict[str, str]:
    """One line on each instance of the catalogue: the first line of its file."""
    return {name: source(name).splitlines()[0].removeprefix("# ") for name in names()}


def source(name: str) -> str:
    """The spec file of a named instance."""
    if name not in names():
        raise unknown_name("instance", name, names())
    return _files()[name].read_text(encoding="utf-8")


def random_instance(
    arms: int = 4,
    fidelities: int = 5,
    *,
    seed: int,
    gap: float = 0.1,
    biases: ArrayLike | tuple[ArrayLike, ArrayLike] | None = None,
    costs: ArrayLike | None = None,
    variance: ArrayLike = 0.01,
) -> Instance:
    """An `Instance` drawn as in the paper (after Poiani et al. 2022), the same for the same seed.

    arms        how many
    fidelities  how many
    seed        of the draw
    gap         the best arm is ahead of the second by this much at least
    biases      as for `Problem`; by default the paper's, interpolated if M is not 5
    costs       as for `Problem`; by default the paper's, interpolated likewise
    variance    of the `Gaussian` noise

    The top means are uniform on [0, 1], given the gap; each other mean is uniform within its bias bounds.

    >>> from mfbai import random_instance
    >>> random_instance(arms=3, fidelities=2, seed=1).shape
    (3, 2)
    """
    problem = _checked_problem(arms, fidelities, seed, gap, biases, costs, variance)
    rng = np.random.default_rng(seed)
    top = _separated_uniforms(rng, problem.n_arms, gap)
    off = rng.uniform(problem.bias_low, problem.bias_high)
    return problem.instance(top[:, None] + off, name=f"random-{arms}x{fidelities}-{seed}")


def _files() -> dict[str, Traversable]:
    folder = resources.files("mfbai.model") / "catalogue"
    return {file.name.removesuffix(".toml"): file for file in folder.iterdir() if file.name.endswith(".toml")}


def _separated_uniforms(rng: np.random.Generator, count: int, gap: float) -> Array:
    """`count` uniforms on [0, 1], given that the largest is ahead of the second by `gap` or more.

    Given the largest, B, the others are uniform on [0, B - gap], so B has density proportional to
    (B - gap)^(count - 1) on [gap, 1]: no draw need be rejected, however many there are.
    """
    largest = gap + (1 - gap) * rng.random() ** (1 / count)
    values = rng.uniform(0, largest - gap, size=count)
    values[rng.integers(count)] = largest
    return values


def _checked_problem(
    arms: Any, fidelities: Any, seed: Any, gap: Any, biases: Any, costs: Any, variance: Any
) -> Problem:
    faults = Faults()
    _check_whole(faults, "arms", arms, 2)
    _check_whole(faults, "fidelities", fidelities, 1)
    sizes_known = not faults
    _check_whole(faults, "seed", seed, 0)
    _check_gap(faults, gap)
    if sizes_known:
        costs = _on_grid(PAPER_COSTS, fidelities) if costs is None else costs
        biases = _on_grid(PAPER_RADII, fidelities) if biases is None else biases
        with faults.absorb():
            problem = Problem(arms, costs, biases, Gaussian(variance), fidelities=fidelities)
    faults.raise_if_any("random instance")
    return problem


def _check_whole(faults: Faults, field: str, value: Any, least: int) -> None:
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
        faults.add(field, f"is {value!r}: give a whole number, {least} or more")


def _check_gap(faults: Faults, gap: Any) -> None:
    array = numbers(faults, "gap", gap)
    if array is not None and (array.ndim or not 0 <= array < 1):
        faults.add("gap", f"is {gap!r}: give one number, 0 or more and below 1")


def _on_grid(values: Array, count: int) -> Array:
    """`values` interpolated at `count` even steps that end at the last value; the last alone if count is 1."""
    steps = np.linspace(1, 0, count)[::-1]
    return np.interp(steps, np.linspace(0, 1, len(values)), values)
