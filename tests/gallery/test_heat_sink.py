"""The heat sinks of the gallery: exact solutions, what must balance, and that the seed makes the piece."""

import numpy as np
import pytest

LENGTH = 24.0  # mm, of the slab


@pytest.fixture(scope="module")
def slab(page):
    """Heat comes in below and leaves above; the sides are insulated. The model, for so many cells to a square."""

    def made(cells):
        mesh = page.mesh(np.ones((round(LENGTH / page.SQUARE), 2), dtype=bool), cells)
        ends = {"chip": lambda x: x[1] == 0, "wet": lambda x: np.isclose(x[1], LENGTH)}
        return page.model(mesh.with_boundaries(ends))

    return made


def even(x):
    return np.ones(x.shape[1])


def at_random(page, seed, mirrored=False):
    """The fields of a piece; or of its mirror image, which has left and right exchanged."""
    width = page.SQUARE * len(page.BASE)
    fields = page.piece(seed)
    turned = [lambda x, of=field: of(np.stack([width - x[0], x[1]])) for field in fields]
    return turned if mirrored else fields


def test_a_slab_is_solved_exactly(page, slab):
    """Temperatures are linear between the flux below and the Robin condition above."""
    model = slab(1)
    height = model.inside.mesh.p[1]
    exact = page.FLUX / page.TRANSFER + page.FLUX * (LENGTH - height) / page.CONDUCTIVITY
    assert page.temperatures(model, even, even) == pytest.approx(exact, rel=1e-10)


def test_a_slab_that_conducts_better_towards_its_top_converges_with_order_two(page, slab):
    """Conductivity exp(y / a): the drop of temperature is the integral of its inverse."""
    length = 5.0
    drop = page.FLUX / page.CONDUCTIVITY * length * (1 - np.exp(-LENGTH / length))
    exact = page.FLUX / page.TRANSFER + drop

    def hottest(cells):
        model = slab(cells)
        return page.temperatures(model, lambda x: np.exp(x[1] / length), even)[model.chip].max()

    errors = np.array([abs(hottest(cells) - exact) for cells in (1, 2, 4, 8)])
    assert np.log2(errors[:-1] / errors[1:]) == pytest.approx(2.0, abs=0.05)


def test_corners_of_fins_leave_an_order_of_four_thirds(page):
    """Where a fin meets its base, the metal has an angle of 270 degrees: the error shrinks like h to the 4/3."""
    unknowns = [page.model_of("comb", name).inside.N for name in page.CELLS]
    assert unknowns == [284, 891, 11_337]  # as the page says
    metal = page.squares("comb")
    models = [page.model(page.mesh(metal, cells)) for cells in (1, 2, 4, 8)]
    rises = np.array([np.log(page.temperatures(model, even, even)[model.chip].max()) for model in models])
    steps = np.diff(rises)
    assert np.log2(steps[:-1] / steps[1:]) == pytest.approx(4 / 3, abs=0.15)


def test_what_flows_in_flows_out(page):
    heat = page.FLUX * (page.CHIP[1] - page.CHIP[0])
    for arm in page.DESIGNS:
        for fidelity in ("coarse", "medium"):
            model = page.model_of(arm, fidelity)
            metal, water = page.piece(3)
            values = page.temperatures(model, metal, water)
            leaving = page.convection.assemble(model.wet, transfer=page.TRANSFER * water(model.edges)[:, None])
            assert model.heat.sum() == pytest.approx(heat, rel=1e-12)
            assert (leaving @ values).sum() == pytest.approx(heat, rel=1e-9)


def test_what_conducts_and_cools_twice_as_well_is_half_as_hot(page):
    model = page.model_of("mound", "medium")
    metal, water = page.piece(4)
    once = page.temperatures(model, metal, water)
    twice = page.temperatures(model, lambda x: 2 * metal(x), lambda x: 2 * water(x))
    assert twice == pytest.approx(once / 2, rel=1e-10)


def test_the_chip_is_the_hottest_place(page):
    for arm in page.DESIGNS:
        model = page.model_of(arm, "medium")
        values = page.temperatures(model, *page.piece(5))
        assert values.min() > 0
        assert values.max() == values[model.chip].max()


def test_all_designs_have_the_same_metal_in_one_part_and_none_has_a_left_or_a_right(page):
    for arm in page.DESIGNS:
        metal = page.squares(arm)
        assert metal.sum() == 162
        assert metal.shape[1] == len(page.BASE)
        assert np.array_equal(metal, metal[:, ::-1])
        assert metal[0].all()
        assert (metal[:-1] | ~metal[1:]).all()  # nothing hangs in the air


@pytest.mark.parametrize("fidelity", ["coarse", "medium"])
def test_the_mirror_image_of_a_piece_is_as_hot(page, fidelity):
    for arm in ("comb", "six-fins"):
        model = page.model_of(arm, fidelity)
        seen = [page.temperatures(model, *at_random(page, 6, mirrored))[model.chip].max() for mirrored in (False, True)]
        assert seen[0] == pytest.approx(seen[1], rel=1e-10)


def test_the_seed_makes_the_piece_whatever_the_mesh(page):
    """A field is a function of the position alone: where else it is asked for has no influence."""
    places = np.random.default_rng(0).uniform(0, 40, (2, 50))
    for field, again, other in zip(page.piece(7), page.piece(7), page.piece(8), strict=True):
        together = field(places)
        singly = np.concatenate([again(places[:, [place]]) for place in range(50)])
        assert together == pytest.approx(singly, rel=1e-12)
        assert not np.allclose(together, other(places))


def test_meshes_agree_on_which_pieces_are_hot(page):
    """The correlation of coarse and medium over 40 pieces; it is above 0.999 for 1,000 of them."""
    values = [[page.evaluate("comb", fidelity, seed) for fidelity in ("coarse", "medium")] for seed in range(40)]
    coarse, medium = np.array(values).T
    assert np.corrcoef(coarse, medium)[0, 1] > 0.99
    assert (coarse < medium).all()  # it is off by more than chance


def test_fields_vary_as_stated_and_as_much_up_as_down(page):
    """Of 4,000 pieces, at one place. Bounds of 5 standard errors: by chance, this fails once in a million times."""
    pieces = 4_000
    place = np.array([[11.0], [3.0]])
    logs = np.log([[field(place)[0] for field in page.piece(seed)] for seed in range(pieces)])
    for values, size in zip(logs.T, page.VARIATION.values(), strict=True):
        assert abs(values.mean()) < 5 * size / np.sqrt(pieces)
        assert values.std() == pytest.approx(size, rel=5 / np.sqrt(2 * pieces))
        assert abs((values**3).mean()) / size**3 < 5 * np.sqrt(15 / pieces)


def test_evaluations_repeat_and_take_any_seed(page):
    for seed in (0, 2**63 - 1):
        once, again = (page.evaluate("step", "coarse", seed) for _ in range(2))
        assert once == again
        assert isinstance(once, float)
    assert page.evaluate("step", "coarse", 1) != page.evaluate("step", "coarse", 2)


def test_the_problem_states_no_more_than_one_knows(page):
    problem = page.problem
    assert problem.arms == tuple(page.DESIGNS)
    assert problem.fidelities == tuple(page.CELLS)
    assert np.isinf(problem.bias_high[:, :-1]).all()
    assert problem.seeds == "common"
    values = [page.evaluate(arm, "coarse", seed) for arm in problem.arms for seed in range(20)]
    low, high = problem.family.low, problem.family.high
    assert (low + 1 < np.array(values)).all()
    assert (np.array(values) < high - 1).all()
