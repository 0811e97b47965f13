"""mfbai plan: what it prints, draws and refuses."""

import json
import re
import sys

import pytest
from rich.console import Console

import mfbai
from mfbai.cli import main
from mfbai.cli.views import plan as view
from mfbai.model import spec
from mfbai.planning import plans, samples, truths
from mfbai.planning.numbers import CHANGE, COST, TIME, figure
from mfbai.planning.results import Spread
from mfbai.run.assemble import choose
from mfbai.stopping import RULES

DESIGNS = mfbai.dumps(
    mfbai.Problem(
        ["plain", "wide", "deep"], [0.05, 5.0], [0.03, 0.0], mfbai.Gaussian(0.01), fidelities=["coarse", "fine"]
    )
)
COINS = """
[problem]
arms = 2
direction = "minimise"
[[fidelity]]
name = "judge model"
cost = [0.002, 0.003]
bias = [[-0.05, 0.15], [-0.05, 0.15]]
[[fidelity]]
name = "a [bold]panel[/bold]"
cost = 1.5
[family]
name = "bernoulli"
"""
ALONE = """
[problem]
arms = 12
[[fidelity]]
cost = 2
[family]
name = "gaussian"
variance = 0.1
"""
SKETCHES = """
[problem]
arms = 4
[[fidelity]]
name = "sketch"
cost = [1, 2, 3, 4]
bias = 2
[[fidelity]]
name = "draft"
cost = [5, 6, 7, 8]
bias = 0.1
[[fidelity]]
name = "full"
cost = 60
[family]
name = "gaussian"
variance = [4, 3, 2]
"""
GUESSES = {
    "designs": DESIGNS + "[guess]\ngap = 0.13\n",
    "range": DESIGNS + "[guess]\nlow = [0.7, 0.8, 0.8]\nhigh = 0.95\n",
    "coins": COINS + "[guess]\ngap = 0.2\nbest = 0.3\n",
    "alone": ALONE + f"[guess]\nmeans = {[m / 10 for m in range(12)]}\n",
    "sketches": SKETCHES + "[guess]\nlow = 10\nhigh = 20\n",
}
FIELDS = {
    "plan": [
        *("name", "arms", "source", "guess", "delta", "tolerance", "correlation", "seed", "truths", "runs", "gap"),
        *("sets", "estimates", "fidelities", "changes", "more_pilot", "caution", "rate"),
    ],
    "estimates": ["rule", "strategy", "cost", "saving", "runs", "interval", "seeds", "family", "hours"],
    "fidelities": ["fidelity", "share", "used", "leaving_out", "verdict"],
    "changes": ["fidelity", "change", "saves"],
    "figure": ["median", "low", "high", "at_least"],
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A working folder with the files above, and plans that are quick."""
    for name, text in GUESSES.items():
        (tmp_path / f"{name}.toml").write_text(text)
    (tmp_path / "bare.toml").write_text(DESIGNS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(truths, "TRUTHS", 12)
    monkeypatch.setattr(samples, "RUNS", 6)
    monkeypatch.setattr(samples, "MOST_SECONDS", 1.0)
    return tmp_path


@pytest.fixture
def call(capsys, monkeypatch):
    """Calls `mfbai plan`; returns exit code, standard output and standard error."""

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["mfbai", "plan", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code or 0, *capsys.readouterr()

    return call


@pytest.fixture
def succeed(call):
    def check(*words):
        code, out, err = call(*words)
        assert (code, err) == (0, "")
        return out

    return check


@pytest.fixture
def refuse(call):
    """The faults that a call is refused for."""

    def check(*words):
        code, out, err = call(*words)
        assert (code, out) == (2, "")
        lines = err.removeprefix("error: ").splitlines()
        return [line.strip() for line in (lines if len(lines) == 1 else lines[1:])]

    return check


# --- what is printed


@pytest.mark.parametrize("name", GUESSES)
def test_the_answer_comes_first_and_all_fits_in_100_columns(name, succeed):
    out = succeed(f"{name}.toml", "--rate", 10)
    assert out.startswith("Expect a cost of ")
    assert max(len(line.rstrip()) for line in out.splitlines()) <= 100
    assert "\x1b" not in out


def test_every_way_of_estimating_has_its_row(succeed):
    rows = re.findall(r"^([\w-]+(?:, \w+| possible))  ", succeed("designs.toml"), flags=re.MULTILINE)
    _, default = choose(mfbai.load("bare.toml"), None, None, 0.0)
    assert rows == [
        "least possible",
        *(f"{rule.name}, ideal" for rule in RULES.values() if not rule.ordered),
        f"{default}, simulated",
    ]


def test_each_fidelity_is_judged(succeed):
    out = succeed("designs.toml")
    assert re.search(r"^coarse .*worth having$", out, flags=re.MULTILINE)
    assert re.search(r"^fine .*the true one$", out, flags=re.MULTILINE)
    assert re.search(r"^fidelity 1 .*useless", succeed("paper-4x5"), flags=re.MULTILINE)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("designs.toml", "guess: the best arm is ahead of all others by 0.13."),
        ("coins.toml", "guess: the best arm has a true mean of 0.3 and is ahead of all others by 0.2."),
        ("range.toml", "guess: true means between (0.7, 0.8, 0.8) and 0.95."),
        ("alone.toml", "guess: true means 0 to 1.1."),
        ("paper-4x5", "no [guess] is given, so the [truth] is taken for one."),
    ],
)
def test_the_guess_is_repeated_in_words(name, told, succeed):
    assert told in " ".join(succeed(name).split())


def test_a_strategy_that_loses_by_the_cheap_fidelities_is_told_of(succeed, folder, monkeypatch):
    monkeypatch.setattr(samples, "RUNS", 50)  # enough to be sure
    monkeypatch.setattr(plans, "choose", lambda *about: ("mf-grad", "e-process"))  # ours do not lose here
    (folder / "loose.toml").write_text(DESIGNS.replace("0.03", "0.1") + "[guess]\ngap = 0.13\n")
    out = " ".join(succeed("loose.toml").split())
    assert "using fine alone: the others could pay, but mf-grad loses more by learning how." in out
    (folder / "wide.toml").write_text(DESIGNS.replace("0.03", "1.0") + "[guess]\ngap = 0.13\n")
    assert "using fine alone: the other fidelities are useless." in " ".join(succeed("wide.toml").split())


def test_with_one_fidelity_nothing_is_compared(succeed):
    out = succeed("alone.toml")
    assert "times cheaper" not in out
    assert "worth" not in out


def test_a_rate_tells_how_long_it_takes(succeed):
    assert "How long" not in succeed("designs.toml")
    fast, slow = (succeed("designs.toml", "--rate", rate) for rate in (1000, 1e-3))
    assert "How long that takes at a cost of 1000 per hour" in fast
    assert " min" in fast
    assert " years" in slow


def test_runs_that_were_given_up_are_told_of(succeed, monkeypatch):
    monkeypatch.setattr(samples, "MOST_SECONDS", 1e-9)
    out = succeed("designs.toml")
    assert out.startswith("Simulation given up. With ideal spending, expect a cost of ")
    assert ": ideally " in " ".join(out.split())
    assert "runs were given up" in out


def test_how_uncertain_the_medians_are_is_told(succeed):
    out = " ".join(succeed("designs.toml").split())
    assert re.search(r"medians are uncertain; their 95 % intervals: all fidelities [\d.]+.[\d.]+, fine alone ", out)


@pytest.mark.parametrize("width", [40, 60, 80, 100])
@pytest.mark.parametrize("name", ["designs.toml", "coins.toml", "sketches.toml", "paper-4x5"])
def test_no_figure_is_cut_on_a_narrow_terminal(name, width, succeed, monkeypatch):
    wide = succeed(name, "--rate", 10)
    monkeypatch.setattr(view, "console", lambda: Console(width=width, highlight=False))
    narrow = succeed(name, "--rate", 10)
    assert set(re.findall(r"[\d.,]+", wide)) == set(re.findall(r"[\d.,]+", narrow))
    assert "…" not in narrow
    assert width < 60 or max(len(line.rstrip()) for line in narrow.splitlines()) <= width


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (Spread(38.123, 27.1, 82.66), COST, "38.1 (27.1-82.7)"),
        (Spread(1234567.0, 1234567.0, 1234567.0), COST, "1,230,000"),
        (Spread(5.0, 4.0, float("inf"), at_least=True), COST, "≥ 5 (4-?)"),
        (Spread(-0.53, -0.27, -0.8), CHANGE, "-53 % (27-80)"),
        (Spread(26.9, 0.0, 55.5), CHANGE, "+2,700 % (0-5,600)"),
        (Spread(2.0, 1.0, 12.0), TIME, "2 h (1-12 h)"),
        (Spread(2.0, 0.5, 240.0), TIME, "2 h (30 min-1.4 weeks)"),
        (Spread(24.0, 24.0, 24.0), TIME, "1 day"),
    ],
)
def test_figures_are_short(value, unit, text):
    assert figure(value, unit).replace("\N{EN DASH}", "-") == text


# --- common seeds


@pytest.mark.parametrize("name", ["designs.toml", "alone.toml"])
def test_a_correlation_tells_what_common_seeds_would_save(name, succeed):
    out = succeed(name, "--correlation", 0.8, "--rate", 10)
    told = "With common seeds, if values with the same seed have a correlation of 0.8, expect "
    shared, apart = re.search(rf"{told}([\d.,]*\d) in place of ([\d.,]*\d)\.", " ".join(out.split())).groups()
    assert re.search(rf"^with common seeds +{re.escape(shared)} ", out, flags=re.MULTILINE)
    assert out.startswith(f"Expect a cost of {apart} ")
    assert len(re.findall(r"^with common seeds ", out, flags=re.MULTILINE)) == 2  # its cost, and how long that takes
    assert max(len(line.rstrip()) for line in out.splitlines()) <= 100
    assert "with common seeds: 6 runs of race" in out


def test_a_problem_with_common_seeds_says_what_is_left_out(succeed, folder):
    (folder / "shared.toml").write_text(GUESSES["designs"].replace("[[fidelity]]", 'seeds = "common"\n[[fidelity]]', 1))
    out = " ".join(succeed("shared.toml", "--correlation", 0.8).split())
    assert "Seeds are common; values with the same seed have a correlation of 0.8." in out
    assert "there is no row for the least possible cost, nor for other rules" in out
    assert "contrasts, simulated" in out
    assert "e-process" not in out
    assert "all of these are for independent seeds" in out
    assert "taken to be independent: set --correlation" in " ".join(succeed("shared.toml").split())


def test_correlations_that_are_none_are_told_with_all_else(refuse):
    assert refuse("designs.toml", "--correlation", "80%", "--rate", 0) == [
        "correlation is '80%': give a number such as 0.8",
        "--rate is 0.0: give the cost units that can be spent in an hour, such as 10",
    ]
    (fault,) = refuse("designs.toml", "--correlation", 1.5)
    assert fault.startswith("correlation is 1.5: give a number of 0 or more and below 1")


# --- JSON


def test_json_has_exactly_the_documented_fields(succeed):
    found = json.loads(succeed("designs.toml", "--rate", 5, "--json"), parse_constant=pytest.fail)
    assert list(found) == FIELDS["plan"]
    for part in ("estimates", "fidelities", "changes"):
        assert [list(row) for row in found[part]] == [FIELDS[part]] * len(found[part])
    bound = found["estimates"][0]
    for shown in (found["gap"], bound["saving"], *bound["cost"].values(), *bound["hours"].values()):
        assert list(shown) == FIELDS["figure"]
    assert (found["rate"], found["truths"], found["runs"]) == (5, 12, 6)


def test_json_is_the_plan_of_the_library(succeed):
    words = ("--delta", 0.05, "--tolerance", 0.01, "--seed", 3, "--correlation", 0.5, "--json")
    found = json.loads(succeed("range.toml", *words))
    assert found == mfbai.plan("range.toml", delta=0.05, tolerance=0.01, seed=3, correlation=0.5).to_dict()


# --- the picture


@pytest.mark.parametrize("name", ["designs.toml", "paper-4x5", "sketches.toml"])
def test_plot_saves_a_picture(name, succeed, folder):
    out = succeed(name, "--plot", "savings.png")
    assert out.endswith("The picture is in savings.png\n")
    assert (folder / "savings.png").read_bytes().startswith(b"\x89PNG")


def test_the_words_of_the_picture_name_the_fidelities(succeed, folder):
    json.loads(succeed("sketches.toml", "--plot", "savings.svg", "--json"))
    text = (folder / "savings.svg").read_text()
    for words in ("How much cheaper than “full” alone?", "sketch", "draft", "all together", "your guess"):
        assert words in text


def test_names_are_drawn_as_they_are(succeed, folder):
    """Neither as formulas, nor left out of the legend because of how they begin."""
    text = GUESSES["sketches"].replace("sketch", "_sketch").replace("draft", r"$\\frac$").replace("full", "a $x$ b$")
    (folder / "odd.toml").write_text(text)
    succeed("odd.toml", "--plot", "odd.svg")
    drawn = (folder / "odd.svg").read_text()
    for words in ("“a $x$ b$” alone?", "“a $x$ b$” together with", ">_sketch<", r">$\frac$<"):
        assert words in drawn


@pytest.mark.parametrize(
    ("file", "told"),
    [
        ("plan.doc", "--plot 'plan.doc' ends in '.doc': name it as a picture, such as plan.png; known: "),
        ("plan", "--plot 'plan' has no ending: name it as a picture"),
        ("no/plan.png", "--plot 'no/plan.png' is in a folder that does not exist: make 'no' first"),
    ],
)
def test_a_picture_that_cannot_be_saved_is_refused_before_the_work(file, told, refuse, monkeypatch):
    monkeypatch.setattr(mfbai, "plan", None)
    (fault,) = refuse("designs.toml", "--plot", file)
    assert fault.startswith(told)


def test_without_matplotlib_a_picture_is_refused_with_what_to_install(refuse, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert refuse("designs.toml", "--plot", "plan.png") == ['--plot needs matplotlib: pip install "mfbai[plot]"']


def test_one_fidelity_has_no_picture(refuse):
    (fault,) = refuse("alone.toml", "--plot", "plan.png")
    assert fault.startswith("--plot has nothing to show: the problem has one fidelity")


# --- what is refused


def test_a_file_without_guess_or_truth_is_refused_with_examples(refuse):
    (fault,) = refuse("bare.toml")
    assert fault.startswith("guess is None: what it costs depends on the means; give a Guess, or a [guess] table")


def test_everything_wrong_with_the_call_is_told_at_once(refuse):
    words = ("--delta", 2, "--tolerance", -1, "--seed", -1, "--rate", 0, "--plot", "x.y")
    assert [fault.split()[0] for fault in refuse("bare.toml", *words)] == [
        "guess",
        "delta",
        "tolerance",
        "seed",
        "--rate",
        "--plot",
    ]


@pytest.mark.parametrize("risks", [("--delta", "0.5,0.1"), ("--delta", 0.5, 0.1), ("--delta", 0.5, "--delta", 0.1)])
def test_a_plan_takes_one_risk(risks, refuse):
    assert refuse("designs.toml", "--rate", 0, *risks) == [
        "delta is 0.5, 0.1: a plan is for one risk; give one, such as 0.01",
        "--rate is 0.0: give the cost units that can be spent in an hour, such as 10",
    ]


def test_what_is_no_number_is_told_with_all_else(refuse):
    words = ("--delta", "a", "--tolerance", "b", "--seed", 1.5, "--rate", "c")
    assert refuse("bare.toml", *words)[:4] == [
        "delta is 'a': give a number such as 0.05",
        "tolerance is 'b': give a number such as 0.01",
        "seed is '1.5': give a whole number of 0 or more",
        "--rate is 'c': give a number such as 10",
    ]


def test_a_tie_is_refused_unless_a_tolerance_is_set(refuse, succeed, folder):
    (folder / "tie.toml").write_text(DESIGNS + "[guess]\nmeans = [0.5, 0.9, 0.9]\n")
    (fault,) = refuse("tie.toml")
    assert fault.startswith("guess lets arms 'wide' and 'deep' tie for the best")
    assert succeed("tie.toml", "--tolerance", 0.1)


def test_the_file_is_read_once_and_the_truths_are_drawn_once(call, monkeypatch):
    counts = {"read": 0, "drawn": 0}

    def counted(name, function):
        def call(*args):
            counts[name] += 1
            return function(*args)

        return call

    monkeypatch.setattr(spec, "_text_of", counted("read", spec._text_of))
    monkeypatch.setattr(truths, "draw", counted("drawn", truths.draw))
    assert call(f"{next(iter(GUESSES))}.toml")[0] == 0
    assert counts == {"read": 1, "drawn": 1}
