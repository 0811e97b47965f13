"""examples/diffusion: the solver is of second order, the spec says the truth, and evaluate.py is a good program."""

import importlib
import math
import random
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import mfbai

EXAMPLE = Path(__file__).parents[1] / "examples" / "diffusion"
MODULES = ("evaluate", "bias", "noise", "truth")


@pytest.fixture(scope="module")
def example():
    """The example's modules. Their names are common words, so they are not left behind for other tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(EXAMPLE)
        yield SimpleNamespace(**{name: importlib.import_module(name) for name in MODULES})
    for name in MODULES:
        del sys.modules[name]


@pytest.fixture(scope="module")
def problem():
    return mfbai.load(EXAMPLE / "bounds.toml")


@pytest.fixture(scope="module")
def values(example):
    return example.truth.sample(4000, seed=11)


def run(*arguments):
    command = [sys.executable, EXAMPLE / "evaluate.py", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def middles(cells):
    return (np.arange(cells) + 0.5) / cells


def test_second_order_on_a_known_solution(example):
    """With a = 1 / (1 + x) and heat 1 the mean of u is 13/108. Halving the width takes the error to a quarter."""
    errors = [example.evaluate.mean_temperature(1 / (1 + middles(n)), heat=1.0) - 13 / 108 for n in (8, 16, 32, 64)]
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert errors[-1] != 0
    assert orders == pytest.approx(2, abs=0.02)


def test_solver_agrees_with_the_energy_formula(example):
    """In one dimension the mean of u is also the least of sum (x - c)^2 h / a over c: no system to solve."""
    rng = np.random.default_rng(3)
    for cells in (1, 2, 8, 50):
        a, x = rng.uniform(0.2, 3, cells), middles(cells)
        shares = 1 / a / cells
        least = np.sum(shares * (x - np.average(x, weights=shares)) ** 2)
        assert example.evaluate.mean_temperature(a, heat=1.0) == pytest.approx(least, rel=1e-10, abs=1e-15)


def test_designs_use_the_same_material(example):
    for design in example.evaluate.DESIGNS.values():
        conductivities = [design(x) for x in middles(1000)]
        assert min(conductivities) > 0
        assert np.mean(conductivities) == pytest.approx(1)


def test_spec_has_the_cells_of_the_program(example, problem):
    assert isinstance(problem, mfbai.Problem)
    assert problem.direction == "minimise"
    assert list(problem.arms) == list(example.evaluate.DESIGNS)
    assert list(problem.fidelities) == list(example.evaluate.CELLS)
    assert np.array_equal(problem.costs, [list(example.evaluate.CELLS.values())] * 6)


def test_spec_has_the_bounds_that_bias_prints(example, problem, capsys):
    example.bias.main()
    rows = {row.split()[0]: row for row in capsys.readouterr().out.splitlines()[1:7]}
    for k, arm in enumerate(problem.arms):
        printed = re.findall(r"\[(\S+), (\S+)\]", rows[arm])
        bounds = [*map(tuple, np.transpose([problem.bias_low[k, :3], problem.bias_high[k, :3]]).tolist())]
        assert [(float(low), float(high)) for low, high in printed] == bounds


def test_biases_are_inside_their_bounds_with_margin(problem, values):
    """Common random numbers: the error of the mean bias is far below its distance from either end."""
    biases = (values - values[:, :, -1:])[:, :, :-1]
    errors = biases.std(axis=0) / math.sqrt(len(biases))
    low, high = problem.bias_low[:, :-1], problem.bias_high[:, :-1]
    margin = 0.3 * (high - low)
    assert np.all(errors < 0.02 * (high - low))
    assert np.all(biases.mean(axis=0) > low + margin)
    assert np.all(biases.mean(axis=0) < high - margin)


def test_other_pilots_would_have_found_good_bounds_too(example, values):
    """The five materials of bias.py are not a lucky choice."""
    biases = (values - values[:, :, -1:]).mean(axis=0)[:, :-1]
    for seed in range(1, 31):
        rng = random.Random(seed)
        materials = [example.evaluate.draw_coefficients(rng) for _ in range(example.bias.MATERIALS)]
        for design, true in zip(example.evaluate.DESIGNS.values(), biases, strict=True):
            bounds, _ = example.bias.bias_bounds(design, materials)
            assert all(0.8 * low < bias < high for bias, (low, high) in zip(true, bounds, strict=True))


def test_noise_is_no_heavier_than_the_proxy(example, problem, values):
    assert problem.family.variance >= example.noise.PROXY
    assert np.all(example.truth.least_proxy(values) <= problem.family.variance)


def test_the_slope_is_what_the_proxy_was_proven_from(example):
    """The squared gradient of the value in the coefficients is at most the sum of the squared sizes of the waves."""
    rng = random.Random(5)
    most = sum(size**2 for size in example.evaluate.WAVES)
    step = 1e-5
    for design in example.evaluate.DESIGNS.values():
        for cells in (8, 64):
            material = np.array(example.evaluate.draw_coefficients(rng))
            square = 0.0
            for place in np.ndindex(material.shape):
                ends = [material.copy(), material.copy()]
                ends[0][place] -= step
                ends[1][place] += step
                low, high = (example.evaluate.log_temperature(design, cells, end) for end in ends)
                square += ((high - low) / (2 * step)) ** 2
            assert 0 < square <= most


def test_slopes_are_those_of_the_value(example):
    """At the second material, which is in the middle of the cube; the first is at a corner of it."""
    rng = np.random.default_rng(0)
    material = rng.uniform(-1, 1, (example.noise.MATERIALS, 6))[1]
    for k, design in enumerate(example.evaluate.DESIGNS.values()):
        for place in range(6):
            step = 1e-5 * np.eye(6)[place]
            ends = [list(zip(*np.split(material + side * step, 2), strict=True)) for side in (-1, 1)]
            low, high = (example.evaluate.log_temperature(design, 64, end) for end in ends)
            assert (high - low) / 2e-5 == pytest.approx(example.noise.slopes("n64")[k, 1, place], abs=1e-6)


def test_controlled_values_vary_less_than_stated(example, values):
    for others, coefficient in ((4, 0.8), (20, 0.96)):
        top, beside = values[:, :, 3], coefficient * values[:, :, 0]
        variances = (top - beside).var(axis=0) + beside.var(axis=0) / others
        stated = example.noise.controlled_proxy("n8", others, coefficient)
        assert variances.max() < stated < example.noise.PROXY / 3


def test_grids_see_the_same_material_at_one_seed(example):
    """So a coarse grid tells nearly all about the fine one, but for the bias."""
    found = [[example.evaluate.evaluate("graded", name, seed) for name in ("n8", "n64")] for seed in range(40)]
    coarse, fine = np.transpose(found)
    assert np.corrcoef(coarse, fine)[0, 1] > 0.998
    assert np.mean(fine - coarse) > 0.02


def test_truth_makes_instances(example, problem, values, capsys):
    whole, finest = example.truth.instances(problem, values.mean(axis=0))
    assert whole.arms[whole.best] == finest.arms[finest.best] == "edges"
    assert finest.shape == (6, 1)
    assert finest.gap == pytest.approx(0.096, abs=0.01)
    example.truth.show_bounds(problem, values)
    assert "18 of 18 biases are inside" in capsys.readouterr().out


@pytest.mark.parametrize("fidelity", ["n8", "n16", "n64", "n512"])
def test_program_prints_one_number(example, fidelity):
    ended = run("edges", fidelity, 7)
    assert (ended.returncode, ended.stderr) == (0, "")
    value = float(ended.stdout)
    assert 4.0 < value < 4.4  # within 20 % of 65 degrees or so
    assert run("edges", fidelity, 7).stdout == ended.stdout
    assert run("edges", fidelity, 8).stdout != ended.stdout


def test_program_and_sample_have_the_same_law(example, values):
    """The program, in process, for many seeds: its mean is that of the vectorised sample."""
    found = [example.evaluate.evaluate("edges", "n8", seed) for seed in range(2000)]
    spread = np.std(found) * math.sqrt(1 / 2000 + 1 / 4000)
    assert abs(np.mean(found) - values[:, 2, 0].mean()) < 4 * spread


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("edge", "n8", 1), "no arm 'edge'; known: even, centre, edges"),
        (("edges", "n9", 1), "no fidelity 'n9'; known: n8, n16, n64, n512"),
        (("edges", "n8"), "usage: python evaluate.py ARM FIDELITY SEED"),
    ],
)
def test_program_refuses_what_it_does_not_know(arguments, told):
    ended = run(*arguments)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert told in ended.stderr
