"""Studies, their status and their verdict as notebooks show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfbai import html
from mfbai.study import sentences
from mfbai.study.cells import cells, headings, others
from mfbai.study.rows import most_relevant
from mfbai.text import digits

if TYPE_CHECKING:
    from mfbai.study.status import Status
    from mfbai.study.verdict import Verdict

READING = "In brackets beside a mean: how many results it is of. All intervals of a column hold together, at all times."


def study_as_html(kind: str, status: Status, where: str) -> str:
    """A study: where it is kept, where it stands, and how to go on."""
    named = html.heading(f"{kind} {html.named(status.name)!r} in {where}")
    return html.whole(named, *_standing(status), html.note(f"To go on: {onward(status)}."))


def status_as_html(status: Status) -> str:
    return html.whole(html.heading(f"Status of {html.named(status.name)!r}"), *_standing(status))


def verdict_as_html(verdict: Verdict) -> str:
    told = "; ".join(verdict.rests_on)
    return html.whole(
        html.heading(sentences.verdict(verdict)),
        html.table("Verdict", ["", "value"], _facts(verdict)),
        html.sentence(f"The risk rests on this: {told}." if told else ""),
        *map(html.sentence, verdict.because[: sentences.MOST_ALARMS]),
        html.note(html.more(len(verdict.because), sentences.MOST_ALARMS, "alarms")),
    )


def onward(status: Status) -> str:
    """What can be done with a study in this state."""
    if status.paused:
        return "study.resume() lets it hand out evaluations again"
    if status.state == "running":
        return "repeat the call of mfbai.identify; or study.ask() for a trial, and study.tell(trial, value)"
    if status.state == "alarm" and status.alarms:
        return "study.reopen(name, bias) counts all results under wider bias bounds"
    return "study.to_frame() has all trials; study.export(path) writes a certificate that others can check"


def _standing(status: Status) -> list[html.Html]:
    shown = most_relevant(status)
    told = [html.sentence(sentences.state_of(status)), html.sentence(f"So far: {sentences.progress(status)}.")]
    warnings = map(html.sentence, sentences.warnings(status))
    return [*told, _arms(status, shown), html.note(others(status, shown)), html.note(READING), *warnings]


def _arms(status: Status, shown: list[int]) -> html.Html:
    """The leader is said to lead; beside the proof against each rival, a bar says how much of it there is."""
    rows = []
    for a in shown:
        *known, proof = cells(status, a)
        leads = a == status.leader_index
        name = html.named(status.problem.arms[a])
        part = 0.0 if leads or status.needed <= 0 else float(status.evidence[a] / status.needed)
        rows.append([html.strong(name) if leads else name, *known, proof if leads else html.bar(part, proof)])
    return html.table("What is known of the arms", ["arm", *map(html.named, headings(status))], rows)


def _facts(verdict: Verdict) -> list[list[str]]:
    decided = verdict.state == "decided"
    rows = [
        ["state", verdict.state],
        ["answer" if decided else "leader", "none" if verdict.arm is None else html.strong(html.named(verdict.arm))],
        ["risk", digits(verdict.risk, 2)],
        ["delta", f"{verdict.delta:g}"],
        ["decided by" if decided else "stopping rule", sentences.rule(verdict.stopping)],
        ["cost", digits(verdict.cost)],
        ["evaluations", f"{verdict.told:,}"],
    ]
    if verdict.breakdown is not None:
        rows.append(["bias bounds may be this many times as wide", sentences.times_as_wide(verdict.breakdown)])
    if verdict.untrusted is not None:
        told = digits(verdict.untrusted, 2) if verdict.untrusted < 1 else "nothing is proven"
        rows.append(["risk without any bias bound", told])
    return rows
