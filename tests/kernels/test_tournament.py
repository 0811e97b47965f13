"""Tournaments: whatever changes, the winner is the first of the largest numbers."""

from math import inf

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mfbai.kernels.tournament import enter, make_tournament, next_node, winner

NUMBERS = st.one_of(st.integers(-3, 3).map(float), st.just(-inf), st.just(inf))


@settings(deadline=None)
@given(st.lists(NUMBERS, min_size=1, max_size=40), st.data())
def test_the_winner_is_the_first_of_the_largest(numbers, data):
    tree = make_tournament(len(numbers))
    for n, number in enumerate(numbers):
        enter(tree, n, number)
    for _ in range(10):
        n, number = data.draw(st.integers(0, len(numbers) - 1)), data.draw(NUMBERS)
        numbers[n] = number
        enter(tree, n, number)
        assert tree[1] == max(numbers)
        assert winner(tree) == int(np.argmax(numbers))


@settings(deadline=None)
@given(st.lists(NUMBERS, min_size=2, max_size=40))
def test_a_search_that_skips_nothing_sees_every_number_once(numbers):
    tree = make_tournament(len(numbers))
    for n, number in enumerate(numbers):
        enter(tree, n, number)
    half, node, seen = len(tree) // 2, 1, []
    while node > 0:
        if node < half:
            node = 2 * node if tree[2 * node] >= tree[2 * node + 1] else 2 * node + 1
            continue
        seen.append(node - half)
        node = next_node(tree, node)
    assert sorted(seen) == list(range(half))


def test_memory_is_four_numbers_for_each_at_most():
    for n in (1, 2, 3, 1000, 1025, 100_000):
        assert 2 * n <= make_tournament(n).size <= max(4 * n, 2)
