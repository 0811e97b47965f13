"""Docstrings on the pages of docs/api: plain text, as `help` prints it, becomes what Sphinx reads.

A docstring is made of paragraphs, lists of names in two columns, indented formulas and examples:

    costs       of one evaluation: one number, one per fidelity (M,),
                or (K, M)
    direction   "maximise" or "minimise" the top mean

`Backticks` are around names and code. Nothing else is markup, so that prose can have any sign in it.
"""

import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

ROOT = Path(__file__).parents[1]
ENTRY = re.compile(r"(?P<names>\w+(?:\(\))?(?:, \w+(?:\(\))?)*) {2,}(?P<text>\S.*)")  # the first line of one, in a list
CODE = re.compile(r"""(`[^`]+`|"[^"\s`]+")""")  # and values such as "common"
ESCAPED = re.compile(r"[\\*|_]|(?<=\w)(?=://)")  # what would be markup, or a link
Code: TypeAlias = Callable[[re.Match[str]], str]
# What a page asks for: a name, and the members that it shows.
DIRECTIVE = re.compile(r"^\.\. auto(?P<kind>\w+):: (?P<name>mfbai\.[\w.]+)\n(?:   :members: (?P<members>.+)\n)?", re.M)
# What users are given, and do not make themselves: their signatures are no use.
RESULTS = (
    *("BiasAlarm", "Evidence", "Oracle", "Pilot", "Plan", "Risk", "Runs", "Status", "Study", "Trace", "Trial"),
    *("VarianceAlarm", "Verdict", "Verification"),
)


def setup(app: Any) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", process)
    app.connect("autodoc-process-signature", shorten)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def process(_: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    lines[:] = rendered("\n".join(lines), name, known())


def shorten(_: Any, what: str, name: str, thing: Any, options: Any, signature: str, returns: str) -> Any:
    """What can be given; nothing for what users do not make themselves."""
    return (signature_of(name, thing), None) if signature else None


def signature_of(name: str, thing: Any) -> str:
    """Without types, which are for programs, and without `self`. None for results, exceptions and attributes."""
    raised = inspect.isclass(thing) and issubclass(thing, Exception)
    if not callable(thing) or raised or name.removeprefix("mfbai.") in RESULTS:
        return ""
    signature = inspect.signature(thing)
    bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()]
    kept = [parameter for parameter in bare if parameter.name != "self"]
    return str(signature.replace(parameters=kept, return_annotation=inspect.Signature.empty))


def rendered(text: str, name: str = "", linked: frozenset[str] = frozenset()) -> list[str]:
    """The docstring of a name as reStructuredText, with links to those that are on the pages."""
    text = inspect.cleandoc(text)
    own, owner = terms(text), ".".join(name.split(".")[:2])

    def code(quoted: re.Match[str]) -> str:
        inside = quoted[0].strip("`")
        places = [inside] if inside.startswith("mfbai.") else [f"{owner}.{inside}"]
        places += [] if inside in own else [f"mfbai.{inside}"]
        found = [place for place in places if place in linked and place != name]
        return f":py:obj:`{inside} <{found[0]}>`" if found else f"``{inside}``"

    found: list[str] = []
    for part in re.split(r"\n\s*\n", text):
        found += [*block(part.splitlines(), code), ""]
    return found


def terms(text: str) -> set[str]:
    """What a docstring lists: parameters, attributes."""
    first = [ENTRY.fullmatch(line) for line in text.splitlines()]
    return {name for entry in first if entry for name in entry["names"].split(", ")}


def block(lines: list[str], code: Code) -> list[str]:
    if lines[0].startswith(">>>"):
        return lines
    if all(line.startswith("    ") for line in lines):
        return [".. code-block:: text", "", *lines]
    if ENTRY.fullmatch(lines[0]):
        return [line for names, told in entries(lines) for line in (names, f"   {plain(told, code)}")]
    return plain("\n".join(lines), code).splitlines()


def entries(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Each line of a list: the names, as code, and what is said of them."""
    found: list[tuple[str, list[str]]] = []
    for line in lines:
        entry = ENTRY.fullmatch(line)
        if entry is None:
            found[-1][1].append(line.strip())
        else:
            found.append((", ".join(f"``{name}``" for name in entry["names"].split(", ")), [entry["text"]]))
    return ((names, " ".join(told)) for names, told in found)


def plain(text: str, code: Code) -> str:
    """Prose in which nothing but code is marked, and texts that are values."""
    parts = CODE.split(text)
    return "".join(quote(part, code) if n % 2 else ESCAPED.sub(r"\\\g<0>", part) for n, part in enumerate(parts))


def quote(part: str, code: Code) -> str:
    return f"``{part}``" if part.startswith('"') else CODE.sub(code, part)


# --- what is on the pages


def shown() -> dict[str, list[tuple[str, list[str]]]]:
    """The names on each page of docs/api, each with the members that are shown with it."""
    found = {}
    for page in sorted((ROOT / "docs" / "api").glob("*.md")):
        asked = DIRECTIVE.finditer(page.read_text())
        found[page.stem] = [
            (one["name"], (one["members"] or "").split(", ") if one["members"] else []) for one in asked
        ]
    return found


@cache
def known() -> frozenset[str]:
    """All names that are shown."""
    return frozenset(
        full
        for asked in shown().values()
        for name, members in asked
        for full in (name, *(f"{name}.{m}" for m in members))
    )


def in_words(name: str) -> str:
    """The name, its signature and its docstring, in Markdown."""
    thing = pkgutil.resolve_name(name)
    about = "The version, as text." if isinstance(thing, str) else inspect.getdoc(thing)
    return f"{name}{signature_of(name, thing)}\n\n{about}"
