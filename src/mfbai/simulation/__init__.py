"""Simulation: many runs of a strategy on an instance whose means are known.

runs         `simulate`: what a strategy costs, and how often it errs
tracing      `trace`: how it spreads its cost over time
experiment   what both set up and check first, and one run at a time
engine       runs on several threads, with a progress bar and a clean end on Ctrl-C
confidence   the confidence interval of a mean
"""

from mfbai.simulation.runs import Runs, simulate
from mfbai.simulation.tracing import Trace, trace

__all__ = ["Runs", "Trace", "simulate", "trace"]
