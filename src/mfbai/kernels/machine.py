"""The processor: which machine code it can run, and such code loaded into this process. No numba here."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Sequence
from functools import cache
from threading import Lock
from typing import Any, NamedTuple

V3 = ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")  # what x86-64-v3 adds to x86-64
KINDS = ("x86-64-v3", "x86-64")  # the processors that wheels serve, the better one first,
LINUX = "x86_64-unknown-linux-gnu"  # under this system

_lock = Lock()  # LLVM's, as several threads may load
_kept: list[Any] = []  # object code must outlive its use


def cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Target(NamedTuple):
    """What object code is made for."""

    system: str  # such as x86_64-unknown-linux-gnu
    processor: str  # as LLVM calls it
    features: str = ""  # that it has, or has not, other than all of its kind

    def machine(self) -> Any:
        known = {"cpu": self.processor, "features": self.features}
        return _llvm().Target.from_triple(self.system).create_target_machine(**known, opt=3, reloc="pic")


@cache
def _llvm() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


@cache
def this_machine() -> Target:
    """The processor of this machine, just as it is; or one that wheels serve, if MFBAI_PROCESSOR names it."""
    llvm = _llvm()
    if chosen := os.environ.get("MFBAI_PROCESSOR"):
        return Target(LINUX, chosen)
    try:
        features = llvm.get_host_cpu_features().flatten()
    except RuntimeError:  # LLVM cannot tell, on some systems
        features = ""
    return Target(llvm.get_process_triple(), llvm.get_host_cpu_name(), features)


@cache
def kind_of_machine() -> Target | None:
    """The best of the processors that wheels serve that this machine is as good as; None if it is another kind."""
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        return None
    features = _llvm().get_host_cpu_features()
    return Target(LINUX, KINDS[0] if all(features.get(name) for name in V3) else KINDS[1])


def load_object(code: bytes, name: str) -> int:
    """Load object code, and return the address of the function of this name in it."""
    llvm = _llvm()
    with _lock:
        # An engine of its own: the functions of all parts have the same name.
        module = llvm.parse_assembly(f'target triple = "{llvm.get_process_triple()}"')
        engine = llvm.create_mcjit_compiler(module, llvm.Target.from_default_triple().create_target_machine())
        loaded = llvm.ObjectFileRef.from_data(code)
        engine.add_object_file(loaded)
        engine.finalize_object()
        address = int(engine.get_function_address(name))
        _kept.append((engine, loaded, code))
    if address == 0:
        raise OSError(f"the object code has no function {name!r}")
    return address


def load_text(text: str, names: Sequence[str]) -> dict[str, int]:
    """Compile functions written for LLVM, and return their addresses."""
    llvm = _llvm()
    with _lock:
        module = llvm.parse_assembly(text)
        engine = llvm.create_mcjit_compiler(module, llvm.Target.from_default_triple().create_target_machine(opt=3))
        engine.finalize_object()
        _kept.append(engine)
        return {name: int(engine.get_function_address(name)) for name in names}
