"""The HTTP API: the words of `Study`, over the same storages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, FastAPI, Header, Query, Request, Response
from fastapi.responses import StreamingResponse
from fastapi.staticfiles import StaticFiles

from mfbai._version import __version__
from mfbai.errors import Fault, InvalidInput, StorageError
from mfbai.study import Study, create_study
from mfbai.study.certificate import lines_of, make_certificate
from mfbai.study.limits import LONGEST_NAME, LONGEST_TAG
from mfbai.study.rows import SHOWN, tables_of
from mfbai.study.status import result_to_dict
from mfbai.study.storage import Storage
from mfbai.web import bodies, replies
from mfbai.web.answers import LARGE_WRITES, READS, STUDY, WRITES, answer, file_headers, refusals
from mfbai.web.bodies import as_json
from mfbai.web.care import care
from mfbai.web.choices import make_choices
from mfbai.web.encoding import in_steps, sealed
from mfbai.web.errors import add_handlers
from mfbai.web.guard import App, Guard
from mfbai.web.hub import Desk, Hub
from mfbai.web.listing import Listing, Wanted
from mfbai.web.reading import BodyRoute, TheDesk, TheHub, TheListing, read_spec
from mfbai.web.streams import TOO_MANY

MOST_LISTED = 1000
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
    app.state.listing = Listing(hub)
    for routes in (api.routes, care.routes):  # include_router would copy them, and look twice at every call
        app.router.routes.extend(routes)
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


def _complete_description(app: FastAPI, token: str | None) -> None:
    """Add what FastAPI cannot know: the form of errors, and the token."""
    made = app.openapi()
    schemas = made["components"]["schemas"]
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    schemas["ErrorBody"] = replies.ErrorBody.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas |= schemas["ErrorBody"].pop("$defs", {})
    if token is not None:
        made["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        made["security"] = [{"token": []}]


# --- studies


api = APIRouter(route_class=BodyRoute)


@api.get("/api/v1/choices", response_model=replies.Choices, responses=refusals(422, 503))
async def choices() -> Response:
    """What a new study can be made of: strategies, stopping rules, families, directions, limits."""
    return answer(make_choices())


CHOOSING = ("state", "tag", "search", "sort", "descending")  # which studies a list has, and in which order


@api.get("/api/v1/studies", response_model=replies.Studies, responses=refusals(422, 503))
async def list_studies(
    request: Request,
    hub: TheHub,
    listing: TheListing,
    limit: Annotated[int, Query(ge=1, le=MOST_LISTED)] = 100,
    offset: Annotated[int, Query(ge=0, le=2**31)] = 0,
    brief: Annotated[
        bool, Query(description="Return all names, and nothing else: it is quick. None can be chosen.")
    ] = False,
    state: Annotated[bodies.ListState | None, Query(description="Only studies in this state.")] = None,
    tag: Annotated[str | None, Query(max_length=LONGEST_TAG, description="Only studies with this tag.")] = None,
    search: Annotated[str, Query(max_length=LONGEST_NAME, description="A part of name, tags, note or leader.")] = "",
    sort: Annotated[bodies.Sort, Query(description="What to sort by.")] = "created",
    descending: bool = True,
) -> Response:
    """The studies, the newest first, or as they are to be sorted."""
    if brief:
        given = ", ".join(name for name in CHOOSING if name in request.query_params)
        if given:
            told = f"lists all names, the newest first, and takes nothing that chooses or sorts: leave out {given}"
            raise InvalidInput([Fault("brief", told)], "call")
        names = (await hub.in_thread(hub.storage.names))[::-1]
        return answer({"studies": [{"name": name} for name in names[offset : offset + limit]], "total": len(names)})
    lines, tags = await listing.lines(Wanted(state, tag, search, sort, descending))
    studies = [line.to_dict() for line in lines[offset : offset + limit]]
    return answer({"studies": studies, "total": len(lines), "tags": tags})


@api.post("/api/v1/studies", status_code=201, response_model=replies.Created, responses=LARGE_WRITES)
async def create(body: bodies.NewStudy, hub: TheHub) -> Response:
    """Create a study."""

    def work() -> str:
        settings = body.model_dump(exclude={"spec"})
        return create_study(read_spec(body.spec), **settings, storage=hub.storage).name

    return _created(hub, await hub.while_opening(work))


def _created(hub: Hub, name: str) -> Response:
    opening = hub.opening(name)  # at once: the first study of its kind may have to compile
    opening.add_done_callback(lambda opened: opened.cancelled() or opened.exception())
    made = answer({"name": name}, 201)
    made.headers["Location"] = f"/api/v1/studies/{quote(name, safe='')}"
    return made


# --- one study


@api.get(STUDY, response_model=replies.SettingsBody, responses=READS)
async def settings(desk: TheDesk) -> Response:
    """The settings of the study: its problem, risk, strategy and stopping rule."""
    return answer(await desk.read(lambda: in_steps(desk.study.settings.to_dict())))


@api.post(f"{STUDY}/ask", response_model=replies.Trials, responses=WRITES)
async def ask(body: bodies.Ask, desk: TheDesk) -> Response:
    """The next evaluations to make."""
    given: dict[str, Any] = {"lease": body.lease, "request": body.request, "worker": body.worker or ""}
    trials = await desk.call(lambda: desk.study.ask_many(body.n, **given))
    return answer({"trials": [trial.to_dict() for trial in trials]})


async def _change(desk: Desk, work: Callable[[Study], None]) -> Response:
    def call() -> str:
        work(desk.study)
        return desk.study.state

    return answer({"state": await desk.call(call)})


@api.post(f"{STUDY}/tell", response_model=replies.Done, responses=WRITES)
async def tell(body: bodies.Tell, desk: TheDesk) -> Response:
    """Report the value of a trial or, if it has parts, their values, in their order. It is on disk when this returns.
    Reporting the same again changes nothing."""
    return await _change(desk, lambda study: study.tell(body.trial, body.told))


@api.post(f"{STUDY}/tell-many", response_model=replies.Done, responses=LARGE_WRITES)
async def tell_many(body: bodies.TellMany, desk: TheDesk) -> Response:
    """Report many results at once: all of them are kept, or none. Reporting the same again changes nothing."""
    results = [(result.trial, result.told) for result in body.results]
    return await _change(desk, lambda study: study.tell_many(results))


@api.post(f"{STUDY}/fail", response_model=replies.Done, responses=WRITES)
async def fail(body: bodies.Fail, desk: TheDesk) -> Response:
    """Report that a trial has no value and never will. Reporting it again changes nothing."""
    return await _change(desk, lambda study: study.fail(body.trial, body.reason))


@api.post(f"{STUDY}/renew", response_model=replies.Done, responses=WRITES)
async def renew(body: bodies.Renew, desk: TheDesk) -> Response:
    """Extend the lease of a trial that is still being evaluated."""
    return await _change(desk, lambda study: study.renew(body.trial, lease=body.lease))


@api.post(f"{STUDY}/release", response_model=replies.Done, responses=WRITES)
async def release(body: bodies.Release, desk: TheDesk) -> Response:
    """Give a trial back: the next caller that asks receives it."""
    return await _change(desk, lambda study: study.release(body.trial))


@api.post(f"{STUDY}/add", response_model=replies.Done, responses=WRITES)
async def add(body: bodies.Add, desk: TheDesk) -> Response:
    """Count values that were measured elsewhere, at no cost. Adding them again counts them again."""
    return await _change(desk, lambda study: study.add(body.arm, body.fidelity, body.values))


@api.post(f"{STUDY}/reopen", status_code=201, response_model=replies.Created, responses=WRITES)
async def reopen(body: bodies.Reopen, desk: TheDesk, hub: TheHub) -> Response:
    """Create a study with other bias bounds that goes on with all values of this one."""

    def work() -> str:
        bias = {name: bound if isinstance(bound, float) else (bound[0], bound[1]) for name, bound in body.bias.items()}
        return desk.study.reopen(body.name, bias, max_cost=body.max_cost).name

    return _created(hub, await hub.while_opening(work))


@api.get(f"{STUDY}/status", response_model=replies.StatusBody, responses=READS)
async def status(desk: TheDesk) -> Response:
    """Where the study stands."""
    return answer(await desk.read(lambda: in_steps(tables_of(desk.study.status()))))


@api.get(f"{STUDY}/result", response_model=replies.ResultBody, responses=READS)
async def result(desk: TheDesk) -> Response:
    """The verdict, once there is one; it is short, however many arms there are."""

    def work() -> dict[str, Any]:
        found = desk.study.result
        said = None if found is None else result_to_dict(found, desk.study.problem)
        return {"state": "running" if found is None else found.state, "result": said}

    return answer(await desk.read(work))


@api.get(f"{STUDY}/trials", response_model=replies.OpenTrials, responses=READS)
async def trials(desk: TheDesk) -> Response:
    """The trials under way."""

    def work() -> bytes:
        found = desk.study.trials()
        rows = [{"id": trial, "arm_index": arm, "fidelity_index": fidelity} for trial, (arm, fidelity) in found]
        return in_steps({"trials": rows})

    return answer(await desk.read(work))


@api.get(
    f"{STUDY}/view",
    response_model=replies.View,
    responses={**READS, 304: {"description": "Nothing has changed since the view of that `ETag`."}},
)
async def view(desk: TheDesk, if_none_match: Annotated[str, Header()] = "") -> Response:
    """What the page shows: the status, its history, the optimal shares, the latest events."""
    mark, made = await desk.news(if_none_match.removeprefix("W/").strip('"'))
    response = Response(status_code=304) if made is None else answer(made)
    response.headers["ETag"] = f'"{mark}"'
    return response


@api.get(f"{STUDY}/arms", response_model=replies.Found, responses=READS)
async def arms(
    desk: TheDesk,
    search: Annotated[str, Query(max_length=LONGEST_NAME, description="A part of the name, in any case.")] = "",
    limit: Annotated[int, Query(ge=1, le=bodies.MOST_FOUND)] = SHOWN,
    offset: Annotated[int, Query(ge=0, le=2**31)] = 0,
) -> Response:
    """The arms whose names contain a text: where each stands, as in `view`."""
    return answer(await desk.arms(search, limit, offset))


@api.get(f"{STUDY}/journal", response_model=replies.Journal, responses=READS)
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

    return answer(await desk.read(work))


@api.get(
    f"{STUDY}/trials.csv",
    response_class=Response,
    responses={**READS, 200: {"description": "The table.", "content": {"text/csv": {}}}},
)
async def trials_csv(desk: TheDesk) -> Response:
    """The trials as a table in CSV, a row for each."""
    text = await desk.read(lambda: desk.study.to_csv().encode())
    return Response(text, media_type="text/csv", headers=file_headers(desk.study, "trials", "csv"))


@api.get(
    f"{STUDY}/report",
    response_class=Response,
    responses={**READS, 200: {"description": "The page.", "content": {"text/html": {}}}},
)
async def report(desk: TheDesk) -> Response:
    """The certificate as a web page that opens without a server."""
    text = await desk.read(lambda: desk.study.report().encode())
    return Response(text, media_type="text/html", headers=file_headers(desk.study, "report", "html"))


@api.get(f"{STUDY}/export", response_model=dict[str, Any], responses=READS)
async def export(desk: TheDesk) -> Response:
    """The certificate, which `mfbai study verify` checks."""
    made = await desk.read(lambda: make_certificate(desk.study))
    headers = file_headers(desk.study, "certificate", "json")
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
