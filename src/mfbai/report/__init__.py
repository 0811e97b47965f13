"""Pictures. They need matplotlib, which is loaded when the first one is drawn."""

from mfbai.report.costs import plot_costs
from mfbai.report.savings import plot_plan
from mfbai.report.shares import plot_shares

__all__ = ["plot_costs", "plot_plan", "plot_shares"]
