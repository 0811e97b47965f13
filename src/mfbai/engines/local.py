"""Threads and processes of our own.

Each worker is a daemon thread, so that a call that never returns does not keep the program from ending. A worker of
`Processes` has one process: if that dies, it is known which call it was making, and the next call gets another process.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import Future
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any

from mfbai.engines.interface import Engine
from mfbai.engines.shipping import Back, arrive_here, perform_here
from mfbai.errors import ExecutorError

PATIENCE = 5.0  # seconds that a process has to end before it is killed

Work = tuple["Future[Back]", Callable[..., Back], tuple[Any, ...]]


class Died(Exception):  # noqa: N818
    """A process ended in the middle of a call."""


class Threads(Engine):
    """Threads of this process: nothing is pickled."""

    name = "threads"
    ahead = 0.02  # calls have no way to go, but the caller may be at work itself

    def __init__(self, workers: int) -> None:
        super().__init__()
        self._workers = workers
        self._work: SimpleQueue[Work | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []

    @property
    def size(self) -> int:
        return self._workers

    def ship(self, function: Callable[..., Any], name: str) -> Any:
        return function

    def call(self, shipped: Any, *args: Any) -> Future[Back]:
        return self.send(perform_here, shipped, *args)

    def probe(self, shipped: Any) -> Future[Back]:
        return self.send(arrive_here, shipped)

    def send(self, function: Callable[..., Back], *args: Any) -> Future[Back]:
        future: Future[Back] = Future()
        self._work.put((future, function, args))
        if len(self._threads) < self._workers:
            self._threads.append(threading.Thread(target=self._serve, daemon=True))
            self._threads[-1].start()
        return future

    def close(self) -> None:
        for _ in self._threads:
            self._work.put(None)

    def _serve(self) -> None:
        here = os.getpid()
        while (work := self._work.get()) is not None:
            future, function, args = work
            if not future.set_running_or_notify_cancel():
                continue
            try:
                back = self._make(function, args)
                if os.getpid() != here:  # a process that the call has forked, and that came back out of it
                    os._exit(_exit_code(back.error))
                future.set_result(back)
            except BaseException as error:
                future.set_exception(error)

    def _make(self, function: Callable[..., Back], args: tuple[Any, ...]) -> Back:
        return function(*args)


class Processes(Threads):
    """Processes on this machine. They are started afresh, so that no lock or thread of this one is copied."""

    name = "processes"
    ahead = Engine.ahead

    def __init__(self, workers: int) -> None:
        super().__init__(workers)
        self._context = multiprocessing.get_context("spawn")
        self._own = threading.local()
        self._running: set[Any] = set()
        self._closing = False

    ship, call, probe = Engine.ship, Engine.call, Engine.probe  # by pickling, as to any other process

    def is_lost(self, error: BaseException) -> bool:
        return isinstance(error, Died)

    def gone(self, error: BaseException) -> str | None:
        return str(error) if isinstance(error, ExecutorError) else super().gone(error)

    def close(self) -> None:
        self._closing = True
        super().close()
        for process in list(self._running):
            process.kill()
        for process in list(self._running):
            process.join(PATIENCE)

    def _serve(self) -> None:
        try:
            super()._serve()
        finally:
            self._end()

    def _make(self, function: Callable[..., Back], args: tuple[Any, ...]) -> Back:
        if getattr(self._own, "process", None) is None:
            self._start()
        try:
            self._own.pipe.send((function, args))
            back: Back = self._own.pipe.recv()
        except (EOFError, OSError):
            code = self._end()
            raise Died(f"its process {_ending(code)}") from None
        return back

    def _start(self) -> None:
        if multiprocessing.current_process().daemon:
            raise ExecutorError("a daemonic process, as workers of Dask are, cannot start others: use threads there")
        mine, its = self._context.Pipe()
        process = self._context.Process(target=_work, args=(its,), name="mfbai-worker")
        process.start()
        self._running.add(process)
        its.close()
        self._own.process, self._own.pipe = process, mine
        if self._closing:
            process.kill()
        try:
            mine.recv()
        except (EOFError, OSError):
            code = self._end()
            told = "a script that starts processes must be a file, and do so below `if __name__ == '__main__':`"
            raise ExecutorError(f"a worker process {_ending(code)} before it could work: {told}") from None

    def _end(self) -> int | None:
        """Let the process of this thread end; its exit code."""
        process = getattr(self._own, "process", None)
        if process is None:
            return None
        self._own.pipe.close()  # it ends by itself when it sees that
        process.join(PATIENCE)
        if process.is_alive():
            process.kill()
            process.join()
        self._running.discard(process)
        self._own.process = None
        code: int | None = process.exitcode
        return code


def _exit_code(error: Any) -> int:
    """With which a process ends, by what it has not caught."""
    if error is None:
        return 0
    if isinstance(error, SystemExit) and (error.code is None or isinstance(error.code, int)):
        return error.code or 0
    traceback.print_exception(error)
    return 1


def _ending(code: int | None) -> str:
    if code is not None and code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"ended with exit code {code}"


def _work(pipe: Connection) -> None:
    """The process: make calls until the other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes of a terminal: the first one decides
    pipe.send(None)  # ready
    try:
        while True:
            function, args = pipe.recv()
            pipe.send(function(*args))
    except (EOFError, OSError):
        pass
