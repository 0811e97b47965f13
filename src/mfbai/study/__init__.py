"""Live studies: ask, tell, and a verdict that can be audited."""

from mfbai.study.certificate import Verification, verify
from mfbai.study.fold import Verdict
from mfbai.study.records import Status, Trial
from mfbai.study.running import identify
from mfbai.study.study import Study, create_study, list_studies, load_study

__all__ = [
    "Status",
    "Study",
    "Trial",
    "Verdict",
    "Verification",
    "create_study",
    "identify",
    "list_studies",
    "load_study",
    "verify",
]
