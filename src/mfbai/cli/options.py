"""Options that several commands share, and how their texts are read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand

from mfbai.text import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfbai.errors import Faults
    from mfbai.study.jobs import Agenda
    from mfbai.study.program import Command

JSON = typer.Option(False, "--json", help="Print JSON, for programs.")
STORAGE = typer.Option(help="The database: sqlite:///FILE, or postgresql://USER@HOST/DATABASE.")
RISK = 0.05  # an example
COMMAND = "The program, with {arm}, {fidelity}, {seed} to be filled in."
WORKERS = typer.Option(help="Programs to run at a time.")
TIMEOUT = typer.Option(help="Seconds after which a program counts as hanging.")
RETRIES = typer.Option(help="Further attempts if a program fails or hangs.")
SHELL = typer.Option("--shell", help="Let a shell run the command.")
DASK = typer.Option("--dask", metavar="ADDRESS", help="Run on the Dask workers of a scheduler, tcp://HOST:8786.")
RAY = typer.Option("--ray", help="Run on Ray: the cluster of RAY_ADDRESS, or one that is started here.")
PROCESSES = typer.Option("--processes", metavar="N", help="Run in N processes on this machine.")
DEFAULT_STORAGE = "sqlite:///mfbai.db"
DEFAULT_STRATEGY = "By default the cheapest for the problem: race where it is proven, else frugal."
AUDIT_HELP = "The share of the cost for unbiased evaluations of the leader and its closest rival."
DEFAULT_RULE = "By default the rule of the strategy: contrasts for race, else e-process."


class NamesInHelp(TyperCommand):
    """A command whose help lists strategies, rules, the paper's parts, or states of studies, as they are registered.

    The names are filled in when the help is shown: reading the registries loads numpy, which takes a moment.
    """

    def format_help(self, ctx: Any, formatter: Any) -> None:
        names = registered()
        for option in self.params:
            for braces, text in names.items():
                option.help = option.help and option.help.replace(braces, text)  # type: ignore[attr-defined]
        super().format_help(ctx, formatter)


def registered() -> dict[str, str]:
    """What stands in help texts for the registries, in braces, and the text to put there."""
    from mfbai import stopping, strategies
    from mfbai.paper.parts import PARTS
    from mfbai.study.catalogue import SORTS, STATES

    return {
        "{states}": listed(STATES, "or"),
        "{sorts}": listed(list(SORTS), "or"),
        "{strategies}": listed(list(strategies.STRATEGIES), "or"),
        "{rules}": listed(list(stopping.RULES), "or"),
        "{parts}": ", ".join(part.group for part in PARTS),
    }


def read_deltas(faults: Faults, texts: list[str]) -> list[float]:
    """The risks of `--delta`, which may be given several times, and several at once."""
    deltas = [number(faults, "delta", part, RISK) for text in texts for part in text.split(",")]
    return [risk for risk in deltas if risk is not None]


def number(faults: Faults, field: str, text: str, example: float | None = None) -> float | None:
    """The number. What is none is noted, with what to give instead: for a percentage, the number that it is."""
    try:
        return float(text)
    except ValueError:
        part = text.strip().removesuffix("%")
        if part != text.strip() and is_number(part) and 0 < float(part) < 100:
            example = float(part) / 100
        such = "" if example is None else f" such as {example:g}"
        faults.add(field, f"is {text!r}: give a number{such}")
        return None


def read_executor(
    faults: Faults, dask: str | None, ray: bool, processes: int | None, workers: int | None = None
) -> tuple[str | None, int | None]:
    """What the options --dask, --ray, --processes and --workers mean for the library: an executor, and workers."""
    named = {"--dask": dask is not None, "--ray": ray, "--processes": processes is not None}
    given = [name for name, is_given in named.items() if is_given]
    if len(given) > 1:
        faults.add(" and ".join(given), "are given: choose one")
    if dask is not None and "://" not in dask:
        faults.add("--dask", f"is {dask!r}: give the address of a scheduler, such as tcp://127.0.0.1:8786")
    if processes is not None and processes < 1:
        faults.add("--processes", f"is {processes}: give 1 or more")
    if processes is not None and workers not in (None, processes):
        faults.add("--workers", f"is {workers}, and --processes {processes}: give one of them")
    if processes is not None:
        return "processes", max(processes, 1)
    return "ray" if ray else dask, workers


def check_program(faults: Faults, workers: int | None, timeout: float, retries: int) -> None:
    """How programs are to be run; raises with all faults, those found before too."""
    if workers is not None and workers < 1:
        faults.add("--workers", f"is {workers}: give 1 or more")
    if not 0 < timeout <= 1e9:
        faults.add("--timeout", f"is {timeout:g}: give a positive number of seconds, of 1e9 at most")
    if retries < 0:
        faults.add("--retries", f"is {retries}: give 0 or more")
    faults.raise_if_any("call")


def read_program(
    command: str, agenda: Agenda, shell: bool, timeout: float, retries: int, needed: Sequence[str] = ("arm",)
) -> Command:
    """The program of `--command`, which has to be told what is `needed`."""
    from mfbai.errors import Fault, InvalidInput
    from mfbai.study.program import Command

    program = Command(command, agenda, shell=shell, timeout=timeout, retries=retries)
    lacking = [f"{{{what}}}" for what in program.lacks(needed)]
    if lacking:
        example = f"python evaluate.py {' '.join(f'{{{what}}}' for what in needed)}"
        told = f"has no {listed(lacking, 'and no')}: the program would not know what to evaluate"
        raise InvalidInput([Fault("--command", f"{told}; give it as in {example!r}")])
    return program


def read_settings(faults: Faults, settings: list[str]) -> dict[str, float]:
    options = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals:
            faults.add("--set", f"is {setting!r}: give KEY=VALUE, such as rate=0.1")
            continue
        if key.strip() in options:
            faults.add("--set", f"has {key.strip()!r} twice: give it once")
        value = number(faults, f"--set {key}", text, example=0.1)
        if value is not None:
            options[key.strip()] = value
    return options


def repeat_options(arguments: list[str]) -> list[str]:
    """Let `--delta 0.1 0.01` stand for `--delta 0.1 --delta 0.01`, and `--set a=1 b=2` likewise.

    >>> repeat_options(["--delta", "0.1", "1e-3", "paper-4x5", "--set", "mu1=1", "mu2=0"])
    ['--delta', '0.1', '--delta', '1e-3', 'paper-4x5', '--set', 'mu1=1', '--set', 'mu2=0']
    """
    values = {"--delta": is_number, "--set": is_setting}
    repeated: list[str] = []
    for argument in arguments:
        option, before = repeated[-2:] if len(repeated) > 1 else ("", "")
        if option in values and values[option](before) and values[option](argument):
            repeated.append(option)
        repeated.append(argument)
    return repeated


def is_setting(text: str) -> bool:
    return re.fullmatch(r"\w+=\S*", text) is not None


def is_number(text: str) -> bool:
    """Or several with commas between them."""
    try:
        for part in text.split(","):
            float(part)
    except ValueError:
        return False
    return True
