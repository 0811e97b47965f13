"""examples/pruning.py: Optuna prunes as in a study written as its documentation shows, and as one finds by hand."""

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
NAMES = ["median", "successive halving", "hyperband", "wilcoxon"]
MOST, BATCH = 100, 5


@pytest.fixture(scope="module")
def pruning():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(EXAMPLES)
        import pruning

        yield pruning
    for name in ("pruning", "baselines"):
        del sys.modules[name]


def noisy(seed, arms=8):
    values = np.random.default_rng(seed).standard_normal((arms, MOST)) + np.linspace(0, 0.6, arms)[:, None]
    return values.tolist()


def prune(pruning, values, name, batch=BATCH, seed=0):
    return pruning.optuna_pruned(
        lambda arm, number: values[arm][number], len(values), MOST * len(values), name, batch, seed
    )


def constant(levels):
    return [[level] * MOST for level in levels]


def in_order(seed, levels):
    """Levels of the arms such that the trials of this seed have them in the order given; and the arm of each trial."""
    order = np.random.default_rng(seed).permutation(len(levels)).tolist()
    return [levels[order.index(arm)] for arm in range(len(levels))], order


def documented(optuna, name, values, seed):
    """`study.optimize` with the arm as a parameter; the state of each trial, and what the study finds.

    The objectives are those of Optuna's pages on pruning and on WilcoxonPruner, with looks after each batch only.
    """
    rng = np.random.default_rng(seed)
    made = []

    def curve(trial):
        arm = trial.suggest_int("arm", 0, len(values) - 1)
        for step in range(1, MOST + 1):
            made.append(arm)
            if step % BATCH == 0:
                trial.report(float(np.mean(values[arm][:step])), step)
                if trial.should_prune() and step < MOST:
                    raise optuna.TrialPruned()
        return float(np.mean(values[arm]))

    def paired(trial):
        arm = trial.suggest_int("arm", 0, len(values) - 1)
        results = []
        for instance in rng.permutation(MOST).tolist():
            results.append(values[arm][instance])
            trial.report(results[-1], instance)
            if len(results) % BATCH == 0 and trial.should_prune():
                break
        made.extend(results)
        return float(np.mean(results))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        pruner = {
            "median": lambda: optuna.pruners.MedianPruner(n_startup_trials=2),
            "successive halving": lambda: optuna.pruners.SuccessiveHalvingPruner(min_resource=BATCH),
            "hyperband": lambda: optuna.pruners.HyperbandPruner(min_resource=BATCH, max_resource=MOST),
            "wilcoxon": lambda: optuna.pruners.WilcoxonPruner(),
        }[name]()
    study = optuna.create_study(study_name=f"seed {seed}", direction="maximize", pruner=pruner)
    for arm in rng.permutation(len(values)).tolist():
        study.enqueue_trial({"arm": arm})
    study.optimize(paired if name == "wilcoxon" else curve, n_trials=len(values))
    return study.best_params["arm"], len(made)


@pytest.mark.parametrize("name", NAMES)
def test_a_study_written_as_the_documentation_shows_finds_the_same(pruning, name):
    found = [prune(pruning, noisy(seed), name, seed=seed) for seed in range(10)]
    assert found == [documented(pruning.optuna, name, noisy(seed), seed) for seed in range(10)]
    assert max(choice.evaluations for choice in found) < 8 * MOST  # all of them prune


def test_all_pruners_are_tested(pruning):
    assert list(pruning.PRUNERS) == NAMES


def test_the_median_of_complete_trials_prunes(pruning):
    """The first two trials complete. The fourth is behind their median, 2; the fifth is behind that of 1, 3, 2.5."""
    levels, order = in_order(3, [1, 3, 2.5, 1.9, 2.4, 2.6])
    assert prune(pruning, constant(levels), "median", seed=3) == (order[1], 4 * MOST + 2 * BATCH)


def test_successive_halving_promotes_the_best_of_four(pruning):
    """Up to seven trials at a rung, one is promoted: a trial goes on if it is the best so far."""
    levels, order = in_order(4, [1, 3, 2, 2.9, 4, 1])
    assert prune(pruning, constant(levels), "successive halving", seed=4) == (order[4], 3 * MOST + 3 * BATCH)


@pytest.mark.parametrize(("batch", "pruned_after"), [(2, 4), (3, 6), (4, 4), (10, 10)])
def test_wilcoxon_tests_pairs_against_the_best_trial(pruning, batch, pruned_after):
    """If all n pairs are on one side, p = 2^-n: below .1 from four pairs on, whatever they are worth."""
    levels, order = in_order(5, [2, 3, 1, 2.999])
    values = np.array(constant(levels)) + np.random.default_rng(6).uniform(0, 1e-4, (4, MOST))  # no differences tied
    expected = (order[1], 2 * MOST + 2 * pruned_after)
    assert prune(pruning, values.tolist(), "wilcoxon", batch, seed=5) == expected


@pytest.mark.parametrize("name", NAMES)
def test_a_budget_too_small_for_pruning_is_shared(pruning, name):
    values = constant([0, 2, 1])
    assert pruning.optuna_pruned(lambda arm, number: values[arm][number], 3, 3 * 4 + 2, name) == (1, 3 * 4)
    assert pruning.optuna_pruned(lambda arm, number: values[arm][number], 3, 2, name) == (1, 3)


@pytest.mark.parametrize("name", NAMES)
def test_pruning_is_quiet_and_repeatable(pruning, name, capfd):
    found = [prune(pruning, noisy(1), name, seed=2) for _ in range(2)]
    assert found[0] == found[1]
    assert capfd.readouterr() == ("", "")
