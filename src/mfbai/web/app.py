"""The HTTP API: the words of `Study`, over the same storages."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, get_type_hints
from urllib.parse import quote, unquote

from fastapi import APIRouter, Depends, FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import StreamingResponse
from fastapi.routing import APIRoute
from fastapi.staticfiles import StaticFiles
from pydantic import ValidationError
from starlette.exceptions import HTTPException

from mfbai._version import __version__
from mfbai.errors import (
    Fault,
    InvalidInput,
    MfbaiError,
    NothingToAsk,
    StorageError,
    StudyOver,
    TrialClosed,
    UnknownName,
)
from mfbai.study import Study, create_study, limits
from mfbai.study.certificate import lines_of, make_certificate
from mfbai.study.storage import NameTaken, Storage
from mfbai.web import bodies
from mfbai.web.desk import MOST_WATCHERS, TOO_MANY, Desk, Hub, as_json
from mfbai.web.guard import App, Guard, Receive, Scope, Send, problem
from mfbai.web.reading import read_spec

MOST_LISTED = 1000
OPENING = 1.0  # seconds that a list waits for studies to be opened
LINES_AT_ONCE = 1000  # of a certificate
LONGEST_DETAIL = 4000  # characters
LONGEST_FAULT = 1000  # characters, of each
MOST_FAULTS = 100  # told at once
PATTERNS = {
    "trial": "give the id of a trial, as `ask` returned it",
    "request": limits.REQUEST_IN_WORDS,
}
PAGE = Path(__file__).parent / "static"
PROBLEM = "application/problem+json"
STATUS_OF: dict[type[MfbaiError], int] = {
    NothingToAsk: 409,
    StudyOver: 409,
    TrialClosed: 409,
    NameTaken: 409,
    InvalidInput: 422,
    StorageError: 503,
}


def make_app(storage: Storage, token: str | None = None) -> tuple[App, Hub]:
    """The application, and the studies that it has open."""
    hub = Hub(storage)
    app = FastAPI(
        title="mfbai",
        version=__version__,
        description="Studies that find the best of K alternatives: ask, evaluate, tell, until the verdict.",
        docs_url=None,  # they load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.hub = hub
    app.router.routes.extend(api.routes)  # include_router would copy them, and look twice at every call
    app.add_api_route("/", page, include_in_schema=False)
    app.mount("/static", Files(directory=PAGE))
    app.add_exception_handler(MfbaiError, on_error)
    app.add_exception_handler(RequestValidationError, on_bad_request)
    app.add_exception_handler(HTTPException, on_no_such_thing)
    app.add_exception_handler(Exception, on_defect)
    _complete_description(app, token)
    return Guard(app, token), hub


class Files(StaticFiles):
    """The page's; asked for anew each time, so that they fit the server after an upgrade."""

    def file_response(self, *given: Any, **more: Any) -> Response:
        response = super().file_response(*given, **more)
        response.headers["Cache-Control"] = "no-cache"
        return response


async def page() -> Response:
    return Response((PAGE / "index.html").read_bytes(), media_type="text/html", headers={"Cache-Control": "no-cache"})


# --- the description


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """For the description: how a call can be refused."""
    content = {PROBLEM: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {status: {"description": "Refused.", "content": content} for status in (400, 401, 403, 421, *statuses)}


READS = refusals(404, 422, 503)
WRITES = refusals(404, 409, 413, 415, 422, 503)


def _complete_description(app: FastAPI, token: str | None) -> None:
    """What FastAPI cannot know: how errors look, and the token."""
    made = app.openapi()
    schemas = made["components"]["schemas"]
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    schemas["Problem"] = bodies.Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas |= schemas["Problem"].pop("$defs", {})
    if token is not None:
        made["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        made["security"] = [{"token": []}]


# --- what a call is about


async def hub_of(request: Request) -> Hub:
    hub: Hub = request.app.state.hub
    return hub


async def desk_of(name: str, request: Request) -> Desk:
    """The study that the path names; the name is encoded there, as it may hold slashes."""
    try:
        wanted = unquote(name, errors="strict")
    except UnicodeDecodeError:
        raise UnknownName([Fault("unknown study", f"{name!r}: it is not UTF-8")], "study") from None
    hub = await hub_of(request)
    return await hub.desk(wanted)


TheHub = Annotated[Hub, Depends(hub_of)]
TheDesk = Annotated[Desk, Depends(desk_of)]


def _json(value: Any, status: int = 200) -> Response:
    body = value if isinstance(value, bytes) else as_json(value)
    return Response(body, status, media_type="application/json", headers={"Cache-Control": "no-store"})


class Call(APIRoute):
    """A call with a body, which is read here: FastAPI takes longer for that than the call itself."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            await super().handle(scope, receive, send)  # says what is allowed
            return
        request = Request(scope, receive)
        wanted = _parameters(self.endpoint)
        given: dict[str, Any] = {}
        if "hub" in wanted:
            given["hub"] = await hub_of(request)
        else:
            given["desk"] = await desk_of(request.path_params["name"], request)
        try:
            given["body"] = wanted["body"].model_validate(_read_json(await request.body()))
        except ValidationError as error:
            raise RequestValidationError(
                [{**fault, "loc": ("body", *fault["loc"])} for fault in error.errors()]
            ) from None
        response: Response = await self.endpoint(**given)
        await response(scope, receive, send)


@cache
def _parameters(endpoint: Callable[..., Any]) -> dict[str, Any]:
    return get_type_hints(endpoint)


def _read_json(body: bytes) -> Any:
    """A body that can be read in one way only: readers differ in which of two equal keys they see."""
    if not body:
        raise InvalidInput([Fault("the body", "is missing: add it")])
    try:
        return json.loads(body.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_number)
    except RecursionError:
        raise HTTPException(400, "the body is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise HTTPException(400, f"the body is not JSON: {error}") from None
    except UnicodeDecodeError:
        raise HTTPException(400, "the body is not JSON: it must be UTF-8") from None
    except ValueError:  # Python reads no integer of thousands of digits
        raise HTTPException(400, "the body holds a number of too many digits: shorten it") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise HTTPException(400, "the body has a key twice in one object: leave one of them out")
    return made


def _no_number(constant: str) -> Any:
    raise HTTPException(400, f"the body is not JSON: {constant} is none of its numbers")


# --- studies

api = APIRouter(route_class=Call)
STUDY = "/api/v1/studies/{name}"


@api.get("/api/v1/studies", response_model=bodies.Studies, responses=refusals(422, 503))
async def list_studies(
    hub: TheHub,
    limit: Annotated[int, Query(ge=1, le=MOST_LISTED)] = 100,
    offset: Annotated[int, Query(ge=0, le=2**31)] = 0,
    brief: Annotated[bool, Query(description="Names alone: quick, however many there are.")] = False,
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


@api.post("/api/v1/studies", status_code=201, response_model=bodies.Created, responses=WRITES)
async def create(body: bodies.NewStudy, hub: TheHub) -> Response:
    """Begin a study."""

    def work() -> str:
        settings = body.model_dump(exclude={"spec"})
        return create_study(read_spec(body.spec), **settings, storage=hub.storage).name

    name = await hub.while_opening(work)
    opening = hub.opening(name)  # at once: the first of its kind may have to be compiled
    opening.add_done_callback(lambda opened: opened.cancelled() or opened.exception())
    made = _json({"name": name}, 201)
    made.headers["Location"] = f"/api/v1/studies/{quote(name, safe='')}"
    return made


# --- one study


@api.get(STUDY, response_model=bodies.SettingsBody, responses=READS)
async def settings(desk: TheDesk) -> Response:
    """What the study was asked to find out."""
    return _json(desk.study.settings.to_dict())


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
    """The value of a trial. It is on disk when this is answered. To tell the same again does nothing."""
    return await _change(desk, lambda study: study.tell(body.trial, body.value))


@api.post(f"{STUDY}/fail", response_model=bodies.Done, responses=WRITES)
async def fail(body: bodies.Fail, desk: TheDesk) -> Response:
    """A trial has no value and never will. To report it again does nothing."""
    return await _change(desk, lambda study: study.fail(body.trial, body.reason))


@api.post(f"{STUDY}/renew", response_model=bodies.Done, responses=WRITES)
async def renew(body: bodies.Renew, desk: TheDesk) -> Response:
    """The worker is still at it."""
    return await _change(desk, lambda study: study.renew(body.trial, lease=body.lease))


@api.post(f"{STUDY}/release", response_model=bodies.Done, responses=WRITES)
async def release(body: bodies.Release, desk: TheDesk) -> Response:
    """The worker gives the trial up: whoever asks next has it."""
    return await _change(desk, lambda study: study.release(body.trial))


@api.post(f"{STUDY}/add", response_model=bodies.Done, responses=WRITES)
async def add(body: bodies.Add, desk: TheDesk) -> Response:
    """Count values that were measured elsewhere, at no cost. Adding them again counts them again."""
    return await _change(desk, lambda study: study.add(body.arm, body.fidelity, body.values))


@api.get(f"{STUDY}/status", response_model=bodies.StatusBody, responses=READS)
async def status(desk: TheDesk) -> Response:
    """Where the study stands."""
    return _json(await desk.read(lambda: as_json(desk.study.status().to_dict())))


@api.get(f"{STUDY}/trials", response_model=bodies.OpenTrials, responses=READS)
async def trials(desk: TheDesk) -> Response:
    """What is under way."""
    found = await desk.read(desk.study.trials)
    rows = [{"id": trial, "arm_index": arm, "fidelity_index": fidelity} for trial, (arm, fidelity) in found]
    return _json({"trials": rows})


@api.get(f"{STUDY}/view", response_model=bodies.View, responses=READS)
async def view(desk: TheDesk) -> Response:
    """What the page shows: the status, its history, what would be optimal, what happened last."""
    return _json(await desk.view())


@api.get(f"{STUDY}/journal", response_model=bodies.Journal, responses=READS)
async def journal(
    desk: TheDesk,
    first: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0,
    limit: Annotated[int, Query(ge=1, le=bodies.MOST_EVENTS)] = bodies.MOST_EVENTS,
) -> Response:
    """The events from a number on, each with its hash."""

    def work() -> bytes:
        found = [{**event.body, "hash": event.hash} for event in islice(desk.study.journal(first), limit)]
        return as_json({"events": found, "next": first + limit if len(found) == limit else None})

    return _json(await desk.read(work))


@api.get(f"{STUDY}/export", response_model=dict[str, Any], responses=READS)
async def export(desk: TheDesk) -> Response:
    """The certificate, which `mfbai study verify` checks."""
    made = await desk.read(lambda: make_certificate(desk.study))
    label = f"attachment; filename=certificate.json; filename*=UTF-8''{quote(desk.study.name, safe='')}.json"
    headers = {"Content-Disposition": label, "Cache-Control": "no-store"}
    return StreamingResponse(_in_pieces(lines_of(made)), media_type="application/json", headers=headers)


def _in_pieces(lines: Iterator[str]) -> Iterator[str]:
    """Few of them: each is sent by itself."""
    while piece := "".join(islice(lines, LINES_AT_ONCE)):
        yield piece


@api.get(
    f"{STUDY}/events",
    response_class=StreamingResponse,
    responses={**READS, 200: {"description": "Server-sent events.", "content": {"text/event-stream": {}}}},
)
async def events(desk: TheDesk, hub: TheHub) -> Response:
    """Server-sent events: the view (as from `view`) at once, then after every change, some times a second at most."""
    if hub.watchers >= MOST_WATCHERS:
        raise StorageError(TOO_MANY)
    stream: AsyncIterator[bytes] = desk.watch()
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(stream, media_type="text/event-stream", headers=headers)


# --- errors


def _problem(status: int, name: str, told: str, headers: dict[str, str] | None = None, **more: Any) -> Response:
    return Response(problem(status, name, told[:LONGEST_DETAIL], **more), status, media_type=PROBLEM, headers=headers)


async def on_error(request: Request, error: Any) -> Response:
    """The library's own errors, in its own words."""
    kind = type(error)
    status = (
        next(STATUS_OF[base] for base in kind.__mro__ if base in STATUS_OF) if isinstance(error, MfbaiError) else 500
    )
    if isinstance(error, UnknownName) and error.what == "study":
        status = 404
    faults = [_shortened(fault) for fault in error.faults[:MOST_FAULTS]] if isinstance(error, InvalidInput) else None
    more = {} if faults is None else {"faults": faults}
    headers = {"Retry-After": "1"} if isinstance(error, NothingToAsk | StorageError) else None
    return _problem(status, kind.__name__, str(error), headers, **more)


def _shortened(fault: Fault) -> dict[str, str]:
    return {name: text[:LONGEST_FAULT] for name, text in fault._asdict().items()}


async def on_bad_request(request: Request, error: Any) -> Response:
    """What the description of the API does not allow."""
    refusal = InvalidInput([_fault(fault) for fault in error.errors()[:MOST_FAULTS]], "call")
    return await on_error(request, refusal)


def _fault(found: dict[str, Any]) -> Fault:
    """What the description does not allow, as the library would say it."""
    place = ".".join(str(part) for part in found["loc"][1:]) or "the body"
    if found["type"] == "missing":
        return Fault(place, "is missing: add it")
    if found["type"] == "extra_forbidden":
        return Fault(place, "is not known: leave it out, or check its spelling")
    if found["type"] == "string_pattern_mismatch":
        return Fault(place, f"is {found['input']!r:.60}: {PATTERNS[place]}")
    subject, should, rest = found["msg"].partition("should ")
    told = f"it should {rest}" if should else f"{subject[:1].lower()}{subject[1:]}"
    return Fault(place, f"is {found['input']!r:.60}: {told}")


async def on_no_such_thing(request: Request, error: Any) -> Response:
    names = {400: "InvalidInput", 404: "NotFound", 405: "MethodNotAllowed"}
    told = {404: "there is nothing here: see /openapi.json", 405: "another method is needed: see /openapi.json"}
    headers = dict(error.headers or {})
    name = names.get(error.status_code, "HTTPError")
    return _problem(error.status_code, name, told.get(error.status_code, str(error.detail)), headers)


async def on_defect(request: Request, error: Exception) -> Response:
    """A fault of ours: it is in the log, and nothing of it in the answer."""
    return _problem(500, "InternalError", "the server made a mistake: its log says more")
