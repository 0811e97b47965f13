"""Spec files: a Problem or an Instance as TOML.

    [problem]
    arms = ["baseline", "wide", "deep"]     # or how many; or "arms.csv", a file beside this one: see `arms_file`
    direction = "maximise"                  # or "minimise"; may be left out
    charged = 0.01                          # the probability that bounds from a pilot are wrong; may be left out
    seeds = "independent"                   # or "common", for all arms in turn; may be left out
    [[fidelity]]                            # cheapest first
    name = "coarse"                         # may be left out
    cost = 0.05                             # or one per arm
    bias = 0.1                              # a radius; or [low, high]; or one of these per arm
                                            # left out if nothing is known: then it can only control the top
    deterministic = false                   # true for a formula: evaluated once an arm; may be left out
    [[fidelity]]                            # unbiased: the true one less a multiple of another at the same seed, plus
    name = "fine by coarse"                 # the same multiple of that one's mean at other seeds; no cost, no bias
    controlled = {top = "fine", by = "coarse", others = 12, coefficient = 0.97}
    [[fidelity]]                            # the last is the true one
    name = "fine"
    cost = 5.0                              # its bias is 0, or left out
    [family]
    name = "gaussian"                       # bernoulli, poisson, exponential, subgaussian; or symmetric, bounded
    variance = 0.01                         # or per fidelity, or per arm and fidelity; symmetric and bounded have
                                            # low and high in its place, those of bounded also per fidelity
    [truth]                                 # only for simulation: arms x fidelities
    means = [[0.82, 0.85], [0.80, 0.84], [0.91, 0.98]]
    deviation = 0.1                         # of the values, if the family is symmetric or bounded, and only then; or
                                            # per fidelity, or per arm and fidelity
    correlation = 0.8                       # of values with the same seed; or {arms = 0.8, fidelities = 0.5,
                                            # factor = "heavy"}; may be left out
    [guess]                                 # only for planning: one of the three forms of mfbai.Guess
    gap = 0.1                               # means; or low and high; or gap, with best where means are bounded;
                                            # with deviation where the family does not state the noise, and the
                                            # correlation of values with the same seed

How `bias` is read: a list of two numbers is [low, high]; any other list has one entry per arm, each a radius or
[low, high]. With exactly two arms, two numbers of which none is negative could be either, and are refused: write
[[low, high], [low, high]].
"""

from __future__ import annotations

import dataclasses
import difflib
import json
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from math import inf
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from mfbai.checks import check_choice
from mfbai.errors import Fault, Faults, InvalidInput, suggestion, unknown_name
from mfbai.model import instances
from mfbai.model.arms_file import NO_FILE, ArmsFile, with_arms
from mfbai.model.families import FAMILIES, Family, Gaussian
from mfbai.model.given import refuse_tie
from mfbai.model.guess import FORMS, Guess, read_guess
from mfbai.model.instance import Instance
from mfbai.model.problem import Problem

# What stands in for an entry that is missing or unreadable, so that the others can still be checked.
ANY_COST = 1.0
ANY_BIAS = 1e300
ANY_FAMILY = Gaussian(1.0)

# Where in the file a field of Problem or Instance comes from.
TABLE_OF = {
    **dict.fromkeys(("arms", "direction", "seeds", "charged"), "problem"),
    **dict.fromkeys(("costs", "biases", "bias_low", "bias_high", "fidelities", "deterministic"), "fidelity"),
    "controls": "fidelity",
    **dict.fromkeys(("family", "variance", "bounds", "low", "high"), "family"),
    **dict.fromkeys(("means", "deviation", "correlation"), "truth"),
}


def load(path_or_name: str | Path, variance: ArrayLike | None = None, *, ties: bool = False) -> Instance | Problem:
    """The `Instance` of that name in the catalogue, or what the spec file at that path holds.

    path_or_name  `mfbai instances` lists the names. A file with a [truth] table holds an Instance, one without it a
                  `Problem`.
    variance      replaces the family's
    ties          allows that the best arm of an Instance is not unique

    >>> from mfbai import load
    >>> load("paper-5x2").best
    4
    """
    loaded = from_dict(*_tables_of(path_or_name), ties=ties)
    return loaded if variance is None else loaded.with_variance(variance)


def load_with_guess(path_or_name: str | Path) -> tuple[Instance | Problem, Guess | None]:
    """What `load` returns, where the best arms may tie, and the [guess] of the file; None if it has none."""
    document, name, file = _tables_of(path_or_name)
    loaded = from_dict(document, name, file, ties=True)  # raises if anything in the file is wrong
    return loaded, Guess(**document["guess"]) if "guess" in document else None


def check_instance(instance: Any, variance: float | None = None, *, ties: bool = False) -> Instance:
    """An instance as given, or by its name or file; refused if its best arms tie, unless `ties` are allowed."""
    found = load(instance, variance, ties=ties) if isinstance(instance, str | Path) else instance
    if not isinstance(found, Instance):
        told = "the true means are needed: give an Instance, or add a [truth] table to the file"
        raise InvalidInput([Fault("instance", f"is a {type(found).__name__}: {told}")])
    if not ties:
        faults = Faults()
        refuse_tie(faults, found.arms, found.problem.sign * found.means[:, -1])
        faults.raise_if_any("instance")
    return found


def loads(text: str, name: str | None = None, *, ties: bool = False) -> Instance | Problem:
    """What a spec file of this text holds; `name` labels it."""
    return from_dict(parse(text, name), name, ties=ties)


def from_dict(
    document: Mapping[str, Any], name: str | None = None, file: ArmsFile | None = None, *, ties: bool = False
) -> Instance | Problem:
    """What a spec file with these tables holds; the reverse of `to_dict` of Problem and Instance.

    No file is read. `file` is the one that arms were read from before, for messages to point at.
    """
    faults = Faults()
    _check_keys(faults, "the spec", document, required=("problem", "fidelity", "family"), optional=("truth", "guess"))
    problem = _table(faults, document, "problem", required=("arms",), optional=("direction", "seeds", "charged"))
    truth = _table(faults, document, "truth", required=("means",), optional=("deviation", "correlation"))
    tables = _fidelities(faults, document)
    n_arms = _count_arms(problem, tables, truth)
    parts: dict[str, Any] = {
        "arms": _arms(faults, problem, n_arms),
        "costs": _costs(faults, tables, n_arms),
        "biases": _biases(faults, tables, n_arms),
        "family": _family(faults, document),
        "fidelities": [table.get("name", f"fidelity {i + 1}") for i, table in enumerate(tables)] or None,
        "direction": problem.get("direction", "maximise"),
        "seeds": problem.get("seeds", "independent"),
        "deterministic": _deterministic(faults, tables),
        "charged": problem.get("charged", 0.0),
    }
    controlled = {parts["fidelities"][i]: tables[i]["controlled"] for i in _controlled(tables)}
    parts["controls"] = controlled or None
    built = None
    with faults.absorb(lambda fault: _in_file(fault, parts["arms"], tables, file)):
        known_truth = "means" in truth and tables  # without fidelities there is nothing to hold the means against
        about: dict[str, Any] = {"name": name, "ties": ties}
        about |= {entry: truth.get(entry) for entry in ("deviation", "correlation")}
        built = Instance(truth["means"], **about, **parts) if known_truth else Problem(**parts)
    _check_guess(faults, document, built or _stand_in(n_arms, len(tables)))
    faults.raise_if_any(f"spec {name!r}" if name else "spec")
    assert built is not None
    return built


def dumps(spec: Problem | Instance) -> str:
    """The text of a spec file that loads as an equal problem or instance, `spec`.

    >>> from mfbai import dumps, load
    >>> print(dumps(load("lucb-trap")).splitlines()[1])
    arms = ["arm 1", "arm 2"]
    """
    lines: list[str] = []
    for key, tables in spec.to_dict().items():
        heading = f"[[{key}]]" if isinstance(tables, list) else f"[{key}]"
        for table in tables if isinstance(tables, list) else [tables]:
            lines += [heading, *(f"{name} = {_toml(value)}" for name, value in table.items()), ""]
    return "\n".join(lines)


def _toml(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)  # the same as TOML's, names being printable
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name} = {_toml(part)}' for name, part in value.items())}}}"
    return repr(value)


def _tables_of(path_or_name: str | Path) -> tuple[dict[str, Any], str, ArmsFile | None]:
    """The tables of a spec, its label, and the file that its arms were read from, if there is one."""
    name = str(path_or_name)
    if name in instances.names():
        return parse(instances.source(name), name), name, None
    if name.endswith(".toml") or os.path.exists(name):
        path = Path(name)
        document, file = with_arms(parse(_text_of(path), path.stem), path.parent)
        return document, path.stem, file
    raise unknown_name("instance", name, [*instances.names(), "or the path of a .toml file"])


def parse(text: str, name: str | None = None) -> dict[str, Any]:
    """The tables of a spec file of this text."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput([Fault(name or "the text", f"is not TOML: {error}")]) from None
    except ValueError:  # Python reads no integer of thousands of digits
        raise InvalidInput([Fault(name or "the text", "holds a number of too many digits: shorten it")]) from None


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")  # some editors write a mark at the start
    except FileNotFoundError:
        near = difflib.get_close_matches(path.name, [file.name for file in path.parent.glob("*.toml")], n=1)
        hint = f"did you mean {near[0]!r}?" if near else "check the path"
        raise InvalidInput([Fault(str(path), f"does not exist: {hint}")]) from None
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput([Fault(str(path), f"cannot be read as text: {error}")]) from None


def _check_keys(
    faults: Faults, place: str, table: Mapping[str, Any], *, required: Iterable[str], optional: Iterable[str] = ()
) -> None:
    known = (*required, *optional)
    for key in table:
        if key not in known:
            faults.add(place, f"has an unknown entry {key!r}: {suggestion(key, known)}")
    for key in required:
        if key not in table:
            faults.add(place, f"has no {key!r}: add it")


def _table(
    faults: Faults, document: Mapping[str, Any], key: str, *, required: Iterable[str], optional: Iterable[str] = ()
) -> Mapping[str, Any]:
    """The table [key] of the document; empty, and a fault, if it is not one."""
    table = document.get(key, {})
    if not isinstance(table, Mapping):
        faults.add(key, f"is {table!r}: write it as a table, [{key}]")
        return {}
    if key in document:
        _check_keys(faults, f"[{key}]", table, required=required, optional=optional)
    return table


def _fidelities(faults: Faults, document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    tables = document.get("fidelity", [])
    if not isinstance(tables, list) or not all(isinstance(table, Mapping) for table in tables):
        faults.add("fidelity", "is not a list of tables: write each as [[fidelity]]")
        return []
    if "fidelity" in document and not tables:
        faults.add("fidelity", "is empty: add at least one [[fidelity]], the true one")
    for i, table in enumerate(tables):
        if i in _controlled(tables):
            _check_keys(faults, _label(tables, i), table, required=("controlled",), optional=("name",))
        else:
            _check_keys(
                faults, _label(tables, i), table, required=("cost",), optional=("name", "bias", "deterministic")
            )
    return tables


def _controlled(tables: list[Mapping[str, Any]]) -> list[int]:
    """The numbers of the controlled fidelities; the last is the one that they control."""
    return [i for i, table in enumerate(tables[:-1]) if "controlled" in table]


def _label(tables: list[Mapping[str, Any]], i: int) -> str:
    """How messages refer to a fidelity's table."""
    name = tables[i].get("name")
    return f'[[fidelity]] "{name}"' if isinstance(name, str) else f"[[fidelity]] number {i + 1}"


def _count_arms(problem: Mapping[str, Any], tables: list[Mapping[str, Any]], truth: Mapping[str, Any]) -> int:
    """From `arms`; should that be missing or unusable, from the tables that have an entry per arm."""
    arms = problem.get("arms")
    if isinstance(arms, int) and arms >= 2:
        return arms
    lists = (arms, truth.get("means"), *(table.get("cost") for table in tables))
    return next((len(given) for given in lists if isinstance(given, list) and len(given) >= 2), 2)


def _arms(faults: Faults, problem: Mapping[str, Any], n_arms: int) -> Any:
    given = problem.get("arms", n_arms)
    if isinstance(given, str):
        faults.add("arms", f"is {given!r:.60}: {NO_FILE}")
        return n_arms
    return given


def _costs(faults: Faults, tables: list[Mapping[str, Any]], n_arms: int) -> Any:
    """(M,) if no fidelity has a cost per arm, else (K, M)."""
    costs = []
    for i, table in enumerate(tables):
        cost = table.get("cost", ANY_COST)
        if not _is_number(cost) and not (_is_list(cost, n_arms) and all(map(_is_number, cost))):
            faults.add(_label(tables, i), f"has cost {cost!r}: give a number, or a list of {n_arms}, one per arm")
            cost = ANY_COST
        costs.append(cost)
    if not any(isinstance(cost, list) for cost in costs):
        return costs or ANY_COST
    return _transposed([cost if isinstance(cost, list) else [cost] * n_arms for cost in costs])


def _deterministic(faults: Faults, tables: list[Mapping[str, Any]]) -> list[bool] | None:
    """(M,) whether each fidelity has no noise; None if there are none."""
    given = [table.get("deterministic", False) for table in tables]
    for i, entry in enumerate(given):
        if not isinstance(entry, bool):
            faults.add(_label(tables, i), f"has deterministic {entry!r}: give true or false")
    return [entry is True for entry in given] or None


def _biases(faults: Faults, tables: list[Mapping[str, Any]], n_arms: int) -> Any:
    """Radii (M,) if every fidelity has one for all arms, else a pair (low, high) of (K, M)."""
    biases = []
    for i, table in enumerate(tables):
        unknown = 0.0 if i == len(tables) - 1 or i in _controlled(tables) else inf
        bias = table.get("bias", unknown)
        fault = _bias_fault(bias, n_arms)
        if fault:
            faults.add(_label(tables, i), f"has bias {bias!r}: {fault}")
        biases.append(unknown if fault else bias)
    if all(map(_is_number, biases)):
        return biases or 0.0
    bounds = [_bounds_per_arm(bias, n_arms) for bias in biases]
    return tuple(_transposed([[pair[end] for pair in column] for column in bounds]) for end in (0, 1))


def _bias_fault(bias: Any, n_arms: int) -> str:
    """Why `bias` cannot be read; empty if it can."""
    if _is_number(bias) or _is_pair(bias):
        entries = [bias]
    elif _is_list(bias, n_arms) and all(_is_number(entry) or _is_pair(entry) for entry in bias):
        entries = bias
    else:
        return f"give a radius, [low, high], or a list of {n_arms} of these, one per arm"
    if any(_is_number(entry) and entry < 0 for entry in entries):
        return "a radius cannot be negative; for bounds give [low, high]"
    if n_arms == 2 and _is_pair(bias) and min(bias) >= 0 and max(bias) > 0:
        r, s = bias
        return (
            f"with two arms this could be bounds or a radius for each arm; "
            f"give [[{r}, {s}], [{r}, {s}]] for bounds, [[-{r}, {r}], [-{s}, {s}]] for radii"
        )
    return ""


def _bounds_per_arm(bias: Any, n_arms: int) -> list[list[float]]:
    """(low, high) for each arm, of a bias that has no fault."""
    entries = [bias] * n_arms if _is_number(bias) or _is_pair(bias) else bias
    return [[0.0 - entry, entry] if _is_number(entry) else entry for entry in entries]


def _family(faults: Faults, document: Mapping[str, Any]) -> Family:
    table = document.get("family", {})
    name = table.get("name") if isinstance(table, Mapping) else None
    family = FAMILIES.get(name) if isinstance(name, str) else None
    if family is None:
        _table(faults, document, "family", required=("name",), optional=("variance", "bounds"))
        if name is not None:
            check_choice(faults, "[family] name", name, FAMILIES)
        return ANY_FAMILY
    fields = dataclasses.fields(family)
    table = _without_noise(faults, family, table)
    needed = [field.name for field in fields if field.default is dataclasses.MISSING]
    _check_keys(
        faults,
        "[family]",
        table,
        required=("name", *needed),
        optional=[field.name for field in fields if field.name not in needed],
    )
    if not set(needed) <= set(table):
        return ANY_FAMILY
    return family(**{field.name: table[field.name] for field in fields if field.name in table})


def _without_noise(faults: Faults, family: type[Family], table: Mapping[str, Any]) -> Mapping[str, Any]:
    """The entries of a [family], without those that state what the family learns; a fault for each of them."""
    told = {
        "variance": f"which {family.name} does not need: leave it out, as the noise is learnt on the way",
        "bounds": "which belongs to subgaussian: write low and high",
        "deviation": "which is the truth of a simulation: write it under [truth]",
    }
    for key in [key for key in table if key in told and family.learns]:
        faults.add("[family]", f"has {key!r}, {told[key]}")
    return {key: entry for key, entry in table.items() if key not in told or not family.learns}


def _check_guess(faults: Faults, document: Mapping[str, Any], built: Instance | Problem) -> None:
    entries = [*(entry for form in FORMS for entry in form), "deviation", "correlation"]
    table = _table(faults, document, "guess", required=(), optional=entries)
    if not isinstance(document.get("guess"), Mapping):
        return
    problem = built.problem if isinstance(built, Instance) else built
    with faults.absorb(_in_guess):
        read_guess({entry: table[entry] for entry in entries if entry in table}, problem)


def _stand_in(n_arms: int, n_fidelities: int) -> Problem:
    """A problem of that size, to hold a guess against if the file's own is at fault."""
    biases = [ANY_BIAS] * (n_fidelities - 1) + [0.0]
    return Problem(n_arms, [ANY_COST] * len(biases), biases, ANY_FAMILY)


def _in_guess(fault: Fault) -> Fault:
    """The fault, with its table: [truth] has means too."""
    return fault._replace(field="[guess]" if fault.field == "guess" else f"[guess] {fault.field}")


def _in_file(fault: Fault, arms: Any, tables: list[Mapping[str, Any]], file: ArmsFile | None) -> Fault:
    """The fault, with the table of the file to look at, or the line and column of the file of arms."""
    field, *index = re.findall(r"\w+", fault.field)
    if file is not None:
        names = [table.get("name", f"fidelity {i + 1}") for i, table in enumerate(tables)]
        if (read_at := file.place_of(field, index, names)) is not None:
            return fault.at(read_at)
    if field == "controls":
        return fault  # it names its fidelity
    table = TABLE_OF.get(field)
    if table != "fidelity":
        place = f"the [{table}] table"
    elif index:
        place = f"the {_label(tables, int(index[-1]))} entry"
    else:
        return fault
    if len(index) == 2:
        arm = int(index[0])
        place += f", {f'arm {arms[arm]!r}' if isinstance(arms, list) else f'arm {arm + 1}'}"
    return fault.at(place)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_list(value: Any, length: int) -> bool:
    return isinstance(value, list) and len(value) == length


def _is_pair(value: Any) -> bool:
    return _is_list(value, 2) and all(map(_is_number, value))


def _transposed(columns: list[list[float]]) -> list[list[float]]:
    return [list(row) for row in zip(*columns, strict=True)]
