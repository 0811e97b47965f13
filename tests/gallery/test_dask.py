"""The page "Scale out with Dask": batteries by hand, weather that is shared, and the whole page as a script."""

import os
import subprocess
import sys

import numpy as np
import psutil
import pytest

from support.interrupts import wait_until


@pytest.fixture(scope="module")
def house(definitions):
    return definitions("dask")


def test_a_battery_by_hand(house):
    """An hour each: 2 kW too much, of which it takes 1; 1 kW too little; and 3 kW too little, of which it gives 1."""
    bought, sold = house.run([2.0, -1.0, -3.0], kwh=10, kw=1, hours=1.0)
    assert (bought, sold) == pytest.approx((2.0, 1.0))


def test_a_battery_can_be_full_and_empty(house):
    """It holds 2 kWh and begins with one. It takes one more, with 5 % lost on the way, and gives both, less 5 %."""
    bought, sold = house.run([4.0, -4.0], kwh=2, kw=10, hours=1.0)
    assert sold == pytest.approx(4 - 1 / 0.95)
    assert bought == pytest.approx(4 - 2 * 0.95)


def test_without_a_battery_all_is_bought_and_sold(house):
    power = house.power(1)
    bought, sold = house.run(power.tolist(), 0, 0, 1 / 60)
    assert bought == pytest.approx(-power[power < 0].sum() / 60)
    assert sold == pytest.approx(power[power > 0].sum() / 60)


def test_steps_may_be_cut_in_two(house):
    """Half an hour twice is an hour, as long as the battery is neither full nor empty in between."""
    hours = [1.0, -0.5, 0.25, -2.0, 0.0, 3.0]
    halves = [surplus for surplus in hours for _ in range(2)]
    assert house.run(halves, 30, 2, 0.5) == pytest.approx(house.run(hours, 30, 2, 1.0))


@pytest.mark.parametrize("battery", [(4, 2), (10, 4)])
def test_no_energy_comes_from_nowhere(house, battery):
    """What is bought beyond what is sold covers the use, and the losses: more than nothing, less than 1 - 0.95^2."""
    power = house.power(2)
    bought, sold = house.run(power.tolist(), *battery, 1 / 60)
    lost = bought - sold + power.sum() / 60
    through = power[power > 0].sum() / 60 - sold  # into the battery
    assert -battery[0] <= lost <= (1 - 0.95**2) * through + battery[0]


def test_the_sun_shines_by_day_and_clouds_leave_a_quarter(house):
    clear, shines = house.clear_sky(), house.sun(np.random.default_rng(3))
    assert clear.size == shines.size == house.DAYS * house.MINUTES
    assert clear.reshape(house.DAYS, house.MINUTES)[:, :60].max() == pytest.approx(0)
    assert clear.max() == max(peak for peak, _ in house.SUN)
    by_day = clear > 1e-9
    assert set(np.round(shines[by_day] / clear[by_day], 9).tolist()) == {house.CLOUD, 1.0}


def test_half_of_the_time_is_cloudy(house):
    """The share of clouds has a mean of a half, over 56 days in each of 50 draws: within 5 standard errors."""
    clear = house.clear_sky()
    shares = [(house.sun(np.random.default_rng(seed)) < clear)[clear > 1e-9].mean() for seed in range(50)]
    assert np.mean(shares) == pytest.approx(0.5, abs=5 * np.std(shares) / np.sqrt(50))


def test_a_house_uses_what_its_appliances_do(house):
    """Each runs for a whole number of minutes: one more than the integer part of an exponential time, whose mean is
    1 / (e^(1 / mean) - 1). Within 5 standard errors of 50 draws."""
    expected = 24 * house.BASE
    for times, kw, mean, _, _ in house.APPLIANCES:
        expected += times * kw * (1 + 1 / np.expm1(1 / mean)) / 60
    used = [house.use(np.random.default_rng(seed)).sum() / 60 / house.DAYS for seed in range(50)]
    assert np.mean(used) == pytest.approx(expected, abs=5 * np.std(used) / np.sqrt(50))


def test_a_value_is_what_a_day_costs(house):
    bought, sold = house.run(house.power(4).tolist(), 6, 4, 1 / 60)
    battery = (80_000 + 6 * 40_000 + 4 * 20_000) / (15 * 365)
    assert house.evaluate("6 kWh, 4 kW", "minutes", 4) == pytest.approx((34 * bought - 8 * sold) / 56 + battery)


def test_hours_are_means_of_the_same_minutes(house):
    """So they flatter every battery, the weak ones most: all luck but that of a few minutes is the same."""
    for seed in range(3):
        flattered = {
            arm: house.evaluate(arm, "minutes", seed) - house.evaluate(arm, "hours", seed) for arm in house.BATTERIES
        }
        for kwh in (4, 6, 8, 10):
            assert flattered[f"{kwh} kWh, 2 kW"] > flattered[f"{kwh} kWh, 4 kW"] > 0


def test_the_page_runs_as_a_script_and_leaves_nothing_behind(gallery, tmp_path):
    """A worker is killed in it. Nothing is written to the standard error, and all of its processes end."""
    page = gallery.GALLERY / "dask.md"
    script = tmp_path / f"{gallery.download(page)}.py"
    script.write_text(gallery.script(page))
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    run = [sys.executable, script]
    done = subprocess.run(run, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[1:3] == ["2", "True"]  # workers; and a value is the same here and there
    assert lines[3].startswith("Evaluate 'minutes' alone")
    assert lines[-3].startswith("The best is '")
    assert lines[-2].startswith("With the pilot: ")
    assert lines[-1] == f"{script.stem}-2.png"
    wait_until(lambda: not [one for one in psutil.process_iter() if str(tmp_path) in " ".join(command(one))])


def command(process):
    try:
        return process.cmdline()
    except psutil.Error:
        return []
