"""Planning: what finding the best arm would cost, from a guess of the means."""

from mfbai.planning.plans import plan
from mfbai.planning.results import Plan

__all__ = ["Plan", "plan"]
