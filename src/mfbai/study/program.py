"""Evaluations by a program that prints the value as the last line of its output."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from tempfile import TemporaryFile
from typing import IO, Any

from mfbai.errors import EvaluationFailed, Fault, InvalidInput, WorkerLost, suggestion
from mfbai.study.jobs import Agenda, Cancelled
from mfbai.study.status import Part, Trial
from mfbai.text import read_number

PLACES = ("arm", "arm_index", "fidelity", "fidelity_index", "cost", "seed", "id")
TOLD_BY = {  # what a program has to be told, and the places that do
    "arm": {"arm", "arm_index", "id"},
    "fidelity": {"fidelity", "fidelity_index", "cost", "id"},
    "seed": {"seed", "id"},
}
PLACE = re.compile(r"\{\{|\}\}|\{(\w+)\}")
QUOTED = re.compile(r"\\.|'([^']*)'|\"((?:\\.|[^\"\\])*)\"", re.DOTALL)
LAST = 100_000  # bytes read from the end of what a program printed
KILLED = (-9, 128 + 9)  # exit codes of a program that got SIGKILL, as from a system without memory; behind a shell
TAIL = 500  # characters shown of the output of a program that failed


@dataclass
class Command:
    """A program to call for each trial, or each of its parts, with {arm}, {fidelity}, {seed} and so on filled in;
    {{ and }} are braces.

    Without `shell`, the text is split into words before that, so that nothing in a name is taken for a command.
    Sent to another process, it knows no study, and takes any number.
    """

    text: str
    study: Agenda | None
    shell: bool = False
    timeout: float = 3600.0  # seconds for one attempt
    retries: int = 2
    pause: float = 1.0  # seconds before the second attempt; twice as long before each further one
    stop: threading.Event = field(default_factory=threading.Event)
    _running: set[subprocess.Popen[bytes]] = field(default_factory=set)
    is_program = True

    def __reduce__(self) -> tuple[Any, ...]:
        return Command, (self.text, None, self.shell, self.timeout, self.retries, self.pause)

    def __post_init__(self) -> None:
        unknown = [name for name in PLACE.findall(self.text) if name and name not in PLACES]
        if unknown:
            told = f"{suggestion(unknown[0], PLACES)}; write {{{{ and }}}} for braces"
            raise InvalidInput([Fault("--command", f"has {{{unknown[0]}}}: {told}")])
        try:
            words = shlex.split(self.text)
        except ValueError as error:
            raise InvalidInput([Fault("--command", f"cannot be split into words: {error}")]) from None
        if not words:
            raise InvalidInput([Fault("--command", "is empty: give a program, such as 'python evaluate.py {arm}'")])
        quoted = [name for parts in QUOTED.findall(self.text) for name in PLACE.findall("".join(parts)) if name]
        if self.shell and quoted:
            told = "leave the quotes out, as what is filled in is quoted already"
            raise InvalidInput([Fault("--command", f"has {{{quoted[0]}}} within quotes: {told}")])

    def lacks(self, needed: Sequence[str]) -> list[str]:
        """What of this the program is not told."""
        places = set(PLACE.findall(self.text))
        return [what for what in needed if places.isdisjoint(TOLD_BY[what])]

    def __call__(self, trial: Trial | Part) -> float:
        """The value that the program prints; raises EvaluationFailed if all attempts fail, and WorkerLost if programs
        were killed in the last one: that is no failure of the trial, as running out of memory may depend on the value.
        """
        reason = ""
        for attempt in range(self.retries + 1):
            if attempt and self.stop.wait(self.pause * 2 ** (attempt - 1)):
                raise Cancelled
            try:
                return self._attempt(trial)
            except WorkerLost:
                if attempt == self.retries:
                    raise
            except EvaluationFailed as failure:
                reason = str(failure)
        raise EvaluationFailed(f"{reason} ({self.retries + 1} attempts)" if self.retries else reason)

    def cancel(self) -> None:
        """End all programs, and all that they have started."""
        self.stop.set()
        for process in list(self._running):
            _kill(process)

    def _attempt(self, trial: Trial | Part) -> float:
        # Files, since a pipe stays open until all that the program leaves behind has ended.
        with TemporaryFile() as out, TemporaryFile() as err:
            try:
                process = subprocess.Popen(
                    self._arguments(trial),
                    shell=self.shell,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    start_new_session=True,  # so that it can be ended with all that it has started
                )
            except (OSError, ValueError) as error:
                raise EvaluationFailed(f"the program cannot be started: {error}") from None
            self._wait(process)
            if process.returncode in KILLED:
                what = f"the program for {trial.arm!r} at {trial.fidelity!r}, seed {trial.seed},"
                told = f"{what} was killed from outside, in the last of {self.retries + 1} attempts"
                hint = "The trial was given back and is not counted as failed. See whether there is enough memory"
                raise WorkerLost(f"{told}. {hint}; then run it again to resume")
            if process.returncode != 0:
                said = _end(_tail(err) or _tail(out))
                raise EvaluationFailed(f"the program ended with exit code {process.returncode}: {said}")
            return self._value(_tail(out), trial.fidelity_index)

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        too_long = threading.Event()

        def give_up() -> None:
            too_long.set()
            _kill(process)

        timer = threading.Timer(self.timeout, give_up)
        timer.daemon = True
        timer.start()
        self._running.add(process)
        try:
            if self.stop.is_set():  # before this program was among those to end
                _kill(process)
            process.wait()
        finally:
            timer.cancel()
            self._running.discard(process)
        if self.stop.is_set():
            raise Cancelled
        if too_long.is_set():
            raise EvaluationFailed(f"the program took more than {self.timeout:g} s, and was ended")

    def _arguments(self, trial: Trial | Part) -> str | list[str]:
        def put(text: str, quote: bool) -> str:
            def fill(place: re.Match[str]) -> str:
                if place[1] is None:
                    return place[0][0]
                value = str(getattr(trial, place[1]))
                return shlex.quote(value) if quote else value

            return PLACE.sub(fill, text)

        return put(self.text, quote=True) if self.shell else [put(word, quote=False) for word in shlex.split(self.text)]

    def _value(self, out: str, fidelity: int) -> float:
        lines = out.split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        try:
            value = read_number(last)
            return value if self.study is None else self.study.check_value(value, fidelity)
        except InvalidInput as error:
            raise EvaluationFailed(f"the last line of the program's output is {last[:60]!r}: the {error}") from None
        except ValueError:
            told = f"is {last[:60]!r}: it must be a number" if last else "is missing: it printed nothing"
            raise EvaluationFailed(f"the last line of the program's output {told}") from None


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.returncode is not None:  # another process may have its number by now
        return
    try:
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    except ProcessLookupError:
        pass


def _tail(file: IO[bytes]) -> str:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(size - LAST, 0))
    return file.read(LAST).decode(errors="replace")


def _end(text: str) -> str:
    text = text.strip()
    return text if len(text) <= TAIL else f"...{text[-TAIL:]}"
