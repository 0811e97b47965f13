"""Parts: compiled once, found by every process, and never run if anything about them is wrong."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import mfbai
from mfbai.kernels import store
from mfbai.kernels.jit import kernel
from mfbai.kernels.parts import bind, bound
from mfbai.kernels.records import Built

SOURCE = Path(mfbai.__file__).parent


class Inner(NamedTuple):
    weights: np.ndarray  # (n,)
    scale: float


class Outer(NamedTuple):
    table: np.ndarray  # (n, m)
    inner: Inner
    chosen: np.ndarray  # (n,) of booleans
    up: bool


@kernel
def weigh(record, first, factor):
    """The weighted sum of the chosen rows, and how many there are."""
    total, rows = 0.0, 0
    for a in range(first, record.table.shape[0]):
        if record.chosen[a]:
            rows += 1
            for m in range(record.table.shape[1]):
                total += record.inner.weights[a] * record.table[a, m]
    return total * factor * record.inner.scale, rows, record.up


@kernel
def check(x):
    if x < 0.0:
        raise ValueError("x must not be negative")
    return x


@kernel
def halve(values):
    for n in range(values.size):
        values[n] = 0.5 * values[n]


def record():
    rng = np.random.default_rng(0)
    return Outer(rng.random((4, 3)), Inner(rng.random(4), 2.0), np.array([True, False, True, True]), True)


# --- calls


def test_a_part_computes_what_python_does():
    given = record()
    assert weigh(given, 0, 3.0) == weigh.py_func(given, 0, 3.0)
    assert weigh(given, 2, -1.0) == weigh.py_func(given, 2, -1.0)


def test_a_bound_part_takes_new_numbers_and_sees_what_arrays_hold():
    given = record()
    call = bind(weigh, given, 0, 1.0)
    first = call()
    given.table[:] *= 2.0
    assert call() == (2 * first[0], *first[1:])
    assert call(1, 1.0) == weigh.py_func(given, 1, 1.0)


def test_a_plain_function_is_bound_in_the_same_way():
    assert bound(divmod, 7, 3)() == (2, 1)


def test_a_part_changes_arrays_in_place():
    values = np.array([2.0, 4.0])
    assert halve(values) is None
    assert values.tolist() == [1.0, 2.0]


def test_an_error_in_a_part_is_an_exception():
    assert check(1.0) == 1.0
    for _ in range(2):
        with pytest.raises(ValueError, match="x must not be negative"):
            check(-1.0)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (np.zeros(3, dtype=np.float32), "array of float32: kernels take float64, int64, bool, uint64"),
        (np.zeros((3, 3))[:, 1], "not in C order"),
        ("text", "is a str: kernels take numbers, arrays, and NamedTuples of these"),
        ([1.0], "is a list"),
    ],
)
def test_what_a_part_cannot_take_is_named(value, told):
    with pytest.raises(TypeError, match=told):
        halve(value)


def test_a_wrong_number_of_arguments_is_reported():
    with pytest.raises(TypeError, match="halve takes 1 arguments, and not 2"):
        halve(np.zeros(1), 1.0)


# --- files


def test_a_part_is_read_as_it_was_written(tmp_path):
    store.write(tmp_path, "one", Built(b"\x00code\n\n", "(if"))
    assert store.find(tmp_path, "one") == Built(b"\x00code\n\n", "(if")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: b"",
        lambda data: data[:-1],
        lambda data: data + b"\x00",
        lambda data: data[:-3] + bytes([data[-3] ^ 1]) + data[-2:],
        lambda data: data.replace(b"mfbai part 1", b"mfbai part 0"),
        lambda data: data.replace(b'"name": "one"', b'"name": "two"'),
        lambda data: b"\x7fELF" + data,
        lambda data: b"\n\n\n\n",
    ],
)
def test_a_damaged_part_is_as_good_as_none(tmp_path, spoil):
    store.write(tmp_path, "one", Built(b"\x00code", "i"))
    file = tmp_path / "one.part"
    file.write_bytes(spoil(file.read_bytes()))
    assert store.find(tmp_path, "one") is None


def test_a_part_under_the_name_of_another_is_not_taken(tmp_path):
    store.write(tmp_path, "one", Built(b"code", "i"))
    shutil.copy(tmp_path / "one.part", tmp_path / "two.part")
    assert store.find(tmp_path, "two") is None


def test_the_parts_that_were_not_used_for_long_make_room_for_others(tmp_path):
    place = tmp_path / "parts"
    for n, name in enumerate(("old", "older", "new")):
        store.write(place, name, Built(bytes(1000), None))
        os.utime(place / f"{name}.part", (0, [200, 100, 300][n]))
    left_by_earlier_versions = tmp_path / "kernels-0123-numba-0.61"
    left_by_earlier_versions.mkdir()
    store.tidy(place, room=2500)
    assert sorted(file.stem for file in place.iterdir()) == ["new", "old"]
    assert not left_by_earlier_versions.exists()


# --- processes

SIMULATE = """
import sys, mfbai
found = mfbai.simulate("paper-5x2", "uniform", runs=20, stopping="stylised")
print(found.costs.sum().hex(), "numba" in sys.modules or "numba not loaded")
"""


def start(cache, code=SIMULATE, **environment):
    env = {**os.environ, "NUMBA_CACHE_DIR": str(cache), **environment}
    return subprocess.Popen([sys.executable, "-c", code], env=env, stdout=subprocess.PIPE, text=True)


def result(process):
    told, _ = process.communicate()
    assert process.returncode == 0
    return told.strip()


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A cache folder that one process filled, and what that process printed."""
    cache = tmp_path_factory.mktemp("cache")
    return cache, result(start(cache))


def parts_in(cache):
    return {file.name: file.read_bytes() for file in (cache / "mfbai" / "parts").glob("*.part")}


def test_the_next_process_compiles_nothing(built):
    cache, told = built
    kept = parts_in(cache)
    assert len(kept) >= 3
    assert result(start(cache)) == told.split()[0] + " numba not loaded"
    assert parts_in(cache) == kept


def test_two_processes_that_build_the_same_parts_at_once_both_work(built, tmp_path):
    processes = [start(tmp_path) for _ in range(2)]
    assert {result(process).split()[0] for process in processes} == {built[1].split()[0]}
    assert parts_in(tmp_path).keys() == parts_in(built[0]).keys()


def test_damaged_parts_are_built_again(built, tmp_path):
    cache = shutil.copytree(built[0], tmp_path / "copy")
    files = sorted((cache / "mfbai" / "parts").glob("*.part"))
    files[0].write_bytes(files[0].read_bytes()[:-10])
    files[1].write_bytes(os.urandom(3000))
    shutil.copy(files[0], files[2])
    assert result(start(cache)).split()[0] == built[1].split()[0]
    assert all(store.read(file, file.stem) is not None for file in files)


def test_a_cache_folder_that_cannot_be_written_to_works(built, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    assert result(start(blocked / "cache")).split()[0] == built[1].split()[0]


NAMES = """
import json
from mfbai.simulation.experiment import needed, prepare
found = {}
for strategy in ("uniform", "frugal"):
    for part in needed(prepare("paper-5x2", strategy, "e-process", 0.1, {}, {})[0]):
        found[part.kernel.__name__] = part.name
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """A copy of the package that may be changed, and the names of some of its parts as it is."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(SOURCE, folder / "mfbai", ignore=shutil.ignore_patterns("__pycache__", "parts"))
    return folder, json.loads(result(start(folder, NAMES, PYTHONPATH=str(folder))))


SWAPPED = "    eta: np.ndarray  # (K,) where s and each rival meet\n"


@pytest.mark.parametrize(
    ("file", "old", "new", "changed"),
    [
        ("strategies/uniform.py", "least = 0, 0, inf", "least = 0, 0, +inf", {"uniform_ask"}),
        ("stopping/e_process.py", "COST_GROWTH = 1.01", "COST_GROWTH = 1.02", {"observe_and_decide", "frugal_tell"}),
        ("kernels/stats.py", "off = x - stats", "off = +x - stats", {"run_many"}),
        (
            "strategies/frugal.py",
            f"    gap: np.ndarray  # (K,) f_j\n{SWAPPED}",
            f"{SWAPPED}    gap: np.ndarray  # (K,) f_j\n",
            {"frugal_ask", "frugal_tell"},
        ),
        ("kernels/laws/poisson.py", "root, log_mean", "root2, log_mean", set()),
        ("cli/simulate.py", '"""', '"""Note: ', set()),
    ],
)
def test_an_edit_changes_the_parts_that_it_concerns_and_no_others(copied, file, old, new, changed):
    folder, before = copied
    path = folder / "mfbai" / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    try:
        after = json.loads(result(start(folder, NAMES, PYTHONPATH=str(folder))))
    finally:
        path.write_text(text)
    assert {name for name in before if before[name] != after[name]} == changed


RULE = """
import sys, types
import numpy as np
from typing import NamedTuple
import mfbai
from mfbai.kernels.jit import kernel
from mfbai.stopping import RULES, Rule
from mfbai.stopping.interface import decide, observe


class State(NamedTuple):
    seen: np.ndarray


@kernel
def count(model, stats, rule, arm, fidelity, x):
    rule.seen[0] += 1.0
    if x < -1e9:
        raise ValueError("the value is too low")


@kernel
def after_ten(model, stats, rule, level):
    return 0 if rule.seen[0] == 10.0 else -1


observe.register(State, count)
decide.register(State, after_ten)
RULES["ten"] = Rule("ten", "after ten evaluations", lambda model, deltas, fidelities: State(np.zeros(1)))
print(mfbai.simulate("paper-5x2", "uniform", runs=3, stopping="ten").steps.tolist())
try:
    mfbai.simulate(mfbai.Instance([[-1e10], [-2e10]], [1.0], [0.0], mfbai.Gaussian(1.0)), "uniform", stopping="ten")
except ValueError as error:
    print(error)
"""


def test_a_rule_from_outside_the_package_is_compiled_where_it_is_used_and_its_errors_come_through(tmp_path):
    (tmp_path / "rule_of_ten.py").write_text(RULE)  # a module of its own, whose name has no dot
    told = result(start(tmp_path, "import rule_of_ten", PYTHONPATH=str(tmp_path)))
    assert told.splitlines() == ["[10, 10, 10]", "the value is too low"]
    assert {name.partition("-")[0] for name in parts_in(tmp_path)} == {"run_many", "uniform_ask"}


AGAIN = """
import numpy as np
from typing import NamedTuple
from mfbai.kernels.jit import kernel

def make(fields, used):
    space = {"np": np, "NamedTuple": NamedTuple, "kernel": kernel, "__name__": "cell"}
    declared = "".join(f"    {field}: np.ndarray\\n" for field in fields)
    exec(f"class State(NamedTuple):\\n{declared}\\ndef first(state):\\n    return state.{used}[0]\\n", space)
    state = space["State"](**{field: np.full(1, float(ord(field[0]))) for field in fields})
    return kernel(space["first"])(state)

print(make(["a", "b"], "a"), make(["b", "a"], "a"), make(["c", "a"], "a"), make(["a", "b"], "b"))
"""


def test_a_cell_that_is_run_again_with_other_fields_has_its_own_code(tmp_path):
    """As in a notebook: records of the same name, whose fields have moved or are called something else."""
    assert result(start(tmp_path, AGAIN)) == "97.0 97.0 97.0 98.0"


FULL = """
from mfbai.kernels import parts, store
def write(*args):
    raise OSError(28, "No space left on device")
store.write, parts.MANY = write, 99  # all in this process
"""


def test_a_full_disk_costs_time_and_nothing_else(built, tmp_path):
    assert result(start(tmp_path, FULL + SIMULATE)).split()[0] == built[1].split()[0]
    assert not parts_in(tmp_path)


def test_a_user_without_a_home_has_no_cache(monkeypatch):
    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", classmethod(lambda cls: (_ for _ in ()).throw(RuntimeError("no home"))))
    assert not store.is_writable(store.folder())
    assert store.find(store.folder(), "one") is None


KILLED = """
import os, signal, subprocess, sys
from mfbai.kernels import builders
started = []
def start(env, begin=builders._start):
    started.append(begin(env))
    if len(started) <= {deaths}:
        started[-1].kill()
        started[-1].wait()
    return started[-1]
builders._start = start
builders.cores = lambda: 1
"""


def test_a_builder_that_is_killed_has_a_successor(built, tmp_path):
    assert result(start(tmp_path, KILLED.format(deaths=1) + SIMULATE)).split()[0] == built[1].split()[0]


def test_builders_that_are_killed_again_and_again_are_reported(tmp_path):
    code = KILLED.format(deaths=9) + "sys.argv = ['mfbai', 'simulate', 'paper-5x2']\nfrom mfbai.cli import main\nmain()"
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("error: the compiler ended twice without a result")
