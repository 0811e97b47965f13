"""A report of a study as it stands."""

from __future__ import annotations

from mfbai.study.certificate import make_certificate
from mfbai.study.ledger import readable
from mfbai.study.report.beside import beside
from mfbai.study.report.page import Report, trials_of
from mfbai.study.report.shown import replayed, shown_of
from mfbai.study.standing import Standing


def make_report(study: Standing) -> Report:
    """From its certificate, as anyone can make it again: other workers may go on while this looks at the study."""
    certificate = make_certificate(study)
    with readable(study.name):
        kept = beside(study, trials_of(certificate))
        return Report(certificate, shown_of(replayed(certificate, paused=kept["paused"])), kept)
