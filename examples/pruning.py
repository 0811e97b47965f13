"""Optuna's pruners for the same choice, to compare mfbai with. They have a budget, and state no risk.

`value(arm, number)` is as in baselines.py: larger is better.
"""

import warnings
from functools import partial

import numpy as np
import optuna
from baselines import Choice
from optuna.trial import TrialState

optuna.logging.set_verbosity(optuna.logging.WARNING)


# Of the most evaluations of an arm, and how many are made between two looks. Optuna's defaults but for what depends on
# these, and for the median, which would have five arms complete before the first can be pruned.
PRUNERS = {
    "median": lambda most, batch: optuna.pruners.MedianPruner(n_startup_trials=2),
    "successive halving": lambda most, batch: optuna.pruners.SuccessiveHalvingPruner(min_resource=batch),
    "hyperband": lambda most, batch: optuna.pruners.HyperbandPruner(min_resource=batch, max_resource=most),
    "wilcoxon": lambda most, batch: optuna.pruners.WilcoxonPruner(),
}


def optuna_pruned(value, arms, budget, pruner, batch=10, seed=0):
    """A study with a trial for each arm, which the pruner of that name in PRUNERS may end early.

    A trial is given an equal share of the budget, `budget // arms` evaluations, and asks the pruner after each batch of
    them. What pruning saves is not spent. The answer is the study's best trial. There is no stated risk. The first
    trials cannot be pruned, so the order of the arms matters: it is drawn with the seed.

    Pruners compare the values that trials report at the same step. They are made for learning curves, so the mean so
    far is reported, with the number of evaluations as its step. The Wilcoxon pruner instead tests all single values
    against those of the best trial at the same numbers, in pairs. It is used as its documentation recommends: each
    trial takes the numbers in an order of its own, and a pruned one returns its mean so far.
    """
    most = max(1, budget // arms)
    rng = np.random.default_rng(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)  # Optuna says that of Wilcoxon's
        made = PRUNERS[pruner](most, batch)
    # Hyperband deals its brackets by the name of the study.
    study = optuna.create_study(study_name=f"seed {seed}", direction="maximize", pruner=made)
    order, evaluations = rng.permutation(arms).tolist(), 0
    for arm in order:
        values = partial(value, arm)
        if pruner == "wilcoxon":
            evaluations += paired_trial(study, values, rng.permutation(most).tolist(), batch)
        else:
            evaluations += curve_trial(study, values, most, batch)
    return Choice(order[study.best_trial.number], evaluations)


def curve_trial(study, value, most, batch):
    """The evaluations made."""
    trial, total = study.ask(), 0.0
    for number in range(most):
        total += value(number)
        done = number + 1
        if done % batch == 0 or done == most:
            trial.report(total / done, done)
            if done < most and trial.should_prune():
                study.tell(trial, state=TrialState.PRUNED)
                return done
    study.tell(trial, total / most)
    return most


def paired_trial(study, value, numbers, batch):
    """The evaluations made."""
    trial, total = study.ask(), 0.0
    for done, number in enumerate(numbers, start=1):
        found = value(number)
        trial.report(found, number)
        total += found
        if done % batch == 0 and trial.should_prune():
            break
    study.tell(trial, total / done)
    return done
