"""Find the best of K alternatives with a stated risk at the least cost, evaluating them at several fidelities.

The public names are loaded when first used, so that `import mfbai` and `mfbai --help` are quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mfbai.certainty import BiasAlarm as BiasAlarm
    from mfbai.certainty import Risk as Risk
    from mfbai.certainty import bias_alarms as bias_alarms
    from mfbai.certainty import intervals as intervals
    from mfbai.certainty import risk as risk
    from mfbai.client import Client as Client
    from mfbai.complexity import Oracle as Oracle
    from mfbai.complexity import oracle as oracle
    from mfbai.errors import EvaluationFailed as EvaluationFailed
    from mfbai.errors import InvalidInput as InvalidInput
    from mfbai.errors import MfbaiError as MfbaiError
    from mfbai.errors import NothingToAsk as NothingToAsk
    from mfbai.errors import StorageError as StorageError
    from mfbai.errors import StudyOver as StudyOver
    from mfbai.errors import TrialClosed as TrialClosed
    from mfbai.errors import UnknownName as UnknownName
    from mfbai.families import Bernoulli as Bernoulli
    from mfbai.families import Exponential as Exponential
    from mfbai.families import Gaussian as Gaussian
    from mfbai.families import Poisson as Poisson
    from mfbai.families import SubGaussian as SubGaussian
    from mfbai.guess import Guess as Guess
    from mfbai.information import Evidence as Evidence
    from mfbai.information import evidence as evidence
    from mfbai.instances import random_instance as random_instance
    from mfbai.planning import Plan as Plan
    from mfbai.planning import plan as plan
    from mfbai.problem import Instance as Instance
    from mfbai.problem import Problem as Problem
    from mfbai.simulation import Runs as Runs
    from mfbai.simulation import Trace as Trace
    from mfbai.simulation import simulate as simulate
    from mfbai.simulation import trace as trace
    from mfbai.spec import dumps as dumps
    from mfbai.spec import load as load
    from mfbai.study import Status as Status
    from mfbai.study import Study as Study
    from mfbai.study import Trial as Trial
    from mfbai.study import Verdict as Verdict
    from mfbai.study import Verification as Verification
    from mfbai.study import create_study as create_study
    from mfbai.study import identify as identify
    from mfbai.study import list_studies as list_studies
    from mfbai.study import load_study as load_study
    from mfbai.study import verify as verify

__version__ = "0.1.0"

_HOMES = {
    "mfbai.certainty": ["BiasAlarm", "Risk", "bias_alarms", "intervals", "risk"],
    "mfbai.client": ["Client"],
    "mfbai.complexity": ["Oracle", "oracle"],
    "mfbai.errors": [
        "EvaluationFailed",
        "InvalidInput",
        "MfbaiError",
        "NothingToAsk",
        "StorageError",
        "StudyOver",
        "TrialClosed",
        "UnknownName",
    ],
    "mfbai.information": ["Evidence", "evidence"],
    "mfbai.families": ["Bernoulli", "Exponential", "Gaussian", "Poisson", "SubGaussian"],
    "mfbai.instances": ["random_instance"],
    "mfbai.guess": ["Guess"],
    "mfbai.planning": ["Plan", "plan"],
    "mfbai.problem": ["Instance", "Problem"],
    "mfbai.simulation": ["Runs", "Trace", "simulate", "trace"],
    "mfbai.spec": ["dumps", "load"],
    "mfbai.study": [
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
    ],
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
__all__ = sorted([*_HOME_OF, "__version__"])


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'mfbai' has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
