"""The contract of strategies: `check_strategy(strategy)`.

    from mfbai.testing import check_strategy
    check_strategy(my_module.STRATEGIES[0])

Every strategy of the package passes it. Each check raises an AssertionError that says what is wrong.
"""

from __future__ import annotations

import numpy as np

from mfbai.model.compiled import Model
from mfbai.model.instance import Instance
from mfbai.model.spec import check_instance
from mfbai.stopping import own, stylised
from mfbai.strategies import Strategy, ask
from mfbai.testing import common
from mfbai.testing.common import DELTAS, LONGEST, STEPS, Records, Start, digest, stepwise


def check_strategy(strategy: Strategy, instance: Instance | str = "paper-4x5", steps: int = STEPS) -> None:
    """Check a strategy: all of its contract, with an `AssertionError` that says what it breaks.

    strategy  as in `mfbai.strategies.STRATEGIES`
    instance  that it is run on
    steps     how long the runs are that are compared

    >>> from mfbai.strategies import STRATEGIES
    >>> from mfbai.testing import check_strategy
    >>> check_strategy(STRATEGIES["uniform"], "paper-5x2")
    """
    instance = check_instance(instance)
    check_ask_is_pure(strategy, instance)
    check_pending_spreads(strategy, instance)
    check_replay(strategy, instance, steps)
    if strategy.own_rule:
        check_answer(strategy, instance)
    common.check_one_compilation(strategy.name, starting(strategy), instance)
    check_without_jit(strategy, instance, steps)


def check_ask_is_pure(strategy: Strategy, instance: Instance) -> None:
    """`ask` names a cell, the same one when asked again, and changes nothing."""
    model, records = starting(strategy)(instance)
    stepwise(instance, 50, records)
    before = digest(records)
    pending = np.zeros(instance.shape, dtype=np.int64)
    cells = [ask(model, records.stats, records.state, pending) for _ in range(2)]
    assert cells[0] == cells[1], f"{strategy.name}: ask answers {cells[0]}, and when asked again {cells[1]}"
    arm, fidelity = cells[0]
    K, M = instance.shape
    assert 0 <= arm < K, f"{strategy.name}: ask names arm {arm} of {K}"
    assert 0 <= fidelity < M, f"{strategy.name}: ask names fidelity {fidelity} of {M}"
    assert digest(records) == before, f"{strategy.name}: ask changed the state; only tell may"


def check_pending_spreads(strategy: Strategy, instance: Instance) -> None:
    """Asked for K M evaluations at once, a fresh strategy names every arm."""
    model, records = starting(strategy)(instance)
    pending = np.zeros(instance.shape, dtype=np.int64)
    for _ in range(pending.size):
        pending[ask(model, records.stats, records.state, pending)] += 1
    idle = [instance.arms[a] for a in np.flatnonzero(pending.sum(axis=1) == 0)]
    assert not idle, f"{strategy.name}: of {pending.size} evaluations asked for at once none went to {idle}"


def check_replay(strategy: Strategy, instance: Instance, steps: int) -> None:
    """The compiled loop, single steps and a replay of the journal end in states that are equal to the bit."""
    common.check_replay(strategy.name, starting(strategy), instance, steps)


def check_answer(strategy: Strategy, instance: Instance) -> None:
    """A strategy with a rule of its own has no answer at first, and one that it does not take back."""
    model, records = starting(strategy)(instance)
    answer = records.state.answer
    assert answer.shape == (1,), f"{strategy.name}: state.answer has the shape {answer.shape}, not (1,)"
    assert answer[0] == -1, f"{strategy.name}: the answer is {answer[0]} before any evaluation, not -1"
    journal = stepwise(instance, LONGEST, records)
    if records.outcome.levels[0] == 1:
        found = int(answer[0])
        more = journal.arms[:STEPS], journal.fidelities[:STEPS], journal.values[:STEPS]
        common.play_of(model, records).replay(*more)  # a live study may go on
        assert answer[0] == found, f"{strategy.name}: its answer changed from {found} to {answer[0]}"


def check_without_jit(strategy: Strategy, instance: Instance, steps: int) -> None:
    """Run as plain Python, the strategy asks the same and ends in the same state."""
    common.check_without_jit(strategy.name, starting(strategy), instance, steps)


def starting(strategy: Strategy) -> Start:
    """Runs of the strategy under its own rule, or the quickest one."""

    def start(instance: Instance) -> tuple[Model, Records]:
        model = instance.model()
        state = strategy.make(instance, DELTAS[-1])
        if strategy.own_rule:
            return model, common.records_of(instance, state, own.State(state.answer), 1)
        fidelities = 1 if strategy.top_only else instance.problem.n_fidelities
        rule = stylised.init(model, np.array(DELTAS), fidelities)
        return model, common.records_of(instance, state, rule, len(DELTAS))

    return start
