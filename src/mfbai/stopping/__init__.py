"""Stopping rules, by name, separate from sampling."""

from mfbai.stopping import e_process, kaufmann_koolen, stylised, theorem
from mfbai.stopping.interface import Rule, decide, observe

__all__ = ["DEFAULT", "RULES", "Rule", "decide", "observe"]

DEFAULT = "e-process"  # proven
RULES: dict[str, Rule] = {
    rule.name: rule for module in (e_process, stylised, theorem, kaufmann_koolen) for rule in module.RULES
}
