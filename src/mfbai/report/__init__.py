"""Pictures. They need matplotlib, which is loaded when the first one is drawn."""

from mfbai.report.savings import plot_plan

__all__ = ["plot_plan"]
