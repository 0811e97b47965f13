"""The best arm of an example by mfbai, and by what people do today, once each: python compare.py judge

The call centre takes a few minutes, the others seconds; and a minute more if mfbai has to compile.
"""

import sys
from importlib import import_module
from pathlib import Path

from baselines import kim_nelson, paired_t

import mfbai

DELTA = 0.05
EXAMPLES = {  # the spec; the smallest difference that matters; how many seeds between two looks
    "diffusion": ("designs.toml", 0.05, 5),
    "call_centre": ("plans.toml", 5.0, 10),
    "judge": ("prompts.toml", 0.03, 20),
    "digits": ("classifiers.toml", 0.0008, 5),
}


def compare(problem, evaluate, zone, batch):
    """A line for each procedure. All of theirs are at the true fidelity, on common seeds."""
    top = problem.n_fidelities - 1
    before = 0.0
    go_on = problem
    if top > 0:
        pilot = mfbai.pilot(evaluate, problem, seeds=8)
        before = pilot.cost
        # With common seeds no proof uses variances; else they save more than they cost: see diffusion/README.md.
        onward = pilot.onward(variances=None if problem.seeds == "common" else 0.01)
        go_on = onward.problem
        yield f"pilot: {onward.advice}"
    verdict = mfbai.identify(evaluate, go_on, DELTA)
    yield f"mfbai: {verdict.arm}, at a cost of {verdict.cost:,.0f}" + f" after a pilot of {before:,.0f}" * (top > 0)

    def value(arm, seed):
        return problem.sign * evaluate(problem.arms[arm], problem.fidelities[top], seed)

    for name, choice in (
        ("Kim-Nelson", kim_nelson(value, problem.n_arms, zone, DELTA)),
        ("paired t-tests", paired_t(value, problem.n_arms, DELTA, batch)),
    ):
        cost = choice.evaluations * problem.costs[0, top]
        yield f"{name}: {problem.arms[choice.arm]}, at a cost of {cost:,.0f}"


def main(arguments):
    if len(arguments) != 1 or arguments[0] not in EXAMPLES:
        print(f"error: give the name of an example: {', '.join(EXAMPLES)}", file=sys.stderr)
        return 2
    folder = Path(__file__).with_name(arguments[0])
    spec, zone, batch = EXAMPLES[folder.name]
    sys.path.insert(0, str(folder))
    for line in compare(mfbai.load(folder / spec), import_module("evaluate").evaluate, zone, batch):
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
