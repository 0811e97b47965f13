"""What people read about a study: its state, verdict, alarms and progress, in the same words everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, inf, log10
from typing import TYPE_CHECKING

from mfbai.analysis.bearing import trusted
from mfbai.stopping.own import OWN
from mfbai.study.settings import is_proven
from mfbai.text import digits

SMALLEST = 1e-300  # probability that is said: that of smaller ones is rounded to 0
WITHOUT = "Without any bias bound"
SHOWN = 3  # alarms of a kind that a verdict spells out
MOST_ALARMS = 20  # listed by themselves: one wrong bound may have been stated for thousands of arms
WIDER = "Reopen the study with wider bias bounds: all its results count there."
WIDER_RANGE = "Create another study, of a family with a wider range."
INSTEAD = "take mfbai.Symmetric, or state a larger variance"  # what to do about a variance alarm

if TYPE_CHECKING:
    from mfbai.analysis.guarantee import BiasAlarm
    from mfbai.analysis.variance import VarianceAlarm
    from mfbai.model.problem import Problem
    from mfbai.study.status import Status
    from mfbai.study.verdict import Verdict


def state_of(status: Status) -> str:
    """The verdict, or how far from it the study is."""
    if status.result is not None:
        return verdict(status.result)
    now = "Paused" if status.paused else "Running"
    if status.leader is None:
        return f"{now}: {leader(status)}."
    if status.risk < 1:
        sure = f"answering it now has a risk of {_sum(status.risk, status.problem.charged)} at most"
    else:
        sure = "nothing is proven yet"
    goal = f"the goal is {status.delta:g}" if is_proven(status.stopping) else f"{rule(status.stopping)} decides"
    proven = status.untrusted < 1 and status.untrusted != status.risk
    without = f" {WITHOUT}: risk {_sum(status.untrusted, status.problem.charged)}." if proven else ""
    return f"{now}: {leader(status)}; {sure}, {goal}.{without}"


def verdict(verdict: Verdict) -> str:
    """The answer of a study, and what it is worth."""
    if verdict.state == "alarm":
        return _stopped(verdict)
    if verdict.state == "decided":
        text = _answer(verdict)
    elif verdict.arm is None:
        text = "Undecided: nothing is known"
    else:
        sure = f"with a risk of {_at_most(verdict)}" if verdict.risk < 1 else "and nothing is proven yet"
        text = f"Undecided within the budget: {verdict.arm!r} leads, {sure}"
    alarm = " BIAS ALARM: the data contradict a bias bound." if verdict.alarms else ""
    if verdict.variance_alarms:
        alarm += f" VARIANCE ALARM: results vary more than was stated; {INSTEAD}."
    return f"{text}; it cost {digits(verdict.cost)}.{bearing(verdict)}{alarm}"


def bearing(verdict: Verdict) -> str:
    """What a verdict can bear, as the next sentences of a text; nothing if it is undecided."""
    if verdict.state != "decided" or verdict.untrusted is None:
        return ""
    if verdict.breakdown == inf:
        return " It rests on no bias bound."
    if is_proven(verdict.stopping) and verdict.untrusted <= verdict.delta:
        return f" It stands without any bias bound, too: at a risk of {_sum(verdict.untrusted, verdict.charged)}."
    risk = f"risk {_sum(verdict.untrusted, verdict.charged)}" if verdict.untrusted < 1 else "nothing is proven"
    without = f" {WITHOUT}: {risk}."
    if verdict.breakdown is None:
        return without
    factor = times_as_wide(verdict.breakdown)
    wider = f"even if every bias bound is {factor} times as wide" if factor != "1" else "with no wider bounds"
    return f" It stands {wider}.{without}"


def times_as_wide(breakdown: float) -> str:
    """A breakdown factor with four digits, not more than is true.

    >>> times_as_wide(1.00389), times_as_wide(1.0000001), times_as_wide(inf)
    ('1.003', '1', 'any number')
    """
    if breakdown == inf:
        return "any number"
    if breakdown <= 0:
        return "0"
    step = 10.0 ** (floor(log10(breakdown)) - 3)
    return digits(floor(breakdown / step) * step, 4)


def _stopped(verdict: Verdict) -> str:
    """An alarm: what contradicts what, and what to do."""
    leads = "" if verdict.arm is None else f"; {verdict.arm!r} leads"
    text = f"Stopped by an alarm, without an answer{leads}; it cost {digits(verdict.cost)}."
    biased = len(verdict.alarms)
    if biased:
        name, advice = ("BIAS", WIDER) if any("bounds" in one for one in verdict.rests_on) else ("RANGE", WIDER_RANGE)
        text += f" {name} ALARM: {_first(verdict.because[:biased])} {advice}"
    if verdict.variance_alarms:
        text += f" VARIANCE ALARM: {_first(verdict.because[biased:])} Create another study: {INSTEAD}."
    return text


def _first(reasons: Sequence[str]) -> str:
    more = [f"There are {len(reasons) - SHOWN} more."] if len(reasons) > SHOWN else []
    return " ".join([*reasons[:SHOWN], *more])


def _answer(verdict: Verdict) -> str:
    best = f"The best is {verdict.arm!r}"
    if verdict.tolerance:
        best += f", or within {verdict.tolerance:g} of it"
    if not is_proven(verdict.stopping):
        proven = f"its risk is {digits(verdict.risk, 2)} at most" if verdict.risk < 1 else "nothing is proven"
        return f"{best}, by {rule(verdict.stopping)}; by the e-process {proven}"
    return f"{best}: the risk is {_at_most(verdict)}"


def _at_most(verdict: Verdict) -> str:
    return f"{_sum(verdict.risk, verdict.charged)} at most{condition(verdict.rests_on)}"


def _sum(risk: float, charged: float) -> str:
    """A risk, and that of the pilot which what is stated came from."""
    return f"{digits(risk, 2)} + {digits(charged, 2)}" if charged else digits(risk, 2)


def condition(rests_on: Sequence[str]) -> str:
    """What a risk rests on, at the end of a sentence."""
    *others, last = rests_on or ("",)
    assumed = f"{', '.join(others)} and {last}" if others else last
    return f", if {assumed}" if assumed else ""


def alarm(alarm: BiasAlarm, problem: Problem) -> str:
    """Which bias bound the data contradict, and how surely."""
    arm, fidelity = problem.arms[alarm.arm], problem.fidelities[alarm.fidelity]
    chance = _chance(alarm.level)
    if not trusted(problem).any():  # no bound can be wrong but those of the means
        low, high = (ends[alarm.fidelity] for ends in problem.family.ranges(problem.n_fidelities))
        what = f"The mean of {arm!r} seems to be outside of {low:g} to {high:g}, the range of the family."
        return f"{what} If it were inside, this would happen with a probability of {chance} at most."
    if alarm.certain:
        what = f"{fidelity!r} is off by more than was stated for {arm!r}: its results contradict those of the top."
    else:
        what = f"Some bias bound of {arm!r} is wrong; {fidelity!r} is the fidelity that fits the least."
    return f"{what} If all bounds held, this would happen with a probability of {chance} at most."


def variance_alarm(alarm: VarianceAlarm, problem: Problem) -> str:
    """What varies more than was stated, by how much, and how surely."""
    what = "All results, taken together,"
    if alarm.arm is not None and alarm.fidelity is not None:
        what = f"The results of {problem.arms[alarm.arm]!r} at {problem.fidelities[alarm.fidelity]!r}"
    much = f"{what} vary more than was stated: their variance seems to be {digits(alarm.ratio, 2)} times as large."
    return f"{much} If it were as stated, this would happen with a probability of {_chance(alarm.level)} at most."


def warnings(status: Status) -> list[str]:
    """What contradicts what, alarm by alarm, and what to do about those of variances."""
    problem = status.problem
    told = [f"Bias alarm: {alarm(one, problem)}" for one in status.alarms[:MOST_ALARMS]]
    told += [f"There are {len(status.alarms) - MOST_ALARMS} more."] * (len(status.alarms) > MOST_ALARMS)
    told += [f"Variance alarm: {variance_alarm(one, problem)}" for one in status.variance_alarms]
    return told + [f"What to do: {INSTEAD}."] * bool(status.variance_alarms)


def _chance(level: float) -> str:
    return digits(max(level, SMALLEST), 2)


def progress(status: Status, remaining: float | None = None) -> str:
    """What was spent, and on how many evaluations; what the rest will cost, by a forecast."""
    spent = digits(status.cost) if status.max_cost is None else f"{digits(status.cost)} of {digits(status.max_cost)}"
    counts = {
        "evaluation" if status.told == 1 else "evaluations": status.told,
        "under way" if status.state == "running" else "not finished": status.pending,
        "waiting for earlier ones": status.waiting,
        "failed": status.failed,
        "imported": status.imported,
        "after the verdict": status.late,
    }
    told = [f"{count} {what}" for what, count in counts.items() if count or what == "evaluations"]
    forecast = "" if not remaining else f"; about {digits(remaining, 2)} more to the verdict, by the results so far"
    return f"cost {spent}; {', '.join(told)}{forecast}"


def leader(status: Status) -> str:
    """For where there is little room."""
    if status.leader is None:
        return "no arm leads yet" if status.counts.any() else "no results yet"
    return f"{status.leader!r} leads"


def rule(stopping: str) -> str:
    """A stopping rule, within a sentence."""
    return "the strategy's own rule" if stopping == OWN else f"the rule {stopping!r}"
