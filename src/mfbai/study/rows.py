"""Which arms the page shows, and what of each: all of a few; of many, those that matter most, or those searched for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mfbai.model.problem import Array, Problem
from mfbai.study.status import Status, by_relevance, finite

SHOWN = 20  # arms
TABLES = ("evidence", "spent", "counts", "means", "intervals", "differences")  # of a status: a row for each arm


def most_relevant(status: Status) -> list[int]:
    """All arms if they are few; else the leader, then the rivals with the least evidence against them."""
    n_arms = status.problem.n_arms
    if n_arms <= SHOWN:
        return list(range(n_arms))
    return by_relevance(status)[:SHOWN]


def status_of(status: Status, shown: Sequence[int]) -> dict[str, Any]:
    """The status for JSON, with the rows of these arms alone."""
    picked = list(shown)
    some = replace(status, **{name: getattr(status, name)[picked] for name in TABLES})
    return {**some.to_dict(), "arms": [status.problem.arms[arm] for arm in picked]}


def tables_of(status: Status) -> dict[str, Any]:
    """The same of all arms; the tables are arrays still, for `encoding.in_steps`."""
    arrays = {name: getattr(status, name) for name in TABLES}
    whole = {"arms": list(status.problem.arms), **arrays, "counts": status.counts.astype(np.int64)}
    return {**status_of(status, []), **whole}


def rows_of(status: Status, shown: Sequence[int], optimal: Array | None) -> dict[str, Any]:
    """The rows of some arms for JSON, by themselves."""
    whole = status_of(status, shown)
    tables = {name: whole[name] for name in (*TABLES, "arms")}
    return {"shown": list(shown), **tables, **stated_of(status.problem, shown, optimal)}


def stated_of(problem: Problem, shown: Sequence[int], optimal: Array | None) -> dict[str, Any]:
    """What a problem states of some arms, and their optimal shares."""
    picked = list(shown)
    return {
        "costs": problem.costs[picked].tolist(),
        "biases": finite(np.stack([problem.bias_low[picked], problem.bias_high[picked]], axis=2)),
        "optimal": None if optimal is None else optimal[picked].tolist(),
    }


def totals_of(status: Status, optimal: Array | None) -> dict[str, Any]:
    """What concerns all arms, shown or not."""
    problem, total = status.problem, float(status.spent.sum())
    rivals = np.arange(problem.n_arms) != (-1 if status.leader_index is None else status.leader_index)
    shares = status.spent / total if total > 0 else status.spent
    return {
        "n_arms": problem.n_arms,
        "ruled_out": int((status.evidence[rivals] >= status.needed).sum()),
        "match": None if optimal is None or total == 0 else float(np.minimum(shares, optimal).sum()),
        "fidelities": [_fidelity(status, m) for m in range(problem.n_fidelities)],
    }


def _fidelity(status: Status, m: int) -> dict[str, Any]:
    problem = status.problem
    costs, low, high = problem.costs[:, m], problem.bias_low[:, m], problem.bias_high[:, m]
    off = np.maximum(np.abs(low), np.abs(high))
    same = bool((low == low[0]).all() and (high == high[0]).all() and np.isfinite(off[0]))
    return {
        "name": problem.fidelities[m],
        "costs": [float(costs.min()), float(costs.max())],
        "off": finite(np.array([off.min(), off.max()])),
        "bias": [float(low[0]), float(high[0])] if same else None,
        "results": int(status.counts[:, m].sum()),
        "spent": float(status.spent[:, m].sum()),
    }


class Search:
    """Finds arms by a part of their names."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._folded: list[str] | None = None  # made for the first search

    def find(self, text: str) -> list[int]:
        """The arms whose names contain a text in any case: those that are just that first, else in their order."""
        wanted = text.strip().casefold()
        if self._folded is None:
            self._folded = [name.casefold() for name in self._names]
        folded = self._folded
        found = [arm for arm, name in enumerate(folded) if wanted in name]
        return sorted(found, key=lambda arm: folded[arm] != wanted) if wanted else found
