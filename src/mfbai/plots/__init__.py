"""Pictures. They need matplotlib, which is loaded when the first one is drawn.

distributions   `plot_costs`: what the runs of strategies cost
traces          `plot_shares`: how a strategy spreads its cost over time
savings         `plot_plan`: what each fidelity saves
pilot           `plot_pilot`: cheap values against true ones
shares          the optimal shares of an oracle
studies         a study: evidence, intervals, spend, history
picture         the figure that notebooks show
looks           how each strategy is drawn
style           colours, axes and files, for all of them
"""

from mfbai.plots import shares  # noqa: F401 - registers itself
from mfbai.plots.distributions import plot_costs
from mfbai.plots.pilot import plot_pilot
from mfbai.plots.savings import plot_plan
from mfbai.plots.traces import plot_shares

__all__ = ["plot_costs", "plot_pilot", "plot_plan", "plot_shares"]
