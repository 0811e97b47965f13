"""SIGINT and SIGTERM as a flag to look at, so that neither interrupts the main thread in the middle of a write."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any


class Interrupted(KeyboardInterrupt):
    """A signal came, and what was under way has been ended in good order."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


@dataclass
class Flag:
    number: int | None = None  # of the signal that came
    again: bool = False  # a second one came
    before: dict[int, Any] = field(default_factory=dict)  # the handlers that were there
    process: int = field(default_factory=os.getpid)

    def __bool__(self) -> bool:
        return self.number is not None

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if os.getpid() != self.process:  # forked by an evaluation: signals there are none of ours
            signal.signal(number, self.before[number])
            signal.raise_signal(number)
            return
        if self.number is not None:
            self.again = True
            raise KeyboardInterrupt
        self.number = number


@contextmanager
def caught() -> Iterator[Flag]:
    """In this block, the first signal only sets the flag; `Interrupted` is raised where the block ends.

    A second signal raises KeyboardInterrupt at once. A signal that is ignored, as SIGINT in a background job, still is.
    Python runs handlers in the main thread: in any other, nothing changes.
    """
    flag = Flag()
    main = threading.current_thread() is threading.main_thread()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM) if main}
    before = {number: handler for number, handler in before.items() if handler not in (signal.SIG_IGN, None)}
    try:
        flag.before = {int(number): handler for number, handler in before.items()}
        for number in before:
            signal.signal(number, flag._handle)
        yield flag
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if flag.number is not None:
        raise Interrupted(flag.number)
