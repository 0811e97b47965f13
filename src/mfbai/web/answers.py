"""What all routes answer with: JSON, files, and the refusals that the description names."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from fastapi import Response

from mfbai.study import Study
from mfbai.web.bodies import as_json
from mfbai.web.errors import MEDIA_TYPE

STUDY = "/api/v1/studies/{name}"


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """For the description: the statuses of refused calls."""
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ErrorBody"}}}
    return {status: {"description": "Refused.", "content": content} for status in (400, 401, 403, 421, *statuses)}


READS = refusals(404, 422, 503)
WRITES = refusals(404, 409, 413, 415, 422, 503)
LARGE_WRITES = refusals(404, 408, 409, 413, 415, 422, 503)


def answer(value: Any, status: int = 200) -> Response:
    """An answer in JSON, which no cache keeps."""
    body = value if isinstance(value, bytes) else as_json(value)
    return Response(body, status, media_type="application/json", headers={"Cache-Control": "no-store"})


def file_headers(study: Study, what: str, kind: str) -> dict[str, str]:
    """Headers of an answer that browsers save as a file."""
    named = f"attachment; filename={what}.{kind}; filename*=UTF-8''{quote(study.name, safe='')}.{kind}"
    return {"Content-Disposition": named, "Cache-Control": "no-store"}
