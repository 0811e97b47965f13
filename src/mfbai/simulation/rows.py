"""Simulations in rows of text, for the command line and for notebooks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

HEADINGS = ("delta", "mean cost", "± 95 %", "median", "errors", "steps", "stopped")


def row_of(record: Mapping[str, Any]) -> list[str]:
    """One of `Runs.records`, in the columns of `HEADINGS`."""
    at_least = "≥ " * (record["stopped"] < 1)  # runs given up would have cost more
    return [
        f"{record['delta']:g}",
        f"{at_least}{record['mean_cost']:,.1f}",
        "" if record["cost_ci95"] is None else f"{record['cost_ci95']:,.1f}",
        f"{at_least}{record['median_cost']:,.1f}",
        f"{100 * record['error_rate']:.2f} %",
        f"{record['mean_steps']:,.0f}",
        f"{100 * record['stopped']:.0f} %",
    ]
