"""How a study ended."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mfbai.analysis.bearing import trusted
from mfbai.analysis.guarantee import BiasAlarm
from mfbai.analysis.variance import VarianceAlarm
from mfbai.model.families import Bounded, Family, SubGaussian, Symmetric
from mfbai.model.problem import Problem
from mfbai.stopping import contrasts
from mfbai.study import sentences

# What each family says of the noise, within a sentence; of others, `_noise` says it.
NOISE = {
    "gaussian": "the noise is normal with the stated variances",
    "subgaussian": "the noise is sub-Gaussian with the stated variances",
    "symmetric": "the noise is symmetric",
    "bernoulli": "values are 0 or 1",
    "poisson": "values are Poisson counts",
    "exponential": "values are exponentially distributed",
}


@dataclass(frozen=True)
class Verdict:
    """How a study ended. It never changes; printed, it is a sentence.

    state            "decided"; "undecided", if the budget is spent; or "alarm", if the data contradict what was stated
    arm              the answer; of a study that is not decided the arm that leads, None if no arm has data
    arm_index        its index
    risk             of being wrong: delta by proof if a proven rule decided; else what is proven by now
    delta            the risk that was accepted
    stopping         the rule that decided
    cost             of all results told until then
    told             how many these are
    alarms           a `BiasAlarm` for each contradiction of the bias bounds
    variance_alarms  a `VarianceAlarm` for each contradiction of the stated variances
    tolerance        an answer this close to the best is right
    breakdown        every rival stays ruled out if all bias bounds are this many times as wide, 1000 at most; infinite
                     if the verdict rests on none ("any" in JSON). None if it is undecided, or nobody can say.
    untrusted        the risk without trust in any bias bound: from top and controlled fidelities alone
    charged          the risk that what is stated is wrong, if a pilot found it: it adds to the others
    rests_on         what the risk rests on, in words
    because          a sentence on each alarm

    >>> from mfbai import Bernoulli, Problem, create_study
    >>> study = create_study(Problem(["old", "new"], costs=1, biases=0, family=Bernoulli()), 0.05, storage="sqlite://")
    >>> while study.result is None:
    ...     trial = study.ask()
    ...     study.tell(trial, 1 if trial.arm == "new" else 0)
    >>> verdict = study.result
    >>> verdict.state, verdict.arm, verdict.risk, verdict.rests_on
    ('decided', 'new', 0.05, ('values are 0 or 1',))
    >>> print(verdict)
    The best is 'new': the risk is 0.05 at most, if values are 0 or 1; it cost 10. It rests on no bias bound.
    """

    state: str
    arm: str | None
    arm_index: int | None
    risk: float
    delta: float
    stopping: str
    cost: float
    told: int
    alarms: tuple[BiasAlarm, ...]
    variance_alarms: tuple[VarianceAlarm, ...] = ()
    tolerance: float = 0.0
    breakdown: float | None = None
    untrusted: float | None = None
    charged: float = 0.0
    rests_on: tuple[str, ...] = ()
    because: tuple[str, ...] = ()

    def __str__(self) -> str:
        return sentences.verdict(self)

    def _repr_html_(self) -> str:
        from mfbai.study.markup import verdict_as_html  # for notebooks alone

        return verdict_as_html(self)


def assumptions_of(problem: Problem, stopping: str) -> tuple[str, ...]:
    """What the risk of a verdict on a problem rests on. The top has no bias, nor has what is controlled; with common
    seeds only the differences of values count; contrasts cancel the true means."""
    family = problem.family
    if problem.seeds == "common" and not isinstance(family, Bounded):
        return ("differences at the same seed are symmetric", *_control(problem), *_stated(problem))
    says = [_noise(family)]
    if isinstance(family, Symmetric):
        says += _control(problem)
        if stopping != contrasts.RULES[0].name:
            says.append(f"the true means are between {family.low:g} and {family.high:g}")
    return (*says, *_stated(problem))


def _control(problem: Problem) -> tuple[str, ...]:
    """What symmetry needs of controlled fidelities, whose values are made of several."""
    return ("top and control are jointly symmetric at the same seed",) if any(problem.controls) else ()


def reasons_of(verdict: Verdict, problem: Problem) -> tuple[str, ...]:
    """What contradicts what, in a sentence for each alarm."""
    biased = [sentences.alarm(alarm, problem) for alarm in verdict.alarms]
    return (*biased, *(sentences.variance_alarm(alarm, problem) for alarm in verdict.variance_alarms))


def _noise(family: Family) -> str:
    ends = (family.low, family.high) if isinstance(family, Bounded) else None
    ends = family.bounds if isinstance(family, SubGaussian) else ends
    if ends is None:
        return NOISE.get(family.name, f"values are as the family {family.name!r} says")
    low, high = map(np.unique, ends)
    same = low.size == high.size == 1
    return f"values are between {low[0]:g} and {high[0]:g}" if same else "values keep to the stated bounds"


def _stated(problem: Problem) -> tuple[str, ...]:
    """Bias bounds, and whether what is stated came from a pilot, whose own risk is charged."""
    bounds = bool(trusted(problem).any())
    if problem.charged and bounds:
        return ("the stated bounds came from a pilot whose differences at one seed are normal",)
    if problem.charged:
        return ("the stated variances came from a pilot",)
    return ("the bias bounds hold",) if bounds else ()
