"""From the names of a strategy and a rule, and their options, to the records of one run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mfbai.checks import real
from mfbai.errors import Faults, suggestion
from mfbai.model.compiled import Model
from mfbai.model.instance import Instance
from mfbai.model.problem import Problem
from mfbai.run.exact import first_wishes
from mfbai.stopping import DEFAULT, RULES, Rule, glr, own
from mfbai.stopping.exclusion import MOST_PAIRS
from mfbai.strategies import STRATEGIES, Strategy


class Parts(NamedTuple):
    """What a run is made of, live or simulated."""

    model: Model
    make_state: Callable[[], Any]
    make_rule: Callable[[Any], Any]  # given the state


def choose(problem: Problem, strategy: str | None, stopping: str | None, tolerance: float = 0.0) -> tuple[str, str]:
    """The names of a strategy and a rule, where not both are given: the cheapest that is proven for the problem."""
    fits = problem.model().law.quadratic
    few = tolerance == 0.0 or problem.n_arms <= MOST_PAIRS
    best = "race" if problem.seeds == "common" or (fits and few) else "frugal"
    if strategy is None:
        serves = RULES[stopping].only if stopping in RULES else None
        strategy = serves or (best if stopping is None or problem.seeds == "common" else "frugal")
    if stopping is None:
        stopping = STRATEGIES[strategy].keeps if strategy in STRATEGIES else None
    return strategy, stopping or DEFAULT


def assemble(
    what: Problem | Instance,
    strategy: str,
    stopping: str | None,
    deltas: NDArray[np.float64],
    options: Any,
    tolerance: float = 0.0,
    audit: float = 0.0,
) -> Parts:
    """The parts of a run, of a strategy and a rule that exist; their options are checked, and the share of an audit."""
    plan = STRATEGIES[strategy]
    rule = RULES[stopping] if stopping is not None and not plan.own_rule else None
    problem = what.problem if isinstance(what, Instance) else what
    model = what.model(tolerance)
    model.exact.nats[0] = np.log((problem.n_arms - 1) / deltas[-1])
    first_wishes(model)
    fidelities = 1 if plan.top_only else model.cost.shape[1]
    faults = Faults()
    for name in problem.idle:
        told = f"of {name!r} are not bounded, and it controls nothing: values of its own prove nothing"
        faults.add("biases", f"{told}; state a bound, or let `mfbai pilot` find what it is good for")
    _check_pairing(faults, problem, plan, rule)
    model.audit.share[0] = _check_audit(faults, audit, model, plan)
    paired = not faults
    given = _check_options(faults, options, [*plan.options, *(rule.options if rule else ())])

    def make_state() -> Any:
        return plan.make(what, float(deltas[0]), given, tolerance)

    def make_rule(state: Any) -> Any:
        if plan.own_rule:
            return own.never() if stopping is None else own.State(state.answer)
        if rule is None:
            return glr.never(model)
        if state is not None and plan.keeps == rule.name:
            return state.rule
        settings = {name: given.get(name, default) for name, default in rule.options.items()}
        return rule.init(model, deltas, fidelities, **settings)

    if paired:
        with faults.absorb():
            make_state()
    if paired and not plan.own_rule and (rule is None or rule.name != plan.keeps):  # else it comes with the state
        with faults.absorb():
            make_rule(None)
    faults.raise_if_any("options")
    return Parts(model, make_state, make_rule)


def _check_pairing(faults: Faults, problem: Problem, plan: Strategy, rule: Rule | None) -> None:
    """A fault for a strategy and a rule that do not go together, or not with seeds that arms share."""
    common = problem.seeds == "common"
    why = "with common seeds a value's law depends on the others', and only race with contrasts is proven for that"
    if common and plan.round is None:
        faults.add("strategy", f"is {plan.name!r}: {why}")
    elif common and rule is not None and rule.only is None:
        faults.add("stopping", f"is {rule.name!r}: {why}")
    if rule is not None and rule.only not in (None, plan.name):
        faults.add("stopping", f"is {rule.name!r}, which bets on what {rule.only} plans: take it with {rule.only}")


def _check_audit(faults: Faults, audit: Any, model: Model, plan: Strategy) -> float:
    """The share to audit; 0 if every evaluation is without bias in any case."""
    share = real(audit)
    if share is None or not 0 <= share < 1:
        faults.add("audit", f"is {audit!r:.60}: give the share of the cost, from 0 to less than 1, such as 0.1")
        return 0.0
    if share > 0 and plan.own_rule:
        told = f"is {audit!r}, but {plan.name} follows a plan that allows no other evaluations: take race or frugal"
        faults.add("audit", told)
    biased = any(bias.any() for known in (model, model.exact) for bias in (known.bias_low, known.bias_high))
    return share if biased and not model.exact.top and not plan.top_only else 0.0


def _check_options(faults: Faults, options: Any, known: list[str]) -> dict[str, Any]:
    """The options that can be used; a fault for each that cannot."""
    if not isinstance(options, Mapping):
        faults.add("options", f"is {options!r}: give names and values, such as {{'rate': 0.1}}")
        return {}
    given = {}
    for name, value in options.items():
        if name not in known:
            hint = suggestion(str(name), known) if known else "neither the strategy nor the stopping rule has any"
            faults.add("options", f"has no {name!r}: {hint}")
        elif isinstance(value, bool) or not isinstance(value, Real):
            faults.add(name, f"is {value!r}: give a number")
        else:
            given[name] = value
    return given
