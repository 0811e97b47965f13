"""A report of a study as it stands."""

from __future__ import annotations

from mfbai.study.certificate import make_certificate
from mfbai.study.report.page import Report
from mfbai.study.report.shown import beside, replayed, shown_of
from mfbai.study.study import Study


def make_report(study: Study) -> Report:
    """From its certificate, as anyone can make it again: other workers may go on while this looks at the study."""
    certificate = make_certificate(study)
    trials = sum(event["kind"] == "ask" for event in certificate["journal"])
    return Report(certificate, shown_of(replayed(certificate)), beside(study, trials))
