"""One evaluation: the grade, from 0 to 1, that a judge or a human gives to one prompt's answer to one item.

    python evaluate.py examples human 7

Nobody is asked: this is a simulation, and the model is all here. The seed is the item, a question that every prompt
answers. Some items are hard for all prompts, and each prompt has its luck with each: that makes the answer's quality.
The human grades the quality, with a little whim. The judge, a language model, has more whims, and tastes: it likes long
answers. Only the standard library is used, as each evaluation is a process of its own, and has to start fast.
"""

import math
import random
import sys

# Of each prompt: how good its answers are (a logit), and how much the judge likes their style (in grades).
PROMPTS = {
    "plain": (0.55, 0.00),
    "polite": (0.60, 0.03),
    "persona": (0.65, 0.06),
    "verbose": (0.80, 0.12),
    "steps": (0.95, 0.04),
    "examples": (1.15, -0.02),
}
HARDNESS = 0.8  # standard deviation of how hard items are, in logits
LUCK = 1.6  # the same, of a prompt's luck with an item

WHIM = {"judge": 0.12, "human": 0.05}  # standard deviation of a grader's noise; of each fidelity


def quality(arm, item):
    """Between 0 and 1. All that is random depends on the item, or on the item and the prompt."""
    skill, _ = PROMPTS[arm]
    logit = skill + HARDNESS * random.Random(item).gauss(0, 1) + LUCK * random.Random(f"{item} {arm}").gauss(0, 1)
    return 1 / (1 + math.exp(-logit))


def evaluate(arm, fidelity, seed):
    """The grade. The same grader gives the same grade to the same answer."""
    _, style = PROMPTS[arm]
    taste = style if fidelity == "judge" else 0.0
    whim = WHIM[fidelity] * random.Random(f"{seed} {arm} {fidelity}").gauss(0, 1)
    return min(max(quality(arm, seed) + taste + whim, 0.0), 1.0)


def main(arguments):
    if len(arguments) != 3:
        return fault("usage: python evaluate.py ARM FIDELITY SEED")
    arm, fidelity, seed = arguments
    if arm not in PROMPTS:
        return fault(f"no arm {arm!r}; known: {', '.join(PROMPTS)}")
    if fidelity not in WHIM:
        return fault(f"no fidelity {fidelity!r}; known: {', '.join(WHIM)}")
    print(evaluate(arm, fidelity, int(seed)))
    return 0


def fault(message):
    print(f"error: {message}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
