"""Stopping rules, by name, separate from sampling. How to add one: docs/developer/extending.md.

interface        the shape of a rule
contrasts        proven for race, and the tightest: bets on differences
books            of contrasts, where every value has a seed of its own
rounds           of contrasts, where arms share seeds
exclusion        what both share
bearing          what a proof of contrasts can bear
e_process        proven for every strategy, family and order
kaufmann_koolen  proven, and loose
stylised         the heuristic of the paper's experiments
theorem          the paper's theorem, up to a constant to be given
glr              what the last three share: the test of F against a threshold
own              for strategies that decide by themselves
"""

from mfbai.stopping import contrasts, e_process, kaufmann_koolen, stylised, theorem
from mfbai.stopping.interface import Rule, decide, observe

__all__ = ["DEFAULT", "RULES", "Rule", "decide", "observe"]

DEFAULT = "e-process"  # of strategies that have no rule of their own: proven for all
RULES: dict[str, Rule] = {
    rule.name: rule for module in (e_process, contrasts, stylised, theorem, kaufmann_koolen) for rule in module.RULES
}
