"""Stopping rules, by name, separate from sampling."""

from mfbai.stopping import stylised, theorem
from mfbai.stopping.shape import Rule, decide, observe

__all__ = ["RULES", "Rule", "decide", "observe"]

RULES: dict[str, Rule] = {rule.name: rule for module in (stylised, theorem) for rule in module.RULES}
