"""What a pilot tells: intervals that hold, advice that pays, and problems to go on with."""

import numpy as np
import pytest

import mfbai
from mfbai import InvalidInput, Problem, Symmetric
from mfbai.analysis.pilot import read_pilot
from mfbai.model.spec import loads
from support.pilots import changed, draw_pilot, make_problem, rows_of

LEVEL = 0.01


def pilot_of(rho=0.9, shared=0.0, seed=1, problem=None, **options):
    return draw_pilot(np.random.default_rng(seed), problem or make_problem(), rho, shared, **options)[0]


# --- honest


@pytest.mark.parametrize(("arms", "cheap", "shared"), [(6, 1, 0.0), (6, 2, 0.8), (9, 1, 0.8)])
def test_bias_intervals_all_hold_as_often_as_they_say(arms, cheap, shared):
    """400 pilots of 8 seeds and 6 arms at 1 %, others left out: if all held in 99 % of them, 15 or more would fail with
    a probability of 2e-5."""
    rng, problem, failed = np.random.default_rng(3), make_problem(arms, cheap), 0
    for _ in range(400):
        pilot, biases = draw_pilot(rng, problem, shared=shared)
        ends = [(one.low, one.high) for one in pilot.biases(LEVEL)]
        failed += not all(low <= b <= high for (low, high), b in zip(ends, biases[:, :-1].T.ravel(), strict=True))
    assert failed < 15


@pytest.mark.parametrize("rho", [0.0, 0.95])
def test_limits_of_variances_all_hold_though_the_control_was_chosen_by_the_same_values(rho):
    """400 pilots at 1 %: the same."""
    rng, problem, failed = np.random.default_rng(4), make_problem(cheap=2), 0
    for _ in range(400):
        found = draw_pilot(rng, problem, rho)[0].problem(variances=LEVEL)
        truth = np.ones(found.shape)
        for m, control in enumerate(found.controls):
            if control is not None:
                truth[:, m] = control.deviation(truth, np.full(6, rho)) ** 2
        failed += bool((np.asarray(found.family.variance) < truth).any())
    assert failed < 15


def test_without_anything_in_common_control_is_hardly_ever_advised():
    """So that a pilot makes the rest 1.05 times dearer at most. Of 200, 10 or more would be if it were 1.5 % of them
    with a probability of 2e-3; even then the cost would grow by less than a hundredth."""
    rng, problem = np.random.default_rng(5), make_problem()
    assert sum(draw_pilot(rng, problem, rho=0.0)[0].control is not None for _ in range(200)) < 10


def test_what_pays_is_found_and_close_to_the_best():
    """Correlation 0.95, a hundredth of the cost: at best six times cheaper."""
    rng, problem = np.random.default_rng(6), make_problem()
    for _ in range(50):
        chosen = draw_pilot(rng, problem, rho=0.95)[0].control
        variance = 1 + chosen.coefficient**2 * (1 + 1 / chosen.others) - 2 * chosen.coefficient * 0.95
        assert 1 / ((1.01 + 0.01 * chosen.others) * variance) > 4.5


# --- advice


@pytest.mark.parametrize("dear", [2.0, [[2.0, 1.0], [3.0, 2.5]]])
def test_the_true_test_in_the_wrong_place_is_refused(dear):
    costs = dear if isinstance(dear, list) else [dear, 1.0]
    swapped = Problem(2, costs, None, Symmetric(0, 1), fidelities=["true", "cheap"])
    rows = [(arm, m, seed, 0.1 * seed + m) for arm in range(2) for m in range(2) for seed in range(3)]
    with pytest.raises(InvalidInput, match="'true' costs more than 'cheap', which is the last, and so the true one"):
        mfbai.pilot(rows, swapped)
    with pytest.raises(InvalidInput, match="put the true one last"):
        mfbai.pilot(lambda *_: 1 / 0, swapped)


@pytest.mark.parametrize(("shift", "where"), [(60.0, "above"), (-60.0, "below")])
def test_values_that_are_all_beyond_the_range_are_refused(shift, where):
    """Per cent, where the family was told 0 to 1."""
    known = draw_pilot(np.random.default_rng(1), make_problem(family=Symmetric(0, 1)), rho=0.5, seeds=8)[0]
    with pytest.raises(InvalidInput, match=f"has only values {where} 0 to 1, the range of the family"):
        mfbai.pilot(rows_of(changed(known, known.pairs.values + shift)), known.given)
    some = known.pairs.values.copy()
    some[:, 0] = 0.5
    some[:, 1:] += shift
    assert mfbai.pilot(rows_of(changed(known, some)), known.given).seeds == 8


def test_a_cheap_test_that_costs_more_for_some_arms_is_none_in_the_wrong_place():
    mixed = Problem(2, [[2.0, 1.0], [0.5, 1.0]], None, Symmetric(0, 1))
    rows = [(arm, m, seed, 0.1 * seed + m) for arm in range(2) for m in range(2) for seed in range(3)]
    assert mfbai.pilot(rows, mixed).seeds == 3


def test_advice_in_one_sentence():
    assert pilot_of(0.95).advice.startswith("Control 'fidelity 2' by 'fidelity 1' with ")
    assert pilot_of(0.0, seeds=200).advice == (
        "Evaluate 'fidelity 2' alone: control by another fidelity would not pay."
    )


def test_a_small_pilot_says_how_many_more_seeds_would_do_and_they_do():
    """A pilot four times as large leaves 1 in 10 open at most; 8 of 20 or more would be with a probability of 4e-4."""
    unsure = [one for one in (pilot_of(0.7, seeds=4, seed=seed) for seed in range(60)) if one.more_seeds][:20]
    several = max(unsure, key=lambda one: one.more_seeds)
    told = f"Evaluate {several.more_seeds} more seeds to tell whether control by 'fidelity 1' pays"
    assert several.advice.startswith(told)
    larger = [pilot_of(0.7, seeds=4 * (4 + one.more_seeds), seed=100 + n) for n, one in enumerate(unsure)]
    assert len(larger) == 20
    assert sum(one.more_seeds is not None for one in larger) < 8


def test_two_seeds_are_too_few_to_tell():
    small = pilot_of(0.99, seeds=2)
    assert (small.control, small.more_seeds, small.common_seeds_pay) == (None, 6, None)
    assert small.problem().fidelities == ("fidelity 2",)


def test_fewer_other_seeds_and_less_gain_where_few_values_decide():
    """Arms that differ by two deviations need few values, however precise; by ten, so few that control is a loss."""
    close = pilot_of(0.99)
    apart, far = (changed(close, close.pairs.values + gap * np.arange(6)[:, None, None]) for gap in (2.0, 10.0))
    assert apart.controls[0].others < close.control.others / 2
    assert apart.controls[0].gain.estimate < close.control.gain.estimate / 2
    assert (far.controls[0].verdict, far.control) == ("does not pay", None)


@pytest.mark.parametrize(("gap", "rho"), [(0.5, 0.9), (1.0, 0.98), (2.0, 0.98), (3.0, 0.9)])
def test_the_gain_is_about_what_simulations_save(gap, rho):
    """400 runs of each kind; the gain is that of a pilot of many seeds, which knows all."""
    means = np.where(np.arange(6) == 5, gap, 0.0)
    pilot = pilot_of(rho, seeds=2000)
    found = changed(pilot, pilot.pairs.values - pilot.means[:, None, :] + means[:, None, None])
    advised, problem = found.controls[0], pilot.given
    control = problem.controlled(0, advised.others, advised.coefficient)
    truth = control.instance(np.stack([means, means, means], axis=1), deviation=1.0, correlation={"fidelities": rho})
    alone = problem.only([1]).instance(means[:, None], deviation=1.0)
    both, top = (float(mfbai.simulate(one, None, 0.05, 400, seed=1).mean_cost) for one in (truth, alone))
    assert 0.7 < advised.gain.estimate / (top / both) < 1.4


def test_a_fidelity_that_runs_against_the_top_has_a_negative_coefficient():
    """Such as a loss beside a score: control is as good as by its opposite."""
    pilot = pilot_of(0.95)
    against = changed(pilot, pilot.pairs.values * [-1.0, 1.0]).control
    assert against.coefficient == pytest.approx(-pilot.control.coefficient)
    assert against.gain == pytest.approx(pilot.control.gain)
    assert against.correlation.low < against.correlation.estimate < against.correlation.high < 0


def test_arms_that_are_equal_value_for_value_can_be_compared():
    """However large values are; nothing decides between them, so that precision is all that counts."""
    values = 1e6 * np.repeat(pilot_of(0.9).pairs.values[:1], 6, axis=0)
    stated = changed(pilot_of(0.9, problem=make_problem(family=mfbai.Gaussian([1e12, 1e12]))), values).controls[0]
    variance = 1 - stated.correlation.estimate**2 * stated.others / (stated.others + 1)
    assert stated.gain.estimate == pytest.approx(1 / (stated.cost * variance))


def test_a_correlation_of_nearly_one_is_known_well_enough():
    """At one seed of eight it is off by a hundredth of the deviation, and not at all elsewhere."""
    pilot = pilot_of(0.95)
    values = pilot.pairs.values.copy()
    values[:, :, 0] = values[:, :, 1]
    values[:, 3, 0] += 0.1
    assert changed(pilot, values).controls[0].correlation.low > 0.9
    assert changed(pilot, values).control is not None


def test_controlled_values_of_a_wider_range_lose_where_bets_are_sized_by_it():
    """Simulated studies of these arms cost half as much with the top alone, and twice as much with noisy values."""
    problem = make_problem(3, family=mfbai.Bounded(0.0, 1.0))
    rng = np.random.default_rng(3)
    own, off = rng.standard_normal((2, 3, 40))

    def control(noise):
        top = np.array([0.45, 0.5, 0.55])[:, None] + noise * own
        values = np.clip(np.stack([top + 0.1 + 0.2 * noise * off, top], axis=2), 0, 1)
        rows = [(k, m, s, float(values[k, s, m])) for k in range(3) for s in range(40) for m in range(2)]
        return read_pilot(problem, rows).controls[0]

    assert control(0.05).gain.high < 1.0
    assert control(0.3).verdict == "pays"


def test_common_seeds_are_advised_where_arms_have_much_in_common():
    apart, together, few = pilot_of(0.9, 0.0, seeds=30), pilot_of(0.9, 0.9, seeds=30), pilot_of(0.9, 0.5, seeds=5)
    assert [one.common_seeds_pay for one in (apart, together, few)] == [False, True, None]
    assert [one.problem().seeds for one in (apart, together, few)] == ["independent", "common", "independent"]
    assert together.advice.startswith("Use common seeds, and control")


def test_what_common_seeds_cancel_anyway_is_no_reason_for_control():
    """All that fidelities have in common here is the luck of the seed, which all arms share."""
    rng = np.random.default_rng(7)
    values = 3 * rng.standard_normal((1, 12, 1)) + rng.standard_normal((6, 12, 2))
    rows = [(arm, m, s, values[arm, s, m]) for arm in range(6) for s in range(12) for m in range(2)]
    found = read_pilot(make_problem(), rows)
    assert found.common_seeds_pay
    assert found.control is None


# --- the problem to go on with


def test_by_default_the_top_is_controlled_and_nothing_is_charged():
    found = pilot_of(0.95, problem=make_problem(cheap=3)).problem()
    assert len(found.fidelities) == 3  # the part, the controlled one, the top
    assert found.unbounded.tolist() == [True, False, False]
    assert found.controls[1].by == 0
    assert (found.charged, list(found.idle)) == (0.0, [])


def test_bounds_that_are_known_are_kept():
    known = make_problem(cheap=2).replace(biases=[np.inf, 50.0, 0.0])
    found = pilot_of(0.95, problem=known).problem()
    assert "fidelity 2" in found.fidelities
    assert found.bias_high[0, found.fidelities.index("fidelity 2")] == 50.0


def test_bounds_that_the_pilot_contradicts_are_refused():
    known = make_problem(cheap=2).replace(biases=[np.inf, 1e-9, 0.0])
    with pytest.raises(InvalidInput, match="'fidelity 2' is contradicted by the pilot"):
        pilot_of(0.95, problem=known).problem()


def test_bounds_are_intervals_and_charged():
    pilot = pilot_of()
    found = pilot.problem(bounds=LEVEL)
    ends = [(one.low, one.high) for one in pilot.biases(LEVEL)]
    assert list(zip(found.bias_low[:, 0], found.bias_high[:, 0], strict=True)) == ends
    assert (found.charged, found.controls, found.fidelities) == (LEVEL, (None, None), pilot.given.fidelities)


def test_levels_add_up():
    pilot = pilot_of(problem=make_problem(charged=0.02))
    assert pilot.problem(bounds=0.01, variances=0.005).charged == pytest.approx(0.035)
    assert isinstance(pilot.problem(bounds=0.01, variances=0.005).family, mfbai.Gaussian)


def test_stated_variances_are_kept_and_that_of_the_control_comes_from_the_pilot():
    pilot = pilot_of(0.95, problem=make_problem(family=mfbai.Gaussian([2.0, 3.0])), seeds=30)
    variance = np.asarray(pilot.problem(variances=LEVEL).family.variance)
    assert variance[:, [0, 2]].tolist() == [[2.0, 3.0]] * 6
    assert (variance[:, 1] < 3.0).any()
    with pytest.raises(InvalidInput, match="variances is needed: the family states variances"):
        pilot.problem()


def test_beside_a_stated_variance_a_limit_from_few_seeds_does_not_pay_and_is_not_charged():
    """A limit from 8 seeds is some 20 times what was seen: more than control at a correlation of 0.9 saves."""
    stated = make_problem(family=mfbai.Gaussian([1.0, 1.0]))
    few, many = (pilot_of(0.9, problem=stated, seeds=seeds).onward(variances=LEVEL) for seeds in (8, 40))
    assert few.pilot.control is not None  # it would pay, if its variance were stated
    assert (few.control, few.problem.fidelities, few.problem.charged) == (None, ("fidelity 2",), 0.0)
    more = int(few.advice.split()[1])
    assert few.advice.startswith(f"Evaluate {more} more seeds for limits of variances with which control by")
    assert pilot_of(0.9, problem=stated, seeds=8 + 2 * more).onward(variances=LEVEL).control is not None
    assert many.problem.charged == LEVEL
    limit, known = np.asarray(many.problem.family.variance)[:, 1].mean(), 1.0
    assert many.control.gain.estimate == pytest.approx(known / (limit * many.control.cost), rel=0.2)


def test_the_larger_a_stated_variance_the_more_other_seeds():
    """A decision between arms that are far apart then takes more values, so that precise ones pay."""
    stated = (make_problem(family=mfbai.Gaussian([size, size])) for size in (1.0, 100.0))
    pilots = (pilot_of(0.999, problem=problem) for problem in stated)
    seen, large = (changed(one, one.pairs.values + 2.0 * np.arange(6)[:, None, None]).controls[0] for one in pilots)
    assert large.others > 2 * seen.others


def test_limits_of_variances_need_three_seeds():
    with pytest.raises(InvalidInput, match="variances is given, but a pilot of 2 seeds says too little"):
        pilot_of(seeds=2).problem(variances=LEVEL)


def test_there_is_no_limit_of_a_variance_that_was_not_seen():
    pilot = pilot_of()
    values = pilot.pairs.values.copy()
    values[2, :, 0] = 1.0
    with pytest.raises(InvalidInput, match="'arm 3' returns the same value at all seeds of a fidelity"):
        changed(pilot, values).problem(variances=LEVEL)


def test_a_family_without_sums_is_named_with_what_to_take_instead():
    problem = make_problem(2, family=mfbai.Bernoulli())
    rng = np.random.default_rng(9)
    luck = rng.random((2, 30))
    rows = [(k, m, s, float(luck[k, s] < 0.5 + 0.1 * m)) for k in range(2) for s in range(30) for m in range(2)]
    found = read_pilot(problem, rows)
    assert "other seeds, under a family that describes sums, unlike bernoulli: " in found.advice
    with pytest.raises(InvalidInput, match="family is bernoulli: values of a controlled fidelity are sums"):
        found.problem()
    assert found.problem(bounds=LEVEL).charged == LEVEL


def test_arms_left_out_have_the_widest_bounds():
    pilot = pilot_of(problem=make_problem(8))
    found = pilot.problem(bounds=LEVEL, variances=LEVEL)
    width = (found.bias_high - found.bias_low)[:, 0]
    assert pilot.left_out == ("arm 7", "arm 8")
    assert (width[6:] > width[:6].max()).all()
    assert (np.asarray(found.family.variance)[6:] == np.asarray(found.family.variance)[:6].max(axis=0)).all()


@pytest.mark.parametrize("options", [{}, {"bounds": 0.01}, {"variances": 0.01}, {"bounds": 0.01, "variances": 0.01}])
def test_the_spec_says_where_it_is_from_and_loads_as_the_problem(options):
    pilot = pilot_of(0.95)
    text = pilot.spec(**options)
    assert loads(text) == pilot.problem(**options)
    assert text.startswith("# From a pilot of 8 seeds and 6 arms, at a cost of 48.5; mfbai ")
    assert ("delta + " in text) == bool(options)


def test_fidelities_without_noise_are_no_control_but_have_a_bias():
    problem = make_problem(2, cheap=2, deterministic=[0])
    rng = np.random.default_rng(8)
    rows = [(arm, 0, "", 5.0 + arm) for arm in range(2)]
    rows += [
        (arm, m, s, float(x)) for arm in range(2) for s in range(8) for m, x in zip((1, 2), rng.random(2), strict=True)
    ]
    found = read_pilot(problem, rows)
    assert [one.fidelity for one in found.controls] == ["fidelity 2"]
    assert found.biases()[0].estimate == pytest.approx(5.0 - found.means[0, -1])
    assert found.cost == pytest.approx(2 * (0.01 + 8 * 1.01))


def test_it_is_said_as_plain_values_and_in_a_line():
    pilot = pilot_of()
    told = pilot.to_dict()
    assert told["controls"][0]["gain"]["estimate"] == pilot.controls[0].gain.estimate
    assert len(told["biases"]) == 6
    assert repr(pilot) == f"<Pilot of 6 arms, 8 seeds: {pilot.advice}>"


# --- bad input


def edited(change):
    rows = rows_of(pilot_of(arms=2, problem=make_problem(2)))
    return change(rows)


REFUSED = {
    "one seed": (lambda rows: [row for row in rows if row[2] == "0"], "has one seed: give 2 or more"),
    "a top value without its pair": (
        lambda rows: [row for row in rows if row[:3] != (1, 0, "3")],
        "has none of 'arm 2' at 'fidelity 1' with seed '3': an arm needs each seed at all fidelities",
    ),
    "a fidelity without values": (
        lambda rows: [row for row in rows if row[1] == 1],
        "has none of 'arm 1' at 'fidelity 1'",
    ),
    "a row twice": (lambda rows: [*rows, rows[0]], r"values\[32\] gives 'arm 1' at 'fidelity 1' with seed '0' again"),
    "not a number": (lambda rows: [*rows[:-1], (*rows[-1][:3], np.nan)], r"values\[31\] the value is nan"),
    "text": (lambda rows: [*rows[:-1], (*rows[-1][:3], "high")], r"values\[31\] the value is 'high': give a number"),
    "a constant column": (
        lambda rows: [(*row[:3], 1.0) if row[1] == 0 else row for row in rows],
        "'fidelity 1' returns the same value at all 8 seeds, for every arm: if it has no noise, write deterministic",
    ),
    "an unknown arm": (lambda rows: [*rows, (7, 0, "0", 1.0)], "unknown arm, 7"),
    "an unknown fidelity": (lambda rows: [*rows, (0, "coarse", "0", 1.0)], "unknown fidelity, 'coarse'"),
    "no seed": (
        lambda rows: [*rows, (0, 0, "", 1.0)],
        "has no seed: values of two fidelities are compared",
    ),
    "nothing": (lambda rows: [], "has no rows"),
    "rows without seeds": (lambda rows: [row[1:] for row in rows], "give arm, fidelity, seed and value, in this order"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_is_refused_whole_with_the_reason(name):
    change, message = REFUSED[name]
    with pytest.raises(InvalidInput, match=message):
        read_pilot(make_problem(2), edited(change))


def test_a_problem_with_nothing_to_compare_is_refused():
    alone = mfbai.Problem(2, [1.0], [0.0], mfbai.Symmetric(0, 1))
    with pytest.raises(InvalidInput, match="has one fidelity, 'fidelity 1': a pilot compares cheaper ones with it"):
        read_pilot(alone, [])
    exact = make_problem(2, deterministic=[1])
    with pytest.raises(InvalidInput, match="'fidelity 2' is deterministic: one value settles an arm"):
        read_pilot(exact, [])


def test_values_of_a_controlled_fidelity_are_not_asked_for():
    pilot = pilot_of(0.95, arms=2, problem=make_problem(2))
    controlled = pilot.given.controlled(0, 3, 0.9)
    rows = [(arm, {0: 0, 1: 2}[m], seed, x) for arm, m, seed, x in rows_of(pilot)]
    assert read_pilot(controlled, rows).controls == pilot.controls
    with pytest.raises(
        InvalidInput, match="'fidelity 2 by fidelity 1' is controlled: give the values of what it is made of"
    ):
        read_pilot(controlled, [*rows, (0, 1, "0", 0.5)])


def test_columns_of_a_file_may_be_called_items(tmp_path):
    pilot = pilot_of(arms=2, problem=make_problem(2))
    lines = ["item,arm,value,fidelity", *(f"{s},{arm + 1},{x!r},{m + 1}" for arm, m, s, x in rows_of(pilot))]
    file = tmp_path / "judged.csv"
    file.write_text("\n".join(lines))
    assert read_pilot(pilot.given, file).to_dict() == pilot.to_dict()


@pytest.mark.parametrize("level", [0, 1, -0.1, "0.01", True, np.nan])
def test_levels_must_be_probabilities(level):
    with pytest.raises(InvalidInput, match="give a probability between 0 and 1"):
        pilot_of().problem(bounds=level)


def test_there_are_no_bounds_where_differences_are_all_the_same():
    rows = edited(lambda rows: [(arm, m, s, float(int(s) % 2) + (m if arm else m * int(s))) for arm, m, s, _ in rows])
    with pytest.raises(InvalidInput, match="'arm 2' at 'fidelity 1' is off by the same at all 8 seeds"):
        read_pilot(make_problem(2), rows).problem(bounds=LEVEL)


def test_one_arm_says_nothing_of_the_biases_of_others():
    pilot = pilot_of(arms=1, problem=make_problem(2))
    assert pilot.between_arms is None
    assert not np.isfinite(pilot.biases()[1].high)
    with pytest.raises(InvalidInput, match="has one arm: what it tells of the others is unknown"):
        pilot.problem(bounds=LEVEL)


def test_limits_of_variances_are_no_use_with_common_seeds():
    with pytest.raises(InvalidInput, match="but seeds are common: then no proof uses variances"):
        pilot_of(problem=make_problem(seeds="common")).problem(variances=LEVEL)
