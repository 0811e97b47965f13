"""Tournaments: the largest of many numbers, known at once while they change one at a time.

A tournament of n numbers is an array: node k has the larger of its children 2 k and 2 k + 1, the root is node 1, and
the numbers are the leaves, in their order, from the middle on. What is beyond the last number is -infinity. A change
takes log2(n) comparisons at most, and fewer if the winners stay the same.
"""

from math import inf

import numpy as np

from mfbai.kernels.jit import kernel


def make_tournament(n: int) -> np.ndarray:
    """Of n numbers, all of them -infinity."""
    size = 1
    while size < n:
        size *= 2
    return np.full(2 * size, -inf)


@kernel
def enter(tree, n, value):
    """Change the n-th number. It must not be NaN."""
    node = tree.size // 2 + n
    tree[node] = value
    while node > 1:
        node >>= 1
        best = max(tree[2 * node], tree[2 * node + 1])
        if tree[node] == best:
            return
        tree[node] = best


@kernel
def winner(tree):
    """The largest number's place; the first one's, if several are as large."""
    node, half = 1, tree.size // 2
    while node < half:
        node = 2 * node if tree[2 * node] >= tree[2 * node + 1] else 2 * node + 1
    return node - half


@kernel
def first_leaf(tree, node):
    """The place of the first number below a node."""
    half = tree.size // 2
    while node < half:
        node *= 2
    return node - half


@kernel
def favourite(tree, node):
    """The child that a search looks at first: of the larger number, or else the left one."""
    return 2 * node if tree[2 * node] >= tree[2 * node + 1] else 2 * node + 1


@kernel
def next_node(tree, node):
    """Where a search goes after all below a node is done with; 0 if that was all."""
    while node > 1:
        if favourite(tree, node >> 1) == node:
            return node ^ 1
        node >>= 1
    return 0
