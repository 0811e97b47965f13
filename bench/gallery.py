"""mfbai against what people do today, on the problems of the gallery: `make bench-gallery`.

Writes tables and a picture into each page of docs/gallery and into the README.md of examples/diffusion, and a table of
all problems into the README.md of docs/gallery.

Every arm is evaluated once at every fidelity and every seed of a long row, which is kept in build/gallery. Each
repetition draws its seeds from that row at random, with replacement, so that the true means are those of the row. All
procedures of a repetition see the same draws. Those that state no risk get a budget: what mfbai has spent on average.
"""

import argparse
import hashlib
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import beta, skew
from threadpoolctl import threadpool_limits

import mfbai
from contest import (
    DELTA,
    EXAMPLES,
    Contest,
    Draws,
    Procedure,
    alone,
    budgeted,
    module,
    ours,
    piloted,
    played,
    proven,
)
from mfbai.plots import style
from mfbai.simulation.confidence import half_width
from mfbai.strategies.interface import ask, tell

ROOT = Path(__file__).parents[1]
BUILD, PICTURES = ROOT / "build" / "gallery", ROOT / "docs" / "images" / "gallery"
BEGIN, END = "<!-- table: make bench-gallery -->", "<!-- end of table -->"
CHARGED = 0.01  # the level of bounds and variances that come from a pilot
CHUNK = 50  # seeds that a process evaluates at a time

tools = module(ROOT / "tools" / "gallery.py")


class Row(NamedTuple):
    """What the repetitions of a procedure came to."""

    name: str
    kind: str  # see KINDS
    costs: np.ndarray  # pilots included
    pilot: float  # the mean cost of these
    errors: int


KINDS = {"ours": style.BLUE, "states a risk": style.BLACK, "states no risk": style.RED}


class Subject(NamedTuple):
    """What is compared on."""

    name: str
    file: Path  # that the table goes into
    problem: mfbai.Problem
    code: str  # values are made again when it changes
    evaluate: Callable[[str, str, int], float]


def subject(name: str) -> Subject:
    if name == "rod":
        folder = EXAMPLES / "diffusion"
        program = folder / "evaluate.py"
        problem = mfbai.load(folder / "designs.toml")
        return Subject(name, folder / "README.md", problem, program.read_text(), module(program).evaluate)
    page = tools.GALLERY / f"{name}.md"
    made = tools.definitions(page)
    return Subject(name, page, made.problem, tools.source(page), made.evaluate)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(CONTESTS), help=", ".join(CONTESTS))
    parser.add_argument("--repetitions", type=int, default=200)
    parser.add_argument("--print", action="store_true", help="leave pages and pictures as they are")
    given = parser.parse_args()
    found = {}
    for name in given.names:
        about, contest = subject(name), CONTESTS[name]
        values = table(about, contest.seeds)
        rows = found[name] = results(about.problem, values, contest, given.repetitions)
        lines = [*truth(about.problem, values), "", *shown(rows, about.problem, given.repetitions)]
        print("\n".join(lines), flush=True)
        if not given.print:
            drawn = picture(name, rows, given.repetitions, about.file)
            write(about.file, [*lines, "", beginnings(about.problem, contest), "", drawn])
    if not given.print and set(found) == set(CONTESTS):
        write(tools.GALLERY / "README.md", overview(found, given.repetitions))


def write(file: Path, lines: Iterable[str]) -> None:
    before, rest = file.read_text().split(BEGIN)
    text = "\n".join(lines)
    file.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.split(END)[1]}")


# --- the values


def table(about: Subject, seeds: int) -> np.ndarray:
    """(seeds, K, M): evaluated in parallel, or read if the program is still the one that was evaluated."""
    digest = hashlib.sha256(about.code.encode()).hexdigest()[:12]
    file = BUILD / f"{about.name}-{digest}-{seeds}.npy"
    if not file.exists():
        with ProcessPoolExecutor() as pool:
            parts = []
            for part in pool.map(evaluate_chunk, repeat(about.name), range(0, seeds, CHUNK)):
                parts.append(part)
                print(f"{about.name}: {len(parts) * CHUNK:,} of {seeds:,} seeds", file=sys.stderr, flush=True)
        BUILD.mkdir(parents=True, exist_ok=True)
        np.save(file, np.concatenate(parts))
    return np.load(file).reshape(seeds, *about.problem.shape)


def evaluate_chunk(name: str, begin: int) -> np.ndarray:
    about, seeds = subject(name), range(begin, begin + CHUNK)
    arms, fidelities = about.problem.arms, about.problem.fidelities
    with threadpool_limits(1):  # all cores are busy
        return np.array([[[about.evaluate(arm, m, seed) for m in fidelities] for arm in arms] for seed in seeds])


# --- the runs


def results(problem: mfbai.Problem, values: np.ndarray, contest: Contest, repetitions: int) -> list[Row]:
    best = int((problem.sign * values[:, :, -1].mean(axis=0)).argmax())

    def run(kind: str, procedures: Iterator[tuple[str, Procedure]]) -> Iterator[Row]:
        for name, procedure in procedures:
            print(name, file=sys.stderr, flush=True)
            found = [procedure(Draws(problem, values, repetition)) for repetition in range(repetitions)]
            costs, pilots = np.array([(one.cost + one.pilot, one.pilot) for one in found]).T
            yield Row(name, kind, costs, float(pilots.mean()), sum(one.arm != best for one in found))

    rows = list(run("ours", contest.ours(problem) if contest.ours else ours(problem, contest)))
    rows += run("states a risk", proven(problem, contest))
    rows += run("states no risk", budgeted(problem, contest, float(rows[0].costs.mean())))
    return rows


# --- the examples


def rod(problem: mfbai.Problem) -> Iterator[tuple[str, Procedure]]:
    """Three kinds of knowledge of the noise, each with controlled values and without. The pilot has two of the arms."""
    noise = module(EXAMPLES / "diffusion" / "noise.py")
    stated = problem.replace(family=mfbai.SubGaussian([noise.PROXY] * problem.n_fidelities))
    two = [problem.arms.index(arm) for arm in ("even", "edges")]

    def with_proxy(found: mfbai.Pilot) -> mfbai.Problem:
        best = found.control
        assert best is not None
        used = [stated.fidelities.index(best.fidelity), stated.n_fidelities - 1]
        variance = noise.controlled_proxy(best.fidelity, best.others, best.coefficient)
        return stated.only(used).controlled(best.fidelity, best.others, best.coefficient, variance=variance)

    def with_limits(found: mfbai.Pilot) -> mfbai.Problem:
        return found.problem(variances=CHARGED)

    def top_with_limits(found: mfbai.Pilot) -> mfbai.Problem:
        limited = with_limits(found)
        plain = [m for m, control in enumerate(limited.controls) if control is None]
        return limited.only(plain).only([len(plain) - 1])

    yield "mfbai, controlled; variances from the pilot", piloted(problem, with_limits, arms=two)
    yield "mfbai, n512 alone; variances from the pilot", piloted(problem, top_with_limits, arms=two)
    yield "mfbai, controlled; proxies stated", piloted(stated, with_proxy, arms=two)
    yield "mfbai, n512 alone; proxy stated", alone(stated)
    yield "mfbai, as the pilot says; differences symmetric", piloted(problem, mfbai.Pilot.problem, arms=two)
    yield "mfbai, n512 alone; noise symmetric", alone(problem)
    yield "mfbai, n512 alone; common seeds", alone(problem, seeds="common")


def prompts(problem: mfbai.Problem) -> Iterator[tuple[str, Procedure]]:
    """As others, and with nothing assumed of differences."""
    yield from ours(problem, CONTESTS["prompts"])
    bounded = problem.replace(family=mfbai.Bounded(0, 1))
    yield "mfbai, as its pilot says; only the range assumed", piloted(bounded, mfbai.Pilot.problem)
    yield "mfbai, human alone; only the range assumed", alone(bounded)


def digits(problem: mfbai.Problem) -> Iterator[tuple[str, Procedure]]:
    """Also with the small sets that the pilot advises against."""

    def controlled(found: mfbai.Pilot) -> mfbai.Problem:
        (small,) = found.controls
        return problem.controlled(small.fidelity, small.others, small.coefficient)

    def bounded(found: mfbai.Pilot) -> mfbai.Problem:
        return found.problem(bounds=CHARGED)

    yield from ours(problem, CONTESTS["digits"])
    yield "mfbai, controlled by small all the same", piloted(problem, controlled)
    yield "mfbai, small with bias bounds from the pilot", piloted(problem, bounded)


def watching(problem: mfbai.Problem) -> Iterator[tuple[str, Procedure]]:
    """As others, but the page has the tolerance."""
    *others, tolerant = ours(problem, CONTESTS["watching"])
    zone = CONTESTS["watching"].zone
    yield from (tolerant, (f"mfbai, {problem.fidelities[-1]} alone, tolerance {zone:g}", alone(problem, zone)), *others)


def own_strategy(problem: mfbai.Problem) -> Iterator[tuple[str, Procedure]]:
    """The strategy of the page, and those of the package, on what a pilot of two arms says to go on with."""
    made = tools.definitions(tools.GALLERY / "own_strategy.md")  # puts it among the strategies
    ask.register(made.State, made.top_two_ask)
    tell.register(made.State, made.top_two_tell)
    arms = [problem.arms.index(arm) for arm in made.FAVOURITES]

    def advised(strategy: str) -> Procedure:
        return piloted(problem, made.advised, seeds=10, arms=arms, strategy=strategy)

    for name in ("top-two", "frugal", "race", "uniform"):
        yield f"{name}, as the pilot says", advised(name)
    for name in ("top-two", "frugal", "race"):
        yield f"{name}, {problem.fidelities[-1]} alone", alone(problem, strategy=name)


def paper(problem: mfbai.Problem) -> Iterator[tuple[str, Procedure]]:
    """Nothing known; then bias bounds and the variance, under proven rules and those of the paper's experiments."""
    known = tools.definitions(tools.GALLERY / "paper.md").PAPER.problem
    yield "nothing known: mfbai, as its pilot says", piloted(problem, mfbai.Pilot.problem)
    yield "nothing known: mfbai, the top alone", alone(problem)
    for name in ("race", "frugal", "mf-grad"):
        yield f"all known: {name}, proven rule", played(known, name)
    for name in ("mf-grad", "grad"):
        yield f"all known: {name}, the paper's rule", played(known, name, "stylised")
    for name in ("iise", "lucb"):
        yield f"all known: {name}, its own rule", played(known, name)


def heat_sink(problem: mfbai.Problem) -> Iterator[tuple[str, Procedure]]:
    """A tolerance helps the top alone as well; and there is another way of going on after the pilot."""
    given = CONTESTS["heat_sink"]
    yield from ours(problem, given)
    top = problem.fidelities[-1]
    yield f"mfbai, {top} alone, tolerance {given.zone:g}", alone(problem, given.zone)
    yield "mfbai, bias intervals of its pilot", piloted(problem, lambda found: found.problem(bounds=CHARGED))


CONTESTS = {  # in the order of the gallery's list
    "staffing": Contest(seeds=300, zone=5),
    "heat_sink": Contest(seeds=1_200, zone=0.004, ours=heat_sink),
    "prompts": Contest(seeds=6_000, zone=0.04, batch=10, first=10, ours=prompts),
    "digits": Contest(seeds=1_000, zone=0.0007, batch=5, ours=digits),
    "game": Contest(seeds=4_000, zone=3),
    "paper": Contest(seeds=20_000, zone=0.1, batch=5, ours=paper),
    "watching": Contest(seeds=4_000, zone=0.1, ours=watching),
    "dask": Contest(seeds=600, zone=1.5),
    "own_strategy": Contest(seeds=20_000, zone=0.5, ours=own_strategy),
    "rod": Contest(seeds=4_000, zone=0.05, batch=5, first=5, ours=rod),
}


# --- the tables


def truth(problem: mfbai.Problem, values: np.ndarray) -> Iterator[str]:
    """What is true: the means, and how much seeds in common help."""
    *cheap, top = problem.fidelities
    at_top = problem.sign * values[:, :, -1]
    means, best = at_top.mean(axis=0), int(at_top.mean(axis=0).argmax())
    behind = at_top[:, [best]] - at_top
    yield (
        f"The truth, from {len(values):,} seeds: `{problem.arms[best]}` is the best. Of the others, how far they are "
        "behind it, the deviation and the skewness of that difference at one seed (where it is positive, a proof that "
        "takes differences to be symmetric can mislead), and their correlation with it"
        + ("; and of all, the correlation of cheap and true values at one seed:" if cheap else ":")
    )
    yield ""
    titles = ["arm", *(f"mean, {name}" for name in problem.fidelities), "behind by", "deviation", "skewness"]
    yield f"| {' | '.join([*titles, 'correlation', *(f'{name} with {top}' for name in cheap)])} |"
    yield "|---" * (5 + problem.n_fidelities + len(cheap)) + "|"
    for k in np.argsort(-means):
        cells = [f"`{problem.arms[k]}`", *(f"{mean:.4g}" for mean in values[:, k].mean(axis=0))]
        if k == best:
            cells += [""] * 4
        else:
            gap, spread = behind[:, k].mean(), behind[:, k].std(ddof=1)
            shared = np.corrcoef(at_top[:, best], at_top[:, k])[0, 1]
            cells += [f"{gap:.3g}", f"{spread:.3g}", f"{skew(behind[:, k]):.1f}", f"{shared:.2f}"]
        cells += [f"{np.corrcoef(values[:, k, m], values[:, k, -1])[0, 1]:.4g}" for m in range(len(cheap))]
        yield f"| {' | '.join(cells)} |"


def shown(rows: list[Row], problem: mfbai.Problem, repetitions: int) -> Iterator[str]:
    has_pilots = any(row.pilot for row in rows)
    told = "; costs include pilots, which take more seeds once if they ask for a few" * has_pilots
    yield f"{repetitions} repetitions at delta = {DELTA:g}, with 95 % intervals{told}:"
    yield ""
    yield f"| procedure | mean cost | wrong answers | 80 % of runs |{' of this, pilot |' * has_pilots}"
    yield "|---|---|---|---|" + "---|" * has_pilots
    for row in rows:
        low, high = np.quantile(row.costs, [0.1, 0.9])
        low_rate, high_rate = limits(row.errors, repetitions)
        cells = [
            f"**{number(row.costs.mean())}** ± {number(half_width(row.costs))}",
            f"{row.errors} ({100 * low_rate:.1f} to {100 * high_rate:.1f} %)",
            f"{number(low)} to {number(high)}",
            *([number(row.pilot) if row.pilot else ""] * has_pilots),
        ]
        yield f"| {' | '.join([row.name, *(whole(cell) for cell in cells)])} |"


def beginnings(problem: mfbai.Problem, contest: Contest) -> str:
    """The least that others can spend: where they do, they would have needed less."""
    cost = float(problem.costs[:, -1].sum())
    return (
        f"Kim and Nelson's procedure and equal allocation begin with {contest.first} evaluations of each arm, for "
        f"{number(contest.first * cost)}; the t-tests with {contest.batch}, for {number(contest.batch * cost)}."
    )


COLUMNS = {  # of the gallery's own table, and the names of their procedures
    "mfbai, the true test alone": r".* alone.*",
    "Kim-Nelson": r"Kim-Nelson.* common seeds",
    "Kim-Nelson, own seeds": r"Kim-Nelson.* own seeds",
    "paired t-tests": r"paired t-tests.*",
    "equal allocation": r"equal allocation.*",
    "halving": r"successive halving",
    "halving, cheap tests first": r"successive halving, .*",
    "Optuna's pruners": r"Optuna.*",
}


def overview(found: dict[str, list[Row]], repetitions: int) -> Iterator[str]:
    """All problems: what others cost over what mfbai does, as the page uses it."""
    yield (
        "Mean cost over that of mfbai as the page uses it, with its pilot: below 1 is cheaper. In brackets: wrong "
        f"answers in {repetitions} repetitions at delta = {DELTA:g}, where there are any. *a to b*: several ways, "
        "or settings."
    )
    yield ""
    yield f"| problem | {' | '.join(COLUMNS)} |"
    yield "|---" * (1 + len(COLUMNS)) + "|"
    for name, rows in found.items():
        file = subject(name).file
        way = Path(os.path.relpath(file, tools.GALLERY)).as_posix()
        title = file.read_text().split("\n# ", 1)[-1].partition("\n")[0].removeprefix("# ")
        others = [row for row in rows if row.kind != "ours" or (not row.pilot and tolerant(row) == tolerant(rows[0]))]
        cells = [
            ratios([row for row in others if re.fullmatch(names, row.name)], rows[0]) for names in COLUMNS.values()
        ]
        yield f"| [{title}]({way}) | {' | '.join(cells)} |"


def tolerant(row: Row) -> bool:
    return "tolerance" in row.name


def ratios(rows: list[Row], ours: Row) -> str:
    if not rows:
        return ""
    costs = sorted(row.costs.mean() / ours.costs.mean() for row in rows)
    errors = sorted(row.errors for row in rows)
    told = f" ({whole(ends(str(errors[0]), str(errors[-1])))})" if errors[-1] else ""
    return whole(ends(*(f"{cost:.2g}" if cost < 100 else f"{cost:,.0f}" for cost in (costs[0], costs[-1])))) + told


def ends(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"


def whole(text: str) -> str:
    """With blanks at which no line breaks."""
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def number(value: float) -> str:
    """With a digit or two after the point where it is small."""
    return f"{value:,.0f}" if value >= 100 or value < 1e-9 else f"{value:.3g}"  # rounding errors are no costs


# --- the picture


def picture(name: str, rows: list[Row], repetitions: int, file: Path) -> str:
    """The Markdown that shows it, with a text for those who do not see it."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    drawn = PICTURES / f"{name}.png"
    with style.figure(drawn, size=(6.0, 1.1 + 0.52 * len(rows))) as figure:
        cost, wrong = figure.subplots(1, 2, sharey=True, width_ratios=[3, 1.3])
        for place, row in enumerate(rows):
            colour = KINDS[row.kind]
            low, high = np.quantile(row.costs, [0.1, 0.9])
            cost.plot([low, high], [place, place], color=colour, linewidth=5, alpha=0.25)
            cost.plot(row.costs.mean(), place, "o", color=colour, markersize=8, clip_on=False)
            above = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "color": colour}
            cost.annotate(row.name, (0, place), (2, 7), **above).set_in_layout(False)
            ends = 100 * np.array(limits(row.errors, repetitions))
            wrong.plot(ends, [place, place], color=colour, linewidth=5, alpha=0.25)
            wrong.plot(100 * row.errors / repetitions, place, "o", color=colour, markersize=8, clip_on=False)
        wrong.axvline(100 * DELTA, color=style.FAINT, linestyle="--", linewidth=1.5)
        cost.set(xscale="log", xlabel="cost: mean, 80 % of runs", ylim=(len(rows) - 0.6, -0.8), yticks=[])
        wrong.set(xlabel="wrong, %", xlim=(0, None))
        style.spaced_log_ticks(cost.xaxis, *cost.get_xlim())
        for axes in (cost, wrong):
            axes.grid(visible=False, axis="y")
            axes.spines["left"].set_visible(False)
    told = "; ".join(f"{row.name}: {number(row.costs.mean())}, {row.errors} wrong" for row in rows)
    way = Path(os.path.relpath(drawn, file.parent))
    return (
        f"![Mean cost and wrong answers of {repetitions} runs. {told}.]({way.as_posix()})\n\n"
        "*Blue: mfbai. Black: procedures that state a risk. Orange: procedures that state none, with mfbai's cost in "
        "the first row as their budget. Bars: 80 % of the runs; 95 % intervals of the error rates. Dashed: delta. "
        "Zones and tolerances are below the smallest true difference, which nobody knows beforehand; hence also a "
        "quarter of that.*"
    )


def limits(errors: int, runs: int) -> tuple[float, float]:
    """Of the error rate, with 95 %, by Clopper and Pearson."""
    low = beta.ppf(0.025, errors, runs - errors + 1) if errors else 0.0
    return low, beta.ppf(0.975, errors + 1, runs - errors) if errors < runs else 1.0


if __name__ == "__main__":
    main()
