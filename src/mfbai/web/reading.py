"""Specs that were sent: read with suspicion, as small ones can be very large."""

from __future__ import annotations

import re
from typing import Any

from mfbai.errors import Fault, InvalidInput
from mfbai.model.problem import Instance, Problem
from mfbai.model.spec import from_dict, parse
from mfbai.study.limits import LONGEST_NAME

MOST_ARMS = 1000
MOST_CELLS = 10_000
MOST_DOTS = 50  # of a key: TOML readers take hours for a very long one
PART = r"""(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+"""
DOTTED = re.compile(rf"(?<![\w-])(?:{PART}){{{MOST_DOTS}}}", re.ASCII)


def read_spec(spec: str | dict[str, Any]) -> Problem:
    """The problem of a spec that was sent. Its size is checked first: a number of arms is quickly written."""
    try:
        document = _parse(spec) if isinstance(spec, str) else spec
        _check_size(document)
        found = from_dict(document, ties=True)
    except RecursionError:
        raise InvalidInput([Fault("spec", "is nested too deeply")]) from None
    except InvalidInput:
        raise
    except ValueError:  # TOML knows hexadecimal ones too, which Python reads, and cannot show
        raise InvalidInput([Fault("spec", "holds a number of too many digits: shorten it")]) from None
    return found.problem if isinstance(found, Instance) else found


def _parse(text: str) -> dict[str, Any]:
    if DOTTED.search(text):
        raise InvalidInput([Fault("spec", f"has a key of {MOST_DOTS} or more parts: write tables, such as [problem]")])
    try:
        return parse(text)
    except InvalidInput as error:
        told = "; send the text itself: names and files are not looked up" if "\n" not in text else ""
        raise InvalidInput([Fault("spec", f"{fault.message}{told}") for fault in error.faults]) from None


def _check_size(document: dict[str, Any]) -> None:
    problem, truth, tables = document.get("problem"), document.get("truth"), document.get("fidelity")
    problem, truth = (table if isinstance(table, dict) else {} for table in (problem, truth))
    tables = [table for table in tables if isinstance(table, dict)] if isinstance(tables, list) else []
    arms = problem.get("arms")
    columns = [truth.get("means"), *(table.get(entry) for table in tables for entry in ("cost", "bias"))]
    rows = [len(column) for column in [arms, *columns] if isinstance(column, list)]
    n_arms = max([*rows, arms if isinstance(arms, int) else 0, 2])
    if n_arms > MOST_ARMS or n_arms * len(tables) > MOST_CELLS:
        told = f"is too large: this server takes {MOST_ARMS} arms and {MOST_CELLS:,} cells (arms x fidelities) at most"
        raise InvalidInput([Fault("spec", told)])
    names = [*(arms if isinstance(arms, list) else []), *(table.get("name") for table in tables)]
    if any(isinstance(name, str) and len(name) > LONGEST_NAME for name in names):
        raise InvalidInput([Fault("spec", f"has a name of more than {LONGEST_NAME} characters: shorten it")])
