"""The studies of a server."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mfbai.analysis.evidence import read_problem
from mfbai.client.calls import Caller
from mfbai.client.remote import RemoteStudy, created, loaded
from mfbai.errors import Faults
from mfbai.model.instance import Instance
from mfbai.model.problem import Problem
from mfbai.model.spec import load
from mfbai.study.settings import STOP, check_name

FIRST_PATIENCE = 5.0  # seconds


def is_server(storage: str) -> bool:
    """Whether it is the address of a server, not that of a database."""
    return storage.startswith(("http://", "https://"))


def connect(url: str) -> Client:
    """A client of a server that answers: one that does not at first is not waited for as long as one that restarts."""
    Client(url, patience=FIRST_PATIENCE).choices()
    return Client(url)


class Client(Caller):
    """The studies of a server.

    url       the address that `mfbai serve` prints
    token     the server's token, if it needs one; by default that of the environment variable MFBAI_TOKEN
    patience  seconds for which a call is repeated while the server is away

    The studies have the methods of `Study`, except `together`, `add_table`, `under_way`, `parts`, `rows`, `workers`,
    `read_label` and `mark`. Several threads may share a client. `create_study` and `add` cannot be done twice: they are
    not sent again once they may have arrived.

    >>> import re, subprocess, sys
    >>> from mfbai import Bernoulli, Client, Problem
    >>> command = [sys.executable, "-m", "mfbai", "serve", "--port", "0", "--storage", "sqlite:///served.db"]
    >>> server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    >>> client = Client(re.search(r"http://[^ ]+", server.stdout.readline())[0])
    >>> problem = Problem(["old", "new"], costs=1, biases=0, family=Bernoulli())
    >>> study = client.create_study(problem, delta=0.05, name="signs")
    >>> study.tell(study.ask(), 1)
    >>> client.list_studies()
    ['signs']
    >>> server.terminate()
    >>> _ = server.communicate()
    """

    def create_study(
        self,
        problem: Problem | Instance | str | Path,
        delta: float,
        *,
        name: str | None = None,
        strategy: str | None = None,
        stopping: str | None = None,
        tolerance: float = 0.0,
        max_cost: float | None = None,
        direction: str | None = None,
        seeds: str | None = None,
        options: Mapping[str, float] | None = None,
        audit: float = 0.0,
        on_alarm: str = STOP,
    ) -> RemoteStudy:
        """Create a study on the server, as `mfbai.create_study` does, without a storage. Spec files are read on this
        machine."""
        found = read_problem(load(problem, ties=True) if isinstance(problem, str | Path) else problem)
        asked: dict[str, Any] = {"name": name, "strategy": strategy, "stopping": stopping, "tolerance": tolerance}
        asked |= {"max_cost": max_cost, "direction": direction, "seeds": seeds, "audit": audit, "on_alarm": on_alarm}
        asked["options"] = None if options is None else dict(options)
        made = self.call("POST", "studies", {"spec": found.to_dict(), "delta": delta, **asked}, repeatable=False)
        return created(self, made)

    def load_study(self, name: str) -> RemoteStudy:
        """A study that was created before."""
        faults = Faults()
        check_name(faults, name)
        faults.raise_if_any("call")
        return loaded(self, name)

    def list_studies(self) -> list[str]:
        """The names of the server's studies, in the order they were created."""
        names: list[str] = []
        while True:
            page = self.call("GET", f"studies?brief=true&limit=1000&offset={len(names)}")
            with self.understanding():
                names += [study["name"] for study in page["studies"]]
                if not page["studies"] or len(names) >= page["total"]:
                    return names[::-1]

    def choices(self) -> dict[str, Any]:
        """What a new study can be made of: strategies, rules, families, directions, defaults and limits."""
        found = self.call("GET", "choices")
        with self.understanding():
            if not isinstance(found["strategies"], list):
                raise TypeError
            return dict(found)
