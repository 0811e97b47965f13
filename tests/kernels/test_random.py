"""Random numbers of compiled code are numpy's, bit for bit: seeds, bits and distributions."""

import numpy as np
import pytest

from mfbai.kernels.jit import kernel
from mfbai.kernels.laws.poisson import draw_poisson
from mfbai.kernels.random import first_words, make_rng, reseed

SEEDS = [0, 1, 2**32 - 1, 2**32, 123456789012345678901234567890, 2**200 + 7]


@kernel
def draw_all(rng, shape, mean, out):
    """Some of each distribution, in turn."""
    for n in range(out.shape[0]):
        out[n, 0] = rng.random()
        out[n, 1] = rng.standard_normal()
        out[n, 2] = rng.exponential(mean)
        out[n, 3] = rng.standard_gamma(shape)


@kernel
def draw_counts(rng, mean, out):
    for n in range(out.size):
        out[n] = draw_poisson(rng, mean)


def generator(seed, run):
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(run,)))


def begun(seed, run):
    rng = make_rng()
    reseed(rng, first_words(seed, np.array([run]))[0])
    return rng


@pytest.mark.parametrize("seed", SEEDS)
def test_a_run_begins_as_its_seed_sequence_says(seed):
    runs = np.array([0, 1, 999, 2**32 - 1])
    for run, words in zip(runs.tolist(), first_words(seed, runs).tolist(), strict=True):
        state = generator(seed, run).bit_generator.state["state"]
        assert (words[0] << 64 | words[1], words[2] << 64 | words[3]) == (state["state"], state["inc"])


def test_a_number_of_a_run_has_32_bits():
    with pytest.raises(ValueError, match="32 bits at most"):
        first_words(0, np.array([2**32]))


@pytest.mark.parametrize("shape", [0.3, 1.0, 7.5])
def test_compiled_draws_are_those_of_numpy(shape):
    """Many enough to reach the tails, where the methods differ from the bulk."""
    ours, theirs = np.zeros((20_000, 4)), generator(5, 3)
    draw_all(begun(5, 3), shape, 2.5, ours)
    plain = [
        [theirs.random(), theirs.standard_normal(), theirs.exponential(2.5), theirs.standard_gamma(shape)]
        for _ in range(len(ours))
    ]
    assert np.array_equal(ours, plain)


@pytest.mark.parametrize("mean", [0.0, 0.01, 3.0, 9.99, 20.0, 40.0, 1e4])
def test_poisson_counts_are_those_of_numpy(mean):
    counts = np.zeros(20_000, dtype=np.int64)
    draw_counts(begun(6, 0), mean, counts)
    assert np.array_equal(counts, generator(6, 0).poisson(mean, len(counts)))


def test_a_kernel_takes_a_generator_of_numpy_and_goes_on_where_it_is():
    rng, same = np.random.default_rng(8), np.random.default_rng(8)
    assert rng.random() == same.random()
    counts = np.zeros(50, dtype=np.int64)
    draw_counts(rng, 20.0, counts)
    assert np.array_equal(counts, same.poisson(20.0, 50))
    assert rng.random() == same.random()


def test_plain_python_is_seeded_in_the_same_way():
    plain = np.random.default_rng(0)
    reseed(plain, first_words(9, np.array([4]))[0])
    assert plain.standard_normal() == generator(9, 4).standard_normal()
