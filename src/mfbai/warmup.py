"""What people do with mfbai, on small problems of one family: whatever that needs is compiled afterwards.

`mfbai warmup` does it ahead of time, and `make wheel` for the wheel.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import numpy as np

from mfbai.analysis import guarantee
from mfbai.analysis.evidence import evidence
from mfbai.analysis.oracle import oracle
from mfbai.errors import InvalidInput
from mfbai.files import PACKAGE
from mfbai.kernels import parts
from mfbai.kernels.machine import cores
from mfbai.model.families import (
    Bernoulli,
    Bounded,
    Exponential,
    Family,
    Gaussian,
    Poisson,
    SubGaussian,
    Symmetric,
)
from mfbai.model.guess import Guess
from mfbai.model.instance import Instance
from mfbai.model.problem import Problem
from mfbai.planning import plan
from mfbai.simulation.engine import warm_up
from mfbai.simulation.experiment import prepare
from mfbai.stopping import RULES
from mfbai.strategies import STRATEGIES
from mfbai.study import create_study, verify
from mfbai.study.status import Part, Trial
from mfbai.study.storage import IN_MEMORY

SPREAD = 0.1  # of the values, where the family does not say it
MEANS = np.array([[0.3, 0.32], [0.71, 0.7], [0.5, 0.49]])
EXAMPLES: dict[str, Family] = {
    "gaussian": Gaussian(SPREAD**2),
    "subgaussian": SubGaussian(bounds=(0.0, 1.0)),
    "symmetric": Symmetric(0.0, 1.0),
    "bounded": Bounded(0.0, 1.0),
    "bernoulli": Bernoulli(),
    "poisson": Poisson(),
    "exponential": Exponential(),
}
SAME = {"subgaussian": "gaussian"}  # families whose compiled code is that of another one
LONGEST = 2000  # evaluations of a study


def compile_families(names: Sequence[str], done: Callable[[], None], **environment: str) -> None:
    """Compile everything for these families, each in a process of its own. `done` is called after each."""
    wanted = {SAME.get(name, name) for name in names}
    hardest_first = sorted(wanted, key=list(EXAMPLES).index, reverse=True)
    with ThreadPoolExecutor(cores()) as pool:
        children: set[subprocess.Popen[bytes]] = set()
        try:
            for work in [pool.submit(_compile, name, children, environment) for name in hardest_first]:
                work.result()
                done()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in children:
                child.kill()
            raise


def _compile(name: str, children: set[subprocess.Popen[bytes]], environment: dict[str, str]) -> None:
    code = f"import sys; sys.path.insert(0, {str(PACKAGE.parent)!r}); from mfbai.warmup import exercise"
    env = {key: value for key, value in os.environ.items() if key != "NUMBA_DISABLE_JIT"} | environment
    command = [sys.executable, "-P", "-c", f"{code}; exercise({name!r})"]
    with subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as child:
        children.add(child)
        _, complaint = child.communicate()
    if child.returncode:
        raise RuntimeError(f"compiling for {name} failed:\n{complaint.decode(errors='replace')[-2000:]}")


def exercise(name: str) -> None:
    """Do everything that can be done with a family."""
    parts.MANY = sys.maxsize  # this process is one of several already
    family = EXAMPLES[name]
    for instance in instances_of(family):
        _simulate(instance)
    plain, exact = instance_of(family), instance_of(family, deterministic=True)
    _analyse(plain)
    _analyse(exact)
    plan(plain.problem, Guess(plain.means, deviation=SPREAD if family.learns else None))
    for instance in instances_of(family):
        for strategy in ("race", "frugal"):
            with suppress(InvalidInput):  # they do not go together
                _study(instance, strategy)


def instance_of(family: Family, seeds: str = "independent", deterministic: bool = False) -> Instance:
    about: dict[str, Any] = {"costs": [0.05, 1.0], "biases": [0.05, 0.0], "family": family, "seeds": seeds}
    means = MEANS
    if deterministic:
        about |= {"costs": [0.01, 0.05, 1.0], "biases": [0.3, 0.05, 0.0], "deterministic": [True, False, False]}
        means = np.column_stack([MEANS[:, :1], MEANS])
    shared: Any = {"correlation": 0.5} if seeds == "common" and not isinstance(family, Bounded) else {}
    return Problem(3, **about).instance(means, deviation=SPREAD if family.learns else None, **shared)


def instances_of(family: Family) -> Iterator[Instance]:
    """Those that have compiled parts of their own."""
    yield instance_of(family)
    yield instance_of(family, deterministic=True)
    with suppress(InvalidInput):
        yield instance_of(family, seeds="common")
    for seeds in ("independent", "common"):
        with suppress(InvalidInput):
            yield _controlled(family, seeds)


def _controlled(family: Family, seeds: str) -> Instance:
    known: Any = {} if family.learns else {"variance": SPREAD**2}
    about: Any = {"costs": [0.05, 1.0], "biases": [np.inf, 0.0], "family": family, "seeds": seeds}
    problem = Problem(3, **about).controlled(0, 4, 0.8, **known)
    means = np.column_stack([MEANS[:, 0], MEANS[:, 1], MEANS[:, 1]])
    shared: Any = {} if isinstance(family, Bounded) else {"correlation": {"fidelities": 0.8}}
    return problem.instance(means, deviation=SPREAD if family.learns else None, **shared)


def _simulate(instance: Instance) -> None:
    for strategy in STRATEGIES:
        for rule in RULES:
            for audit in (0.0, 0.2):
                options = dict.fromkeys(RULES[rule].options, 1.0) if not STRATEGIES[strategy].own_rule else {}
                with suppress(InvalidInput):
                    warm_up(*prepare(instance, strategy, rule, 0.1, options, {}, audit=audit))
        with suppress(InvalidInput):
            warm_up(*prepare(instance, strategy, None, 0.1, {}, {}, endless=True))


def _analyse(instance: Instance) -> None:
    problem, rng = instance.problem, np.random.default_rng(0)
    values = [
        (arm, m, _value(instance, arm, m, rng))
        for arm in range(problem.n_arms)
        for m in range(problem.n_fidelities)
        for _ in range(1 if problem.deterministic[m] else 3)
    ]
    found = evidence(problem, values=values)
    _ = found.matrix, found.supergradient
    oracle(instance)
    oracle(instance, tolerance=0.1)
    guarantee.risk(problem, values=values)
    guarantee.intervals(problem, values=values)
    guarantee.bias_alarms(problem, values=values)


def _value(instance: Instance, arm: int, m: int, rng: np.random.Generator) -> float:
    """One that the family can return, close to the mean or one of few."""
    mean, family = float(instance.means[arm, m]), instance.problem.family
    if instance.problem.deterministic[m]:
        return mean
    if isinstance(family, Bernoulli | Poisson):
        return float(rng.random() < mean)
    return mean + 0.01 * float(rng.standard_normal())


def _parts(trial: Trial) -> Sequence[Trial | Part]:
    return trial.parts or (trial,)


def _study(instance: Instance, strategy: str) -> None:
    problem, rng = instance.problem, np.random.default_rng(1)
    for audit in (0.0, 0.2):
        study = create_study(problem, 0.3, storage=IN_MEMORY, strategy=strategy, audit=audit)
        study.warm_up()
        for _ in range(LONGEST):
            if study.result is not None:
                break
            trial = study.ask()
            cells = [(problem.arms.index(part.arm), problem.fidelities.index(part.fidelity)) for part in _parts(trial)]
            values = [_value(instance, *cell, rng) for cell in cells]
            study.tell(trial, values if trial.parts else values[0])
        study.status()
        verify(study.export())
        study.report()
