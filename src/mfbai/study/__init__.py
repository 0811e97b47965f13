"""Live studies: ask, tell, and a verdict that can be audited."""

from mfbai.study.certificate import Verification, verify
from mfbai.study.status import Status, Trial
from mfbai.study.study import Study, create_study, list_studies, load_study
from mfbai.study.verdict import Verdict

__all__ = [
    "Status",
    "Study",
    "Trial",
    "Verdict",
    "Verification",
    "create_study",
    "list_studies",
    "load_study",
    "verify",
]
