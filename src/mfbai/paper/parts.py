"""The chapters, in the order of the report. To add one, write its module and add its PART here: nothing else knows
the list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from mfbai.errors import Faults, suggestion
from mfbai.paper import appendix, beyond, constant, costs, shares, trap
from mfbai.paper.claims import Claim
from mfbai.paper.pieces import Computation, Item, Made, Noise

PARTS = (costs.PART, constant.PART, shares.PART, beyond.PART, trap.PART, appendix.PART)
Scope = Noise | None  # what is made at some variance of the paper's instances, or None: what has no variance


def items(scope: Scope) -> Iterator[Item]:
    """All figures and tables of a scope."""
    for part in PARTS:
        if part.by_variance == (scope is not None):
            yield from part.items(*_noise(scope))


def chosen(wanted: Sequence[str]) -> list[str]:
    """The names that are meant by names and groups; all, if none are given."""
    everything = [(item.name, item.group) for scope in (Noise(), None) for item in items(scope)]
    known = [*(part.group for part in PARTS), *(name for name, _ in everything)]
    faults = Faults()
    for name in wanted:
        if name not in known:
            faults.add("FIGURE", f"{name!r} is not known: {suggestion(name, known)}")
    faults.raise_if_any("call")
    return [name for name, group in everything if not wanted or name in wanted or group in wanted]


def select(wanted: Sequence[str], noises: Iterable[Noise]) -> dict[Scope, list[Item]]:
    """The figures and tables that are meant, of each scope."""
    names = chosen(wanted)
    found: dict[Scope, list[Item]] = {}
    for scope in (*noises, None):
        named = {scope.name(name) for name in names} if scope else set(names)
        found[scope] = [item for item in items(scope) if item.name in named]
    return found


def computations(scopes: Iterable[Scope]) -> Iterator[Computation]:
    for scope in scopes:
        for part in PARTS:
            if part.by_variance == (scope is not None):
                yield from part.computations(*_noise(scope))


def claims(selected: dict[Scope, list[Item]], made: Made) -> dict[Scope, list[Claim]]:
    """What is found of the claims of the parts that were asked for."""
    found: dict[Scope, list[Claim]] = {}
    for scope, shown in selected.items():
        groups = {item.group for item in shown}
        asked = [part for part in PARTS if part.group in groups]
        found[scope] = [claim for part in asked for claim in part.claims(made, *_noise(scope))]
    return found


def _noise(scope: Scope) -> tuple[Noise, ...]:
    return () if scope is None else (scope,)
