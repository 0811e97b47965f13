"""The HTTP API: the words of `Study`, over the same storages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, FastAPI, Query, Response
from fastapi.responses import StreamingResponse
from fastapi.staticfiles import StaticFiles

from mfbai._version import __version__
from mfbai.errors import StorageError
from mfbai.study import Study, create_study
from mfbai.study.certificate import lines_of, make_certificate
from mfbai.study.limits import LONGEST_NAME
from mfbai.study.rows import SHOWN, tables_of
from mfbai.study.status import result_to_dict
from mfbai.study.storage import Storage
from mfbai.web import bodies
from mfbai.web.bodies import as_json
from mfbai.web.choices import make_choices
from mfbai.web.encoding import in_steps, sealed
from mfbai.web.errors import MEDIA_TYPE, add_handlers
from mfbai.web.guard import App, Guard
from mfbai.web.hub import Desk, Hub
from mfbai.web.reading import BodyRoute, TheDesk, TheHub, read_spec
from mfbai.web.streams import TOO_MANY

MOST_LISTED = 1000
OPENING = 1.0  # seconds that a list waits for studies to be opened
LINES_AT_ONCE = 1000  # of a certificate
PAGE = Path(__file__).parent / "static"


def make_app(storage: Storage, token: str | None = None) -> tuple[App, Hub]:
    """The application, and the studies that it has open."""
    hub = Hub(storage)
    app = FastAPI(
        title="mfbai",
        version=__version__,
        description="Studies that find the best of K alternatives: ask, evaluate, tell, until the verdict.",
        docs_url=None,  # it would load scripts from another site
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.hub = hub
    app.router.routes.extend(api.routes)  # include_router would copy them, and look twice at every call
    app.add_api_route("/", page, include_in_schema=False)
    app.mount("/static", Files(directory=PAGE))
    add_handlers(app)
    _complete_description(app, token)
    return Guard(app, token), hub


class Files(StaticFiles):
    """The page's files. Browsers check for newer ones each time, so that the page fits the server after an upgrade."""

    def file_response(self, *given: Any, **more: Any) -> Response:
        response = super().file_response(*given, **more)
        response.headers["Cache-Control"] = "no-cache"
        return response


async def page() -> Response:
    return Response((PAGE / "index.html").read_bytes(), media_type="text/html", headers={"Cache-Control": "no-cache"})


# --- the description


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """For the description: the statuses of refused calls."""
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ErrorBody"}}}
    return {status: {"description": "Refused.", "content": content} for status in (400, 401, 403, 421, *statuses)}


READS = refusals(404, 422, 503)
WRITES = refusals(404, 409, 413, 415, 422, 503)
LARGE_WRITES = refusals(404, 408, 409, 413, 415, 422, 503)


def _complete_description(app: FastAPI, token: str | None) -> None:
    """Add what FastAPI cannot know: the form of errors, and the token."""
    made = app.openapi()
    schemas = made["components"]["schemas"]
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    schemas["ErrorBody"] = bodies.ErrorBody.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas |= schemas["ErrorBody"].pop("$defs", {})
    if token is not None:
        made["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        made["security"] = [{"token": []}]


# --- studies


def _json(value: Any, status: int = 200) -> Response:
    body = value if isinstance(value, bytes) else as_json(value)
    return Response(body, status, media_type="application/json", headers={"Cache-Control": "no-store"})


api = APIRouter(route_class=BodyRoute)
STUDY = "/api/v1/studies/{name}"


@api.get("/api/v1/choices", response_model=bodies.Choices, responses=refusals(422, 503))
async def choices() -> Response:
    """What a new study can be made of: strategies, stopping rules, families, directions, limits."""
    return _json(make_choices())


@api.get("/api/v1/studies", response_model=bodies.Studies, responses=refusals(422, 503))
async def list_studies(
    hub: TheHub,
    limit: Annotated[int, Query(ge=1, le=MOST_LISTED)] = 100,
    offset: Annotated[int, Query(ge=0, le=2**31)] = 0,
    brief: Annotated[bool, Query(description="Return names alone, which is quick for any number of studies.")] = False,
) -> Response:
    """The studies, the newest first."""
    names = await hub.in_thread(hub.storage.names)
    wanted = names[::-1][offset : offset + limit]
    if brief:
        return _json({"studies": [{"name": name} for name in wanted], "total": len(names)})
    tasks = {name: hub.opening(name) for name in wanted}
    if tasks:
        await asyncio.wait(tasks.values(), timeout=OPENING)
    lines = await hub.in_thread(lambda: [_line(name, task) for name, task in tasks.items()])
    return _json({"studies": lines, "total": len(names)})


def _line(name: str, task: asyncio.Future[Desk]) -> dict[str, Any]:
    if task.done() and not task.cancelled() and task.exception() is None:
        return task.result().summary()
    return {"name": name, "state": "opening"}


@api.post("/api/v1/studies", status_code=201, response_model=bodies.Created, responses=LARGE_WRITES)
async def create(body: bodies.NewStudy, hub: TheHub) -> Response:
    """Create a study."""

    def work() -> str:
        settings = body.model_dump(exclude={"spec"})
        return create_study(read_spec(body.spec), **settings, storage=hub.storage).name

    return _created(hub, await hub.while_opening(work))


def _created(hub: Hub, name: str) -> Response:
    opening = hub.opening(name)  # at once: the first study of its kind may have to compile
    opening.add_done_callback(lambda opened: opened.cancelled() or opened.exception())
    made = _json({"name": name}, 201)
    made.headers["Location"] = f"/api/v1/studies/{quote(name, safe='')}"
    return made


# --- one study


@api.get(STUDY, response_model=bodies.SettingsBody, responses=READS)
async def settings(desk: TheDesk) -> Response:
    """The settings of the study: its problem, risk, strategy and stopping rule."""
    return _json(await desk.read(lambda: in_steps(desk.study.settings.to_dict())))


@api.post(f"{STUDY}/ask", response_model=bodies.Trials, responses=WRITES)
async def ask(body: bodies.Ask, desk: TheDesk) -> Response:
    """The next evaluations to make."""
    trials = await desk.call(lambda: desk.study.ask_many(body.n, lease=body.lease, request=body.request))
    return _json({"trials": [trial.to_dict() for trial in trials]})


async def _change(desk: Desk, work: Callable[[Study], None]) -> Response:
    def call() -> str:
        work(desk.study)
        return desk.study.state

    return _json({"state": await desk.call(call)})


@api.post(f"{STUDY}/tell", response_model=bodies.Done, responses=WRITES)
async def tell(body: bodies.Tell, desk: TheDesk) -> Response:
    """Report the value of a trial or, if it has parts, their values, in their order. It is on disk when this returns.
    Reporting the same again changes nothing."""
    return await _change(desk, lambda study: study.tell(body.trial, body.told))


@api.post(f"{STUDY}/tell-many", response_model=bodies.Done, responses=LARGE_WRITES)
async def tell_many(body: bodies.TellMany, desk: TheDesk) -> Response:
    """Report many results at once: all of them are kept, or none. Reporting the same again changes nothing."""
    results = [(result.trial, result.told) for result in body.results]
    return await _change(desk, lambda study: study.tell_many(results))


@api.post(f"{STUDY}/fail", response_model=bodies.Done, responses=WRITES)
async def fail(body: bodies.Fail, desk: TheDesk) -> Response:
    """Report that a trial has no value and never will. Reporting it again changes nothing."""
    return await _change(desk, lambda study: study.fail(body.trial, body.reason))


@api.post(f"{STUDY}/renew", response_model=bodies.Done, responses=WRITES)
async def renew(body: bodies.Renew, desk: TheDesk) -> Response:
    """Extend the lease of a trial that is still being evaluated."""
    return await _change(desk, lambda study: study.renew(body.trial, lease=body.lease))


@api.post(f"{STUDY}/release", response_model=bodies.Done, responses=WRITES)
async def release(body: bodies.Release, desk: TheDesk) -> Response:
    """Give a trial back: the next caller that asks receives it."""
    return await _change(desk, lambda study: study.release(body.trial))


@api.post(f"{STUDY}/add", response_model=bodies.Done, responses=WRITES)
async def add(body: bodies.Add, desk: TheDesk) -> Response:
    """Count values that were measured elsewhere, at no cost. Adding them again counts them again."""
    return await _change(desk, lambda study: study.add(body.arm, body.fidelity, body.values))


@api.post(f"{STUDY}/reopen", status_code=201, response_model=bodies.Created, responses=WRITES)
async def reopen(body: bodies.Reopen, desk: TheDesk, hub: TheHub) -> Response:
    """Create a study with other bias bounds that goes on with all values of this one."""

    def work() -> str:
        bias = {name: bound if isinstance(bound, float) else (bound[0], bound[1]) for name, bound in body.bias.items()}
        return desk.study.reopen(body.name, bias, max_cost=body.max_cost).name

    return _created(hub, await hub.while_opening(work))


@api.get(f"{STUDY}/status", response_model=bodies.StatusBody, responses=READS)
async def status(desk: TheDesk) -> Response:
    """Where the study stands."""
    return _json(await desk.read(lambda: in_steps(tables_of(desk.study.status()))))


@api.get(f"{STUDY}/result", response_model=bodies.ResultBody, responses=READS)
async def result(desk: TheDesk) -> Response:
    """The verdict, once there is one; it is short, however many arms there are."""

    def work() -> dict[str, Any]:
        found = desk.study.result
        said = None if found is None else result_to_dict(found, desk.study.problem)
        return {"state": "running" if found is None else found.state, "result": said}

    return _json(await desk.read(work))


@api.get(f"{STUDY}/trials", response_model=bodies.OpenTrials, responses=READS)
async def trials(desk: TheDesk) -> Response:
    """The trials under way."""

    def work() -> bytes:
        found = desk.study.trials()
        rows = [{"id": trial, "arm_index": arm, "fidelity_index": fidelity} for trial, (arm, fidelity) in found]
        return in_steps({"trials": rows})

    return _json(await desk.read(work))


@api.get(f"{STUDY}/view", response_model=bodies.View, responses=READS)
async def view(desk: TheDesk) -> Response:
    """What the page shows: the status, its history, the optimal shares, the latest events."""
    return _json(await desk.view())


@api.get(f"{STUDY}/arms", response_model=bodies.Found, responses=READS)
async def arms(
    desk: TheDesk,
    search: Annotated[str, Query(max_length=LONGEST_NAME, description="A part of the name, in any case.")] = "",
    limit: Annotated[int, Query(ge=1, le=bodies.MOST_FOUND)] = SHOWN,
    offset: Annotated[int, Query(ge=0, le=2**31)] = 0,
) -> Response:
    """The arms whose names contain a text: where each stands, as in `view`."""
    return _json(await desk.arms(search, limit, offset))


@api.get(f"{STUDY}/journal", response_model=bodies.Journal, responses=READS)
async def journal(
    desk: TheDesk,
    first: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0,
    limit: Annotated[int, Query(ge=1, le=bodies.MOST_EVENTS)] = bodies.MOST_EVENTS,
) -> Response:
    """The events from a number on, each with its hash."""

    def work() -> bytes:
        found = sealed(islice(desk.study.journal(first), limit))
        following = as_json(first + limit if len(found) == limit else None)
        return b'{"events":[%s],"next":%s}' % (b",".join(found), following)

    return _json(await desk.read(work))


@api.get(f"{STUDY}/export", response_model=dict[str, Any], responses=READS)
async def export(desk: TheDesk) -> Response:
    """The certificate, which `mfbai study verify` checks."""
    made = await desk.read(lambda: make_certificate(desk.study))
    label = f"attachment; filename=certificate.json; filename*=UTF-8''{quote(desk.study.name, safe='')}.json"
    headers = {"Content-Disposition": label, "Cache-Control": "no-store"}
    return StreamingResponse(_in_pieces(lines_of(made)), media_type="application/json", headers=headers)


def _in_pieces(lines: Iterator[str]) -> Iterator[str]:
    """Join lines, as each piece is sent separately."""
    while piece := "".join(islice(lines, LINES_AT_ONCE)):
        yield piece


@api.get(
    f"{STUDY}/events",
    response_class=StreamingResponse,
    responses={**READS, 200: {"description": "Server-sent events.", "content": {"text/event-stream": {}}}},
)
async def events(desk: TheDesk, hub: TheHub) -> Response:
    """Server-sent events: the view (as from `view`) at once, then after every change, at most a few times a second."""
    if hub.full:
        raise StorageError(TOO_MANY)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(desk.watch(), media_type="text/event-stream", headers=headers)
