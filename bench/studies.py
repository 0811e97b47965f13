"""Live studies at full size: `make bench-studies`. Workers are killed, results come from eight processes at once.

The tests in tests/study/test_processes.py are the same with fewer kills and results. Any figure is printed only after
the study was found whole: every acknowledged result in the journal once, and its state that of a replay. To run one
part only, name it: `python bench/studies.py kills-sqlite tells-postgresql`.
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from mfbai import create_study
from support import crowds
from support.crowds import CLEAR, NEVER, TIED
from support.postgres import Postgres

KILLS = 200
CRASHES = 5
TELLS = 20_000


def main(wanted):
    print(f"{'':44}{'measured':>14}{'target':>14}   note", flush=True)
    crowds.warm_up()
    server = Postgres()
    try:
        for name, measure in parts(server).items():
            if wanted and name not in wanted:
                continue
            with tempfile.TemporaryDirectory() as folder:
                for what, measured, target, note in measure(Path(folder)):
                    print(f"{what:44}{measured:>14}{target:>14}   {note}", flush=True)
    finally:
        server.stop()


def parts(server):
    def sqlite(folder):
        return f"sqlite:///{folder / 'studies.db'}"

    def postgresql(_):
        return server.new_database()

    measures = {}
    for label, url in {"SQLite": sqlite, "PostgreSQL": postgresql}.items():
        measures[f"kills-{label.lower()}"] = lambda folder, label=label, url=url: kills(label, url(folder), folder)
        measures[f"verdict-{label.lower()}"] = lambda folder, label=label, url=url: verdict(label, url(folder), folder)
        measures[f"tells-{label.lower()}"] = lambda folder, label=label, url=url: tells(label, url(folder), folder)
    return measures | {"crashes": lambda folder: crashes(server, folder)}


def kills(label, url, folder):
    """kill -9 at random moments, with a snapshot every 100 events, so that it hits these too."""
    create_study(TIED, NEVER, name="bench", storage=url)
    before = crowds.snapshots_every(100)
    lines = crowds.kill_workers("bench", url, TIED, folder, KILLS, seed=1)
    study = crowds.check_nothing_lost("bench", url, lines)
    orphans = study.status().pending
    crowds.check_orphans(study)
    crowds.snapshots_every(before)
    told = sum(line[0] == "tell" for line in lines)
    lost = "none lost, none twice"
    yield f"{label}: {KILLS} kills of a worker", "whole", "whole", f"{told} results acknowledged, {lost}"
    yield f"{label}: trials of the killed", str(orphans), "", "open at the end, all handed out again"


def verdict(label, url, folder):
    """Kills until the study has its verdict."""
    create_study(CLEAR, 1e-40, name="bench", storage=url)
    lines = crowds.kill_workers("bench", url, CLEAR, folder, KILLS, seed=2, longest=0.08, until_over=True)
    study = crowds.check_nothing_lost("bench", url, lines)
    assert study.result is not None
    end = next(event.body["at"] for event in study.journal() if event.body["kind"] == "verdict")
    before = sum(line[0] == "kill" and float(line[1]) < end for line in lines)
    note = f"after {before} kills and {study.result.told} results; the same as that of a replay"
    yield f"{label}: verdict under kills", study.result.state, "decided", note


def crashes(server, folder):
    url = server.new_database()
    create_study(TIED, NEVER, name="bench", storage=url)
    lines = crowds.crash_server(server, "bench", url, TIED, folder, CRASHES, seed=3)
    study = crowds.check_nothing_lost("bench", url, lines)
    crowds.check_orphans(study)
    told = sum(line[0] == "tell" for line in lines)
    yield f"PostgreSQL: {CRASHES} crashes of the server", "whole", "whole", f"{told} results acknowledged"


def tells(label, url, folder):
    """Eight processes, each result synced to disk."""
    create_study(TIED, NEVER, name="bench", storage=url)
    lines, seconds = crowds.tell_together("bench", url, TIED, folder, TELLS)
    began = time.perf_counter()
    study = crowds.check_nothing_lost("bench", url, lines)
    checked = time.perf_counter() - began
    told = study.status().told
    assert told == sum(line[0] == "tell" for line in lines) >= TELLS
    waits = np.array([float(line[3]) for line in lines if line[0] == "tell"])
    rates = np.array([float(line[2]) for line in lines if line[0] == "worker"])
    p50, p99, most = np.quantile(waits, [0.5, 0.99, 1.0]) * 1000
    yield f"{label}: {TELLS} results by 8 processes", "all there", "all there", f"checked in {checked:.0f} s"
    yield f"{label}: results told", f"{told / seconds:,.0f}/s", "", f"in {seconds:.0f} s, each synced"
    yield f"{label}: slowest worker's rate / mean", f"{rates.min() / rates.mean():.2f}", ">= 0.25", ""
    yield f"{label}: a tell, median", f"{p50:.1f} ms", "", f"99%: {p99:.1f} ms, longest: {most:.0f} ms"


if __name__ == "__main__":
    main(sys.argv[1:])
