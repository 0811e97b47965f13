"""What the values of one seed have in common, in a simulation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

from mfbai.checks import check_choice, real
from mfbai.errors import Faults, suggestion
from mfbai.model.families import Bounded, Family, Gaussian, SubGaussian, Symmetric

FACTORS = ("normal", "heavy")
ENTRIES = ("arms", "fidelities", "factor")
POSSIBLE = "give a number of 0 or more and below 1"


class Correlation(NamedTuple):
    """Of values with the same seed: those of two arms at one fidelity, and those of one arm at two fidelities.

    Values of two arms at two fidelities have the smaller of the two.
    """

    arms: float = 0.0
    fidelities: float = 0.0
    factor: str = "normal"  # the law of what is shared; "heavy" is Student's t with three degrees of freedom

    def to_spec(self) -> float | dict[str, Any]:
        """The entry of a spec file: the one number, where that says it all."""
        return self.arms if self == (self.arms, self.arms, FACTORS[0]) else self._asdict()

    def __str__(self) -> str:
        tails = "" if self.factor == FACTORS[0] else ", with heavy tails"
        if self.arms == self.fidelities:
            return f"{self.arms:g}{tails}"
        return f"{self.arms:g} between arms and {self.fidelities:g} between fidelities{tails}"


CorrelationLike: TypeAlias = float | Mapping[str, Any] | Correlation | None


def read_correlation(faults: Faults, given: Any, family: Family | None) -> Correlation | None:
    """The correlation as given, a number or a table; None if there is none, or a fault."""
    if given is None:
        return None
    before = len(faults)
    entries = given._asdict() if isinstance(given, Correlation) else given
    found = _read_table(faults, entries) if isinstance(entries, Mapping) else _read_number(faults, entries)
    if family is not None and not _is_normal(family) and (found.arms or not isinstance(family, Bounded)):
        why = f"cannot be had here: only normal values are simulated with one, and this family is {family.name}"
        hint = "; bounded ones only with one between fidelities, such as {fidelities = 0.9}"
        faults.add("correlation", why + (hint if isinstance(family, Bounded) else ""))
    return found if len(faults) == before and (found.arms or found.fidelities) else None


def _read_number(faults: Faults, given: Any) -> Correlation:
    share = real(given)
    if share is None or not 0 <= share < 1:
        why = f"{POSSIBLE}, or a table such as {{arms = 0.8, fidelities = 0.5}}"
        faults.add("correlation", f"is {given!r:.60}: {why}")
        return Correlation()
    return Correlation(share, share)


def _read_table(faults: Faults, given: Mapping[str, Any]) -> Correlation:
    for key in given:
        if key not in ENTRIES:
            faults.add("correlation", f"has an unknown entry {key!r:.60}: {suggestion(str(key), ENTRIES)}")
    if "arms" not in given and "fidelities" not in given:
        faults.add("correlation", "has neither 'arms' nor 'fidelities': add one, or both")
    shares = {name: real(given.get(name, 0.0)) for name in ENTRIES[:2]}
    for name, share in shares.items():
        if share is None or not 0 <= share < 1:
            faults.add(f"correlation.{name}", f"is {given[name]!r:.60}: {POSSIBLE}")
    factor = given.get("factor", FACTORS[0])
    check_choice(faults, "correlation.factor", factor, FACTORS)
    return Correlation(shares["arms"] or 0.0, shares["fidelities"] or 0.0, factor)


def _is_normal(family: Family) -> bool:
    """Whether a simulation draws normals."""
    return isinstance(family, Gaussian | SubGaussian | Symmetric) and family.mean_range[0] == -float("inf")
