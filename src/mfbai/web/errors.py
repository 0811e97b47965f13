"""Exceptions as responses (RFC 9457): every error that a caller sees has the same form."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from mfbai.errors import (
    Fault,
    InvalidInput,
    LabelChanged,
    MfbaiError,
    NothingToAsk,
    StorageError,
    StudyGone,
    StudyOver,
    StudyRenamed,
    StudyUnreadable,
    TrialClosed,
    UnknownName,
)
from mfbai.study import limits
from mfbai.study.storage import NameTaken
from mfbai.web.bodies import as_json

LONGEST_DETAIL = 4000  # characters
LONGEST_FAULT = 1000  # characters of each fault
MOST_FAULTS = 100  # in one answer
MEDIA_TYPE = "application/problem+json"
PATTERNS = {
    "trial": "give the id of a trial, as `ask` returned it",
    "request": limits.REQUEST_IN_WORDS,
    "key": "give the last 8 characters of a trial's id",
}
STATUS_OF: dict[type[MfbaiError], int] = {
    NothingToAsk: 409,
    LabelChanged: 409,
    StudyGone: 404,
    StudyOver: 409,
    StudyRenamed: 404,
    StudyUnreadable: 500,
    TrialClosed: 409,
    NameTaken: 409,
    InvalidInput: 422,
    StorageError: 503,
}


def error_body(status: int, name: str, detail: str, **more: Any) -> bytes:
    """The body of a response (`replies.ErrorBody`); `name` is the exception's, for programs."""
    return as_json({"type": f"urn:mfbai:{name}", "title": name, "status": status, "detail": detail, **more})


def add_handlers(app: FastAPI) -> None:
    """Answer to every exception with a response of the same form."""
    app.add_exception_handler(MfbaiError, on_error)
    app.add_exception_handler(RequestValidationError, on_bad_request)
    app.add_exception_handler(HTTPException, on_http_error)
    app.add_exception_handler(Exception, on_defect)


def _response(status: int, name: str, detail: str, headers: dict[str, str] | None = None, **more: Any) -> Response:
    body = error_body(status, name, detail[:LONGEST_DETAIL], **more)
    return Response(body, status, media_type=MEDIA_TYPE, headers=headers)


async def on_error(request: Request, error: Any) -> Response:
    """An error of the library, in its own words."""
    kind = type(error)
    status = (
        next(STATUS_OF[base] for base in kind.__mro__ if base in STATUS_OF) if isinstance(error, MfbaiError) else 500
    )
    if isinstance(error, UnknownName) and error.what == "study":
        status = 404
    faults = [_shortened(fault) for fault in error.faults[:MOST_FAULTS]] if isinstance(error, InvalidInput) else None
    more: dict[str, Any] = {} if faults is None else {"faults": faults}
    if isinstance(error, StudyOver) and error.state is not None:
        more["state"] = error.state
    if isinstance(error, StudyRenamed):
        more["renamed_to"] = error.name
    headers = {"Retry-After": "1"} if isinstance(error, NothingToAsk | StorageError) else None
    return _response(status, kind.__name__, str(error), headers, **more)


def _shortened(fault: Fault) -> dict[str, str]:
    return {name: text[:LONGEST_FAULT] for name, text in fault._asdict().items()}


async def on_bad_request(request: Request, error: Any) -> Response:
    """A request that the description of the API does not allow."""
    refusal = InvalidInput([_fault(fault) for fault in error.errors()[:MOST_FAULTS]], "call")
    return await on_error(request, refusal)


def _fault(found: dict[str, Any]) -> Fault:
    """A fault that pydantic found, as the library would word it."""
    place = ".".join(str(part) for part in found["loc"][1:]) or "the body"
    if found["type"] == "missing":
        return Fault(place, "is missing: add it")
    if found["type"] == "extra_forbidden":
        return Fault(place, "is not known: leave it out, or check its spelling")
    if found["type"] == "string_pattern_mismatch":
        return Fault(place, f"is {found['input']!r:.60}: {PATTERNS[str(found['loc'][-1])]}")
    subject, should, rest = found["msg"].partition("should ")
    told = f"it should {rest}" if should else f"{subject[:1].lower()}{subject[1:]}"
    return Fault(place, f"is {found['input']!r:.60}: {told}")


async def on_http_error(request: Request, error: Any) -> Response:
    """A path or method that does not exist, or a body that is not JSON."""
    names = {400: "InvalidInput", 404: "NotFound", 405: "MethodNotAllowed"}
    told = {404: "there is nothing here: see /openapi.json", 405: "another method is needed: see /openapi.json"}
    headers = dict(error.headers or {})
    name = names.get(error.status_code, "HTTPError")
    return _response(error.status_code, name, told.get(error.status_code, str(error.detail)), headers)


async def on_defect(request: Request, error: Exception) -> Response:
    """A bug in the server: the log has the traceback, the answer has nothing of it."""
    return _response(500, "InternalError", "the server made a mistake: its log says more")
