"""The contract of reward families: `check_family(family)`.

    from mfbai.testing import check_family
    check_family(my_module.Binomial(trials=20))

Every family of the package passes it. Each check raises an AssertionError that says what is wrong. Statistical checks
have fixed seeds and fail at five standard errors: of correct families one in a million would.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mfbai.kernels.betting import SCALES, capital
from mfbai.kernels.laws import divergence, sample, slopes, variance, wager
from mfbai.kernels.stats import Stats, make_stats, record_all
from mfbai.model.compiled import Model
from mfbai.model.families import FAMILIES, Family
from mfbai.model.instance import Instance
from mfbai.model.spec import dumps, from_dict, loads
from mfbai.simulation import simulate
from mfbai.stopping import e_process
from mfbai.testing import common
from mfbai.testing.common import DELTAS, Start, uniform_start

STEPS = 100  # of the runs that are compared: as plain Python, bets are slow
DRAWS = 4000
SURE = 5.0  # standard errors
CAP = 20.0  # on a capital, so that its mean is that of a bounded variable
TIMES = (1, 10)  # evaluations after which the capital is looked at
RUNS, RISK = 20, 0.1


class Laws(NamedTuple):
    """A family as kernels see it: as it is, and reflected for problems that minimise."""

    plain: Any
    mirrored: Any


def check_family(family: Family, means: Sequence[float] | None = None, steps: int = STEPS) -> None:
    """Check a family: all of its contract, with an `AssertionError` that says what it breaks.

    family  such as `Gaussian(0.01)`
    means   four or more possible ones, well apart, that the checks are made at
    steps   how long the runs are that are compared

    >>> from mfbai import Bernoulli
    >>> from mfbai.testing import check_family
    >>> check_family(Bernoulli())
    """
    points = np.sort(_points(family) if means is None else np.asarray(means, dtype=np.float64))
    instance = _instance(family, points, "maximise")
    check_form(family)
    laws = Laws(*(_instance(family, points, direction).model().law for direction in ("maximise", "minimise")))
    check_round_trip(family, instance)
    check_divergence(family, laws, points)
    check_slopes(family, laws, points)
    draws = check_samples(family, laws, points)
    if family.learns:
        check_wagers(family, points, draws)
    else:
        check_capital(family, laws, points, draws)
    check_simulation(family, points)
    start = starting()
    common.check_replay(family.name, start, instance, steps)
    common.check_one_compilation(family.name, start, _instance(family, points, "minimise"))
    common.check_without_jit(family.name, start, instance, steps)


def check_form(family: Family) -> None:
    """It is registered by its name; its laws are records of one type, with traits, and arrays of arms x fidelities."""
    name = family.name
    assert FAMILIES.get(name) is type(family), f"{name}: not registered; write FAMILIES[{name!r}] = {_class(family)}"
    laws = [family.law((3, 2), sign) for sign in (1.0, -1.0)]
    named = all(isinstance(law, tuple) and hasattr(law, "_fields") for law in laws)
    assert named, f"{name}: law returns a {type(laws[0]).__name__}: make it a NamedTuple"
    assert type(laws[0]) is type(laws[1]), f"{name}: law returns another type for sign -1"
    assert hasattr(laws[0], "convex"), (
        f"{name}: its law has no traits: decorate {type(laws[0]).__name__} with @traits()"
    )
    assert not laws[0].quadratic or hasattr(laws[0], "precision"), f"{name}: a quadratic law needs `precision`, (K, M)"
    stated = laws[0] if not family.learns else [getattr(laws[0], name, None) for name in ("precision", "deviation")]
    for array in (part for part in stated if isinstance(part, np.ndarray)):
        assert array.shape == (3, 2), (
            f"{name}: its law has an array of shape {array.shape}: arms x fidelities is (3, 2)"
        )


def check_round_trip(family: Family, instance: Instance) -> None:
    """A spec file and JSON with this family load as an equal instance."""
    for text, again in (
        ("TOML", loads(dumps(instance))),
        ("JSON", from_dict(json.loads(json.dumps(instance.to_dict())))),
    ):
        assert again == instance, (
            f"{family.name}: to_dict is {family.to_dict()}, which loads as another family ({text})"
        )


def check_divergence(family: Family, laws: Laws, points: NDArray[np.float64]) -> None:
    """d(p, q) is 0 at q = p and positive elsewhere, and the mirrored law has the same; convex or quadratic if it says
    so."""
    for p in points:
        for q in points:
            d, mirrored = divergence(laws.plain, 0, 0, p, q - p), divergence(laws.mirrored, 0, 0, -p, p - q)
            fits = d == 0.0 if p == q else d > 0.0
            assert fits, f"{family.name}: the divergence from {p:g} to {q:g} is {d:g}"
            reflects = np.isclose(d, mirrored, rtol=1e-9, atol=0)
            assert reflects, f"{family.name}: minimising, the divergence from {p:g} to {q:g} is {mirrored:g}, not {d:g}"
            bend = slopes(laws.plain, 0, 0, p, q - p)[1]
            convex = bend >= 0.0 or not laws.plain.convex
            assert convex, f"{family.name}: not convex from {p:g} at {q:g}: decorate its law with @traits(convex=False)"
            if laws.plain.quadratic:
                same = np.isclose(d, 0.5 * laws.plain.precision[0, 0] * (q - p) ** 2, rtol=1e-9, atol=0)
                assert same, f"{family.name}: the divergence from {p:g} to {q:g} is {d:g}, not precision (q - p)^2 / 2"


def check_slopes(family: Family, laws: Laws, points: NDArray[np.float64]) -> None:
    """Slopes and curvatures are those of the divergence, by finite differences."""
    h = 1e-5 * (points[-1] - points[0])
    for law, sign in ((laws.plain, 1.0), (laws.mirrored, -1.0)):
        for p in sign * points:
            typical = slopes(law, 0, 0, p, 0.0)[1]  # curvature
            for e in sign * points - p:
                slope, bend = slopes(law, 0, 0, p, e)
                ahead, back = divergence(law, 0, 0, p, e + h), divergence(law, 0, 0, p, e - h)
                _check_close(family, "slope", p, e, slope, (ahead - back) / (2 * h), typical * h)
                ahead, back = slopes(law, 0, 0, p, e + h)[0], slopes(law, 0, 0, p, e - h)[0]
                _check_close(family, "curvature", p, e, bend, (ahead - back) / (2 * h), typical * 1e-5)


def check_samples(family: Family, laws: Laws, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Draws have the mean asked for and are admitted. Returns draws at the middle mean, to bet on."""
    for law, sign in ((laws.plain, 1.0), (laws.mirrored, -1.0)):
        for mean in points:
            found = sign * _draw(law, sign * mean, DRAWS)
            odd = next((x for x in found if not family.admits_at(x, 0)), None)
            assert odd is None, f"{family.name}: sample draws {odd:g}, which the family does not admit"
            error = found.std() / np.sqrt(DRAWS)
            told = f"{DRAWS} draws at a mean of {mean:g} have the mean {found.mean():g}, of standard error {error:.2g}"
            assert abs(found.mean() - mean) <= SURE * error, f"{family.name}: {told}"
            noise = variance(law, 0, 0, 10.0, sign * mean)
            assert 0.0 < noise < np.inf, f"{family.name}: its variance at {mean:g} is {noise:g}"
    return _draw(laws.plain, points[len(points) // 2], DRAWS * max(TIMES)).reshape(DRAWS, -1)


def check_capital(family: Family, laws: Laws, points: NDArray[np.float64], draws: NDArray[np.float64]) -> None:
    """Bets against a true mean do not win on average, and are worth less the bolder the claim; mirrored, the same."""
    q = float(points[len(points) // 2])
    for side in (1.0, -1.0):
        for scale in range(len(SCALES)):
            _check_monotone(family, laws, points, side, scale)
            for count in TIMES:
                means = draws[:, :count].mean(axis=1)
                wealth = [
                    np.exp(min(capital(laws.plain, 0, 0, float(count), m, q, side, scale), np.log(CAP))) for m in means
                ]
                mean, error = float(np.mean(wealth)), float(np.std(wealth)) / np.sqrt(DRAWS)
                told = f"the capital of bets against the true mean {q:g} is {mean:.3g} on average after {count}"
                assert mean <= 1.0 + SURE * error, (
                    f"{family.name}: {told}, of standard error {error:.2g}; it must be 1 at most"
                )


def check_wagers(family: Family, points: NDArray[np.float64], draws: NDArray[np.float64]) -> None:
    """The same for a family that learns its noise: bets against a true mean do not win on average; mirrored they are
    the same; and between two points they are above the lines that they give."""
    instance, q = _instance(family, points, "maximise"), float(points[len(points) // 2])
    for count in TIMES:
        seen = [_record(instance, row[:count]) for row in draws]
        for side in (1.0, -1.0):
            worth = [wager(model.law, stats, 0, 0, q, q, side)[0] for model, stats in seen]
            wealth = np.exp(np.minimum(worth, np.log(CAP)))
            mean, error = float(wealth.mean()), float(wealth.std()) / np.sqrt(DRAWS)
            told = f"the capital of bets against the true mean {q:g} is {mean:.3g} on average after {count}"
            assert mean <= 1.0 + SURE * error, (
                f"{family.name}: {told}, of standard error {error:.2g}; it must be 1 at most"
            )
    for row in draws[:20]:
        _check_lines(family, points, row)


def check_simulation(family: Family, points: NDArray[np.float64]) -> None:
    """Simulations stop, and are wrong no more often than their risk allows."""
    for direction in ("maximise", "minimise"):
        instance = _instance(family, points, direction)
        runs = simulate(instance, "uniform", runs=RUNS, delta=RISK, seed=0, max_steps=common.LONGEST)
        most = RUNS * RISK + SURE * np.sqrt(RUNS * RISK * (1 - RISK))
        wrong = int((runs.stopped & (runs.answers != instance.best)).sum())
        told = f"of {RUNS} simulations that {direction} at a risk of {RISK:g}"
        assert wrong <= most, f"{family.name}: {told}, {wrong} are wrong"
        assert runs.stopped.any(), f"{family.name}: {told}, none stops within {common.LONGEST} evaluations"


def starting() -> Start:
    """Runs of uniform sampling under the e-process rule."""
    return uniform_start(
        lambda instance: e_process.init(instance.problem.model(), np.array(DELTAS), instance.problem.n_fidelities)
    )


def _points(family: Family) -> NDArray[np.float64]:
    """Possible means, well apart."""
    low, high = (float(ends[-1]) for ends in family.ranges(2))
    if np.isfinite(low) and np.isfinite(high):
        return low + (high - low) * np.array([0.2, 0.35, 0.5, 0.65, 0.8])
    steps = np.array([0.5, 1.0, 1.5, 2.0, 4.0])
    return low + steps if np.isfinite(low) else high - steps if np.isfinite(high) else steps - 1.5


def _instance(family: Family, points: NDArray[np.float64], direction: str) -> Instance:
    """Three arms at the ends and in the middle of the points, and a cheap fidelity with a small bias."""
    top = points[[0, len(points) // 2, -1]]
    bias = 0.1 * float(np.diff(top).min())
    means = np.column_stack([top + bias * np.array([0.5, -0.5, -1.0]), top])
    deviation = 0.2 * float(points[-1] - points[0]) if family.learns else None
    return Instance(means, [0.2, 1.0], [bias, 0.0], family, direction=direction, deviation=deviation)


def _draw(law: Any, mean: float, count: int) -> NDArray[np.float64]:
    rng = np.random.default_rng(0)
    return np.array([sample(law, rng, 0, 0, mean) for _ in range(count)])


def _check_close(family: Family, what: str, p: float, e: float, found: float, wanted: float, slack: float) -> None:
    close = abs(found - wanted) <= 1e-4 * abs(wanted) + slack
    told = f"the {what} of the divergence from {p:g} at {p + e:g} is given as {found:g}"
    assert close, f"{family.name}: {told}, and by differences it is {wanted:g}"


def _check_monotone(family: Family, laws: Laws, points: NDArray[np.float64], side: float, scale: int) -> None:
    for mean in points:
        worth = [capital(laws.plain, 0, 0, 20.0, mean, q, side, scale) for q in points]
        falls = (np.diff(worth) * side <= 1e-12).all()
        claim, way = ("above q", "fall") if side > 0 else ("below q", "rise")
        assert falls, f"{family.name}: the capital of a bet that the mean is {claim} must {way} with q"
        mirrored = [capital(laws.mirrored, 0, 0, 20.0, -mean, -q, -side, scale) for q in points]
        reflects = np.allclose(worth, mirrored, rtol=1e-9, atol=1e-12)
        assert reflects, f"{family.name}: minimising, the same bets have another capital"


def _record(instance: Instance, values: NDArray[np.float64]) -> tuple[Model, Stats]:
    """What is known after these values of the first cell."""
    model, stats, first = instance.model(), make_stats(instance.shape), np.zeros(len(values), dtype=np.int64)
    record_all(model, stats, first, first, instance.problem.sign * values)
    return model, stats


def _check_lines(family: Family, points: NDArray[np.float64], values: NDArray[np.float64]) -> None:
    model, stats = _record(_instance(family, points, "maximise"), values)
    mirror, reflected = _record(_instance(family, points, "minimise"), values)
    for side in (1.0, -1.0):
        for q in points:
            for other in points:
                value, slope = wager(model.law, stats, 0, 0, q, other, side)
                again, back = wager(mirror.law, reflected, 0, 0, -q, -other, -side)
                reflects = np.allclose((value, slope), (again, -back), rtol=1e-9, atol=1e-9)
                assert reflects, f"{family.name}: minimising, the same bets have another capital"
                for x in np.linspace(q, other, 7):
                    there = wager(model.law, stats, 0, 0, x, x, side)[0]
                    above = there >= value + slope * (x - q) - 1e-9 * (1.0 + abs(value))
                    assert above, f"{family.name}: between {q:g} and {other:g} the capital is below its line"


def _class(family: Family) -> str:
    return type(family).__name__
