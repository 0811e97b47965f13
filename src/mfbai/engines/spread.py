"""Many calls of one function, spread over an engine."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any

from mfbai.engines.interface import MOST_LOSSES, Engine
from mfbai.engines.shipping import Back, error_of
from mfbai.engines.waiting import Waiting
from mfbai.errors import ExecutorError, WorkerLost

AHEAD = 2  # calls under way for each worker, so that none waits for the next
LOOK = 1.0  # seconds between two looks at how many workers there are


def spread(
    engine: Engine, workers: int | None, function: Callable[[Any], Any], tasks: Sequence[Any], name: str
) -> Generator[tuple[Any, Any]]:
    """Each task and what the function makes of it, in the order in which they are done. Calls whose worker dies are
    made again. A generator that is closed cancels what has not begun."""
    shipped = engine.ship(function, name)
    left, losses = list(reversed(tasks)), Counter[int]()
    under_way: dict[Future[Back], Any] = {}
    waiting = Waiting(engine, lambda text: print(text, file=sys.stderr))
    try:
        while left or under_way:
            while left and len(under_way) < AHEAD * max(workers or engine.size or 0, 1):
                task = left.pop()
                under_way[engine.call(shipped, task)] = task
            done = wait(under_way, LOOK, FIRST_COMPLETED).done
            if not done:
                waiting.look()
            for future in done:
                task = under_way.pop(future)
                value = _value(engine, future, task, losses)
                if value is None:
                    left.append(task)
                else:
                    yield task, value[0]
    finally:
        for future in under_way:
            engine.cancel(future)


def _value(engine: Engine, future: Future[Back], task: Any, losses: Counter[int]) -> tuple[Any] | None:
    """What the call returned; None if its worker died, and it is to be made again."""
    try:
        back = future.result()
    except BaseException as error:
        if engine.is_lost(error):
            losses[id(task)] += engine.deaths(error)
            if losses[id(task)] < MOST_LOSSES:
                return None
            raise WorkerLost(
                f"{losses[id(task)]} workers died, one after the other, on {task!r:.60}: {error}"
            ) from None
        gone = engine.gone(error)
        if gone is not None:
            raise ExecutorError(gone) from None
        raise
    raised = error_of(back)
    if raised is not None:
        raise raised
    return (back.value,)
