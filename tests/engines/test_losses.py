"""Workers that die: nothing is lost, nothing is counted twice, and it is no failure of the trial."""

import re
import threading
from collections import Counter
from contextlib import contextmanager

import pytest

from mfbai import ExecutorError, WorkerLost, identify, load_study, simulate, verify
from support.engines import (
    CLOSE,
    ENGINES,
    PROBLEM,
    WORKERS,
    Noted,
    die,
    evaluate,
    evaluate_close,
    is_settled,
    kill_all,
    kill_workers,
    never_end,
    notes,
)
from support.interrupts import wait_until
from support.seeds import fix_keys

REPLACING = ("processes", "dask", "ray")  # engines that replace workers
KILLS = 3  # `make bench-engines` kills a hundred


@pytest.fixture(scope="module", params=REPLACING)
def started(request):
    with ENGINES[request.param]() as made:
        yield made


@pytest.fixture
def executor(started):
    """With workers that would be replaced, as far as it has any."""
    cluster = getattr(started, "cluster", None)
    wait_until(lambda: cluster is None or all(is_settled(started, nanny.pid) for nanny in cluster.workers.values()))
    return started


@contextmanager
def killing(kill, *given):
    """What `kill` returns, once the block has ended."""
    over, found = threading.Event(), []
    killer = threading.Thread(target=lambda: found.extend(kill(*given, over.is_set) or []))
    killer.start()
    try:
        yield found
    finally:
        over.set()
        killer.join()


@pytest.fixture(autouse=True)
def same_seeds(monkeypatch):
    fix_keys(monkeypatch)


def test_killed_workers_cost_nothing_but_time(executor, tmp_path):
    url, path = f"sqlite:///{tmp_path / 's.db'}", tmp_path / "notes"
    with killing(kill_workers, executor, path, KILLS) as killed:
        found = identify(
            Noted(path, evaluate_close, 0.02), CLOSE, 0.01, name="s", storage=url, workers=WORKERS, executor=executor
        )
    assert found.arm == "wide"
    assert len(killed) == KILLS
    study = load_study("s", storage=url)
    check_journal(study, killed, notes(path))
    assert verify(study.export())


def check_journal(study, killed, noted):
    events = [event.body for event in study.journal()]
    asked = {event["trial"]: event for event in events if event["kind"] == "ask"}
    told = [event for event in events if event["kind"] == "tell"]
    assert Counter(event["kind"] for event in events)["fail"] == 0
    assert max(Counter(event["trial"] for event in told).values()) == 1
    for event in told:
        trial = asked[event["trial"]]
        assert event["value"] == evaluate_close(CLOSE.arms[trial["arm"]], "", trial["seed"])
    seeds = {asked[event["trial"]]["seed"] for event in told}
    begun = Counter(seed for what, _, seed in noted if what == "begun")
    assert all(begun[seed] >= 2 for seed in killed if seed in seeds)
    still_open = {asked[trial]["seed"] for trial in asked} - seeds
    assert len(still_open) <= 1 + WORKERS, "all but what was under way at the verdict"
    assert set(killed) <= seeds | still_open


def test_a_simulation_goes_on_when_a_worker_is_killed(executor, tmp_path, monkeypatch):
    """The first batch of runs kills its worker, and is made again."""
    from mfbai.simulation import engine

    batch, mark = engine.Batch, tmp_path / "mark"

    class Deadly(batch):
        def __reduce__(self):
            return Deadly, self._made_of

        def __call__(self, numbers):
            import os
            import signal

            if not mark.exists():
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return super().__call__(numbers)

    expected = simulate("paper-5x2", "frugal", 0.1, runs=40)
    monkeypatch.setattr(engine, "Batch", Deadly)
    found = simulate("paper-5x2", "frugal", 0.1, runs=40, workers=WORKERS, executor=executor)
    assert mark.exists()
    assert (found.costs == expected.costs).all()


def test_a_worker_that_is_told_to_end_is_lost_and_the_function_has_not_raised(executor, tmp_path):
    """As one that is evicted is."""
    mark = tmp_path / "mark"

    def evicted_once(arm, fidelity, seed):
        import os
        import signal
        import threading

        if not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGTERM)
            threading.Event().wait()
        return evaluate(arm, fidelity, seed)

    assert identify(evicted_once, PROBLEM, 0.05, workers=1, executor=executor).arm == "wide"
    assert mark.exists()


def test_an_evaluation_that_kills_every_worker_is_given_back_by_name_and_has_not_failed(executor, tmp_path, capsys):
    url, path = f"sqlite:///{tmp_path / 's.db'}", tmp_path / "notes"
    with pytest.raises(WorkerLost) as lost, killing(kill_all, executor, path):
        identify(Noted(path, never_end, 0), PROBLEM, 0.05, name="s", storage=url, workers=1, executor=executor)
    study = load_study("s", storage=url)
    assert study.status().failed == 0
    [(trial, cell)] = study.trials()
    assert PROBLEM.arms[cell[0]] == "wide"
    assert re.search(rf"5 workers died, one after the other, on trial '{trial}' \('wide' at", str(lost.value))
    assert "not counted as failed" in str(lost.value)
    assert capsys.readouterr().err.count(f"a worker died on trial '{trial}'") == 4
    assert study.ask().id == trial
    study.release(trial)
    assert identify(evaluate, PROBLEM, 0.05, name="s", storage=url).arm == "wide"


@pytest.mark.parametrize("name", ["process pool", "loky"])
def test_a_pool_that_breaks_ends_the_call_with_all_trials_given_back(name, tmp_path):
    """Pools of others do not replace workers that die."""
    url = f"sqlite:///{tmp_path / 's.db'}"
    with ENGINES[name]() as executor:
        with pytest.raises(ExecutorError, match=r"worker of the executor died.*'processes'.*Given back: '"):
            identify(die, PROBLEM, 0.05, name="s", storage=url, workers=WORKERS, executor=executor)
        with pytest.raises(ExecutorError, match=r"broken|takes no calls|died"):
            identify(evaluate, PROBLEM, 0.05, name="s", storage=url, workers=WORKERS, executor=executor)
    study = load_study("s", storage=url)
    under_way = study.status().pending
    assert 1 <= under_way <= WORKERS
    assert {study.ask().id for _ in range(under_way)} == {trial for trial, _ in study.trials()[:under_way]}
