"""The contract of stopping rules: `check_rule(rule)`.

    from mfbai.testing import check_rule
    check_rule(my_module.RULES[0])

Every rule of the package passes it. Each check raises an AssertionError that says what is wrong. A rule's guarantee is
not checked: that needs a proof.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mfbai.model.instance import Instance
from mfbai.model.spec import check_instance
from mfbai.run.state import arrays_of
from mfbai.stopping import Rule, decide
from mfbai.testing import common
from mfbai.testing.common import DELTAS, LONGEST, STEPS, Start, stepwise, uniform_start

ROUNDS = 100  # equal evaluations of every cell, which say nothing about which arm is best


def check_rule(
    rule: Rule, instance: Instance | str = "paper-4x5", steps: int = STEPS, options: Mapping[str, Any] | None = None
) -> None:
    """Check a stopping rule: all of its contract, in runs of uniform sampling, with an `AssertionError` that says what
    it breaks.

    rule      as in `mfbai.stopping.RULES`
    instance  that it is run on
    steps     how long the runs are that are compared
    options   for rules that have some without a default

    >>> from mfbai.stopping import RULES
    >>> from mfbai.testing import check_rule
    >>> check_rule(RULES["stylised"], "paper-5x2")
    """
    instance, options = check_instance(instance), options or {}
    check_records(rule, instance, options)
    check_silent_without_evidence(rule, instance, options)
    check_decide_repeats(rule, instance, options)
    check_levels(rule, instance, options)
    start = starting(rule, options)
    common.check_replay(rule.name, start, instance, steps)
    common.check_one_compilation(rule.name, start, instance)
    common.check_without_jit(rule.name, start, instance, steps)


def check_records(rule: Rule, instance: Instance, options: Mapping[str, Any]) -> None:
    """`init` makes a record of arrays, and another one each time: a run must not change those of the next."""
    first, second = (make(rule, instance, DELTAS, options) for _ in range(2))
    named = isinstance(first, tuple) and hasattr(first, "_fields")
    assert named, f"{rule.name}: init returns a {type(first).__name__}: make it a NamedTuple"
    assert arrays_of(first), f"{rule.name}: its record has no array, so it could remember nothing"
    shared = any(np.shares_memory(a, b) for a in arrays_of(first) for b in arrays_of(second))
    assert not shared, f"{rule.name}: two records of init share an array: make new ones each time"


def check_silent_without_evidence(rule: Rule, instance: Instance, options: Mapping[str, Any]) -> None:
    """There is no answer without data, none if one arm alone has data, and none while all arms look the same."""
    K, M = instance.shape
    cells = np.array([(a, m) for _ in range(ROUNDS) for a in range(K) for m in range(M)])
    value = float(common.truth_of(instance)[instance.best, -1])
    for told, what in (
        (cells[:0], "before any evaluation"),
        (cells[cells[:, 0] == instance.best], "though only one arm was evaluated"),
        (cells, "though all cells returned the same value"),
    ):
        for level in range(len(DELTAS)):
            model, records = starting(rule, options, DELTAS[level:])(instance)
            values = np.full(len(told), value)
            arms, fidelities = (np.ascontiguousarray(column) for column in told.T)
            common.play_of(model, records).replay(arms, fidelities, values)
            answer = decide(model, records.stats, records.rule, 0)
            assert answer == -1 and not records.outcome.levels[0], (  # noqa: PT018
                f"{rule.name}: answers {answer} at delta {DELTAS[level]:g} {what}; it must be -1"
            )


def check_decide_repeats(rule: Rule, instance: Instance, options: Mapping[str, Any]) -> None:
    """`decide`, asked again without new data, says the same; and it names an arm or -1."""
    model, records = starting(rule, options)(instance)
    stepwise(instance, STEPS, records)
    for level in range(len(DELTAS)):
        answers = [int(decide(model, records.stats, records.rule, level)) for _ in range(2)]
        assert answers[0] == answers[1], f"{rule.name}: decide says {answers[0]}, and when asked again {answers[1]}"
        assert -1 <= answers[0] < instance.shape[0], f"{rule.name}: decide names arm {answers[0]}"


def check_levels(rule: Rule, instance: Instance, options: Mapping[str, Any]) -> None:
    """A smaller delta is decided no earlier; and the first of several levels as if it were alone."""

    def steps_at(*deltas: float) -> list[float]:
        model, records = starting(rule, options, deltas)(instance)
        common.looped(instance, LONGEST, model, records)
        decided = int(records.outcome.levels[0])
        answers = records.outcome.answer[:decided]
        assert ((answers >= 0) & (answers < instance.shape[0])).all(), f"{rule.name}: it answers {answers.tolist()}"
        return [*map(float, records.outcome.steps[:decided]), *[np.inf] * (len(deltas) - decided)]

    together, (large,), (small,) = steps_at(*DELTAS), steps_at(DELTAS[0]), steps_at(DELTAS[1])
    told = f"delta {DELTAS[1]:g} after {small:g} evaluations and {DELTAS[0]:g} after {large:g}"
    assert large <= small, f"{rule.name}: decides {told}: the smaller must need as many or more"
    told = f"after {together[0]:g} evaluations with another level beside it, and after {large:g} alone"
    assert together[0] == large, f"{rule.name}: decides delta {DELTAS[0]:g} {told}"


def make(rule: Rule, instance: Instance, deltas: Sequence[float], options: Mapping[str, Any]) -> Any:
    """The rule's record, with the options given and the defaults of the others."""
    settings = {**rule.options, **options}
    return rule.init(instance.problem.model(), np.array(deltas), instance.problem.n_fidelities, **settings)


def starting(rule: Rule, options: Mapping[str, Any], deltas: Sequence[float] = DELTAS) -> Start:
    """Runs of uniform sampling under the rule."""
    return uniform_start(lambda instance: make(rule, instance, deltas, options), len(deltas))
