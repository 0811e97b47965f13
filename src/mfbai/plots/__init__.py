"""Pictures. They need matplotlib, which is loaded when the first one is drawn."""

from mfbai.plots.costs import plot_costs
from mfbai.plots.savings import plot_plan
from mfbai.plots.shares import plot_shares

__all__ = ["plot_costs", "plot_plan", "plot_shares"]
