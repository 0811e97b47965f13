"""Race: the leader and all rivals that are not ruled out, in step, under the rule `contrasts`.

books    where every value has a seed of its own, and variances are known
rounds   where arms share seeds, or the size of the noise is unknown
field    what both share
"""

from mfbai.errors import Fault, InvalidInput
from mfbai.stopping import contrasts
from mfbai.stopping.exclusion import MOST_PAIRS
from mfbai.strategies.interface import Strategy
from mfbai.strategies.race import books, rounds


def init(model, delta):
    check(model)
    return rounds.make_state(model, delta) if contrasts.in_rounds(model) else books.make_state(model, delta)


def check(model) -> None:
    """Refuse problems that race cannot solve."""
    if not model.law.quadratic:
        family = type(model.law).__name__.removesuffix("Law").lower()
        told = f"is 'race', which needs a gaussian, subgaussian, symmetric or bounded family, and this one is {family}"
        instead = "take independent seeds, and frugal" if model.common else "take frugal"
        serves = ", or the family bounded, from 0 to 1, which holds such values" if family == "bernoulli" else ""
        raise InvalidInput([Fault("strategy", f"{told}: {instead} with the e-process{serves}")])
    K = model.cost.shape[0]
    if model.tolerance > 0.0 and K > MOST_PAIRS:
        told = f"is 'race', which with a tolerance compares {MOST_PAIRS} arms at most, and there are {K}"
        raise InvalidInput([Fault("strategy", f"{told}: take frugal with the e-process, or no tolerance")])


STRATEGIES = (
    Strategy(
        "race",
        "leader and rivals in step; ours",
        init,
        needs=("delta",),
        keeps=contrasts.RULES[0].name,
        round=rounds.round_of,
    ),
)
