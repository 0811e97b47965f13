"""What the pages say is what the code does: their examples run, their figures and links are right.

Where the code has changed on purpose, `python tests/test_docs.py` brings the figures on the pages up to date.
"""

import contextlib
import dataclasses
import difflib
import doctest
import importlib
import inspect
import io
import os
import pkgutil
import re
import shlex
import socket
import subprocess
import sys
import tempfile
from itertools import takewhile, zip_longest
from pathlib import Path
from typing import NamedTuple

import docutils.core
import pytest

import mfbai
from mfbai.model import instances
from mfbai.model.families import FAMILIES, Family
from mfbai.model.spec import loads
from mfbai.stopping import RULES
from mfbai.strategies import STRATEGIES
from support.programs import load
from support.seeds import fix_keys

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
OTHERS = [ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "examples").rglob("*.md"))]
SKELETON_PAGE = DOCS / "developer" / "extending.md"
SKELETONS = SKELETON_PAGE.parent / "skeletons"
PORT = "8400"  # where the pages' servers are; the tests' are elsewhere
# What classes have for the rest of the package alone; and what families have, of which only the settings are public.
INTERNAL = {
    "Client": {"call", "call_for_bytes", "choices", "close", "understanding"},
    "Instance": {"in_common", "model"},
    "Problem": {
        "admits",
        "arm_indices",
        "compose",
        "exact",
        "model",
        "noisy",
        "only",
        "parts_only",
        "replace",
        "seen_as",
    }
    | {"sign", "summary", "towards", "whole"},
    **{family.__name__: {*dir(Family), "name", "proxy"} for family in FAMILIES.values()},
}


def name_of(page):
    """Such as docs/guides/studies.md: two folders may have pages of one name."""
    return page.relative_to(ROOT).as_posix()


class Block(NamedTuple):
    """A fenced block of a page."""

    language: str
    text: str
    line: int
    file: str | None  # the name it is to be saved under, if the text before it ends with "`name`:"

    @property
    def end(self):
        return self.line + self.text.count("\n") + 1


def blocks_of(page):
    found, lines = [], page.read_text().splitlines()
    opened = None
    for number, line in enumerate(lines, start=1):
        if opened is None and line.startswith("```"):
            before = " ".join(lines[max(0, number - 4) : number - 1]).strip()
            named = re.search(r"`([\w.-]+\.(?:toml|csv|json|py))`:$", before)
            opened = Block(line[3:].strip(), "", number, named and named[1])
        elif opened is not None and line.startswith("```"):
            found.append(opened)
            opened = None
        elif opened is not None:
            opened = opened._replace(text=opened.text + line + "\n")
    assert opened is None, f"{name_of(page)}: the block at line {opened.line} does not end"
    return found


def run_page(page, compare=None):
    """Run the page's blocks in order, in the current folder, sharing a namespace and files.

    Studies of Python blocks have fixed seeds. compare(place, shown, got) is called for all output that the page shows.
    """
    compare = compare or check_same
    names = {"__name__": "page"}
    keys = {PORT: str(free_port())} if PORT in page.read_text() else {}
    blocks = blocks_of(page)
    with pytest.MonkeyPatch.context() as patch, contextlib.ExitStack() as servers:
        fix_keys(patch)
        run_blocks(page, blocks, names, keys, compare, servers)


def run_blocks(page, blocks, names, keys, compare, servers):
    for block, after in zip_longest(blocks, blocks[1:]):
        if block.file:
            Path(block.file).write_text(block.text)
        elif block.language == "python" and block.text.startswith(">>>"):
            run_doctest(page, block, names)
        elif block.language == "python":
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                code = replace_all(block.text, keys)
                exec(compile(code, f"{name_of(page)}:{block.line}", "exec"), names)
            if after is not None and after.language == "text" and after.line == block.end + 2:
                compare(f"{name_of(page)}:{after.line}", after.text, printed.getvalue())
        elif block.language == "console":
            run_console(page, block, compare, keys, servers)


def run_doctest(page, block, names):
    test = doctest.DocTestParser().get_doctest(block.text, names, name_of(page), str(page), block.line)
    told = io.StringIO()
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(test, out=told.write, clear_globs=False)
    names.update(test.globs)
    assert runner.failures == 0, told.getvalue()


def run_console(page, block, compare, keys, servers):
    """Run the commands of the block, if they are ours or curl's, and compare what they print where the page shows it.

    Ids of trials end in a random key, another one each time: `keys` maps those on the page to those of now. Commands
    that end in & run until all else of the page is done.
    """
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        words = [replace_all(word, keys) for word in shlex.split(command, comments=True)]
        if words[0] not in ("mfbai", "curl"):
            continue
        call = [sys.executable, "-m", *words] if words[0] == "mfbai" else words
        if call[-1] == "&":
            got = servers.enter_context(background([*call[:-1], "--port", keys[PORT]]))
            compare(f"{name_of(page)}:{block.line}: {command}", shown, replace_all(got, {keys[PORT]: PORT}))
            continue
        done = subprocess.run(call, capture_output=True, text=True, check=False, env=commands())
        wanted = 2 if shown.startswith("error:") else 28 if "--max-time" in words else 0
        assert done.returncode == wanted, f"{name_of(page)}:{block.line}: {command}: {done.returncode}\n{done.stderr}"
        if shown.strip():
            got = done.stdout + done.stderr
            keys |= dict(zip(keys_in(shown), keys_in(got), strict=False))
            compare(
                f"{name_of(page)}:{block.line}: {command}",
                shown,
                replace_all(got, {now: then for then, now in keys.items()}),
            )


def commands():
    """The environment of commands: `python` is the one that runs the tests."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return {**os.environ, "PATH": path}


@contextlib.contextmanager
def background(call):
    """A server, for as long as the block lasts; the line that it prints when it is ready."""
    with subprocess.Popen(call, stdout=subprocess.PIPE, text=True, env=commands()) as process:
        try:
            yield process.stdout.readline()
        finally:
            process.terminate()


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as found:
        return found.getsockname()[1]


def keys_in(output):
    return re.findall(r"\b\d+-([0-9a-f]{8})\b", output)


def replace_all(text, changes):
    for old, new in changes.items():
        text = text.replace(old, new)
    return text


def check_same(place, shown, got):
    shown, got = steady(shown), steady(got)
    changes = "\n".join(difflib.unified_diff(shown, got, "the page", "now", lineterm=""))
    assert not changes, f"{place}\n{changes}"


def steady(output):
    """The lines without what differs from run to run: seconds, seeds, ends of leases; or blanks at the end."""
    lines = [line.rstrip() for line in output.strip("\n").splitlines()]
    timed = any(line.endswith(" seconds") for line in lines)
    lines = [re.sub(r"%\s+\d+\.\d\d$", "% *", line) if timed else line for line in lines]
    lines = [re.sub(r'"seconds": [\d.]+', '"seconds": *', line) for line in lines]
    lines = [re.sub(r"with seed \d+|\"seed\":\d+", "seed *", line) for line in lines]
    lines = [re.sub(r'"lease_until":"[^"]*"', '"lease_until":*', line) for line in lines]
    return [re.sub(r"^by \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.$", "by *.", line) for line in lines]


@pytest.mark.parametrize("page", [page for page in PAGES if page != SKELETON_PAGE], ids=name_of)
def test_examples_of_a_page_run_and_print_what_it_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # commands run this package, from any folder
    run_page(page)


def run_with_skeletons(code, folder, **environment):
    path = os.pathsep.join([str(SKELETONS), str(ROOT / "tests"), *sys.path])
    env = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", **environment}
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_skeletons_run_and_keep_their_contracts(tmp_path):
    """The page simulates and checks them, in a process of its own: what it registers ends with it."""
    checked = re.findall(r"^check_(\w+)\(", SKELETON_PAGE.read_text(), re.MULTILINE)
    assert checked == ["strategy", "rule", "family", "storage"]
    run_with_skeletons("import test_docs as t; t.run_page(t.SKELETON_PAGE)", tmp_path)


def test_code_compiled_for_records_from_outside_the_package_is_not_kept(tmp_path):
    """It would be stale after an edit. The strategy's own two parts are compiled in the process; the loop and the rule
    are those of all strategies."""
    code = (
        "import mfbai, strategy; from mfbai.strategies import STRATEGIES;"
        "STRATEGIES['mine'] = strategy.STRATEGIES[0];"
        "mfbai.simulate('paper-5x2', 'mine', runs=1, stopping='stylised')"
    )
    cache = tmp_path / "cache"
    run_with_skeletons(code, tmp_path, NUMBA_CACHE_DIR=str(cache))
    kept = {file.name.partition("-")[0] for file in cache.rglob("*.part")}
    assert kept == {"run_many", "observe_and_decide"}


def test_the_page_on_extensions_quotes_the_skeletons():
    skeleton = "\n".join(file.read_text() for file in SKELETONS.glob("*.py"))
    quotes = [block for block in blocks_of(SKELETON_PAGE) if block.language == "text"]
    code = [block.text for block in quotes if not block.text.startswith("<")]  # the others show what is printed
    assert code
    assert [text for text in code if text not in skeleton] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_spec_file_shown_loads(page):
    for block in blocks_of(page):
        if block.language == "toml":
            loads(block.text)


@pytest.mark.parametrize("page", [*PAGES, *OTHERS], ids=name_of)
def test_relative_links_and_their_anchors_lead_somewhere(page):
    wrong = []
    prose = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)]+)\)", prose):
        if "://" in target:
            continue
        file, _, anchor = target.partition("#")
        there = (page.parent / file).resolve() if file else page
        if not there.exists() or (anchor and anchor not in anchors(there)):
            wrong.append(target)
    assert wrong == []


def anchors(page):
    """The anchors that GitHub gives to the headings."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_is_linked_from_the_index():
    """Or from a list that the index links, such as that of the gallery."""
    index = DOCS / "README.md"
    lists = [page for page in linked_from(index) if page.name == "README.md" and page.is_relative_to(DOCS)]
    linked = {index, *linked_from(index), *(page for listing in lists for page in linked_from(listing))}
    assert [name_of(page) for page in DOCS.rglob("*.md") if page not in linked] == []


def linked_from(page):
    targets = re.findall(r"\]\(([^)]+)\)", page.read_text())
    return {(page.parent / target.partition("#")[0]).resolve() for target in targets}


def test_pages_that_the_code_names_exist():
    """Help texts, messages and docstrings say where to read on."""
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "bench").rglob("*.py"), ROOT / "Makefile"]
    named = {name for file in files for name in re.findall(r"\bdocs/[\w/.-]+\.(?:md|py)", file.read_text())}
    assert named
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("page", [page for page in [*PAGES, *OTHERS] if page != SKELETON_PAGE], ids=name_of)
def test_files_that_a_page_names_exist(page):
    """But for the page on extensions, which names files that are yet to be written."""
    named = re.findall(r"`((?:src|tests|bench|docs|examples)/[\w/.-]*)`", page.read_text())
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_map_has_every_package_and_the_files_it_names_exist():
    text = (DOCS / "developer" / "architecture.md").read_text()
    package = Path(mfbai.__file__).parent
    rooms = [f"`{room.name}/`" for room in package.iterdir() if (room / "__init__.py").exists()]
    assert [room for room in rooms if room not in text] == []
    named = re.findall(r"`(\w+/[\w/]*(?:\.py)?)`", text)
    assert [name for name in named if not any((root / name).exists() for root in (package, package.parent, ROOT))] == []


# --- tables of what there is


def rows_of(page, heading):
    """The cells of a page's first table whose first column has that heading, row by row."""
    lines = iter((DOCS / page).read_text().splitlines())
    next(line for line in lines if line.startswith(f"| {heading} |"))
    next(lines)
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in takewhile(lambda line: line[:1] == "|", lines)]


def quoted(cell):
    return re.findall(r"`(\w[\w-]*)", cell)


def test_the_table_of_strategies_is_that_of_the_registry():
    rows = {quoted(name)[0]: (options, rule) for name, options, rule, _ in rows_of("theory/strategies.md", "strategy")}
    assert list(rows) == list(STRATEGIES)
    for name, strategy in STRATEGIES.items():
        options, rule = rows[name]
        assert quoted(options) == list(strategy.options)
        settings = [f"`{key}` ({value:g})" for key, value in strategy.options.items() if value is not None]
        assert [setting for setting in settings if setting not in options] == []
        assert rule == ("own" if strategy.own_rule else "any")


def test_the_table_of_rules_is_that_of_the_registry():
    rows = {quoted(name)[0]: quoted(options) for name, _, options, _ in rows_of("theory/strategies.md", "rule")}
    assert rows == {name: list(rule.options) for name, rule in RULES.items()}


def test_the_tables_of_families_and_instances_are_those_of_the_registries():
    families = {quoted(row[0])[0] for row in rows_of("guides/problems.md", "family")}
    assert families == {family.__name__ for family in FAMILIES.values()}
    named = [name for row in rows_of("guides/problems.md", "name") for name in quoted(row[0])]
    assert sorted(named) == sorted(instances.names())


def test_the_table_of_the_api_has_every_call():
    from mfbai.web.app import api
    from mfbai.web.care import care

    routes = [*api.routes, *care.routes]
    short = [(route.methods, route.path.replace("/api/v1/studies/{name}/", ".../")) for route in routes]
    known = {f"{verb} {path}" for verbs, path in short for verb in verbs if path.startswith((".", "/api/"))}
    shown = set()
    for cell, _ in rows_of("guides/serve.md", "call"):
        verb, *paths = re.findall(r"[A-Z]{3,}|[./{}\w-]*/[./{}\w-]+", cell)
        shown |= {f"{verb} {path}" for path in paths}
    assert shown == known


# --- the API


@pytest.fixture(scope="module")
def docstrings():
    """tools/docstrings.py"""
    return load("tools/docstrings.py")


def test_every_public_name_is_on_one_page_of_the_api_under_its_own_heading(docstrings):
    found = []
    for page, asked in docstrings.shown().items():
        headings = re.findall(r"^##+ (.+)$", (DOCS / "api" / f"{page}.md").read_text(), re.MULTILINE)
        public = [name.removeprefix("mfbai.") for name, _ in asked if name.count(".") == 1]
        assert [name for name in public if name not in {heading.replace("\\", "") for heading in headings}] == []
        found += public
    assert sorted(found) == mfbai.__all__


CLASSES = [
    name
    for name in mfbai.__all__
    if inspect.isclass(getattr(mfbai, name)) and not issubclass(getattr(mfbai, name), Exception)
]


@pytest.mark.parametrize("name", CLASSES)
def test_the_api_shows_all_methods_and_properties_with_their_docstrings(name, docstrings):
    thing = getattr(mfbai, name)
    entries = [entry for asked in docstrings.shown().values() for entry in asked]
    listed = [member for full, members in entries if full == f"mfbai.{name}" for member in members]
    alone = [full.rpartition(".")[2] for full, _ in entries if full.startswith(f"mfbai.{name}.")]
    public = {member for member in dir(thing) if not member.startswith("_")}
    assert sorted(listed + alone) == sorted(public - fields_of(thing) - INTERNAL.get(name, set()))
    assert [member for member in listed + alone if not inspect.getdoc(inspect.getattr_static(thing, member))] == []


NAMES = [name for name in mfbai.__all__ if name != "__version__"]


@pytest.mark.parametrize("name", NAMES)
def test_a_docstring_tells_of_all_parameters_and_attributes(name, docstrings):
    """In a list, or within its text as code. What users are given has attributes, and no parameters for them."""
    thing = getattr(mfbai, name)
    given = set() if name in docstrings.RESULTS or is_own_exception(thing) else set(inspect.signature(thing).parameters)
    text = inspect.getdoc(thing)
    told = docstrings.terms(text) | set(re.findall(r"`(\w+)`", text))
    wanted = given | (fields_of(thing) - INTERNAL.get(name, set()) | attributes_of(thing))
    assert sorted(wanted - told) == []


def fields_of(thing):
    fields = dataclasses.fields(thing) if dataclasses.is_dataclass(thing) else ()
    return {field.name for field in fields if not field.name.startswith("_")}


def is_own_exception(thing):
    return inspect.isclass(thing) and issubclass(thing, Exception)


def attributes_of(thing):
    """What an exception has of its own: what its `__init__` takes, but for the message."""
    own = is_own_exception(thing) and "__init__" in vars(thing)
    return set(inspect.signature(thing).parameters) - {"told"} if own else set()


@pytest.mark.parametrize("name", NAMES)
def test_a_docstring_has_an_example_which_is_run(name):
    """`test_examples_in_docstrings` runs those of all modules."""
    thing = getattr(mfbai, name)
    assert thing.__module__ in MODULES
    assert doctest.DocTestParser().get_examples(thing.__doc__)


def test_signatures_say_what_can_be_given_without_types(docstrings):
    assert docstrings.signature_of("mfbai.load", mfbai.load) == "(path_or_name, variance=None, *, ties=False)"
    told = docstrings.signature_of("mfbai.Study.fail", mfbai.Study.fail)
    assert told == "(trial, reason='')"
    assert [name for name in docstrings.RESULTS if docstrings.signature_of(f"mfbai.{name}", getattr(mfbai, name))] == []


def test_docstrings_become_sound_markup(docstrings):
    """Whatever signs their prose has; and all of their words stay."""
    texts = [inspect.getdoc(pkgutil.resolve_name(name)) for name in docstrings.known() - {"mfbai.__version__"}]
    assert len(texts) > len(mfbai.__all__)
    for text in texts:
        shown = docutils.core.publish_doctree("\n".join(docstrings.rendered(text)), settings_overrides=STRICT)
        assert re.sub(r"[`\s]", "", shown.astext()) == re.sub(r"[`\s]", "", text)


STRICT = {"halt_level": 2, "report_level": 2}


def test_a_list_of_two_columns_becomes_a_list_of_definitions_and_a_formula_stays(docstrings):
    text = """What it is: see `load`, or `other`.

    arms    how many, "all" or
            their names
    delta   the |risk|, for which * stands

        x < 2 * delta

    >>> 1 + 1
    2
    """
    assert docstrings.rendered(text, "mfbai.Problem", frozenset({"mfbai.load"})) == [
        "What it is: see :py:obj:`load <mfbai.load>`, or ``other``.",
        "",
        "``arms``",
        '   how many, ``"all"`` or their names',
        "``delta``",
        "   the \\|risk\\|, for which \\* stands",
        "",
        ".. code-block:: text",
        "",
        "    x < 2 * delta",
        "",
        ">>> 1 + 1",
        "2",
        "",
    ]


# --- the commands


def test_the_page_of_commands_has_every_command_and_option():
    import typer

    from mfbai.cli import app

    documented = sections((DOCS / "commands.md").read_text())
    known = dict(commands_of(typer.main.get_command(app), "mfbai"))
    texts = {" ".join(word for word in heading.split() if word.islower()): text for heading, text in documented.items()}
    assert sorted(texts) == sorted(known)
    for name, text in texts.items():
        shown = [parameter for parameter in known[name].params if not getattr(parameter, "hidden", False)]
        options = [option for parameter in shown for option in parameter.opts]
        wanted = [option for option in options if option.startswith("--") and option != "--help"]
        assert [option for option in wanted if f"`{option}" not in text] == [], name


def sections(text):
    """The text under each "## heading"."""
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def commands_of(group, prefix):
    """Those of groups, such as `mfbai study run`, too."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands_of(command, f"{prefix} {name}")
        else:
            yield f"{prefix} {name}", command


# --- docstrings


MODULES = [module.name for module in pkgutil.walk_packages(mfbai.__path__, "mfbai.") if "__main__" not in module.name]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name, docstrings, tmp_path, monkeypatch):
    """Studies in them have fixed seeds, as on the pages. Those on the pages of the API import what they use."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    fix_keys(monkeypatch)
    shown = {pkgutil.resolve_name(known).__doc__ for known in docstrings.known()}
    runner, told = doctest.DocTestRunner(verbose=False), io.StringIO()
    for test in doctest.DocTestFinder().find(importlib.import_module(name)):
        if test.docstring in shown:
            test.globs = {"__name__": name}
        runner.run(test, out=told.write)
    assert runner.failures == 0, told.getvalue()


def update(page):
    """Write what is printed now into the page, where that differs from what it shows."""

    def replace(place, shown, got):
        if steady(shown) != steady(got):
            lines = [line.rstrip() + "\n" for line in got.splitlines()]
            page.write_text(page.read_text().replace(shown, "".join(lines)))
            sys.stdout.write(f"updated {place}\n")

    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        run_page(page, replace)


if __name__ == "__main__":
    for page in PAGES:
        if page != SKELETON_PAGE:
            update(page)
