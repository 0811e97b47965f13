"""Modules that have moved. Their old names still import: each is the very module of its new name."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

MOVED = {
    "mfbai.certainty": "mfbai.analysis.guarantee",
    "mfbai.complexity": "mfbai.analysis.oracle",
    "mfbai.cutting": "mfbai.analysis.cutting_planes",
    "mfbai.families": "mfbai.model.families",
    "mfbai.guess": "mfbai.model.guess",
    "mfbai.information": "mfbai.analysis.evidence",
    "mfbai.instances": "mfbai.model.instances",
    "mfbai.literature": "mfbai.analysis.literature",
    "mfbai.problem": "mfbai.model.problem",
    "mfbai.report": "mfbai.plots",
    "mfbai.spec": "mfbai.model.spec",
    "mfbai.stopping.shape": "mfbai.stopping.interface",
    "mfbai.strategies.shape": "mfbai.strategies.interface",
    "mfbai.study.identify": "mfbai.live",
    "mfbai.study.records": "mfbai.study.status",
}


class Forwarder(MetaPathFinder, Loader):
    """Finds the new module for an old name."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(fullname, self) if fullname in MOVED else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(MOVED[spec.name])
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state  # the import system has put the old name's there


def install() -> None:
    sys.meta_path.insert(0, Forwarder())  # first: a folder left behind by an older version would be found otherwise
