"""Crowds of worker processes on one study, killed at random moments; and what must be true of its journal afterwards.

Workers are forked, so that one starts in milliseconds. A worker writes a line to a file of its own after each call that
came back: what is in these files was acknowledged. No two workers make the same value of a trial: a mix-up would show.
"""

import hashlib
import mmap
import os
import random
import signal
import time
import traceback
import warnings
from collections import Counter

import numpy as np

import mfbai
from mfbai import Gaussian, Instance, load_study
from mfbai.run.state import arrays_of
from mfbai.study import ledger
from mfbai.study.fold import Fold
from mfbai.study.settings import read_settings

NEVER = 1e-300  # a risk so small that no study ends
LEASE = 0.3  # seconds: what a killed worker had is handed out again soon
WORKERS = 4
PATIENCE = 300.0  # seconds that a worker, or the server, may take on a busy machine
TIED = Instance([[0.5, 0.5], [0.5, 0.51], [0.49, 0.49]], [0.1, 1.0], [0.1, 0.0], Gaussian(0.25), name="tied")
CLEAR = Instance([[0.5, 0.5], [0.7, 0.8], [0.4, 0.4]], [0.1, 1.0], [0.15, 0.0], Gaussian(0.25), name="clear")
# Results that count cell by cell; all in one order; in rounds of common seeds.
KINDS = {"cells": {"strategy": "frugal"}, "ordered": {}, "rounds": {"seeds": "common"}}


class Crowd:
    """Forked processes, of which none is left in the end."""

    def __init__(self, folder):
        self.folder = folder
        self.started = 0
        self.running = {}  # number by process id

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for pid in list(self.running):
            self.kill(pid)

    def start(self, work, *arguments):
        """Call work(log, number, *arguments) in a new process, where log(line) writes to its file."""
        number = self.started
        self.started += 1
        with warnings.catch_warnings():  # newer Pythons warn if there are threads, as under pytest-xdist: they are idle
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
        if pid == 0:
            self._child(work, number, arguments)
        self.running[pid] = number
        return pid

    def _child(self, work, number, arguments):
        code = 1
        try:
            parent = os.getppid()
            file = os.open(self.folder / f"{number}.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

            def log(line):
                os.write(file, f"{line}\n".encode())
                if os.getppid() != parent:
                    os._exit(2)  # the test has ended without us

            work(log, number, *arguments)
            code = 0
        except BaseException:
            (self.folder / f"{number}.error").write_text(traceback.format_exc())
        finally:
            os._exit(code)

    def kill(self, pid):
        """-9, at whatever it is."""
        os.kill(pid, signal.SIGKILL)
        self._reap(pid)

    def wait(self, pid, seconds=PATIENCE):
        """For a process that ends by itself."""
        until = time.monotonic() + seconds
        while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            assert time.monotonic() < until, f"worker {self.running[pid]} hangs"
            time.sleep(0.005)
        status = self._reap(pid)
        self.check_errors()
        assert status == 0

    def wait_all(self, seconds=PATIENCE):
        for pid in list(self.running):
            self.wait(pid, seconds)

    def wait_for(self, condition):
        """Until what the workers wrote fulfils a condition."""
        until = time.monotonic() + PATIENCE
        while not condition(self.lines()):
            self.check_errors()
            assert time.monotonic() < until, "the workers make no progress"
            time.sleep(0.02)

    def _reap(self, pid):
        _, status = os.waitpid(pid, 0)
        del self.running[pid]
        return status

    def check_errors(self):
        errors = [path.read_text() for path in sorted(self.folder.glob("*.error"))]
        assert not errors, errors[0]

    def lines(self):
        """What the workers wrote, as lists of words; the last line of one that was killed may be cut."""
        return [
            line.split()
            for path in sorted(self.folder.glob("*.log"))
            for line in path.read_text().splitlines(keepends=True)
            if line.endswith("\n")
        ]


# --- what workers do


def work_on(log, number, name, url, instance, patient=False):
    """Ask, evaluate and tell, until the study is over. A trial in twenty fails, and some are asked for together."""
    rng = random.Random(f"{name} {number}")
    call = patiently if patient else lambda function, *given, **named: function(*given, **named)
    study = call(load_study, name, storage=url)
    while True:
        try:
            trials = call(study.ask_many, rng.choice([1, 1, 1, 4]), lease=LEASE)
        except mfbai.StudyOver:
            return
        except mfbai.NothingToAsk:
            time.sleep(0.01)  # many results wait for one of a worker that was killed
            continue
        for trial in trials:
            value = sample(instance, trial, rng)
            try:
                if rng.random() < 0.05:
                    call(study.fail, trial, f"by {number}")
                    log(f"fail {trial.id} {number}")
                else:
                    call(study.tell, trial, value)
                    log(f"tell {trial.id} {value!r}")
            except mfbai.TrialClosed:
                log("closed")  # it took longer than the lease, and another worker has told


def sample(instance, trial, rng):
    return float(instance.means[trial.arm_index, trial.fidelity_index] + rng.gauss(0, 0.5))


def patiently(call, *arguments, **named):
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return call(*arguments, **named)
        except mfbai.StorageError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


def tell_in_turns(log, number, name, url, instance, counts, n, at_once):
    """Tell results one by one until all workers together have told n; counts is memory that they share."""
    rng = random.Random(number)
    study = load_study(name, storage=url)
    study.status()
    counts[number, 0] = 1  # ready
    while not counts[:, 0].all():
        time.sleep(0.001)
    started = time.perf_counter()
    while counts[:, 1].sum() < n:
        try:
            trials = study.ask_many(at_once)
        except mfbai.NothingToAsk:  # another is held up, and many wait for it
            time.sleep(0.002)
            continue
        for trial in trials:
            value = sample(instance, trial, rng)
            before = time.perf_counter()
            study.tell(trial, value)
            after = time.perf_counter()
            counts[number, 1] += 1
            log(f"tell {trial.id} {value!r} {after - before}")
            if counts[:, 1].sum() >= n:
                break
    log(f"worker {number} {counts[number, 1] / (time.perf_counter() - started)}")


# --- crowds


def kill_workers(name, url, instance, folder, kills, seed, longest=0.15, until_over=False):
    """Start workers on a study and kill one of them after each random moment, so many times; returns what they wrote.
    If the study has an end, the last workers go on to it; else they tell a result for each kill at least.

    Moments are uniform up to `longest` seconds and victims are random, so that lives are from nothing to ten times as
    long, and a life has tens of transactions: kills hit every phase of starting, asking and telling.
    """
    rng = random.Random(seed)
    moments = []
    with Crowd(folder) as crowd:
        for _ in range(WORKERS):
            crowd.start(work_on, name, url, instance)
        for _ in range(kills):
            time.sleep(rng.uniform(0, longest))
            crowd.check_errors()
            moments.append(["kill", str(time.time())])
            crowd.kill(rng.choice(list(crowd.running)))
            crowd.start(work_on, name, url, instance)
        if until_over:
            crowd.wait_all()
        else:
            crowd.wait_for(lambda lines: sum(line[0] == "tell" for line in lines) >= kills)
    crowd.check_errors()
    return crowd.lines() + moments


def crash_server(postgres, name, url, instance, folder, crashes, seed):
    """Workers try again when the server is back, and tell once more what they are not sure of; what they wrote."""
    rng = random.Random(seed)
    with Crowd(folder) as crowd:
        for _ in range(WORKERS):
            crowd.start(work_on, name, url, instance, True)
        for _ in range(crashes):
            time.sleep(rng.uniform(0.3, 0.8))
            postgres.crash()
            before = len(crowd.lines())
            postgres.start()
            crowd.wait_for(lambda lines, enough=before + 10 * WORKERS: len(lines) >= enough)
    crowd.check_errors()
    return crowd.lines()


def tell_together(name, url, instance, folder, n, workers=8, at_once=50):
    """Many processes tell n results, each on disk before the next; what they wrote, and seconds."""
    memory = mmap.mmap(-1, workers * 16)
    counts = np.frombuffer(memory, dtype=np.int64).reshape(workers, 2)
    with Crowd(folder) as crowd:
        for _ in range(workers):
            crowd.start(tell_in_turns, name, url, instance, counts, n, at_once)
        while not counts[:, 0].all():
            crowd.check_errors()
            time.sleep(0.001)
        started = time.perf_counter()
        crowd.wait_all(seconds=900)
        return crowd.lines(), time.perf_counter() - started


# --- what must be true


def check_nothing_lost(name, url, lines):
    """Every acknowledged result is in the journal once, and all that is known of the study follows from its journal."""
    study = load_study(name, storage=url)
    events = list(study.journal())
    bodies = [event.body for event in events]
    head = "0" * 64
    for n, event in enumerate(events):
        head = hashlib.sha256(f"{head}\n{event.text}".encode()).hexdigest()
        assert (event.hash, event.body["n"]) == (head, n)
    asked = [body["trial"] for body in bodies if body["kind"] == "ask"]
    assert asked == list(range(1, len(asked) + 1))
    closed = [body for body in bodies if body["kind"] in ("tell", "fail")]
    twice = [trial for trial, times in Counter(body["trial"] for body in closed).items() if times > 1]
    assert not twice
    found = {body["trial"]: repr(body["value"]) if body["kind"] == "tell" else "failed" for body in closed}
    acknowledged = [line for line in lines if line[0] in ("tell", "fail")]
    for kind, trial, value, *_ in acknowledged:
        assert found.get(int(trial.partition("-")[0])) == (value if kind == "tell" else "failed"), trial
    tells = [trial for kind, trial, *_ in acknowledged if kind == "tell"]  # that a trial failed may be said twice
    assert len(set(tells)) == len(tells)
    check_replay(study, events, bodies)
    verification = mfbai.verify(study.export())
    assert verification, verification.reason
    assert verification.verdict == study.result
    return study


def check_replay(study, events, bodies):
    """The study is what a replay of its journal from the start gives, without snapshots, and what can be counted."""
    whole = Fold(read_settings(bodies[0]))
    for event, body in zip(events, bodies, strict=True):
        whole.apply(body, event.hash)
    status = study.status()
    same_state(whole, study)
    assert whole.verdict == status.result
    assert (status.told, status.failed) == (count(bodies, "tell"), count(bodies, "fail"))
    assert status.pending == count(bodies, "ask") - status.told - status.failed
    end = next((n for n, body in enumerate(bodies) if body["kind"] == "verdict"), len(bodies))
    counts, waiting = count_in_order(bodies[:end], study.problem.shape, study.settings.ordered)
    np.testing.assert_array_equal(status.counts, counts)
    assert (status.waiting, status.late) == (waiting, count(bodies[end:], "tell"))


def same_state(whole, study):
    whole.flush()
    with study._mutex:
        study._look()
        known = study._fold
        known.flush()
        pairs = zip(every_array(whole), every_array(known), strict=True)
        for expected, got in pairs:
            np.testing.assert_array_equal(got, expected)
        assert (known.events, known.head, known.asked) == (whole.events, whole.head, whole.asked)
        assert known.open == whole.open
        assert known.waiting == whole.waiting
        assert {c: q for c, q in known.queue.items() if q} == {c: q for c, q in whole.queue.items() if q}
        if whole.rounds is not None:
            assert known.rounds.dump() == whole.rounds.dump()


def every_array(fold):
    return arrays_of((fold.stats, fold.state, fold.rule, fold.outcome, (fold.pending,)))


def count(bodies, kind):
    return sum(body["kind"] == kind for body in bodies)


def count_in_order(bodies, shape, ordered):
    """Results before the first trial of their cell (of any cell, if `ordered`) that is not back, and how many have to
    wait for that."""
    back = {body["trial"]: body["kind"] for body in bodies if body["kind"] in ("tell", "fail")}
    counts, waiting = np.zeros(shape), 0
    stuck = set()
    for body in bodies:
        if body["kind"] == "ask":
            cell, outcome = (body["arm"], body["fidelity"]), back.get(body["trial"])
            queue = None if ordered else cell
            if outcome is None:
                stuck.add(queue)
            elif outcome == "tell":
                counts[cell] += queue not in stuck
                waiting += queue in stuck
    return counts, waiting


def check_orphans(study):
    """What killed workers had in their hands, and nothing else, is handed out again."""
    time.sleep(1.1 * LEASE)
    under_way = [identity for identity, _ in study.trials()]
    if under_way:
        assert [trial.id for trial in study.ask_many(len(under_way))] == sorted(
            under_way, key=lambda identity: int(identity.partition("-")[0])
        )


def warm_up():
    """Compile all that workers run, in this process, from which they are forked."""
    for settings in KINDS.values():
        study = mfbai.create_study(TIED, 0.01, storage="sqlite://", **settings)
        for trial in study.ask_many(8):
            study.tell(trial, 0.5)
        study.status()
        assert mfbai.verify(study.export())


def check_seeds(study):
    """The trials of a round, and no others, share seeds: a value comes from the cell and the seed of its own trial."""
    bodies = [event.body for event in study.journal() if event.body["kind"] == "ask"]
    of_number = {body["seed_number"]: body["seed"] for body in bodies}
    assert len(set(of_number.values())) == len(of_number)
    assert all(body["seed"] == of_number[body["seed_number"]] for body in bodies)
    cells = [(body["arm"], body["fidelity"], body["seed"]) for body in bodies]
    assert len(set(cells)) == len(cells)


def snapshots_every(events):
    """How often the processes to come keep a snapshot; returns how often they did."""
    before = ledger.SNAPSHOT_EVERY
    ledger.SNAPSHOT_EVERY = events
    return before
