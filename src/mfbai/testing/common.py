"""What the contracts share: runs that are repeated in other ways and must end in the same records, to the bit."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from mfbai.kernels import parts
from mfbai.kernels.laws import sample
from mfbai.kernels.random import first_words, make_rng, reseed
from mfbai.kernels.stats import Stats, make_stats
from mfbai.model.compiled import Model
from mfbai.model.instance import Instance
from mfbai.run import loop
from mfbai.run.play import Play
from mfbai.run.state import arrays_of
from mfbai.run.truth import make_truth
from mfbai.strategies import STRATEGIES

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


Start = Callable[[Instance], tuple[Model, Records]]  # begins a run on an instance


def records_of(instance: Instance, state: Any, rule: Any, levels: int) -> Records:
    """The records of a run that begins."""
    return Records(make_stats(instance.shape), state, rule, loop.make_outcome(levels))


def uniform_start(make_rule: Callable[[Instance], Any], levels: int = len(DELTAS)) -> Start:
    """Runs of uniform sampling under a rule."""

    def start(instance: Instance) -> tuple[Model, Records]:
        state = STRATEGIES["uniform"].make(instance, DELTAS[-1])
        return instance.model(), records_of(instance, state, make_rule(instance), levels)

    return start


def truth_of(instance: Instance) -> NDArray[np.float64]:
    """(K, M) the means as kernels see them."""
    return instance.problem.sign * instance.means


def stepwise(instance: Instance, steps: int, records: Records) -> Journal:
    """Ask and tell one evaluation at a time, as a live study does, until `steps` are made or every level is decided."""
    model, truth, rng = instance.model(), truth_of(instance), _begun()
    play, told = play_of(model, records), list[tuple[int, int, float]]()
    while len(told) < steps and records.outcome.levels[0] < len(records.outcome.answer):
        arm, fidelity = play.ask()
        x = sample(model.law, rng, arm, fidelity, truth[arm, fidelity])
        play.replay(*_journal([(arm, fidelity, x)]))
        told.append((arm, fidelity, x))
    return _journal(told)


def play_of(model: Model, records: Records) -> Play:
    return Play(model, *records, np.zeros(model.cost.shape, dtype=np.int64))


def _begun() -> Any:
    """Random numbers, from the first."""
    rng = make_rng()
    reseed(rng, first_words(0, np.zeros(1, dtype=np.int64))[0])
    return rng


def _journal(told: list[tuple[int, int, float]]) -> Journal:
    arms, fidelities, values = zip(*told, strict=True)
    return Journal(np.array(arms), np.array(fidelities), np.array(values))


def looped(instance: Instance, steps: int, model: Model, records: Records) -> None:
    """The same run in the compiled loop."""
    play, truth = play_of(model, records), make_truth(truth_of(instance), None)
    job = loop.make_job(model, len(records.outcome.answer), first_words(0, np.zeros(1, dtype=np.int64)), [steps])
    play.simulate(truth, _begun(), job)()


def check_replay(name: str, start: Start, instance: Instance, steps: int) -> None:
    """The compiled loop, single steps and a replay of the journal end in records that are equal to the bit."""
    _, single = start(instance)
    journal = stepwise(instance, steps, single)
    model, again = start(instance)
    play_of(model, again).replay(*journal)
    assert digest(again) == digest(single), f"{name}: a replay of the journal ends in another state"
    model, other = start(instance)
    looped(instance, len(journal.arms), model, other)
    assert digest(other) == digest(single), f"{name}: the compiled loop ends in another state"


def check_one_compilation(name: str, start: Start, instance: Instance) -> None:
    """Instances of other sizes run on the code compiled for the first."""
    counts = set()
    for arms in (instance.shape[0], 2, 3):
        smaller = _with_arms(instance, arms)
        looped(smaller, 5, *start(smaller))
        counts.add(parts.count())
    assert len(counts) == 1, f"{name}: compiled again for another number of arms"


def check_without_jit(name: str, start: Start, instance: Instance, steps: int) -> None:
    """Run as plain Python, the same cells are asked for and the records end up the same."""
    _, records = start(instance)
    compiled = stepwise(instance, steps, records), records
    with without_jit():
        try:
            _, records = start(instance)
            plain = stepwise(instance, steps, records), records
        except Exception as error:
            raise AssertionError(f"{name}: fails as plain Python: {error!r}") from error
    assert digest(plain) == digest(compiled), f"{name}: as plain Python it runs differently"


@contextmanager
def without_jit() -> Iterator[None]:
    """Kernels run as plain Python in this block, wherever they were defined: in a file, a script or a notebook."""
    with patch.dict(os.environ, {"NUMBA_DISABLE_JIT": "1"}), np.errstate(all="ignore"):
        yield


def digest(record: Any) -> str:
    """A digest of all arrays in nested tuples."""
    sha = hashlib.sha256()
    for array in arrays_of(record):
        sha.update(np.ascontiguousarray(array).tobytes())
    return sha.hexdigest()


def _with_arms(instance: Instance, arms: int) -> Instance:
    """The instance with its best arm and the first others."""
    keep = sorted([instance.best, *[a for a in range(instance.shape[0]) if a != instance.best][: arms - 1]])
    problem = instance.problem
    biases = (problem.bias_low[keep], problem.bias_high[keep])
    smaller = problem.replace(arms=arms, costs=problem.costs[keep], biases=biases)
    deviation = None if instance.deviation is None else instance.deviation[keep]
    return smaller.instance(instance.means[keep], deviation=deviation)
