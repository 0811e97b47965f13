"""The API against its own description: whatever is sent, the answer is as described, and a refusal stores nothing."""

import os
import re
import sqlite3

import pytest
import schemathesis
from hypothesis import HealthCheck, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi import checks

from support.servers import PATIENCE, Server

EXAMPLES = int(os.environ.get("MFBAI_SCHEMA_EXAMPLES", "12"))  # of each operation
TRIAL = "[1-9][0-9]{0,8}-[0-9a-f]{8}"
CHECKS = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
    checks.negative_data_rejection,
]
CONFIG = {
    "generation": {"deterministic": EXAMPLES <= 12, "max-examples": EXAMPLES, "database": "none"},
    "phases": {"stateful": {"enabled": False}},
}


class Api:
    """A server with a study whose first trials are handed out, and its database."""

    def __init__(self, folder):
        self.database = folder / "api.db"
        self.server = Server(f"sqlite:///{self.database}")
        self.path = self.server.create("study")
        self.trial = self.server.ask(self.path, n=3)[0]["id"]
        description = schemathesis.openapi.from_url(
            f"{self.server.address}/openapi.json", config=schemathesis.Config.from_dict(CONFIG)
        )
        self.schema = description.exclude(path_regex="/events$")  # endless

    def stored(self):
        """Everything that the database holds of studies."""
        connection = sqlite3.connect(self.database)
        try:
            return [connection.execute(f"SELECT count(*), {what}").fetchone() for what in STORED]
        finally:
            connection.close()

    def check(self, case):
        before = self.stored()
        answer = case.call(base_url=self.server.address, timeout=PATIENCE)
        after = self.stored()
        case.validate_response(answer, checks=CHECKS)
        if answer.status_code >= 400:
            assert answer.headers["content-type"] == ["application/problem+json"]
            assert answer.json()["detail"]
        if answer.status_code >= 400 or case.method != "POST":
            assert after == before
        assert "default-src 'none'" in answer.headers["content-security-policy"][0]


STORED = (
    "0 FROM mfbai_studies",
    "total(length(body)) FROM mfbai_events",
    "total(until) FROM mfbai_leases",
)


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    made = Api(tmp_path_factory.mktemp("schema"))
    yield made
    made.server.kill()


def operations(api, under=""):
    return [result.ok() for result in api.schema.get_all_operations() if under in result.ok().path]


def try_out(api, operation, mode, aim=lambda case: None, **fixed):
    """Call an operation with whatever can be thought of."""

    @seed(1)
    @settings(max_examples=EXAMPLES, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(operation.as_strategy(generation_mode=mode, **fixed))
    def call(case):
        aim(case)
        api.check(case)

    try:
        call()
    except Unsatisfiable:
        assert (operation.method, mode) == ("get", GenerationMode.NEGATIVE)  # nothing in it could be wrong


@pytest.mark.parametrize("mode", list(GenerationMode))
def test_answers_are_as_described_and_refusals_store_nothing(api, mode):
    for operation in operations(api):
        try_out(api, operation, mode)


@pytest.mark.parametrize("mode", list(GenerationMode))
def test_the_same_of_a_study_and_a_trial_that_are_there(api, mode):
    """So that what is wrong beyond the path is looked at."""

    def aim(case):
        if isinstance(case.body, dict) and re.fullmatch(TRIAL, str(case.body.get("trial"))):
            case.body["trial"] = api.trial

    for operation in operations(api, "{name}"):
        try_out(api, operation, mode, aim, path_parameters={"name": "study"})


def test_the_limits_of_every_entry_are_kept(api):
    """What the description sets a limit to: at the limit, and just beyond."""
    chosen = {"generation_modes": list(GenerationMode), "generation_config": api.schema.config.generation}
    for operation in operations(api):
        for case in api.schema.iter_coverage_cases(operation=operation, **chosen):
            api.check(case)
