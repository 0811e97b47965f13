"""Find the best of K alternatives with a stated risk at the least cost, evaluating them at several fidelities.

The public names are loaded when first used, so that `import mfbai` and `mfbai --help` are quick.
Where they live, and how the packages depend on each other: docs/developer/architecture.md.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mfbai import _moved
from mfbai._version import __version__ as __version__

if TYPE_CHECKING:
    from mfbai.analysis.evidence import Evidence as Evidence
    from mfbai.analysis.evidence import evidence as evidence
    from mfbai.analysis.guarantee import BiasAlarm as BiasAlarm
    from mfbai.analysis.guarantee import Risk as Risk
    from mfbai.analysis.guarantee import bias_alarms as bias_alarms
    from mfbai.analysis.guarantee import intervals as intervals
    from mfbai.analysis.guarantee import risk as risk
    from mfbai.analysis.oracle import Oracle as Oracle
    from mfbai.analysis.oracle import oracle as oracle
    from mfbai.analysis.pilot import Pilot as Pilot
    from mfbai.analysis.variance import VarianceAlarm as VarianceAlarm
    from mfbai.analysis.variance import variance_alarms as variance_alarms
    from mfbai.client import Client as Client
    from mfbai.errors import EvaluationFailed as EvaluationFailed
    from mfbai.errors import ExecutorError as ExecutorError
    from mfbai.errors import InvalidInput as InvalidInput
    from mfbai.errors import LabelChanged as LabelChanged
    from mfbai.errors import MfbaiError as MfbaiError
    from mfbai.errors import NothingToAsk as NothingToAsk
    from mfbai.errors import StorageError as StorageError
    from mfbai.errors import StudyGone as StudyGone
    from mfbai.errors import StudyOver as StudyOver
    from mfbai.errors import StudyPaused as StudyPaused
    from mfbai.errors import StudyUnreadable as StudyUnreadable
    from mfbai.errors import TimedOut as TimedOut
    from mfbai.errors import TrialClosed as TrialClosed
    from mfbai.errors import UnknownName as UnknownName
    from mfbai.errors import WorkerLost as WorkerLost
    from mfbai.live import identify as identify
    from mfbai.model.families import Bernoulli as Bernoulli
    from mfbai.model.families import Bounded as Bounded
    from mfbai.model.families import Exponential as Exponential
    from mfbai.model.families import Gaussian as Gaussian
    from mfbai.model.families import Poisson as Poisson
    from mfbai.model.families import SubGaussian as SubGaussian
    from mfbai.model.families import Symmetric as Symmetric
    from mfbai.model.guess import Guess as Guess
    from mfbai.model.instance import Instance as Instance
    from mfbai.model.instances import random_instance as random_instance
    from mfbai.model.problem import Problem as Problem
    from mfbai.model.spec import dumps as dumps
    from mfbai.model.spec import load as load
    from mfbai.planning import Plan as Plan
    from mfbai.planning import plan as plan
    from mfbai.simulation import Runs as Runs
    from mfbai.simulation import Trace as Trace
    from mfbai.simulation import simulate as simulate
    from mfbai.simulation import trace as trace
    from mfbai.study import Status as Status
    from mfbai.study import Study as Study
    from mfbai.study import Trial as Trial
    from mfbai.study import Verdict as Verdict
    from mfbai.study import Verification as Verification
    from mfbai.study import create_study as create_study
    from mfbai.study import list_studies as list_studies
    from mfbai.study import load_study as load_study
    from mfbai.study import verify as verify
    from mfbai.study.pilot import pilot as pilot

_HOMES = {
    "mfbai.analysis.evidence": ["Evidence", "evidence"],
    "mfbai.analysis.guarantee": ["BiasAlarm", "Risk", "bias_alarms", "intervals", "risk"],
    "mfbai.analysis.oracle": ["Oracle", "oracle"],
    "mfbai.analysis.pilot": ["Pilot"],
    "mfbai.analysis.variance": ["VarianceAlarm", "variance_alarms"],
    "mfbai.client": ["Client"],
    "mfbai.errors": [
        "EvaluationFailed",
        "ExecutorError",
        "InvalidInput",
        "MfbaiError",
        "LabelChanged",
        "NothingToAsk",
        "StorageError",
        "StudyGone",
        "StudyOver",
        "StudyPaused",
        "StudyUnreadable",
        "TimedOut",
        "TrialClosed",
        "UnknownName",
        "WorkerLost",
    ],
    "mfbai.live": ["identify"],
    "mfbai.model.families": ["Bernoulli", "Bounded", "Exponential", "Gaussian", "Poisson", "SubGaussian", "Symmetric"],
    "mfbai.model.guess": ["Guess"],
    "mfbai.model.instances": ["random_instance"],
    "mfbai.model.instance": ["Instance"],
    "mfbai.model.problem": ["Problem"],
    "mfbai.model.spec": ["dumps", "load"],
    "mfbai.planning": ["Plan", "plan"],
    "mfbai.simulation": ["Runs", "Trace", "simulate", "trace"],
    "mfbai.study": [
        "Status",
        "Study",
        "Trial",
        "Verdict",
        "Verification",
        "create_study",
        "list_studies",
        "load_study",
        "verify",
    ],
    "mfbai.study.pilot": ["pilot"],
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
# Packages reached as attributes after a plain `import mfbai`, each with its modules that documents name.
_ROOMS = {
    "analysis": ["evidence", "guarantee", "literature", "oracle"],
    "errors": [],
    "kernels": ["allocation"],
    "model": ["families"],
    "paper": ["reproduce", "sparsity"],
    "plots": [],
    "stopping": [],
    "strategies": [],
    "study": ["storage"],
    "testing": [],
}
__all__ = sorted([*_HOME_OF, "__version__"])
_moved.install()


def __getattr__(name: str) -> Any:
    if name in _ROOMS or f"mfbai.{name}" in _moved.MOVED:
        for module in _ROOMS.get(name, []):
            import_module(f"mfbai.{name}.{module}")
        return import_module(f"mfbai.{name}")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'mfbai' has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
