"""Planning: what finding the best arm would cost, from a guess of the means.

plans      `plan`: makes one
results    `Plan`: what it found
truths     means drawn at random among those that fit the guess
controlled controlled fidelities as a plan sees them, and what a pilot tells it
variants   the problem with fewer, cheaper or better known fidelities
ideal      what a stopping rule costs with the optimal allocation
samples    what a real strategy spends, simulated
"""

from mfbai.planning.plans import plan
from mfbai.planning.results import Plan

__all__ = ["Plan", "plan"]
