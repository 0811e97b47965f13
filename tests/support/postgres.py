"""A real PostgreSQL server, for tests and benchmarks."""

import contextlib
import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import psycopg
import pytest

UNPRIVILEGED = "nobody"  # PostgreSQL refuses to run as root


class Postgres:
    """A throw-away PostgreSQL server, on a socket in a folder of its own."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="mfbai-pg-"))
        self.user = UNPRIVILEGED if os.geteuid() == 0 else None
        if self.user:
            os.chown(self.folder, pwd.getpwnam(self.user).pw_uid, -1)
        self._numbers = itertools.count()
        self._call("initdb", "-D", self.data, "-U", "mfbai", "--auth=trust", "--encoding=UTF8", "--no-sync")
        self.start()

    @property
    def data(self):
        return str(self.folder / "data")

    def start(self):
        command = [program("postgres"), "-D", self.data, "-k", str(self.folder), "-c", "listen_addresses="]
        with open(self.folder / "log", "ab") as log:
            self.server = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder, **self._as_user())
        for _ in range(1200):
            try:
                psycopg.connect(self._address("postgres"), connect_timeout=1).close()
                return
            except psycopg.OperationalError:
                time.sleep(0.1)
        pytest.fail(f"PostgreSQL does not start: {(self.folder / 'log').read_text()[-2000:]}")

    def crash(self):
        """End the server and all it has started, as a power cut would."""
        self.server.send_signal(signal.SIGSTOP)  # so that it starts no other before it ends
        for pid in [self.server.pid, *children(self.server.pid)]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.server.wait()

    def stop(self):
        self.server.send_signal(signal.SIGQUIT)
        self.server.wait(timeout=120)
        shutil.rmtree(self.folder, ignore_errors=True)

    def new_database(self):
        """The URL of an empty database."""
        name = f"test{next(self._numbers)}"
        with psycopg.connect(self._address("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return f"postgresql://mfbai@/{name}?host={self.folder}"

    def new_schema(self):
        """The URL of an empty schema: as good as a database, but made and removed a hundred times as fast."""
        name = f"schema{next(self._numbers)}"
        with psycopg.connect(self._address("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {name}")
        return f"postgresql://mfbai@/postgres?host={self.folder}&options=-csearch_path%3D{name}"

    def _address(self, database):
        return f"host={self.folder} user=mfbai dbname={database}"

    def _call(self, name, *arguments):
        done = subprocess.run(
            [program(name), *arguments], capture_output=True, text=True, cwd=self.folder, **self._as_user()
        )
        assert done.returncode == 0, done.stderr

    def _as_user(self):
        return {"user": self.user, "group": pwd.getpwnam(self.user).pw_gid, "extra_groups": []} if self.user else {}


def children(parent):
    """The processes that a process has started."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[1]) == parent:
                found.append(int(stat.parent.name))
    return found


def program(name):
    """PostgreSQL's programs; Debian keeps them off the path."""
    places = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    found = str(places[-1]) if places else shutil.which(name)
    if found is None:
        pytest.fail(f"{name} is missing: the tests need a PostgreSQL server; on Debian, apt-get install postgresql")
    return found
