"""Monte-Carlo: what a strategy costs, and how often it errs, under a stopping rule."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mfbai.model.instance import Instance
from mfbai.pictures import picture_of
from mfbai.simulation.confidence import half_width
from mfbai.simulation.engine import make_runs, warm_up
from mfbai.simulation.experiment import Setup, prepare
from mfbai.stopping.own import OWN
from mfbai.strategies import STRATEGIES

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

FOREVER = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Runs:
    """The outcome of many runs, of `simulate`: arrays (runs,) for one delta, (runs, deltas) for several.

    instance  what was run
    strategy  that was run
    stopping  the rule that ended runs
    delta     the risk, or several
    seed      that everything depends on
    costs     of each run
    answers   the arm that each run answered; -1 if it did not stop
    steps     how many evaluations it took
    stopped   whether it did: false for a run that reached max_steps, whose cost and steps are what it had spent by
              then, and which counts as no error
    pulls     (runs, K, M) evaluations of each cell by the end of the run
    seconds   it took, without compilation

    >>> from mfbai import simulate
    >>> runs = simulate("paper-5x2", delta=0.1, runs=20, seed=1)
    >>> len(runs), runs.pulls.shape, bool(runs.stopped.all())
    (20, (20, 5, 2), True)
    """

    instance: Instance
    strategy: str
    stopping: str
    delta: float | tuple[float, ...]
    seed: int
    costs: NDArray[np.float64]
    answers: NDArray[np.int64]
    steps: NDArray[np.int64]
    stopped: NDArray[np.bool_]
    pulls: NDArray[np.int64]
    seconds: float

    def __len__(self) -> int:
        return len(self.costs)

    @property
    def mean_cost(self) -> Any:
        """The mean cost. Like the summaries below, it is a number, or (deltas,) for several deltas."""
        return self.costs.mean(axis=0)

    @property
    def cost_ci95(self) -> Any:
        """Half the width of the 95 % confidence interval of the mean cost (Student's t); NaN for one run."""
        return half_width(self.costs)

    @property
    def median_cost(self) -> Any:
        """The median cost."""
        return np.median(self.costs, axis=0)

    @property
    def mean_steps(self) -> Any:
        """The mean number of evaluations."""
        return self.steps.mean(axis=0)

    @property
    def error_rate(self) -> Any:
        """The share of runs that stopped with a wrong answer."""
        return (self.stopped & (self.answers != self.instance.best)).mean(axis=0)

    def records(self) -> list[dict[str, Any]]:
        """A summary for each delta, as plain Python values."""
        columns = {
            "mean_cost": self.mean_cost,
            "cost_ci95": self.cost_ci95,
            "median_cost": self.median_cost,
            "error_rate": self.error_rate,
            "mean_steps": self.mean_steps,
            "stopped": self.stopped.mean(axis=0),
        }
        return [
            {
                "instance": self.instance.name,
                "strategy": self.strategy,
                "stopping": self.stopping,
                "delta": delta,
                "runs": len(self),
                "seed": self.seed,
                **{name: _plain(np.atleast_1d(column)[level]) for name, column in columns.items()},
                "seconds": round(self.seconds, 3),
            }
            for level, delta in enumerate(np.atleast_1d(self.delta).tolist())
        ]

    def columns(self) -> dict[str, NDArray[Any]]:
        """A table by its columns, with a row for each run and delta: `run`, `delta`, `cost`, `steps`, `answer`,
        `stopped` and `correct`."""
        deltas = np.atleast_1d(self.delta)
        return {
            "run": np.repeat(np.arange(len(self)), len(deltas)),
            "delta": np.tile(deltas, len(self)),
            "cost": self.costs.ravel(),
            "steps": self.steps.ravel(),
            "answer": self.answers.ravel(),
            "stopped": self.stopped.ravel(),
            "correct": (self.answers == self.instance.best).ravel(),
        }

    def to_frame(self) -> pd.DataFrame:
        """The columns as a pandas DataFrame."""
        try:
            import pandas as pd
        except ImportError:
            raise ImportError("to_frame needs pandas: pip install 'mfbai[frame]'") from None
        return pd.DataFrame(self.columns())

    def to_json(self) -> str:
        """The summaries and every run, as JSON."""
        arrays = ("costs", "answers", "steps", "stopped", "pulls")
        return json.dumps({"summary": self.records(), **{name: getattr(self, name).tolist() for name in arrays}})

    def __repr__(self) -> str:
        summary = ", ".join(
            f"delta {row['delta']:g}: cost {row['mean_cost']:.4g} ± {_ci(row['cost_ci95'])}, "
            f"errors {100 * row['error_rate']:.2g} %{_unfinished(row['stopped'])}"
            for row in self.records()
        )
        name = self.instance.name or "instance"
        return f"<Runs: {len(self)} of {self.strategy} on {name}, {self.stopping}; {summary}>"

    def _repr_html_(self) -> str:
        from mfbai.simulation.markup import runs_as_html  # for notebooks alone

        return runs_as_html(self)

    def plot(self) -> Figure:
        """A picture of what the runs cost, and of the least that any strategy costs, by delta. Needs matplotlib."""
        return picture_of(self)


def simulate(
    instance: Instance | str,
    strategy: str | None = None,
    delta: float | Sequence[float] = 0.01,
    runs: int = 1000,
    seed: int = 0,
    stopping: str | None = None,
    max_steps: int | None = None,
    workers: int | None = None,
    options: Mapping[str, float] | None = None,
    seeds: str | None = None,
    audit: float = 0.0,
    executor: Any = None,
) -> Runs:
    """Run a strategy many times on an instance and report what it cost: returns `Runs`. Results depend on the seed
    alone, not on the executor or the number of workers. Ctrl-C returns what is done.

    instance   an `Instance`, or the name or file of one
    strategy   by default the cheapest for the family, as in live studies: "race", or "frugal" for values that are
               `Bernoulli`, `Poisson` or `Exponential`, unless seeds are common
    delta      the risk of a wrong answer: one number or several. One trajectory serves several, if sampling does not
               depend on delta: a run lasts until the smallest is decided. Strategies whose sampling does ("race",
               "frugal", "iise", ...) make one for each.
    runs       how many
    seed       that everything depends on
    stopping   the rule: by default the proven one that goes with the strategy. Strategies that stop by a rule of their
               own ("iise", "lucb", ...) ignore it.
    max_steps  abandon a run after this many evaluations
    workers    how many runs at a time: threads, one per core, by default
    options    settings of the strategy or the rule, such as `{"rate": 0.1}`
    seeds      "independent" or "common", to replace the instance's
    audit      the share of the cost that goes to evaluations without bias, of the leader and of its closest rival
    executor   where to run, as for `identify`

    >>> from mfbai import simulate
    >>> found = simulate("paper-4x5", "mf-grad", delta=[0.1, 0.001], runs=100, seed=1)
    >>> found.costs.shape, bool((found.costs[:, 0] <= found.costs[:, 1]).all())
    ((100, 2), True)
    """
    counts = {"runs": runs, "seed": seed, "max_steps": max_steps, "workers": workers}
    setups = prepare(instance, strategy, stopping, delta, options or {}, counts, seeds=seeds, audit=audit)
    strategy, rule = setups[0].strategy, setups[0].stopping
    warm_up(setups[0])
    begun = time.perf_counter()
    found = _Ends(int(runs), setups)
    for n, setup in enumerate(setups):
        found.run(setup, slice(n, n + setup.levels), int(seed), max_steps, workers, executor)
        if not found.done.all() and n < len(setups) - 1:
            raise KeyboardInterrupt  # no run has all its deltas
    rule = OWN if STRATEGIES[strategy].own_rule else str(rule)
    risks = float(delta) if np.ndim(delta) == 0 else tuple(map(float, delta))  # type: ignore[arg-type]
    ends = found.in_order_of(delta)
    return Runs(setups[0].instance, strategy, rule, risks, int(seed), **ends, seconds=time.perf_counter() - begun)


class _Ends:
    """How each run ended at each level."""

    def __init__(self, runs: int, setups: list[Setup]) -> None:
        shape = (runs, sum(setup.levels for setup in setups))
        self.costs, self.steps = np.zeros(shape), np.zeros(shape, dtype=np.int64)
        self.answers = np.full(shape, -1, dtype=np.int64)
        self.pulls = np.zeros((runs, *setups[0].instance.shape), dtype=np.int64)
        self.done = np.ones(runs, dtype=np.bool_)  # at all levels

    def run(
        self, setup: Setup, levels: slice, seed: int, max_steps: int | None, workers: int | None, executor: Any
    ) -> None:
        """Make all runs of the setup, whose levels these are."""
        until = np.array([FOREVER if max_steps is None else min(int(max_steps), FOREVER)])
        made = make_runs(setup, seed, until, len(self.done), workers, executor)
        self.costs[:, levels], self.steps[:, levels], self.answers[:, levels] = made.cost, made.steps, made.answer
        problem = setup.instance.problem
        self.pulls[:, :, problem.noisy], self.pulls[:, :, problem.exact] = made.count[:, -1], made.known[:, -1]
        self.done &= made.finished

    def in_order_of(self, delta: float | Sequence[float]) -> dict[str, NDArray[Any]]:
        """The tables of the finished runs, with deltas in the order they were given: levels have the largest first."""
        level = np.argsort(np.argsort(-np.asarray(delta, dtype=np.float64), kind="stable")) if np.ndim(delta) else 0
        tables = {"costs": self.costs, "answers": self.answers, "steps": self.steps}
        ends = {name: np.asarray(table[self.done][:, level]) for name, table in tables.items()}
        return {**ends, "stopped": ends["answers"] >= 0, "pulls": self.pulls[self.done]}


def _unfinished(stopped: float) -> str:
    return "" if stopped == 1 else f", {100 * (1 - stopped):.3g} % given up"


def _ci(half_width: float | None) -> str:
    return "?" if half_width is None else f"{half_width:.2g}"


def _plain(value: Any) -> float | None:
    """A number for JSON, which has no NaN."""
    return float(value) if np.isfinite(value) else None
