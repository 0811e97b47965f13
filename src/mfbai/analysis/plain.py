"""What analyses found, as `print` and the command line show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfbai.analysis import sentences
from mfbai.analysis.controls import states_variances
from mfbai.analysis.pilot import SHOWN_LEVEL
from mfbai.analysis.rows import CONTROLS, bias_rows, control_rows
from mfbai.text import columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mfbai.analysis.onward import Onward

SHOWN = 20  # arms


def pilot_as_text(onward: Onward) -> str:
    """What to do first, then what it rests on."""
    return "\n".join(_lines(onward))


def _lines(onward: Onward) -> Iterator[str]:
    pilot, level = onward.pilot, onward.bounds or SHOWN_LEVEL
    yield from (onward.advice, sentences.size(pilot), *onward.assumptions, "")
    yield f"Control of {pilot.fidelities[-1]!r} ({sentences.brackets(onward)})"
    yield columns([CONTROLS, *control_rows(onward)])
    if onward.variances is None and states_variances(pilot.given):
        yield "If the variance of controlled values is stated, too; variances=0.01 takes it from the pilot."
    yield from ("", f"Bias ({sentences.hold(pilot, level)})")
    yield columns([["arm", *pilot.fidelities[:-1]], *bias_rows(pilot, level, SHOWN)])
    if pilot.given.n_arms > SHOWN:
        yield f"and {pilot.given.n_arms - SHOWN} more arms"
    if pilot.between_arms is not None:
        yield from ("", f"Do common seeds pay? {sentences.common_seeds(onward)}")
