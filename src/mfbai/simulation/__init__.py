"""Simulation: many runs, or how one goes on over time."""

from mfbai.simulation.runs import Runs, simulate
from mfbai.simulation.tracing import Trace, trace

__all__ = ["Runs", "Trace", "simulate", "trace"]
