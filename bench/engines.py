"""Engines: what they add to each evaluation, how simulations scale on them, and a hundred killed workers.

python bench/engines.py [evaluations=10000] [runs=100000] [kills=100]
"""

import random
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import mfbai
from support.engines import CLOSE, ENGINES, WORKERS, Noted, dask_client, kill_workers, notes

SECONDS = 0.01  # of an evaluation
ALIKE = mfbai.Problem(["plain", "wide"], costs=[1.0], biases=[0.0], family=mfbai.Gaussian(1.0))  # never decided
NEAR = 0.5, 0.506  # so close that a hundred kills find a place


def evaluate_slowly(arm, fidelity, seed):
    time.sleep(SECONDS)
    return random.Random(seed).gauss(0.5, 1)


def evaluate_near(arm, fidelity, seed):
    return random.Random(seed).gauss(NEAR[arm == "wide"], 0.1)


def overheads(evaluations):
    print(f"{evaluations:,} evaluations of {1e3 * SECONDS:g} ms on {WORKERS} workers, on SQLite; ideal is 1")
    for name, start in ENGINES.items():
        with start() as executor, tempfile.TemporaryDirectory() as folder:
            call = {"strategy": "frugal", "workers": WORKERS, "executor": executor}
            mfbai.identify(evaluate_slowly, ALIKE, 1e-6, max_cost=20, **call)  # compiles, and starts workers
            begun = time.perf_counter()
            url = f"sqlite:///{folder}/s.db"
            mfbai.identify(evaluate_slowly, ALIKE, 1e-6, max_cost=evaluations, name="s", storage=url, **call)
            seconds = time.perf_counter() - begun
        ideal = evaluations * SECONDS / WORKERS
        each = 1e3 * (seconds - ideal) * WORKERS / evaluations
        print(
            f"  {name:13} {seconds:7.2f} s, {seconds / ideal:.3f} of the ideal, {each:.2f} ms an evaluation", flush=True
        )


def simulations(runs):
    print(f"{runs:,} runs of frugal on paper-4x5")
    took = {}
    for workers in (1, 2):
        with dask_client(workers) as client:
            mfbai.simulate("paper-4x5", "frugal", 0.01, 100, executor=client)
            begun = time.perf_counter()
            mfbai.simulate("paper-4x5", "frugal", 0.01, runs, executor=client)
            took[workers] = time.perf_counter() - begun
        print(f"  {workers} Dask process{'es' * (workers > 1)}: {took[workers]:.2f} s", flush=True)
    print(f"  two against one: {took[1] / took[2]:.2f}")


def killed(kills, names=("processes", "dask", "ray")):
    for name in names:
        with ENGINES[name]() as executor, tempfile.TemporaryDirectory() as folder:
            path, url, over, seeds = Path(folder) / "notes", f"sqlite:///{folder}/s.db", threading.Event(), []
            killer = threading.Thread(target=lambda: seeds.extend(kill_workers(executor, path, kills, over.is_set)))  # noqa: B023
            killer.start()
            begun = time.perf_counter()
            try:
                found = mfbai.identify(
                    Noted(path, evaluate_near, 0.02),
                    CLOSE,
                    0.01,
                    name="s",
                    storage=url,
                    workers=WORKERS,
                    executor=executor,
                )
            finally:
                over.set()
                killer.join()
            study = mfbai.load_study("s", storage=url)
            events = [event.body for event in study.journal()]
            asked = {event["trial"]: event for event in events if event["kind"] == "ask"}
            told = [event for event in events if event["kind"] == "tell"]
            wrong = sum(
                event["value"] != evaluate_near(CLOSE.arms[(trial := asked[event["trial"]])["arm"]], "", trial["seed"])
                for event in told
            )
            twice = len(told) - len({event["trial"] for event in told})
            told_seeds = {asked[event["trial"]]["seed"] for event in told}
            again = sum(what == "begun" for what, _, seed in notes(path) if seed in set(seeds))
            failed = sum(event["kind"] == "fail" for event in events)
            seconds = time.perf_counter() - begun
            print(f"  {name:10} {len(seeds)} kills in {seconds:.0f} s: {found.state}, {found.told} told")
            print(f"    {len(asked) - len(told)} open, {failed} failed, {wrong} with another value, {twice} told twice")
            told_again = f"{len(set(seeds) & told_seeds)} of {len(set(seeds))} are told, and were begun {again} times"
            print(
                f"    trials that were killed: {told_again}; verified: {bool(mfbai.verify(study.export()))}", flush=True
            )


if __name__ == "__main__":
    given = dict(word.split("=") for word in sys.argv[1:])
    overheads(int(given.get("evaluations", 10_000)))
    simulations(int(given.get("runs", 100_000)))
    print("workers killed in the middle of an evaluation")
    killed(int(given.get("kills", 100)))
