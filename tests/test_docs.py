"""What the pages say is what the code does: their examples run, their figures and links are right.

Where the code has changed on purpose, `python tests/test_docs.py` brings the figures on the pages up to date.
"""

import contextlib
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
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import pytest

import mfbai
from mfbai.model.spec import loads
from mfbai.stopping import RULES
from mfbai.strategies import STRATEGIES

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SKELETON_PAGE = ROOT / "docs" / "developer" / "extending.md"
SKELETONS = SKELETON_PAGE.parent / "skeletons"
LENDERS = {"README.md": ROOT / "docs" / "studies.md"}  # pages whose files another one uses
PORT = "8400"  # where the pages' servers are; the tests' are elsewhere
RESULTS = ("Evidence", "Oracle", "Plan", "Runs", "Status", "Study", "Trace", "Trial", "Verdict", "Verification")


class Block(NamedTuple):
    """A fenced block of a page."""

    language: str
    text: str
    line: int
    file: str | None  # the name it is to be saved under, if the text before it ends with "`name`:"


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
    assert opened is None, f"{page.name}: the block at line {opened.line} does not end"
    return found


def run_page(page, compare=None):
    """Run the page's blocks in order, in the current folder, sharing a namespace and files.

    compare(place, shown, got) is called for all output that the page shows.
    """
    compare = compare or check_same
    names = {"__name__": "page"}
    keys = {PORT: str(free_port())} if PORT in page.read_text() else {}
    blocks = blocks_of(page)
    with contextlib.ExitStack() as servers:
        run_blocks(page, blocks, names, keys, compare, servers)


def run_blocks(page, blocks, names, keys, compare, servers):
    for lent in blocks_of(LENDERS[page.name]) if page.name in LENDERS else []:
        if lent.file:
            Path(lent.file).write_text(lent.text)
    for block, after in zip_longest(blocks, blocks[1:]):
        if block.file:
            Path(block.file).write_text(block.text)
        elif block.language == "python" and block.text.startswith(">>>"):
            run_doctest(page, block, names)
        elif block.language == "python":
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                code = replace_all(block.text, keys)
                exec(compile(code, f"{page.name}:{block.line}", "exec"), names)
            if after is not None and after.language == "text":
                compare(f"{page.name}:{after.line}", after.text, printed.getvalue())
        elif block.language == "console":
            run_console(page, block, compare, keys, servers)


def run_doctest(page, block, names):
    test = doctest.DocTestParser().get_doctest(block.text, names, page.name, str(page), block.line)
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
            compare(f"{page.name}:{block.line}: {command}", shown, replace_all(got, {keys[PORT]: PORT}))
            continue
        done = subprocess.run(call, capture_output=True, text=True, check=False, env=commands())
        wanted = 2 if shown.startswith("error:") else 28 if "--max-time" in words else 0
        assert done.returncode == wanted, f"{page.name}:{block.line}: {command}: {done.returncode}\n{done.stderr}"
        if shown.strip():
            got = done.stdout + done.stderr
            keys |= dict(zip(keys_in(shown), keys_in(got), strict=False))
            compare(
                f"{page.name}:{block.line}: {command}",
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
    """The lines without what differs from run to run: the seconds, seeds, ends of leases, and blanks at the end."""
    lines = [line.rstrip() for line in output.strip("\n").splitlines()]
    timed = any(line.endswith(" seconds") for line in lines)
    lines = [re.sub(r"%\s+\d+\.\d\d$", "% *", line) if timed else line for line in lines]
    lines = [re.sub(r'"seconds": [\d.]+', '"seconds": *', line) for line in lines]
    lines = [re.sub(r"with seed \d+|\"seed\":\d+", "seed *", line) for line in lines]
    lines = [re.sub(r'"lease_until":"[^"]*"', '"lease_until":*', line) for line in lines]
    return [re.sub(r"^by \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.$", "by *.", line) for line in lines]


@pytest.mark.parametrize("page", [page for page in PAGES if page != SKELETON_PAGE], ids=lambda page: page.name)
def test_examples_of_a_page_run_and_print_what_it_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # commands run this package, from any folder
    run_page(page)


def test_the_skeletons_run_and_keep_their_contracts_and_leave_nothing_in_the_disk_cache(tmp_path):
    """The page simulates and checks them. Compiled code for records from outside the package must not be kept: it would
    be stale after an edit, and no process without that file could read the cache's index. All runs of the page have
    such a record, so none of the loops may be there; kernels of the package alone are."""
    assert re.findall(r"^check_(\w+)\(", SKELETON_PAGE.read_text(), re.MULTILINE) == ["strategy", "rule", "family"]
    cache = tmp_path / "cache"
    path = os.pathsep.join([str(SKELETONS), str(ROOT / "tests"), *sys.path])
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "import test_docs as t; t.run_page(t.SKELETON_PAGE)"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path, "NUMBA_CACHE_DIR": str(cache), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    kept = {file.name.partition("-")[0] for file in cache.rglob("*.nbc")}
    assert kept
    assert not [name for name in kept if name.startswith("loop.")]


def test_the_page_on_extensions_quotes_the_skeletons():
    skeleton = "\n".join(file.read_text() for file in SKELETONS.glob("*.py"))
    quotes = [block for block in blocks_of(SKELETON_PAGE) if block.language == "text"]
    code = [block.text for block in quotes if not block.text.startswith("<")]  # the others show what is printed
    assert code
    assert [text for text in code if text not in skeleton] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_spec_file_shown_loads(page):
    for block in blocks_of(page):
        if block.language == "toml":
            loads(block.text)


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md"], ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)]+)\)", page.read_text()):
        if "://" in target:
            continue
        file, _, anchor = target.partition("#")
        there = (page.parent / file).resolve() if file else page
        assert there.exists(), f"{page.name} links to {target}"
        assert not anchor or anchor in anchors(there), f"{page.name} links to {target}"


def anchors(page):
    """The anchors that GitHub gives to the headings."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_is_linked_from_the_readme():
    readme = (ROOT / "README.md").read_text()
    files = [file.name for file in (ROOT / "docs").iterdir() if file.suffix in (".md", ".py")]
    assert [name for name in files if f"](docs/{name})" not in readme] == []


def test_pages_name_every_strategy_rule_and_option():
    text = (ROOT / "docs" / "strategies.md").read_text() + (ROOT / "README.md").read_text()
    known = [*STRATEGIES.values(), *RULES.values()]
    words = [thing.name for thing in known] + [option for thing in known for option in thing.options]
    assert [word for word in words if f"`{word}`" not in text] == []


# --- the reference


def sections(text):
    """The text under each "### heading"."""
    parts = re.split(r"^### (.+)$", text, flags=re.MULTILINE)
    return {heading.replace("\\", ""): body for heading, body in zip(parts[1::2], parts[2::2], strict=True)}


def reference():
    python, commands = (ROOT / "docs" / "reference.md").read_text().split("\n## Command line")
    names = sections(python)
    del names["Beside these"]
    return names, sections(commands)


def test_the_reference_has_exactly_the_public_names():
    names, _ = reference()
    assert sorted(names) == mfbai.__all__


@pytest.mark.parametrize("name", [name for name in mfbai.__all__ if callable(getattr(mfbai, name))])
def test_the_reference_gives_signatures_and_what_results_hold(name):
    """What users call has its signature; what they are given has all of its public attributes."""
    text = reference()[0][name]
    thing = getattr(mfbai, name)
    if name in RESULTS or issubclass_of_exception(thing):
        public = [attribute for attribute in {**vars(thing), **fields_of(thing)} if not attribute.startswith("_")]
        assert [attribute for attribute in public if not re.search(rf"`{attribute}\b", text)] == []
    else:
        assert f"`{name}{bare_signature(thing)}`" in text


@pytest.mark.parametrize("method", [name for name in vars(mfbai.Study) if not name.startswith("_")])
def test_the_reference_gives_signatures_of_a_studys_methods(method):
    thing = vars(mfbai.Study)[method]
    wanted = f"{method}{bare_signature(thing, skip=1)}" if callable(thing) else method
    assert f"`{wanted}`" in reference()[0]["Study"]


def bare_signature(thing, skip=0):
    """Without annotations, and without the first parameters."""
    signature = inspect.signature(thing)
    bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()]
    return signature.replace(parameters=bare[skip:], return_annotation=inspect.Signature.empty)


def issubclass_of_exception(thing):
    return inspect.isclass(thing) and issubclass(thing, Exception)


def fields_of(thing):
    return getattr(thing, "__dataclass_fields__", {})


def test_the_reference_has_every_command_and_option():
    import typer

    from mfbai.cli import app

    _, documented = reference()
    known = dict(commands_of(typer.main.get_command(app), "mfbai"))
    texts = {" ".join(word for word in heading.split() if word.islower()): text for heading, text in documented.items()}
    assert sorted(texts) == sorted(known)
    for name, text in texts.items():
        shown = [parameter for parameter in known[name].params if not getattr(parameter, "hidden", False)]
        options = [option for parameter in shown for option in parameter.opts]
        wanted = [option for option in options if option.startswith("--") and option != "--help"]
        assert [option for option in wanted if f"`{option}" not in text] == [], name


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
def test_examples_in_docstrings(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0, told.getvalue()


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
