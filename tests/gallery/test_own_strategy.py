"""The page "A strategy of your own": its cells, and what its strategy does step by step."""

import numpy as np
import pytest

import mfbai
from mfbai.kernels.stats import make_stats, record
from mfbai.strategies import STRATEGIES, ask, tell
from mfbai.testing import check_strategy


@pytest.fixture(scope="module")
def own(gallery):
    """What the page defines. It puts its strategy among the others, where it does not stay after the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(STRATEGIES, "top-two", None)
        made = gallery.definitions(gallery.GALLERY / "own_strategy.md")
        ask.register(made.State, made.top_two_ask)
        tell.register(made.State, made.top_two_tell)
        yield made


# --- the cells


def test_a_cell_loses_what_the_model_says(own):
    """Without spread: loss (cycles / 1000)^exponent; 16 % after 1000 cycles, and 16 / 10^0.75 = 2.845 % after 100."""
    losses = np.array([[100 - own.capacity("LiFSI", n, seed) for n in (100, 1000)] for seed in range(4000)])
    assert losses[:, 1].mean() == pytest.approx(16.0, abs=4.5 * 16 * 0.08 / 4000**0.5)
    assert np.median(losses[:, 0]) == pytest.approx(2.845, rel=0.01)
    assert losses[:, 1].std() == pytest.approx(16 * 0.08, rel=0.06)
    assert own.capacity("VC", 0, 5) == 100.0


def test_an_early_test_is_of_the_same_cell_and_read_with_an_error_of_its_own(own):
    cell = [own.capacity("VC", n, 7) for n in (100, 1000)]
    read = [own.evaluate("VC", test, 7) for test in own.TESTS]
    assert 0 < np.abs(np.subtract(read, cell)).max() < 6 * own.ERROR
    errors = [own.evaluate("VC", "100 cycles", s) - own.capacity("VC", 100, s) for s in range(2000)]
    assert np.std(errors) == pytest.approx(own.ERROR, rel=0.08)


def test_the_early_test_misleads_and_tells_of_luck(own):
    """LiFSI looks better after 100 cycles, and is worse after 1000; correlations of the same cell are about 0.9."""
    seeds = range(3000)
    values = {arm: np.array([[own.evaluate(arm, m, s) for m in own.TESTS] for s in seeds]) for arm in own.FAVOURITES}
    assert (values["LiFSI"] - values["FEC 5 %"]).mean(axis=0) == pytest.approx([1.49, -0.6], abs=0.15)
    for two in values.values():
        assert np.corrcoef(two.T)[0, 1] == pytest.approx(0.9, abs=0.02)


def test_cells_share_nothing_so_advice_keeps_seeds_apart(own):
    pilot = mfbai.pilot(own.evaluate, own.problem, seeds=10, arms=own.FAVOURITES)
    assert own.advised(pilot).seeds == "independent"


# --- the strategy


class Steps:
    """A run by hand: values are told, the rule learns, and the strategy is asked."""

    def __init__(self, own, instance, share=0.0):
        self.instance, self.model = instance, instance.model()
        self.state = own.init(self.model, 0.05, share)
        self.stats = make_stats(instance.shape)
        self.pending = np.zeros(instance.shape, dtype=np.int64)

    def tell(self, *values):
        from mfbai.stopping import decide, observe

        for arm, fidelity, x in values:
            record(self.model, self.stats, arm, fidelity, x)
            tell(self.model, self.stats, self.state, arm, fidelity, x)
            observe(self.model, self.stats, self.state.rule, arm, fidelity, x)
            decide(self.model, self.stats, self.state.rule, 0)

    def ask(self):
        return ask(self.model, self.stats, self.state, self.pending)


@pytest.fixture
def one_fidelity():
    return mfbai.Instance([[0.0], [0.5], [1.0]], costs=1.0, biases=0.0, family=mfbai.Gaussian(1.0))


def test_it_keeps_the_contract(own):
    check_strategy(STRATEGIES["top-two"])


def test_it_begins_with_the_cheapest_cell_of_each_arm(own):
    steps = Steps(own, mfbai.load("paper-4x5"))
    seen = []
    for _ in range(4):
        seen.append(steps.ask())
        steps.pending[seen[-1]] += 1
    assert seen == [(0, 0), (1, 0), (2, 0), (3, 0)]


def test_it_evaluates_the_one_of_the_two_that_says_more(own, one_fidelity):
    """Leader 2 at 1.0 and challenger 1 at 0.5, four values and one: they meet at 0.9, close to the leader."""
    steps = Steps(own, one_fidelity)
    steps.tell((0, 0, -1.0), (1, 0, 0.5), *[(2, 0, 1.0)] * 4)
    assert steps.state.rule.pair.tolist() == [2, 1]
    assert steps.ask() == (1, 0)


def test_a_cheap_cell_that_cannot_tell_them_apart_is_left_for_the_true_one(own):
    """The bias bound of 1 hides a gap of 0.5: many cheap values are worth nothing."""
    instance = mfbai.Instance([[0.0, 0.0], [0.5, 0.5]], costs=[0.1, 1.0], biases=[1.0, 0.0], family=mfbai.Gaussian(0.1))
    steps = Steps(own, instance)
    steps.tell(*[(0, 0, 0.0), (1, 0, 0.5)] * 20)
    assert steps.ask()[1] == 1


def test_a_neglected_rival_is_next(own, one_fidelity):
    """Arm 0 had one value of 41. With a share of 0.2 it ought to have 0.2 / 3 of the cost, 2.7; with 0, nothing."""
    values = [(0, 0, 0.3), *[(1, 0, 0.5), (2, 0, 0.51)] * 20]
    for share, is_next in ((0.2, True), (0.0, False)):
        steps = Steps(own, one_fidelity, share)
        steps.tell(*values)
        assert (steps.ask()[0] == 0) == is_next


def test_without_a_share_some_runs_get_stuck(own):
    """Of 400 runs some cost ten times as much as any run does with it, as the page says."""
    worst = {
        share: mfbai.simulate(
            "paper-5x2", "top-two", delta=0.05, runs=400, max_steps=20_000, options={"share": share}
        ).costs.max()
        for share in (0.0, 0.2)
    }
    assert worst[0.0] > 10 * worst[0.2]
