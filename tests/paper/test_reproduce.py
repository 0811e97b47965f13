"""The reproduction: what it makes, what it keeps, and how it resumes after a break."""

import csv
import re
import shutil
from contextlib import suppress
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest

import mfbai
from mfbai.kernels.random import WORDS
from mfbai.paper import costs, parts, trap
from mfbai.paper import reproduce as paper
from mfbai.paper.claims import Claim
from mfbai.paper.parts import PARTS, chosen, computations, select
from mfbai.paper.pieces import DELTAS, SEED, Computation, Noise, Part, Scale, Sheet, Table
from mfbai.paper.reproduce import Watch, reproduce
from mfbai.run.loop import make_job
from mfbai.simulation import runs as simulation
from support.paper import TINY

ONE = (Noise(),)
COSTS, SHARES, TRAP, BOUNDS = "costs-paper-5x2-0.01", "shares-paper-5x2-mf-grad", "lucb-trap", "lower-bounds"
CHOSEN = (COSTS, SHARES, TRAP, BOUNDS)
COMPUTATIONS = [
    "costs-paper-5x2",
    "shares-paper-5x2-mf-grad",
    "trap-lucb",
    "trap-lucb-explore-a",
    "trap-lucb-explore-b",
]


class Diary(Watch):
    """Notes what it is told."""

    def __init__(self):
        self.expected, self.passed, self.computed, self.there = 0.0, 0.0, [], []

    def begin(self, seconds):
        self.expected = seconds

    def advance(self, seconds):
        self.passed += seconds

    def done(self, name, seconds):
        (self.there if seconds is None else self.computed).append(name.rpartition(".")[0])

    @property
    def computations(self):
        """That were computed; without that of the shares, whose figure has the same name."""
        return [name for name in self.computed if name in COMPUTATIONS and name != SHARES]


@pytest.fixture(scope="module", autouse=True)
def compiled_already():
    """Another process that compiles ahead of need would take most of the time of these tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paper, "_compile", lambda *_: None)
        yield


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """A few figures of each kind: the folder, the outcome, and what was told meanwhile."""
    out, diary = tmp_path_factory.mktemp("reproduction"), Diary()
    return out, reproduce(out, CHOSEN, TINY, ONE, diary), diary


@pytest.fixture
def again(first, tmp_path):
    """A copy of that folder, to be changed; and a call of the same, which returns what was told."""
    shutil.copytree(first[0], tmp_path / "copy")

    def call(figures=CHOSEN, scale=TINY, noises=ONE):
        diary = Diary()
        reproduce(tmp_path / "copy", figures, scale, noises, diary)
        return diary

    return tmp_path / "copy", call


def read(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


# --- what is made


def test_pictures_are_made_in_both_formats(first):
    out, outcome, _ = first
    names = {path.name for path in (out / "figures").iterdir()}
    assert names == {f"{name}.{ending}" for name in (COSTS, SHARES, TRAP) for ending in ("png", "svg")}
    for path in (out / "figures").iterdir():
        if path.suffix == ".png":
            assert path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
        else:
            assert ElementTree.parse(path).getroot().tag == "{http://www.w3.org/2000/svg}svg"
    assert all(path.is_file() for path in outcome.files)


def test_numbers_are_kept_as_csv(first):
    data = first[0] / "data"
    assert sorted(path.stem for path in data.glob("*.csv")) == sorted([*COMPUTATIONS, BOUNDS])
    rows = read(data / "costs-paper-5x2.csv")
    assert len(rows) == len(costs.STRATEGIES) * TINY.runs * len(DELTAS)
    assert {row["strategy"] for row in rows} == set(costs.STRATEGIES)
    assert len(read(data / "trap-lucb.csv")) == TINY.trap_runs
    assert {row["run"] for row in read(data / "shares-paper-5x2-mf-grad.csv")} == {str(n) for n in range(10)}
    assert not list(first[0].rglob(".*"))


def test_the_numbers_are_those_of_simulate(first):
    found = mfbai.simulate("paper-5x2", "grad", DELTAS, TINY.runs, SEED, "stylised")
    rows = [row for row in read(first[0] / "data" / "costs-paper-5x2.csv") if row["strategy"] == "grad"]
    assert [float(row["cost"]) for row in rows] == found.costs.ravel().tolist()


def test_shares_sum_to_one(first):
    for row in read(first[0] / "data" / "shares-paper-5x2-mf-grad.csv"):
        assert sum(float(value) for name, value in row.items() if "@" in name) == pytest.approx(1)


def test_what_is_done_is_told_in_order(first):
    _, _, diary = first
    assert diary.computed == [*COMPUTATIONS, COSTS, SHARES, TRAP, BOUNDS]
    assert diary.there == []


def test_the_time_that_passes_is_the_time_expected(first):
    """Or the bar would be full too early, or never."""
    _, _, diary = first
    assert diary.passed == pytest.approx(diary.expected)


def test_tables_alone_can_be_made(tmp_path):
    outcome = reproduce(tmp_path / "new", ["weights-5x2"], TINY, ONE)
    assert (tmp_path / "new" / "data" / "weights-5x2.csv").is_file()
    assert [claim.source for claim in outcome.claims[None]] == ["Section 5, App. D.1"]


def test_two_runs_are_enough_for_a_picture(tmp_path):
    outcome = reproduce(tmp_path, [COSTS, "constant-paper-5x2"], Scale(runs=2), ONE)
    assert {claim.verdict for claim in outcome.claims[ONE[0]]} <= {"agrees", "undecided"}


# --- the report


class Page(HTMLParser):
    """The cells of all tables by row, and what is linked."""

    def __init__(self):
        super().__init__()
        self.rows, self.links, self.open = [], [], []

    def handle_starttag(self, tag, attrs):
        self.links += [value for name, value in attrs if name in ("src", "href")]
        if tag not in ("meta", "img"):
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


def page_of(out):
    found = Page()
    found.feed((out / "report.html").read_text(encoding="utf-8"))
    found.close()
    assert found.open == []
    return found


def test_the_report_has_every_picture(first):
    out = first[0]
    links = page_of(out).links
    assert {f"figures/{name}.png" for name in (COSTS, SHARES, TRAP)} <= set(links)
    pictures = re.findall(r"\]\((.*?)\)", (out / "report.md").read_text(encoding="utf-8"))
    for link in (*links, *pictures):
        assert (out / link).is_file()


def test_the_report_has_the_claims_of_the_outcome(first):
    out, outcome, _ = first
    claims = [claim for made in outcome.claims.values() for claim in made]
    assert len(claims) == 6 + 1 + 5 + 1
    rows = page_of(out).rows
    reported = [row for row in rows[[row[0] for row in rows].index("claim") :] if row[0] != "claim"]
    wanted = [[claim.text, claim.source, claim.measured, claim.verdict] for claim in claims]
    assert [[*row[:3], row[3].split()[-1]] for row in reported] == wanted
    text = (out / "report.md").read_text(encoding="utf-8")
    assert all(claim.text.replace("|", "/") in text for claim in claims)
    assert outcome.tally in text


def test_tables_of_the_report_have_equal_rows(first):
    text = (first[0] / "report.md").read_text(encoding="utf-8")
    tables = re.findall(r"(?:^\|.*\|$\n?)+", text, flags=re.MULTILINE)
    assert len(tables) == 3
    for table in tables:
        assert len({line.count("|") for line in table.splitlines()}) == 1


def test_both_variances_stand_side_by_side(tmp_path):
    outcome = reproduce(tmp_path, [COSTS, "weights-5x2"], TINY)
    rows = page_of(tmp_path).rows
    start = [row[0] for row in rows].index("claim")
    assert [cell.partition(",")[2][:14] for cell in rows[start][2::2]] == [" variance 0.01", " variance 0.1,"]
    assert len(outcome.claims[Noise(0.01)]) == len(outcome.claims[Noise(0.1)]) == len(rows) - start - 3
    assert rows[-2] == ["claim", "where", "measured", "verdict"]  # of the table of those that have no variance
    pairs = zip(*(outcome.claims[noise] for noise in paper.BOTH), strict=True)
    for row, both in zip(rows[start + 1 : -2], pairs, strict=True):
        assert row[2::2] == [claim.measured for claim in both]
        assert [cell.split()[-1] for cell in row[3::2]] == [claim.verdict for claim in both]


# --- nothing twice


def test_a_second_call_computes_nothing(again, monkeypatch):
    out, call = again
    for part in (costs, trap):
        monkeypatch.setattr(part, "simulate", lambda *args, **options: pytest.fail("computed again"))
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    diary = call()
    assert diary.there == COMPUTATIONS
    assert diary.computed == [COSTS, SHARES, TRAP, BOUNDS]
    assert diary.passed == pytest.approx(diary.expected)
    changed = [path.name for path, content in before.items() if path.read_bytes() != content]
    assert changed == []


@pytest.mark.parametrize("name", ["trap-lucb.csv", "trap-lucb.json", "costs-paper-5x2.csv"])
def test_what_is_missing_is_computed_alone(again, name):
    out, call = again
    before = (out / "data" / name).with_suffix(".csv").read_bytes()
    (out / "data" / name).unlink()
    assert call().computations == [name.partition(".")[0]]
    assert (out / "data" / name).with_suffix(".csv").read_bytes() == before


def test_another_scale_is_computed_again(again):
    out, call = again
    assert call([TRAP], Scale(runs=20, steps=2000, pulls=10_000, instances=5)).computations == COMPUTATIONS[2:]
    assert {row["steps"] for row in read(out / "data" / "trap-lucb-explore-a.csv")} == {"10000"}


def test_results_are_the_same_in_another_folder(first, tmp_path):
    out = first[0]
    reproduce(tmp_path, [SHARES, TRAP], TINY, ONE)
    files = [f"data/{name}.csv" for name in COMPUTATIONS[1:]] + [f"figures/{name}.svg" for name in (SHARES, TRAP)]
    for file in files:
        assert (tmp_path / file).read_bytes() == (out / file).read_bytes()


# --- breaks


def short(*args, **options):
    """A simulation that was interrupted: it returns the runs that are done, all but the last."""
    found = mfbai.simulate(*args, **options)
    columns = {name: column[: -np.size(found.delta)] for name, column in found.columns().items()}
    return type("Fewer", (), {"columns": lambda self: columns})()


def broken(*args, **options):
    raise KeyboardInterrupt


@pytest.mark.parametrize("end", [short, broken])
def test_a_break_keeps_what_is_done_and_the_next_call_goes_on(tmp_path, monkeypatch, end):
    def until_a(instance, strategy, *args, **options):
        run = end if strategy == "lucb-explore-a" else mfbai.simulate
        return run(instance, strategy, *args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(trap, "simulate", until_a)
        with pytest.raises(KeyboardInterrupt):
            reproduce(tmp_path, [TRAP], TINY, ONE)
    assert {path.name for path in tmp_path.rglob("*") if path.is_file()} == {"trap-lucb.csv", "trap-lucb.json"}
    diary = Diary()
    reproduce(tmp_path, [TRAP], TINY, ONE, diary)
    assert (diary.there, diary.computations) == (COMPUTATIONS[2:3], COMPUTATIONS[3:])
    assert (tmp_path / "report.html").is_file()


def test_a_break_among_several_strategies_keeps_no_part_of_the_experiment(tmp_path, monkeypatch):
    def until_grad(instance, strategy, *args, **options):
        return (short if strategy == "grad" else mfbai.simulate)(instance, strategy, *args, **options)

    monkeypatch.setattr(costs, "simulate", until_grad)
    with pytest.raises(KeyboardInterrupt):
        reproduce(tmp_path, [COSTS], TINY, ONE)
    assert not list(tmp_path.rglob("*.csv"))


def test_a_break_ends_strategies_that_run_once_for_each_delta(monkeypatch):
    """IISE has runs of its own for each delta: Ctrl-C in the first must not begin the second."""
    calls = []

    def interrupted(setup, seed, until, runs, workers, executor):
        calls.append(setup)
        job = make_job(setup.model, setup.levels, np.zeros((runs, WORDS), dtype=np.uint64), until)
        job.finished[0] = True
        return job

    monkeypatch.setattr(simulation, "make_runs", interrupted)
    with suppress(KeyboardInterrupt):  # as no run has both deltas
        mfbai.simulate("paper-5x2", "iise", DELTAS, 5)
    assert len(calls) == 1


# --- variances and choices


def test_another_variance_has_other_names_and_numbers(again):
    out, call = again
    diary = call([COSTS], noises=(Noise(0.02),))
    assert diary.computed == ["costs-paper-5x2-variance-0.02", f"{COSTS}-variance-0.02"]
    assert (out / "figures" / f"{COSTS}-variance-0.02.png").is_file()
    assert read(out / "data" / "costs-paper-5x2.csv") != read(out / "data" / "costs-paper-5x2-variance-0.02.csv")
    assert "Variance 0.02" in (out / "report.md").read_text(encoding="utf-8")


def test_variances_that_read_alike_are_kept_apart():
    """A name has six digits of the variance; numbers of two must not be taken for each other."""
    near = (Noise(0.12345671), Noise(0.12345674))
    assert near[0].name("x") != near[1].name("x")


def test_groups_and_names_select():
    everything = chosen([])
    assert len(set(everything)) == len(everything)
    by_group = [chosen([part.group]) for part in PARTS]
    assert all(by_group)
    assert sorted(name for names in by_group for name in names) == sorted(everything)
    assert [chosen([name]) for name in everything] == [[name] for name in everything]
    assert chosen(["trap", COSTS, COSTS]) == [COSTS, TRAP]


def test_a_chapter_is_wired_by_its_part_alone(tmp_path, monkeypatch):
    """One more in PARTS is computed, built, judged and reported."""
    table = Table("extra", "The sheet", "", ("n",), ((1,),))
    sheet = Sheet("extra", "more", ("numbers",), lambda results, scale: table)
    numbers = Computation("numbers", 0.1, (), ("runs",), {}, lambda scale: {"run": np.arange(scale.runs)})
    judged = []

    def claims(made):
        judged.append((len(made.results["numbers"]["run"]), made.tables["extra"].rows))
        yield Claim("Ours: it is so", "nowhere", "much", "agrees")

    extra = Part("more", "One more chapter", lambda: [sheet], claims, lambda: [numbers], by_variance=False)
    monkeypatch.setattr(parts, "PARTS", (*PARTS, extra))
    reproduce(tmp_path, ["more"], TINY, ONE)
    assert judged == [(TINY.runs, table.rows)]
    report = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "One more chapter" in report
    assert "Ours: it is so" in report


def test_every_item_needs_computations_that_there_are():
    for noises in (ONE, paper.BOTH, (Noise(0.5),)):
        shown = select([], noises)
        known = [computation.name for computation in computations(shown)]
        assert len(set(known)) == len(known)
        items = [item for made in shown.values() for item in made]
        assert {name for item in items for name in item.computations} <= set(known)
        tables = {item.name for item in items if isinstance(item, Sheet)}
        assert not tables & set(known)  # both have a CSV of their name


def test_an_unknown_figure_is_refused_with_a_hint(tmp_path):
    with pytest.raises(mfbai.InvalidInput) as caught:
        reproduce(tmp_path / "new", ["trapp", "cost", COSTS], TINY)
    assert [fault.field for fault in caught.value.faults] == ["FIGURE", "FIGURE"]
    assert "did you mean 'trap'?" in caught.value.faults[0].message
    assert "did you mean 'costs'?" in caught.value.faults[1].message
    assert not (tmp_path / "new").exists()


def test_claims_are_of_what_was_asked_for(again):
    out, call = again
    call([SHARES])
    assert [row[1] for row in page_of(out).rows[1:]] == ["Section 5"]
