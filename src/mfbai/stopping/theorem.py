"""The threshold of the paper's theorem: ln(K/delta) + 2M ln(4 ln(K/delta) + 1) + 12M ln(ln t + 3) + 2M C.

The paper never says what its universal constant C is, so the caller must give it, and the rule carries
a guarantee only if that value is right.
"""

from math import isfinite

import numpy as np

from mfbai.errors import Fault, InvalidInput
from mfbai.stopping import glr
from mfbai.stopping.interface import Rule


def init(model, deltas, fidelities, constant) -> glr.State:
    if constant is None or not isfinite(constant):
        told = f"is {constant!r}: the theorem's threshold has a constant that the paper never states; give it a value"
        raise InvalidInput([Fault("constant", f"{told}, such as constant=1.0")], "options of the stopping rule")
    arms, M = model.cost.shape[0], fidelities
    log = np.log(arms / deltas)
    base = log + 2 * M * np.log(4 * log + 1) + 2 * M * constant
    return glr.init(model, base, scale=12 * M, offset=3.0, first=arms * M)


RULES = (Rule("theorem", "the paper's proven threshold, up to a constant to be given", init, {"constant": None}),)
