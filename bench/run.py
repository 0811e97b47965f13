"""What things cost: `make bench`. Prints each figure beside its target.

A shared machine is noisy, so a figure is the least of many short measurements, and what matters most is given as a
ratio to the plain version of tests/support/naive.py, taken in the same run.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import mfbai
from mfbai.kernels import allocation, transport
from mfbai.model.spec import check_instance
from mfbai.run.play import Play
from mfbai.simulation.experiment import Run, prepare
from support import naive, naive_oracle

NEVER = 1e-300  # a risk so small that no run stops while it is timed


def main():
    print(f"{'':44}{'measured':>14}{'target':>14}   note")
    compiled = (
        step_cost,
        frugal_cost,
        learning_cost,
        baseline_cost,
        replay_cost,
        evidence_scaling,
        oracle_cost,
        oracle_families,
        oracle_gaps,
    )
    for measure in (
        *compiled,
        study_steps,
        study_opening,
        two_workers,
        help_time,
        first_uses,
        reproduce_time,
    ):
        for what, measured, target, note in measure():
            print(f"{what:44}{measured:>14}{target:>14}   {note}", flush=True)


def step_cost():
    """A step of MF-GRAD with its stopping test, compiled and plain."""
    instances = {
        "paper-4x5": (mfbai.load("paper-4x5"), "0.35 us", 400),
        "paper-5x2": (mfbai.load("paper-5x2"), "0.30 us", 400),
        "100x5": (mfbai.random_instance(100, 5, seed=1), "3 us", 500),
        "1000x5": (mfbai.random_instance(1000, 5, seed=1), "60 us", 50),
    }
    for name, (instance, target, window) in instances.items():
        plain = naive_step(instance)
        for strategy in ("mf-grad", "mf-grad-const"):
            compiled = compiled_step(instance, strategy, window)
            note = f"{plain / compiled:,.0f} times as fast as the plain version"
            note += " (extrapolated from 100 arms)" if name == "1000x5" else ""
            yield f"{strategy} step, {name}", us(compiled), target, note


def frugal_cost():
    """A step of frugal with the e-process it keeps: far from the end of a run, and over whole runs."""
    for arms, target, window in ((4, "0.8 us", 400), (100, "", 500), (1000, "20 us", 500)):
        instance = mfbai.load("paper-4x5", variance=0.1) if arms == 4 else mfbai.random_instance(arms, 5, seed=1)
        step = compiled_step(instance, "frugal", window, stopping="e-process")
        runs = [mfbai.simulate(instance, "frugal", runs=20 if arms < 1000 else 2, workers=1) for _ in range(3)]
        whole = min(found.seconds / found.steps.sum() for found in runs)
        note = f"{us(whole)} over whole runs at delta 0.01, with setting up"
        yield f"frugal step, {arms}x5", us(step), target, note


def learning_cost():
    """The same where the noise is learnt: the bets on it take longer, above all those on a histogram."""
    known = mfbai.load("paper-4x5", variance=0.1)
    problem, deviation = known.problem, 0.1**0.5
    families = {mfbai.Symmetric(0.0, 1.0): "1.5 us", mfbai.Bounded(-0.2, 1.3): "5 us"}
    for family, target in families.items():
        instance = problem.replace(family=family).instance(known.means, deviation=deviation)
        step = compiled_step(instance, "frugal", 400, stopping="e-process")
        yield f"frugal step, 4x5, {family.name}", us(step), target, ""


def baseline_cost():
    """A step of the other strategies, with their stopping test."""
    for name in ("lucb-trap", "paper-4x5"):
        noisy = check_instance(name, 1.0)  # so that no run stops while it is timed
        for strategy in ("lucb", "lucb-explore-a", "lucb-explore-b", "iise", "track-and-stop", "oracle", "uniform"):
            window = 500 if strategy == "track-and-stop" else 20_000
            step = compiled_step(noisy, strategy, window, windows=4, repeats=60)
            yield f"{strategy} step, {name}", ns(step), "80 ns" if strategy.startswith("lucb") else "", ""


def compiled_step(instance, strategy, window, windows=16, repeats=15, stopping="stylised"):
    """Seconds a step: for each of the windows of a run the least of some repeats, then their mean."""
    run = Run(prepare(instance, strategy, stopping, [NEVER], {}, {})[0])
    times = np.zeros((repeats, windows))
    for repeat in range(repeats):
        run.restart(0, 0)
        run.advance(instance.means.size)
        for k in range(windows):
            begun = time.perf_counter()
            run.advance(int(run.stats.steps[0]) + window)
            times[repeat, k] = (time.perf_counter() - begun) / window
        assert not run.decided, "stopped while it was timed"
    return times.min(axis=0).mean()


def naive_step(instance, steps=20):
    rng = np.random.default_rng(0)
    cells = instance.means.size
    rewards = instance.means[:, :, None] + 0.1 * rng.standard_normal((*instance.shape, steps + 1))
    begun = time.perf_counter()
    steps = steps if cells < 100 else 1  # the plain version solves all pairs: too slow at 1000 arms
    if cells > 1000:
        return naive_step(mfbai.random_instance(100, 5, seed=1)) * (instance.shape[0] / 100) ** 2
    naive.mf_grad_run(instance.problem, rewards, 0.0, 100.0, [1e-9], cells + steps)
    return (time.perf_counter() - begun) / steps


def replay_cost(size=100_000):
    """Replaying a journal: what a live study does when it is opened."""
    instance = mfbai.load("paper-4x5")
    run = Run(prepare(instance, "mf-grad", "stylised", [NEVER], {}, {})[0])
    rng = np.random.default_rng(0)
    arms, fidelities = rng.integers(4, size=size), rng.integers(5, size=size)
    values = instance.means[arms, fidelities] + 0.1 * rng.standard_normal(size)
    play = Play(run.model, run.stats, run.state, run.rule, run.outcome, run.pending)
    play.ready()
    times = []
    for _ in range(10):
        run.restart(0, 0)
        begun = time.perf_counter()
        play.replay(arms, fidelities, values)
        times.append((time.perf_counter() - begun) / size)
    yield "replay, an observation, paper-4x5", us(min(times)), "1 us", f"{size:,} observations"


def study_steps(rounds=300):
    """A live study's ask and tell, in memory: all of their work but the commit."""
    for arms, target in ((4, "1 ms"), (1000, "20 ms")):
        instance = mfbai.load("paper-4x5") if arms == 4 else mfbai.random_instance(arms, 5, seed=1)
        study = mfbai.create_study(instance, NEVER, storage="sqlite://")
        times = {"ask": [], "tell": []}
        rng = np.random.default_rng(0)
        for _ in range(arms + rounds):
            begun = time.perf_counter()
            trial = study.ask()
            asked = time.perf_counter()
            study.tell(trial, instance.means[trial.arm_index, trial.fidelity_index] + 0.1 * rng.standard_normal())
            times["ask"].append(asked - begun)
            times["tell"].append(time.perf_counter() - asked)
        for what, measured in times.items():
            steady = np.sort(measured[arms:])
            note = f"median; 99 of 100 below {us(steady[int(0.99 * rounds)])}"
            yield f"study: {what}, {arms}x5", us(steady[rounds // 2]), target, note


def study_opening(size=1_000_000):
    """Opening a study with a long journal, from its last snapshot and without one."""
    with tempfile.TemporaryDirectory() as folder:
        storage = f"sqlite:///{folder}/studies.db"
        study = mfbai.create_study("paper-4x5", NEVER, name="long", storage=storage)
        write_journal(study, size)
        begun = time.perf_counter()
        status = mfbai.load_study("long", storage=storage).status()
        opened = time.perf_counter() - begun
        assert status.told == size
        yield f"study: opening {size:,} observations", f"{opened:.2f} s", "3 s", "with all of its status"
        again = mfbai.load_study("long", storage=storage)
        again._storage.snapshot = lambda study, form: None
        begun = time.perf_counter()
        assert again.status().told == size
        yield "study: the same without a snapshot", f"{time.perf_counter() - begun:.2f} s", "", "after an upgrade"


def write_journal(study, size, batch=50_000):
    """Evaluations of cells at random, as if they had been asked for and told one after the other."""
    rng = np.random.default_rng(0)
    K, M = study.problem.shape
    for first in range(0, size, batch):
        with study._turn():
            for trial in range(first + 1, min(first + batch, size) + 1):
                arm, fidelity = int(rng.integers(K)), int(rng.integers(M))
                seed = study.settings.seed(trial)
                study._append({"kind": "ask", "trial": trial, "arm": arm, "fidelity": fidelity, "seed": seed})
                study._append({"kind": "tell", "trial": trial, "value": 0.5 + 0.1 * rng.standard_normal()})


def evidence_scaling():
    """F from scratch: near-linear in the number of arms."""
    for arms in (10, 100, 1000, 10_000):
        instance = mfbai.random_instance(arms, 5, seed=1)
        model = instance.problem.model()
        rng = np.random.default_rng(0)
        means, counts = instance.means + 0.1 * rng.standard_normal((arms, 5)), np.ones((arms, 5))
        times = []
        for _ in range(12):
            work = transport.make_work(model)
            begun = time.perf_counter()
            transport.evaluate(model, counts, means, work)
            times.append(time.perf_counter() - begun)
        yield f"evidence from scratch, {arms}x5", us(min(times)), "", f"{1e9 * min(times) / arms:,.0f} ns an arm"


def oracle_cost():
    """The optimal allocation, compiled, from nothing and from that of means moved by 0.0005."""
    targets = {4: "0.1 ms", 100: "", 1000: "15 ms", 10_000: "linear in K"}
    for arms, target in targets.items():
        instance = mfbai.load("paper-4x5") if arms == 4 else mfbai.random_instance(arms, 5, seed=1)
        problem, rng = instance.problem, np.random.default_rng(0)
        moved = instance.means + rng.uniform(-5e-4, 5e-4, instance.shape)
        moved = np.clip(moved, moved[:, -1:] + problem.bias_low, moved[:, -1:] + problem.bias_high)
        times, gap = time_oracle(instance, moved, repeats=30 if arms > 100 else 1000)
        note = f"gap {gap:.0e}; warm {us(times[1])}, {times[0] / times[1]:.1f} times as fast"
        yield f"oracle, compiled, {arms}x5", us(times[0]), target, note


def oracle_families():
    """The whole of mfbai.oracle, certificate and all, for the other families."""
    rng = np.random.default_rng(1)
    for family in (mfbai.Bernoulli(), mfbai.Poisson(), mfbai.Exponential()):
        radii = np.array([0.1, 0.06, 0.04, 0.02, 0.0])
        means = np.array([0.3, 0.45, 0.5, 0.6])[:, None] + rng.uniform(-radii, radii, (4, 5))
        instance = mfbai.Instance(means, [0.05, 0.1, 0.2, 0.4, 5.0], radii, family)
        times = [timed(mfbai.oracle, instance) for _ in range(50)]
        yield f"mfbai.oracle, {family.name}, 4x5", us(min(times)), "20 ms", f"gap {mfbai.oracle(instance).gap:.0e}"


def oracle_gaps():
    """The certified gap on random instances, half of them with a tolerance."""
    for family in naive_oracle.NAMES:
        count = 2000 if family == "gaussian" else 200
        gaps = [found.gap for found in naive_oracle.sweep(mfbai.oracle, family, count, seed=1)]
        yield f"oracle's largest gap, {count} {family}", f"{max(gaps):.0e}", "1e-9", "K to 50 or 12, M to 7"


def time_oracle(instance, moved, repeats):
    """The least seconds of a cold and of a warm search, and the worst gap."""
    model = instance.problem.model()
    work, gap = allocation.make_work(model), 0.0
    times = []
    for _ in range(repeats):
        work.x[:], work.eta[:] = 0.0, 0.0
        cold = timed(allocation.allocate, model, instance.means, instance.best, work)
        begun = time.perf_counter()
        cost, lower = allocation.allocate(model, moved, instance.best, work)
        times.append((cold, time.perf_counter() - begun))
        gap = max(gap, cost / lower - 1)
    return np.min(times, axis=0), gap


def timed(function, *arguments):
    begun = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - begun


def two_workers():
    times = np.array([[mfbai.simulate("paper-4x5", runs=1000, workers=w).seconds for w in (1, 2)] for _ in range(9)])
    one, two = times.min(axis=0)
    yield "1000 runs of paper-4x5, two workers", f"{one / two:.2f} x", "1.85 x", f"{one:.3f} s and {two:.3f} s"


def help_time():
    times = [seconds([sys.executable, "-m", "mfbai", "--help"]) for _ in range(10)]
    yield "mfbai --help", f"{min(times):.2f} s", "0.15 s", f"median {np.median(times):.2f} s"
    times = [seconds([sys.executable, "-c", "import mfbai"]) for _ in range(10)]
    yield "import mfbai", f"{min(times):.3f} s", "0.05 s", f"median {np.median(times):.3f} s"


FIRST_USES = {  # commands, and the seconds that they may take with an empty cache folder
    "simulate paper-4x5 --strategy frugal": 10,
    "simulate paper-4x5 --strategy mf-grad": 5,  # beside the one before
    "oracle paper-4x5": 8,
    "plan paper-4x5": 25,
    "demo": 20,
}


def first_uses():
    """Wall seconds of commands with nothing compiled, and again."""
    with tempfile.TemporaryDirectory() as folder:
        for n, (command, target) in enumerate(FIRST_USES.items()):
            env = {**os.environ, "NUMBA_CACHE_DIR": f"{folder}/{max(n, 1)}"}
            first, second = (seconds([sys.executable, "-m", "mfbai", *command.split()], env) for _ in range(2))
            yield f"mfbai {command}, first", f"{first:.1f} s", f"{target} s", f"{second:.2f} s once compiled"


def reproduce_time():
    """The quick version, from nothing and with compiled code."""
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "NUMBA_CACHE_DIR": folder}
        command = [sys.executable, "-m", "mfbai", "reproduce", "--quick", "--json", "--out"]
        first, second = (seconds([*command, f"{folder}/{name}"], env) for name in ("first", "second"))
    yield "mfbai reproduce --quick, first time ever", f"{first:.0f} s", "60 s", f"{second:.0f} s once compiled"


def seconds(command, env=None):
    begun = time.perf_counter()
    subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begun


def ns(value):
    return f"{1e9 * value:.3g} ns"


def us(value):
    return f"{1e6 * value:.3g} us" if value < 1e-3 else f"{1e3 * value:.3g} ms"


if __name__ == "__main__":
    main()
