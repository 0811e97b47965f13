"""The threshold of the paper's experiments: ln(K/delta) + M ln(ln t + 1). A heuristic, without proof.

M is the number of fidelities the strategy uses: 1 for one that keeps to the top.
"""

import numpy as np

from mfbai.stopping import glr
from mfbai.stopping.interface import Rule


def init(model, deltas, fidelities) -> glr.State:
    arms = model.cost.shape[0]
    return glr.init(model, np.log(arms / deltas), scale=fidelities, offset=1.0, first=arms * fidelities)


RULES = (Rule("stylised", "the heuristic threshold of the paper's experiments", init),)
