"""Pictures of costs and shares: what they show, that they are the same every time, and that odd input is drawn too."""

import json
import sys

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.stats import t

import mfbai
import mfbai.simulation
from mfbai import InvalidInput
from mfbai.cli import main
from mfbai.plots import plot_costs, plot_shares
from mfbai.plots.distributions import DOTS, Sample, draw_costs
from mfbai.plots.looks import CHOSEN, looks
from mfbai.plots.traces import colour_of, draw_shares, marker_of
from mfbai.simulation import Runs, Trace
from mfbai.strategies import STRATEGIES

INSTANCE = mfbai.load("paper-4x5")
RNG = np.random.default_rng(0)


def runs_of(strategy, costs, *, stopped=True, delta=0.01, stopping="stylised", instance=INSTANCE):
    costs = np.asarray(costs, dtype=float)
    stopped = np.broadcast_to(stopped, costs.shape)
    answers = np.where(stopped, instance.best, -1)
    pulls = np.ones((len(costs), *instance.shape), dtype=np.int64)
    steps = np.ones(costs.shape, dtype=np.int64)
    return Runs(instance, strategy, stopping, delta, 0, costs, answers, steps, stopped, pulls, 1.0)


def trace_of(instance, points=20, runs=3, steps=1000):
    shares = np.random.default_rng(1).random((runs, points, *instance.shape))
    shares /= shares.sum(axis=(2, 3), keepdims=True)
    times = np.unique(np.geomspace(instance.means.size, steps, points).astype(np.int64))
    return Trace(instance, "mf-grad", times, shares[:, : len(times)])


def sample_of(strategy, costs, stopped=True):
    costs = np.asarray(costs, dtype=float)
    return Sample(strategy, costs, np.broadcast_to(stopped, costs.shape))


def draw(*samples, bound=None):
    axes = Figure().subplots()
    draw_costs(axes, samples, bound)
    return axes


def words(axes):
    """All that is written in and around the axes."""
    return [text.get_text() for text in [*axes.texts, *axes.get_yticklabels(), axes.xaxis.label]]


def faults_of(call, *arguments):
    with pytest.raises(InvalidInput) as caught:
        call(*arguments)
    return [str(fault) for fault in caught.value.faults]


# --- costs


def test_the_picture_says_what_was_run(tmp_path):
    runs = [runs_of("mf-grad", RNG.normal(100, 10, (50, 2)), delta=(0.01, 0.5)) for _ in range(2)]
    plot_costs(runs, tmp_path / "costs.svg")
    text = (tmp_path / "costs.svg").read_text()
    for told in ("paper-4x5", "delta = 0.01, 50 runs, stylised rule", "delta = 0.5, 50 runs", "cost", "mf-grad"):
        assert f">{told}" in text
    assert text.count("lower bound") == 1  # a risk of 0.5 has none


def test_what_strategies_do_not_have_in_common_is_told_at_each(tmp_path):
    runs = [
        runs_of("mf-grad", [1, 2, 3]),
        runs_of("lucb", [1, 2], stopping="own"),
        runs_of("iise", [1, 2, 3], stopping="own"),
    ]
    plot_costs(runs, tmp_path / "costs.svg")
    text = (tmp_path / "costs.svg").read_text()
    for told in ("delta = 0.01, stylised rule", "(3 runs)", "(own rule, 2 runs)", "(own rule, 3 runs)"):
        assert f">{told}<" in text


def test_the_mean_is_marked_and_printed_with_its_interval():
    costs = np.array([80.0, 100.0, 100.0, 100.0, 100.0, 120.0])
    axes = draw(sample_of("mf-grad", costs))
    half = t.ppf(0.975, 5) * costs.std(ddof=1) / np.sqrt(6)
    assert "100 ± 13" in words(axes)
    (mean,) = [line for line in axes.lines if line.get_marker() == "D"]
    assert mean.get_xdata() == 100
    assert any(np.allclose(line.get_xdata(), [100 - half, 100 + half]) for line in axes.lines)


def test_the_box_is_the_middle_half_and_the_bar_the_median():
    axes = draw(sample_of("mf-grad", np.arange(1.0, 6.0)))
    (box,) = axes.patches
    assert (box.get_x(), box.get_x() + box.get_width()) == (2, 4)
    assert any(list(line.get_xdata()) == [3, 3] for line in axes.lines)


def test_the_lower_bound_is_where_it_belongs(tmp_path):
    axes = draw(sample_of("mf-grad", [100, 200]), bound=25.0)
    assert any(list(line.get_xdata()) == [25, 25] for line in axes.lines)
    assert "lower bound on the mean 25" in words(axes)
    assert axes.get_xlim()[0] < 25
    plot_costs([runs_of("mf-grad", [100, 200])], tmp_path / "costs.svg")
    assert (
        f"lower bound on the mean {mfbai.oracle(INSTANCE).lower_bound(0.01):.2f}"
        in (tmp_path / "costs.svg").read_text()
    )


def test_a_lower_bound_far_below_takes_no_room():
    axes = draw(sample_of("mf-grad", [100, 120]), bound=0.1)
    assert axes.get_xlim()[0] > 50
    assert "← lower bound on the mean 0.1" in words(axes)


@pytest.mark.parametrize(("costs", "scale"), [([100, 130], "linear"), ([1, 100], "log"), ([0, 100], "linear")])
def test_the_axis_is_logarithmic_where_costs_differ_much(costs, scale):
    assert draw(sample_of("mf-grad", costs)).get_xscale() == scale


@pytest.mark.parametrize(
    ("most", "ticks"),
    [(20, "1 2 5 10 20"), (500, "1 3 10 30 100 300"), (2e3, "1 10 100 1,000"), (1e6, "1 100 10,000 1M")],
)
def test_ticks_are_plain_numbers_with_room_between_them(most, ticks):
    axes = draw(sample_of("mf-grad", [1, most]))
    low, high = axes.get_xlim()
    formatted = axes.xaxis.get_major_formatter().format_ticks(axes.xaxis.get_majorticklocs())
    inside = zip(axes.xaxis.get_majorticklocs(), formatted, strict=True)
    assert [text for value, text in inside if low <= value <= high] == ticks.split()


def test_runs_that_did_not_stop_are_seen_as_such():
    axes = draw(sample_of("mf-grad", [10, 20, 30], [True, True, False]))
    dots, open_marks = axes.collections
    assert len(dots.get_offsets()) == 2
    assert open_marks.get_offsets()[:, 0].tolist() == [30]
    assert not len(open_marks.get_facecolors())
    assert "1 of 3\ndid not stop" in words(axes)
    assert any(text.startswith("≥ 20") for text in words(axes))


def test_of_very_many_runs_some_are_drawn_the_ends_among_them():
    costs = RNG.normal(100, 10, 5 * DOTS)
    stopped = np.arange(len(costs)) != 7  # the one that did not stop must not be lost
    dots, open_marks = draw(sample_of("mf-grad", costs, stopped)).collections
    assert open_marks.get_offsets()[:, 0].tolist() == [costs[7]]
    drawn, costs = dots.get_offsets()[:, 0], costs[stopped]
    assert len(drawn) == DOTS
    assert (drawn.min(), drawn.max()) == (costs.min(), costs.max())


def test_the_shape_is_highest_where_most_runs_are():
    costs = np.concatenate([RNG.normal(100, 2, 900), RNG.normal(150, 2, 100)])
    axes = draw(sample_of("mf-grad", costs))
    outline = max(axes.lines, key=lambda line: len(line.get_xdata()))
    assert outline.get_xdata()[np.argmin(outline.get_ydata())] == pytest.approx(100, abs=2)


def test_every_strategy_has_a_look_of_its_own():
    names = [*STRATEGIES, "mine", "yours"]
    assert len(set(looks(names))) == len(names)


def test_a_strategy_looks_the_same_in_every_picture():
    grad, yours, mine = looks(["grad", "yours", "mine"])
    assert looks(["mine", "grad", "yours", "grad"]) == [mine, grad, yours, grad]
    assert [looks([name]) for name in ("grad", "mine")] == [[grad], [mine]]


def test_a_strategy_registered_without_a_look_is_given_one_that_no_other_has(monkeypatch):
    monkeypatch.delitem(CHOSEN, "frugal")
    assert len(set(looks(STRATEGIES))) == len(STRATEGIES)


def test_more_strategies_than_looks_can_be_drawn():
    assert len(looks(f"strategy {n}" for n in range(100))) == 100


ODD = {
    "one run": [("mf-grad", [100.0], True)],
    "all equal": [("mf-grad", [100.0] * 50, True), ("grad", [100.0] * 50, True)],
    "nothing stopped": [("mf-grad", [100.0] * 20, False), ("grad", [120.0] * 20, False)],
    "many, with long names": [(f"a-strategy-of-mine-{'x' * 30}-{k}", RNG.lognormal(k, 1, 40), True) for k in range(12)],
    "many decades": [("mf-grad", 10 ** RNG.uniform(0, 6, 300), True), ("grad", [7.0, 8.0], True)],
    "two that differ, and an interval below 0": [("mf-grad", [1.0, 1000.0], True)],
    "nearly equal": [("mf-grad", 1e9 + 1e-3 * np.arange(100), True)],
    "odd names": [("$x_", [1.0, 2.0], True), ("_y$", [1.0, 2.0], True)],
}


@pytest.mark.parametrize("case", ODD)
def test_odd_runs_are_drawn(case, tmp_path):
    plot_costs([runs_of(name, costs, stopped=stopped) for name, costs, stopped in ODD[case]], tmp_path / "costs.png")
    assert (tmp_path / "costs.png").read_bytes().startswith(b"\x89PNG")


def test_what_cannot_be_drawn_together_is_refused(tmp_path):
    file = tmp_path / "costs.png"
    assert faults_of(plot_costs, [], file) == ["runs is []: give a list of what mfbai.simulate returns"]
    other = mfbai.load("paper-5x2")
    given = [runs_of("mf-grad", [1]), 3, runs_of("grad", [1], delta=0.1, instance=other), runs_of("uniform", [])]
    assert faults_of(plot_costs, given, file) == [
        "runs[1] is 3: give what mfbai.simulate returns",
        "runs[2] is of another instance than those before: draw one instance at a time",
        "runs[2] has delta 0.1, and others have 0.01: draw the same ones",
        "runs[3] has no run: there is nothing to draw",
    ]
    assert not file.exists()


# --- shares


def drawn_shares(instance=INSTANCE, **changes):
    trace = trace_of(instance)
    weights = changes.get("weights", mfbai.oracle(instance).weights)
    axes = Figure().subplots()
    draw_shares(axes, trace.steps, trace.mean, trace.ci95, weights, instance.arms, instance.fidelities)
    return axes, trace, weights


def test_every_cell_has_a_line_of_its_arm_s_colour_and_its_fidelity_s_marker():
    axes, trace, _ = drawn_shares()
    for k in range(4):
        for m in range(5):
            (line,) = [line for line in axes.lines if np.array_equal(line.get_ydata(), trace.mean[:, k, m])]
            assert (line.get_color(), line.get_marker()) == (colour_of(k), marker_of(m))
    assert axes.get_xscale() == "log"


def test_markers_of_lines_that_fall_together_do_not():
    axes, trace, _ = drawn_shares()
    marked = [tuple(line.get_markevery()) for line in axes.lines if len(line.get_xdata()) == len(trace.steps)]
    assert len(set(marked)) > len(marked) / 2
    assert {len(points) for points in marked} <= {6, 7, 8}


def test_optimal_shares_that_are_not_0_are_dashed():
    axes, _, weights = drawn_shares()
    dashed = [line for line in axes.lines if list(line.get_xdata()) == [0, 1]]
    assert sorted(line.get_ydata()[0] for line in dashed) == sorted(weights[weights > 1e-6])
    assert all(line.is_dashed() for line in dashed)


def test_optimal_shares_that_are_equal_are_all_seen():
    """Their dashes alternate."""
    axes, _, _ = drawn_shares(weights=np.full((4, 5), 0.05))
    offsets = {line._unscaled_dash_pattern[0] for line in axes.lines if list(line.get_xdata()) == [0, 1]}
    assert len(offsets) == 20


def test_the_legend_explains_arms_fidelities_and_dashes():
    axes, _, _ = drawn_shares()
    told = [text.get_text() for text in axes.get_legend().get_texts()]
    assert told == [*INSTANCE.arms, *INSTANCE.fidelities, "optimal share", "95 % interval"]


@pytest.mark.parametrize(("arms", "fidelities"), [(2, 2), (10, 7), (30, 2)])
def test_shares_of_any_size_are_drawn(arms, fidelities, tmp_path):
    instance = mfbai.random_instance(arms, fidelities, seed=1)
    plot_shares(trace_of(instance), np.full(instance.shape, 1 / instance.means.size), tmp_path / "shares.png")
    assert (tmp_path / "shares.png").stat().st_size > 0
    assert len({colour_of(k) for k in range(arms)}) == arms


def test_long_names_leave_room_for_the_shares(tmp_path):
    names = [f"{letter} is an arm whose name tells all that anyone knows of it" for letter in "abcd"]
    problem = INSTANCE.problem
    biases = (problem.bias_low, problem.bias_high)
    named = mfbai.Instance(INSTANCE.means, problem.costs, biases, problem.family, arms=names, name="$named")
    plot_shares(trace_of(named), np.zeros((4, 5)), tmp_path / "shares.svg")
    text = (tmp_path / "shares.svg").read_text()
    assert ">mf-grad on $named" in text
    assert ">b is an arm whose" in text


def test_one_run_and_one_point_are_drawn(tmp_path):
    one = mfbai.trace("nonsparse-3x2", "uniform", steps=3, runs=1)
    plot_shares(one, np.zeros((3, 2)), tmp_path / "shares.svg")
    text = (tmp_path / "shares.svg").read_text()
    assert ">uniform on nonsparse-3x2: where the cost goes<" in text
    assert "share of the cost, one run" in text
    assert "95 %" not in text


def test_only_a_trace_and_weights_that_fit_are_drawn(tmp_path):
    file = tmp_path / "shares.png"
    assert faults_of(plot_shares, 3, [[1]], file) == ["trace is 3: give what mfbai.trace returns"]
    (fault,) = faults_of(plot_shares, trace_of(INSTANCE), [[1.0]], file)
    assert fault.startswith("weights has shape (1, 1): give 4 rows of 5")


# --- files


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_the_same_picture_is_the_same_file(ending, tmp_path):
    runs, trace = [runs_of("mf-grad", RNG.lognormal(3, 1, 50))], trace_of(INSTANCE)
    for name in ("one", "two"):
        plot_costs(runs, tmp_path / f"costs-{name}.{ending}")
        plot_shares(trace, INSTANCE.means, tmp_path / f"shares-{name}.{ending}")
    for what in ("costs", "shares"):
        first, second = ((tmp_path / f"{what}-{name}.{ending}").read_bytes() for name in ("one", "two"))
        assert first == second


def test_one_drawing_can_be_saved_in_several_formats(tmp_path):
    files = [tmp_path / "costs.png", tmp_path / "costs.svg"]
    plot_costs([runs_of("mf-grad", [1, 2])], files)
    assert all(file.exists() for file in files)
    assert len(faults_of(plot_costs, [runs_of("mf-grad", [1, 2])], ["a.b", tmp_path / "no" / "c.png"])) == 2


# --- mfbai simulate --plot


@pytest.fixture
def command(capsys, monkeypatch, tmp_path):
    """Calls `mfbai simulate` in a folder of its own; returns exit code, standard output and standard error."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["mfbai", "simulate", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code or 0, *capsys.readouterr()

    return call


def test_plot_saves_a_picture_after_the_table(command, tmp_path):
    words = ("--strategy", "mf-grad", "--strategy", "uniform", "--delta", "0.1,0.01", "--runs", "10")
    code, out, err = command("paper-4x5", *words, "--plot", "costs.svg")
    assert (code, err) == (0, "")
    assert out.endswith("100 %\n\nThe picture is in costs.svg\n")
    text = (tmp_path / "costs.svg").read_text()
    for told in ("paper-4x5", "mf-grad", "uniform", "delta = 0.1, 10 runs, e-process rule", "delta = 0.01"):
        assert f">{told}" in text


def test_with_json_nothing_but_json_is_printed(command, tmp_path):
    _, out, err = command("paper-4x5", "--runs", "5", "--plot", "costs.png", "--json")
    assert len(json.loads(out)) == 1
    assert err == ""
    assert (tmp_path / "costs.png").exists()


def test_a_bad_file_is_told_with_all_other_faults_before_anything_runs(command, monkeypatch):
    monkeypatch.setattr("mfbai.simulation.simulate", None)
    code, out, err = command("paper-4x5", "--delta", "2", "--runs", "0", "--plot", "no/costs.doc")
    assert (code, out) == (2, "")
    for told in ("4 faults", "delta[0]", "runs is 0", "ends in '.doc'", "such as costs.png", "make 'no' first"):
        assert told in err


@pytest.mark.parametrize("finished", [["uniform"], []])
def test_ctrl_c_draws_what_is_done(finished, command, monkeypatch, tmp_path):
    real = mfbai.simulation.simulate

    def stopped_at_grad(instance, strategy, *rest, **about):
        if strategy == "grad":
            raise KeyboardInterrupt
        return real(instance, strategy, *rest, **about)

    monkeypatch.setattr("mfbai.simulation.simulate", stopped_at_grad)
    strategies = [word for name in [*finished, "grad"] for word in ("--strategy", name)]
    code, _, err = command("paper-4x5", "--runs", "5", *strategies, "--plot", "costs.png")
    assert code == 130
    assert "interrupted" in err
    assert (tmp_path / "costs.png").exists() == bool(finished)
