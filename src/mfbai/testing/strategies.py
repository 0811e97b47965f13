"""The contract of strategies, as checks that anyone can run on their own: `check_strategy(strategy)`.

    from mfbai.testing import check_strategy
    check_strategy(my_module.STRATEGIES[0])

Every strategy of the package passes it. Each check raises an AssertionError that says what is wrong.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mfbai.kernels.laws import sample
from mfbai.kernels.stats import Stats, make_stats
from mfbai.model.problem import Instance, Model
from mfbai.model.spec import check_instance
from mfbai.run import loop
from mfbai.run.state import arrays_of
from mfbai.stopping import own, stylised
from mfbai.strategies import Strategy, ask

STEPS = 400
DELTAS = (0.1, 1e-9)
LONGEST = 20_000  # evaluations within which an answer is waited for


class Journal(NamedTuple):
    """A run, evaluation by evaluation."""

    arms: NDArray[np.int64]
    fidelities: NDArray[np.int64]
    values: NDArray[np.float64]


class Records(NamedTuple):
    """Everything a run changes."""

    stats: Stats
    state: Any
    rule: Any
    outcome: loop.Outcome


def check_strategy(strategy: Strategy, instance: Instance | str = "paper-4x5", steps: int = STEPS) -> None:
    """All of the contract. `steps` is how long the runs are that are compared."""
    instance = check_instance(instance)
    check_ask_is_pure(strategy, instance)
    check_pending_spreads(strategy, instance)
    check_replay(strategy, instance, steps)
    if strategy.own_rule:
        check_answer(strategy, instance)
    check_one_compilation(strategy, instance)
    check_without_jit(strategy, instance, steps)


def check_ask_is_pure(strategy: Strategy, instance: Instance) -> None:
    """`ask` names a cell, the same one when asked again, and changes nothing."""
    model, records = _fresh(strategy, instance)
    _stepwise(strategy, instance, 50, records)
    before = _digest(records)
    pending = np.zeros(instance.shape, dtype=np.int64)
    cells = [ask(model, records.stats, records.state, pending) for _ in range(2)]
    assert cells[0] == cells[1], f"{strategy.name}: ask answers {cells[0]}, and when asked again {cells[1]}"
    arm, fidelity = cells[0]
    K, M = instance.shape
    assert 0 <= arm < K, f"{strategy.name}: ask names arm {arm} of {K}"
    assert 0 <= fidelity < M, f"{strategy.name}: ask names fidelity {fidelity} of {M}"
    assert _digest(records) == before, f"{strategy.name}: ask changed the state; only tell may"


def check_pending_spreads(strategy: Strategy, instance: Instance) -> None:
    """Asked for K M evaluations at once, a fresh strategy names every arm."""
    model, records = _fresh(strategy, instance)
    pending = np.zeros(instance.shape, dtype=np.int64)
    for _ in range(pending.size):
        pending[ask(model, records.stats, records.state, pending)] += 1
    idle = [instance.arms[a] for a in np.flatnonzero(pending.sum(axis=1) == 0)]
    assert not idle, f"{strategy.name}: of {pending.size} evaluations asked for at once none went to {idle}"


def check_replay(strategy: Strategy, instance: Instance, steps: int) -> None:
    """The compiled loop, single steps and a replay of the journal end in states that are equal to the bit."""
    model, single = _fresh(strategy, instance)
    journal = _stepwise(strategy, instance, steps, single)
    _, again = _fresh(strategy, instance)
    loop.replay(model, *again, *journal)
    assert _digest(again) == _digest(single), f"{strategy.name}: a replay of the journal ends in another state"
    _, looped = _fresh(strategy, instance)
    pending = np.zeros(instance.shape, dtype=np.int64)
    loop.advance(model, _truth(instance), *looped, pending, np.random.default_rng(0), len(journal.arms))
    assert _digest(looped) == _digest(single), f"{strategy.name}: the compiled loop ends in another state"


def check_answer(strategy: Strategy, instance: Instance) -> None:
    """A strategy with a rule of its own has no answer at first, and one that it does not take back."""
    model, records = _fresh(strategy, instance)
    answer = records.state.answer
    assert answer.shape == (1,), f"{strategy.name}: state.answer has the shape {answer.shape}, not (1,)"
    assert answer[0] == -1, f"{strategy.name}: the answer is {answer[0]} before any evaluation, not -1"
    journal = _stepwise(strategy, instance, LONGEST, records)
    if records.outcome.levels[0] == 1:
        found = int(answer[0])
        loop.replay(model, *records, *(part[:STEPS] for part in journal))  # a live study may go on
        assert answer[0] == found, f"{strategy.name}: its answer changed from {found} to {answer[0]}"


def check_one_compilation(strategy: Strategy, instance: Instance) -> None:
    """Instances of other sizes run on the code compiled for the first."""
    counts = set()
    for arms in (instance.shape[0], 2, 3):
        smaller = _with_arms(instance, arms)
        model, records = _fresh(strategy, smaller)
        pending = np.zeros(smaller.shape, dtype=np.int64)
        loop.advance(model, _truth(smaller), *records, pending, np.random.default_rng(0), 5)
        counts.add(len(getattr(loop.advance, "signatures", ())))
    assert len(counts) == 1, f"{strategy.name}: compiled again for another number of arms"


def check_without_jit(strategy: Strategy, instance: Instance, steps: int) -> None:
    """Run as plain Python, the strategy asks the same and ends in the same state."""
    journal, records = _journal(strategy, instance, steps)
    module = sys.modules[strategy.init.__module__]
    command = [sys.executable, "-m", "mfbai.testing.strategies", module.__name__, strategy.name, str(steps)]
    folders = [str(Path(module.__file__ or ".").parent), *sys.path]
    env = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(folders)}
    tables = json.dumps(instance.to_dict())
    done = subprocess.run(command, env=env, input=tables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{strategy.name}: fails as plain Python:\n{done.stderr}"
    assert done.stdout.strip() == _digest((journal, records)), f"{strategy.name}: as plain Python it runs differently"


def _fresh(strategy: Strategy, instance: Instance) -> tuple[Model, Records]:
    model = instance.problem.model()
    state = strategy.make(instance, DELTAS[-1])
    if strategy.own_rule:
        return model, Records(make_stats(instance.shape), state, own.State(state.answer), loop.make_outcome(1))
    fidelities = 1 if strategy.top_only else instance.problem.n_fidelities
    rule = stylised.init(model, np.array(DELTAS), fidelities)
    return model, Records(make_stats(instance.shape), state, rule, loop.make_outcome(len(DELTAS)))


def _truth(instance: Instance) -> NDArray[np.float64]:
    return instance.problem.sign * instance.means


def _stepwise(strategy: Strategy, instance: Instance, steps: int, records: Records) -> Journal:
    """Ask and tell one evaluation at a time, until `steps` are made or every level is decided."""
    model, truth = instance.problem.model(), _truth(instance)
    pending, rng = np.zeros(instance.shape, dtype=np.int64), np.random.default_rng(0)
    told: list[tuple[int, int, float]] = []
    while len(told) < steps and records.outcome.levels[0] < len(records.outcome.answer):
        arm, fidelity = ask(model, records.stats, records.state, pending)
        x = sample(model.law, rng, arm, fidelity, truth[arm, fidelity])
        loop.step(model, *records, arm, fidelity, x)
        told.append((arm, fidelity, x))
    arms, fidelities, values = zip(*told, strict=True)
    return Journal(np.array(arms), np.array(fidelities), np.array(values))


def _journal(strategy: Strategy, instance: Instance, steps: int) -> tuple[Journal, Records]:
    _, records = _fresh(strategy, instance)
    return _stepwise(strategy, instance, steps, records), records


def _with_arms(instance: Instance, arms: int) -> Instance:
    """The instance with its best arm and the first others."""
    keep = sorted([instance.best, *[a for a in range(instance.shape[0]) if a != instance.best][: arms - 1]])
    problem = instance.problem
    biases = (problem.bias_low[keep], problem.bias_high[keep])
    return Instance(instance.means[keep], problem.costs[keep], biases, problem.family, direction=problem.direction)


def _digest(record: Any) -> str:
    digest = hashlib.sha256()
    for array in arrays_of(record):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _main() -> None:
    """What check_without_jit runs in a process without compilation."""
    from mfbai.model.spec import from_dict

    module, name, steps = sys.argv[1:]
    strategy = next(found for found in import_module(module).STRATEGIES if found.name == name)
    instance = from_dict(json.load(sys.stdin), None)
    assert isinstance(instance, Instance)
    with np.errstate(all="ignore"):
        sys.stdout.write(_digest(_journal(strategy, instance, int(steps))))


if __name__ == "__main__":
    _main()
