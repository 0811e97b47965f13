"""Options that several commands share, and how their texts are read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from mfbai.errors import Faults

JSON = typer.Option(False, "--json", help="Print JSON, for programs.")
STORAGE = typer.Option(help="The database: sqlite:///FILE, or postgresql://USER@HOST/DATABASE.")
DEFAULT_STORAGE = "sqlite:///mfbai.db"


def read_deltas(faults: Faults, texts: list[str]) -> list[float]:
    """The risks of `--delta`, which may be given several times, and several at once."""
    deltas = [number(faults, "delta", part) for text in texts for part in text.split(",")]
    return [risk for risk in deltas if risk is not None]


def number(faults: Faults, field: str, text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        faults.add(field, f"is {text!r}: give a number")
        return None


def read_settings(faults: Faults, settings: list[str]) -> dict[str, float]:
    options = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals:
            faults.add("--set", f"is {setting!r}: give KEY=VALUE, such as rate=0.1")
            continue
        if key.strip() in options:
            faults.add("--set", f"has {key.strip()!r} twice: give it once")
        value = number(faults, f"--set {key}", text)
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
