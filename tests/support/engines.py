"""Real engines to run the same tests on, and functions for their workers to call."""

import multiprocessing
import os
import random
import signal
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext

import cloudpickle

import mfbai
from support.interrupts import wait_until

os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # Ray stays on loopback, as it does there; read when imported
cloudpickle.register_pickle_by_value(sys.modules[__name__])  # the workers of clusters do not have the tests

PROBLEM = mfbai.Problem(["plain", "wide"], costs=[0.1, 1.0], biases=[0.1, 0.0], family=mfbai.Gaussian(0.01))
# So close that it takes some hundred evaluations.
CLOSE = mfbai.Problem(["plain", "wide"], costs=[1.0], biases=[0.0], family=mfbai.Gaussian(0.01))
WORKERS = 2
APART = 4  # results between two kills


def evaluate(arm, fidelity, seed):
    return random.Random(seed).gauss(0.8 if arm == "wide" else 0.5, 0.1)


def evaluate_close(arm, fidelity, seed):
    return random.Random(seed).gauss(0.53 if arm == "wide" else 0.5, 0.1)


class Odd(Exception):  # noqa: N818
    """Cannot be made again from what `pickle` keeps of it."""

    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


def raise_odd(arm, fidelity, seed):
    raise Odd("salt", "pepper")


def die(arm, fidelity, seed):
    """As the worker of an evaluation that needs too much memory does."""
    if arm == "wide":
        os.kill(os.getpid(), signal.SIGKILL)
    return evaluate(arm, fidelity, seed)


def never_end(arm, fidelity, seed):
    """Waits for its worker to be killed."""
    if arm == "wide":
        threading.Event().wait()
    return evaluate(arm, fidelity, seed)


class Noted:
    """Writes a line to a file before and after each evaluation: its process, and what is evaluated."""

    def __init__(self, path, evaluate, seconds):
        self.path, self.evaluate, self.seconds = str(path), evaluate, seconds

    def __call__(self, arm, fidelity, seed):
        self.note("begun", seed)
        time.sleep(self.seconds)
        value = self.evaluate(arm, fidelity, seed)
        self.note("ended", seed)
        return value

    def note(self, what, seed):
        with open(self.path, "a") as file:
            file.write(f"{what} {os.getpid()} {seed}\n")


def notes(path):
    """The lines that are whole: (what, process, seed)."""
    if not os.path.exists(path):
        return []
    with open(path) as file:
        lines = [line.split() for line in file if line.endswith("\n")]
    return [(what, int(process), int(seed)) for what, process, seed in lines]


def is_settled(executor, process):
    """Whether the engine will replace this worker: Dask does not replace one that dies before its nanny knows that it
    runs, although it may be at work already."""
    cluster = getattr(executor, "cluster", None)
    if cluster is None:
        return True
    running = [nanny.process for nanny in cluster.workers.values() if nanny.process is not None]
    return any(worker.pid == process and worker.status.name == "running" for worker in running)


def at_work(path):
    """The processes that are in the middle of an evaluation, or died there, and its seed."""
    found = {}
    for what, process, seed in notes(path):
        found.pop(process, None)
        if what == "begun":
            found[process] = seed
    return found


def kill_in_the_middle(process, path):
    """Kill a worker, if it is in the middle of an evaluation: the seed of that, or None."""
    os.kill(process, signal.SIGSTOP)  # so that what is noted stays true
    seed = at_work(path).get(process)
    os.kill(process, signal.SIGCONT if seed is None else signal.SIGKILL)
    return seed


def kill_workers(executor, path, kills, is_over, seed=0):
    """Kill workers in the middle of an evaluation, chosen at random while all are at work, APART results apart; the
    seeds that they were at."""
    rng, killed, dead = random.Random(seed), [], set()

    def ended():
        return sum(what == "ended" for what, *_ in notes(path))

    def victims():
        found = [process for process in at_work(path) if process not in dead and is_settled(executor, process)]
        return sorted(found) if len(found) >= WORKERS else []  # or else one is being replaced

    until = APART
    while len(killed) < kills:
        wait_until(lambda until=until: is_over() or (ended() >= until and victims()), pause=0.002)
        if is_over():
            break
        process = rng.choice(victims() or [None])
        at = None if process is None else kill_in_the_middle(process, path)
        if at is not None:
            dead.add(process)
            killed.append(at)
            until = ended() + APART
    return killed


def kill_all(executor, path, is_over):
    """Kill every worker that is at work."""
    dead = set()

    def victims():
        return [process for process in at_work(path) if process not in dead and is_settled(executor, process)]

    while not is_over():
        wait_until(lambda: is_over() or victims())
        for process in victims():
            if kill_in_the_middle(process, path) is not None:
                dead.add(process)


@contextmanager
def dask_cluster(workers=WORKERS):
    import dask
    from distributed import LocalCluster

    config = {
        # Dask itself would make calls again whose worker died, some times, before it says so.
        "distributed.scheduler.allowed-failures": 0,
        # So long after a worker died, a cluster ends its nanny if no worker is there under its name at that moment:
        # on a busy machine, or where another one has just died, that is one which is about to start.
        "distributed.deploy.lost-worker-timeout": "1h",
    }
    with (
        dask.config.set(config),
        LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=":0", silence_logs=50, host="127.0.0.1"
        ) as cluster,
    ):
        yield cluster


@contextmanager
def dask_client(workers=WORKERS):
    from distributed import Client

    with dask_cluster(workers) as cluster, Client(cluster) as client:
        yield client


@contextmanager
def ray(workers=WORKERS):
    import ray

    before = signal.getsignal(signal.SIGTERM)
    ray.init(num_cpus=workers, include_dashboard=False, logging_level=50, log_to_driver=False)
    try:
        yield "ray"
    finally:
        ray.shutdown()
        signal.signal(signal.SIGTERM, before)  # Ray leaves its own handler behind


@contextmanager
def loky(workers=WORKERS):
    from loky import get_reusable_executor

    executor = get_reusable_executor(workers)
    yield executor
    executor.shutdown(wait=True, kill_workers=True)


def pool(workers=WORKERS):
    return ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))


ENGINES = {
    "threads": lambda: nullcontext("threads"),
    "thread pool": lambda: ThreadPoolExecutor(WORKERS),
    "processes": lambda: nullcontext("processes"),
    "process pool": pool,
    "loky": loky,
    "dask": dask_client,
    "ray": ray,
}
