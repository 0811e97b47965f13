"""One evaluation: how many handwritten digits a classifier gets right, when it has learnt from one half of them.

    python evaluate.py rbf-wide split 7

The seed splits scikit-learn's 1,797 digits at random: one half to learn from, the other to test on. All classifiers get
the same halves at one seed.
"""

import sys
from functools import cache

import numpy as np
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

CLASSIFIERS = {
    "neighbours-1": lambda: KNeighborsClassifier(1),
    "neighbours-3": lambda: KNeighborsClassifier(3),
    "neighbours-5": lambda: KNeighborsClassifier(5),
    "rbf-wide": lambda: SVC(C=10, gamma=0.1),
    "rbf-narrow": lambda: SVC(C=10, gamma=0.2),
    "cubic": lambda: SVC(kernel="poly", degree=3),
    "linear": lambda: SVC(kernel="linear"),
    "discriminant": lambda: LinearDiscriminantAnalysis(),
    "ridge": lambda: RidgeClassifier(),
    "naive-bayes": lambda: GaussianNB(),
}


@cache
def digits():
    """Pictures of 8 x 8 grey levels from 0 to 1, and what they show."""
    pictures, shown = load_digits(return_X_y=True)
    return pictures / 16.0, shown


def evaluate(arm, fidelity, seed):
    """The accuracy, for mfbai.identify; the only fidelity is a split."""
    pictures, shown = digits()
    learn, test = np.array_split(np.random.default_rng(seed).permutation(len(shown)), 2)
    return float(CLASSIFIERS[arm]().fit(pictures[learn], shown[learn]).score(pictures[test], shown[test]))


def main(arguments):
    if len(arguments) != 3:
        return fault("usage: python evaluate.py ARM FIDELITY SEED")
    arm, fidelity, seed = arguments
    if arm not in CLASSIFIERS:
        return fault(f"no arm {arm!r}; known: {', '.join(CLASSIFIERS)}")
    if fidelity != "split":
        return fault(f"no fidelity {fidelity!r}; known: split")
    print(evaluate(arm, fidelity, int(seed)))
    return 0


def fault(message):
    print(f"error: {message}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
