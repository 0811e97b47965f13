"""Race: the leader and all rivals that are not ruled out, in step, under the rule `contrasts`.

books   where every value has a seed of its own
"""

from mfbai.stopping import contrasts
from mfbai.strategies.interface import Strategy
from mfbai.strategies.race import books


def init(model, delta):
    return books.make_state(model, delta)


STRATEGIES = (
    Strategy("race", "leader and rivals in step; ours", init, needs=("delta",), keeps=contrasts.RULES[0].name),
)
