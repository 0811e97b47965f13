"""Who builds parts: this process, or several others, each of which imports numba and compiles one part after the other.

A builder reads a line for each part, and answers with a line when it has written it: "ok", or what went wrong.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event

from mfbai.errors import CompilerError
from mfbai.files import PACKAGE
from mfbai.kernels import store
from mfbai.kernels.machine import Target, cores, this_machine
from mfbai.kernels.parts import Wanted
from mfbai.kernels.records import Built, Layout
from mfbai.kernels.sources import is_as_loaded
from mfbai.terminal import counter, waiting

START = f"import sys; sys.path.insert(0, {str(PACKAGE.parent)!r}); from mfbai.kernels.builders import serve; serve()"
LABEL = "compiling, for the first use"

Builder = subprocess.Popen[str]


def build_here(part: Wanted) -> Built:
    """Build a part in this process, and keep it if it is ours."""
    with waiting(f"{LABEL} ..."):
        from mfbai.kernels.build import build  # numba

        built = build(part.kernel, part.layouts, this_machine())
    if part.is_ours and is_as_loaded(part.kernel, part.layouts) and store.is_writable(store.folder()):
        with suppress(OSError):  # the disk may be full
            store.write(store.folder(), part.name, built)
            store.tidy(store.folder())
    return built


def build_together(parts: list[Wanted]) -> Iterator[tuple[Wanted, Built]]:
    """Build parts in several processes, as many as there are cores. What none of them could build is left out."""
    with _place() as place, counter(len(parts), LABEL) as advance:
        build_into(place, parts, this_machine(), lambda: advance(1))
        for part in parts:
            built = store.read(place / f"{part.name}.part", part.name)
            if built is not None:
                yield part, built
        store.tidy(place)


@contextmanager
def _place() -> Iterator[Path]:
    """Where builders write: to the cache folder, or, if that cannot be written to, where nothing is kept."""
    if store.is_writable(store.folder()):
        yield store.folder()
        return
    with TemporaryDirectory() as folder:
        yield Path(folder)


def build_into(place: Path, parts: list[Wanted], target: Target, done: Callable[[], None]) -> None:
    """Build parts for a processor into a folder. `done` is called after each."""
    env = {name: value for name, value in os.environ.items() if name != "NUMBA_DISABLE_JIT"}
    env |= {"NUMBA_CPU_NAME": target.processor, "NUMBA_CPU_FEATURES": target.features}
    jobs, count, stopped = deque(parts), min(cores(), len(parts)), Event()
    builders = [_start(env) for _ in range(count)]

    def employ(n: int) -> None:
        """Give builder n one part after the other. One that dies, or is killed, has one successor for that part."""
        while jobs:
            part = jobs.popleft()
            order = json.dumps([str(place), target, part.spelled()])
            if not _ask(builders[n], order) and not stopped.is_set():
                builders[n] = _start(env)
                if not _ask(builders[n], order) and not stopped.is_set():
                    told = "the compiler ended twice without a result"
                    raise CompilerError(f"{told}, at {part.kernel.__name__}: is there enough memory? Try again")
            done()

    with ThreadPoolExecutor(count) as pool:
        try:
            for work in [pool.submit(employ, n) for n in range(count)]:
                work.result()
        finally:
            stopped.set()
            jobs.clear()
            for builder in builders:
                builder.kill()
                builder.communicate()


def _ask(builder: Builder, order: str) -> bool:
    """Give a builder an order; returns whether it answered."""
    assert builder.stdin is not None
    assert builder.stdout is not None
    try:
        print(order, file=builder.stdin, flush=True)
        return bool(builder.stdout.readline())
    except OSError:  # it is gone
        return False


def _start(env: dict[str, str]) -> Builder:
    command = [sys.executable, "-P", "-c", START]
    pipe, quiet = subprocess.PIPE, subprocess.DEVNULL
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=quiet, text=True, env=env)


def serve() -> None:
    """What a builder does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started it decides when to end
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what compilers print is no answer
    import gc

    gc.disable()  # a builder lives for seconds, and makes few cycles that are large
    from mfbai.kernels.build import build

    for line in sys.stdin:
        place, target, spelled = json.loads(line)
        try:
            part = read(json.loads(spelled))
            store.write(Path(place), part.name_on(Target(*target)), build(part.kernel, part.layouts, Target(*target)))
            print("ok", file=answers, flush=True)
        except Exception as error:
            print(f"failed: {error!r}".replace("\n", " "), file=answers, flush=True)


def read(spelled: list[object]) -> Wanted:
    """A part, as `Wanted.spelled` wrote it."""
    module, name, *layouts = spelled
    return Wanted(attrgetter(str(name))(import_module(str(module))), tuple(map(_layout, layouts)))


def _layout(spelled: object) -> Layout:
    if not isinstance(spelled, list):
        return spelled
    module, name, _ = spelled[0].split(":")
    return (attrgetter(name)(import_module(module)), *map(_layout, spelled[1:]))
