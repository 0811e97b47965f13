"""What can be given as an executor, what is refused, and how."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import mfbai
from mfbai import ExecutorError, InvalidInput, identify, load_study, simulate
from support.engines import PROBLEM, dask_cluster, evaluate, pool
from support.interrupts import start, wait_until
from support.seeds import fix_keys

CALLS = {
    "identify": lambda **how: identify(evaluate, PROBLEM, 0.05, **how),
    "simulate": lambda **how: simulate("paper-5x2", "uniform", 0.1, runs=4, max_steps=50, **how),
    "trace": lambda **how: mfbai.trace("paper-5x2", steps=50, runs=2, **how),
    "pilot": lambda **how: mfbai.pilot(evaluate, PROBLEM, seeds=2, **how),
    "plan": lambda **how: mfbai.plan("paper-5x2", **how),
    "reproduce": lambda **how: mfbai.paper.reproduce.reproduce("out", ["tables"], **how),
}


@pytest.fixture(autouse=True)
def same_seeds(monkeypatch, tmp_path):
    fix_keys(monkeypatch)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    ("executor", "told"),
    [
        ("proceses", r"executor is 'proceses': give a concurrent.futures.Executor, a Dask client"),
        (3, "executor is 3: give a concurrent"),
        ("tcp://", "executor is 'tcp://'"),
    ],
)
def test_what_is_no_executor_is_refused(call, executor, told):
    with pytest.raises(InvalidInput, match=told):
        CALLS[call](executor=executor)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("workers", [0, 1.5, "2"])
def test_what_is_no_number_of_workers_is_refused(call, workers):
    with pytest.raises(InvalidInput, match=r"workers is .*: give a whole number of 1 or more"):
        CALLS[call](executor="threads", workers=workers)


@pytest.mark.parametrize("call", CALLS)
def test_an_executor_that_does_not_say_its_size_needs_workers(call):
    with (
        ThreadPoolExecutor(2) as executor,
        pytest.raises(InvalidInput, match=r"does not say .*: give workers="),
    ):
        CALLS[call](executor=executor)


def test_a_size_is_read_where_it_can_be():
    class Sized(ThreadPoolExecutor):
        num_workers = 2  # as mpi4py's

    with Sized(2) as executor:
        assert identify(evaluate, PROBLEM, 0.05, executor=executor).arm == "wide"


def test_an_executor_that_is_shut_down_is_refused_before_anything_is_asked():
    for executor in (ThreadPoolExecutor(1), pool(1)):
        executor.shutdown()
        with pytest.raises(ExecutorError, match=r"the executor takes no calls .*after shutdown"):
            identify(evaluate, PROBLEM, 0.05, name="s", workers=1, executor=executor)
        with pytest.raises(ExecutorError, match="the executor takes no calls"):
            simulate("paper-5x2", "uniform", 0.1, runs=4, max_steps=50, workers=1, executor=executor)
    assert [event.body["kind"] for event in load_study("s").journal()] == ["create"]


@pytest.mark.parametrize(("name", "module"), [("dask", "distributed"), ("ray", "ray")])
def test_a_missing_engine_is_named_with_the_command_that_installs_it(name, module, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    given = "ray" if name == "ray" else "tcp://127.0.0.1:9"
    with pytest.raises(InvalidInput, match=rf"is not installed: pip install 'mfbai\[{name}\]'"):
        simulate("paper-5x2", executor=given)


# --- Dask


@pytest.fixture(scope="module")
def cluster():
    with dask_cluster(1) as cluster:
        yield cluster


def test_a_client_a_cluster_and_an_address_will_do_and_stay_open(cluster):
    from distributed import Client

    with Client(cluster) as client:
        for executor in (client, cluster, cluster.scheduler_address, client.get_executor(pure=True)):
            workers = 1 if hasattr(executor, "map") and executor is not client else None
            assert identify(evaluate, PROBLEM, 0.05, executor=executor, workers=workers).arm == "wide"
        assert client.submit(int, 3).result() == 3


def test_a_client_that_is_closed_is_refused(cluster):
    from distributed import Client

    client = Client(cluster)
    client.close()
    with pytest.raises(ExecutorError, match="the Dask client is closed: give one that is connected"):
        identify(evaluate, PROBLEM, 0.05, name="s", executor=client)
    assert [event.body["kind"] for event in load_study("s").journal()] == ["create"]


def test_a_cluster_that_is_closed_is_refused():
    with dask_cluster(1) as cluster:
        pass
    with pytest.raises(ExecutorError, match=r"the Dask cluster cannot be used .*: give one that is open"):
        identify(evaluate, PROBLEM, 0.05, executor=cluster)


def test_a_client_that_is_closed_meanwhile_ends_the_call_and_the_study_can_go_on(cluster):
    from distributed import Client

    client, begun = Client(cluster), os.path.join(os.getcwd(), "begun")

    def slow(arm, fidelity, seed):
        open(begun, "w").close()
        threading.Event().wait()

    closer = threading.Thread(target=lambda: (wait_until(lambda: os.path.exists(begun)), client.close()))
    closer.start()
    with pytest.raises(ExecutorError, match="the Dask client"):
        identify(slow, PROBLEM, 0.05, name="s", executor=client)
    closer.join()
    cluster_restarted(cluster)
    assert identify(evaluate, PROBLEM, 0.05, name="s", executor=cluster).arm == "wide"


def test_no_workers_yet_means_waiting_with_a_message(cluster, capsys, monkeypatch):
    from mfbai.engines import waiting
    from mfbai.study import workers

    monkeypatch.setattr(waiting, "PATIENCE", 0.1)
    cluster.scale(0)
    wait_until(lambda: not cluster.scheduler_info["workers"])
    said = []
    monkeypatch.setattr(workers, "print", lambda text, file: (said.append(text), cluster.scale(1)), raising=False)
    assert identify(evaluate, PROBLEM, 0.05, executor=cluster).arm == "wide"
    assert said == ["waiting: Dask has no workers"]


def test_a_scheduler_that_is_not_there_is_named(monkeypatch):
    import dask

    with (
        dask.config.set({"distributed.comm.timeouts.connect": "0.2s"}),
        pytest.raises(InvalidInput, match=r"executor is 'tcp://127.0.0.1:9': no Dask scheduler answers there"),
    ):
        simulate("paper-5x2", executor="tcp://127.0.0.1:9")


def cluster_restarted(cluster):
    """Workers that hang in an evaluation are replaced."""
    from distributed import Client

    with Client(cluster) as client:
        client.restart()


# --- Ray


def test_a_runtime_that_the_call_has_started_ends_with_it():
    import ray

    handler = signal.getsignal(signal.SIGTERM)
    assert identify(evaluate, PROBLEM, 0.05, executor="ray").arm == "wide"
    assert not ray.is_initialized()
    assert signal.getsignal(signal.SIGTERM) == handler


# --- processes


SCRIPT = """
    import os, time
    from mfbai import Gaussian, Problem, identify

    def evaluate(arm, fidelity, seed):
        open(f"begun-{os.getpid()}", "w").close()
        time.sleep(3600)

    problem = Problem(["plain", "wide"], costs=[1.0], biases=[0.0], family=Gaussian(0.01))
"""
MAIN = """
    if __name__ == "__main__":
        identify(evaluate, problem, 0.05, name="s", workers=2, executor="processes")
"""


def test_ctrl_c_ends_the_processes_and_gives_everything_back(tmp_path):
    (tmp_path / "script.py").write_text(textwrap.dedent(SCRIPT) + textwrap.dedent(MAIN))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = start("script.py", cwd=tmp_path, env=environment)
    wait_until(lambda: len(list(tmp_path.glob("begun-*"))) == 2)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert err.rstrip().endswith("KeyboardInterrupt")
    workers = [int(mark.name.partition("-")[2]) for mark in tmp_path.glob("begun-*")]
    wait_until(lambda: not any(is_running(worker) for worker in workers))
    study = load_study("s", storage=f"sqlite:///{tmp_path / 'mfbai.db'}")
    assert {study.ask().id, study.ask().id} == {trial for trial, _ in study.trials()}


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_script_without_a_guard_is_told_what_it_lacks(tmp_path):
    unguarded = textwrap.dedent(MAIN).replace('if __name__ == "__main__":\n    ', "")
    (tmp_path / "script.py").write_text(textwrap.dedent(SCRIPT) + unguarded)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run(
        [sys.executable, "script.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
    )
    assert ended.returncode == 1
    assert "do so below `if __name__ == '__main__':`" in ended.stderr


def test_a_daemonic_process_is_told_that_it_cannot_start_others():
    script = """
        import multiprocessing
        from mfbai import simulate

        multiprocessing.current_process().daemon = True
        simulate("paper-5x2", "uniform", 0.1, runs=2, max_steps=9, executor="processes", workers=1)
    """
    ended = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=300)
    assert "a daemonic process, as workers of Dask are, cannot start others: use threads there" in ended.stderr
