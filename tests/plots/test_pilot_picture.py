"""The pilot's picture."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from mfbai import InvalidInput
from mfbai.plots import plot_pilot
from mfbai.plots.pilot import draw_points as draw
from support.pilots import draw_pilot, make_problem


def test_a_point_for_each_seed_and_a_colour_for_each_arm():
    pilot = draw_pilot(np.random.default_rng(1), make_problem(cheap=2))[0]
    axes = Figure().subplots()
    drawn = draw(axes, pilot, 1)
    assert [name for name, _ in drawn] == list(pilot.arms)
    points = drawn[2][1].get_offsets()
    assert points[:, 0].tolist() == pilot.pairs.values[2, :, 1].tolist()
    assert points[:, 1].tolist() == pilot.pairs.values[2, :, -1].tolist()
    assert len({tuple(dots.get_facecolor()[0]) for _, dots in drawn}) == 6
    assert axes.get_xlabel() == "fidelity 2"


def test_it_is_saved_the_same_every_time_whatever_the_names(tmp_path):
    pilot = draw_pilot(np.random.default_rng(1), make_problem(["$a", "_b", "c"]), arms=3)[0]
    files = [tmp_path / name for name in ("one.svg", "two.svg")]
    for file in files:
        plot_pilot(pilot, file)
    assert files[0].read_bytes() == files[1].read_bytes()


def test_what_is_no_pilot_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match="give what mfbai"):
        plot_pilot("values.csv", tmp_path / "pilot.png")
