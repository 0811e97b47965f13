"""What callers send: the study that a path names, JSON bodies, specs. All are read with suspicion."""

from __future__ import annotations

import json
import re
import reprlib
from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, get_type_hints
from urllib.parse import unquote

from fastapi import Depends, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException

from mfbai.errors import Fault, InvalidInput, UnknownName
from mfbai.model.instance import Instance
from mfbai.model.problem import Problem
from mfbai.model.spec import from_dict, parse
from mfbai.study.limits import KEY, LONGEST_NAME
from mfbai.web.errors import MOST_FAULTS, PATTERNS
from mfbai.web.hub import Desk, Hub, Keeper
from mfbai.web.listing import Listing
from mfbai.web.uploads import LARGEST_BODY, Receive, Scope, Send

MOST_ARMS = 100_000
MOST_FIDELITIES = 1000
MOST_CELLS = 1_000_000
MOST_ENTRIES = 8_000_000  # of a large body: numbers, texts, lists and tables, which take more memory than bytes
LONGEST_TEXT = 1 << 22  # characters of a spec in TOML, which takes longer to read than JSON
QUICK = 1 << 16  # bytes of a body that is read at once
MOST_SHOWN = 1000  # entries of what is wrong
MOST_OTHERS = 1000  # seeds of a controlled fidelity
MOST_DOTS = 50  # of a key: TOML readers take hours for a very long one
PART = r"""(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+"""
DOTTED = re.compile(rf"(?<![\w-])(?:{PART}){{{MOST_DOTS}}}", re.ASCII)


# --- what a call is about


async def hub_of(request: Request) -> Hub:
    hub: Hub = request.app.state.hub
    return hub


KEY_IN_WORDS = "The study's own key, in which the ids of its trials end: if it was renamed, the answer says how."
Key = Annotated[str | None, Query(pattern=f"^{KEY}$", description=KEY_IN_WORDS)]


async def desk_of(name: str, request: Request, key: Key = None) -> Desk:
    """The study that the path names."""
    return await (await hub_of(request)).desk(_decoded(name), key)


async def keeper_of(name: str, request: Request, key: Key = None) -> Keeper:
    """The same, to be looked after."""
    return await (await hub_of(request)).keeper(_decoded(name), key)


def _decoded(name: str) -> str:
    """The name is encoded in the path, as it may hold slashes."""
    try:
        return unquote(name, errors="strict")
    except UnicodeDecodeError:
        raise UnknownName([Fault("unknown study", f"{name!r}: it is not UTF-8")], "study") from None


async def listing_of(request: Request) -> Listing:
    listing: Listing = request.app.state.listing
    return listing


TheHub = Annotated[Hub, Depends(hub_of)]
TheListing = Annotated[Listing, Depends(listing_of)]
TheDesk = Annotated[Desk, Depends(desk_of)]
TheKeeper = Annotated[Keeper, Depends(keeper_of)]
FINDERS = {"desk": desk_of, "keeper": keeper_of}


class BodyRoute(APIRoute):
    """A route that reads its own body: FastAPI takes longer for that than the call itself takes."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            await super().handle(scope, receive, send)  # answers with the methods that are allowed
            return
        request = Request(scope, receive)
        wanted = _parameters(self.endpoint)
        given: dict[str, Any] = {}
        if "hub" in wanted:
            given["hub"] = await hub_of(request)
        for entry in wanted.keys() & FINDERS.keys():
            key = request.query_params.get("key")
            if key is not None and not re.fullmatch(KEY, key):
                raise InvalidInput([Fault("key", f"is {key!r:.60}: {PATTERNS['key']}")], "call")
            given[entry] = await FINDERS[entry](request.path_params["name"], request, key)
        message = await receive()  # the guard has all of it
        given["body"] = await _validated(wanted["body"], message.pop("body"), await hub_of(request))
        response: Response = await self.endpoint(**given)
        await response(scope, receive, send)


@cache
def _parameters(endpoint: Callable[..., Any]) -> dict[str, Any]:
    return get_type_hints(endpoint)


async def _validated(model: type[BaseModel], body: bytes, hub: Hub) -> BaseModel:
    """A body as the description has it. Others need not wait while a long one is read."""
    if len(body) <= QUICK:
        return _validate(model, [body])
    handed = [body]
    del body  # the thread has it, and forgets it as soon as it is parsed
    return await hub.in_thread(lambda: _validate(model, handed))


def _validate(model: type[BaseModel], body: list[bytes]) -> BaseModel:
    try:
        return model.model_validate(_read_json(body.pop()))
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False)[:MOST_FAULTS]
        faults = [{**fault, "loc": ("body", *fault["loc"]), "input": _shown(fault["input"])} for fault in found]
    raise RequestValidationError(faults)


def _shown(given: Any) -> Any:
    """What is said of a wrong entry: not all of a long one."""
    if isinstance(given, list | dict) and len(given) > MOST_SHOWN:
        return Shown(f"a {'list' if isinstance(given, list) else 'table'} of {len(given):,} entries")
    if isinstance(given, str):
        return given[:MOST_SHOWN]
    return Shown(reprlib.repr(given)) if isinstance(given, list | dict) else given


class Shown(str):
    """A text that stands for something else."""

    __repr__ = str.__str__


def _read_json(body: bytes) -> Any:
    """A body that has one meaning: of two equal keys, some readers take the first and others the last."""
    if not body:
        raise InvalidInput([Fault("the body", "is missing: add it")])
    if len(body) > LARGEST_BODY and sum(map(body.count, (b",", b"[", b"{"))) > MOST_ENTRIES:
        raise HTTPException(400, f"the body holds too much: {MOST_ENTRIES:,} numbers, texts, lists and tables at most")
    try:
        text = body.decode("utf-8")
        del body
        return json.loads(text, object_pairs_hook=_once, parse_constant=_no_number, parse_float=_number)
    except RecursionError:
        raise HTTPException(400, "the body is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise HTTPException(400, f"the body is not JSON: {error}") from None
    except UnicodeDecodeError:
        raise HTTPException(400, "the body is not JSON: it must be UTF-8") from None
    except ValueError:  # Python reads no integer of thousands of digits
        raise HTTPException(400, "the body holds a number of too many digits: shorten it") from None


def _number(text: str) -> float:
    """A Python function lets other threads run, which the parser does not do by itself."""
    return float(text)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise HTTPException(400, "the body has a key twice in one object: leave one of them out")
    return made


def _no_number(constant: str) -> Any:
    raise HTTPException(400, f"the body is not JSON: {constant} is none of its numbers")


# --- specs


def read_spec(spec: str | dict[str, Any]) -> Problem:
    """The problem of a spec that was sent. Its size is checked first: a few characters can ask for a million arms."""
    try:
        document = _parse(spec) if isinstance(spec, str) else spec
        _check_size(document)
        found = from_dict(document, ties=True)
    except RecursionError:
        raise InvalidInput([Fault("spec", "is nested too deeply")]) from None
    except InvalidInput:
        raise
    except ValueError:  # Python reads long hexadecimal numbers of TOML, and cannot show them
        raise InvalidInput([Fault("spec", "holds a number of too many digits: shorten it")]) from None
    return found.problem if isinstance(found, Instance) else found


def _parse(text: str) -> dict[str, Any]:
    if len(text) > LONGEST_TEXT:
        told = f"is too large: text of {LONGEST_TEXT:,} characters at most; send its tables as JSON"
        raise InvalidInput([Fault("spec", told)])
    if DOTTED.search(text):
        raise InvalidInput([Fault("spec", f"has a key of {MOST_DOTS} or more parts: write tables, such as [problem]")])
    try:
        return parse(text)
    except InvalidInput as error:
        told = "; send the text itself: names and files are not looked up" if "\n" not in text else ""
        raise InvalidInput([Fault("spec", f"{fault.message}{told}") for fault in error.faults]) from None


def _check_size(document: dict[str, Any]) -> None:
    problem, truth, tables = document.get("problem"), document.get("truth"), document.get("fidelity")
    problem, truth = (table if isinstance(table, dict) else {} for table in (problem, truth))
    tables = [table for table in tables if isinstance(table, dict)] if isinstance(tables, list) else []
    arms = problem.get("arms")
    columns = [truth.get("means"), *(table.get(entry) for table in tables for entry in ("cost", "bias"))]
    rows = [len(column) for column in [arms, *columns] if isinstance(column, list)]
    n_arms = max([*rows, arms if isinstance(arms, int) else 0, 2])
    if n_arms > MOST_ARMS or len(tables) > MOST_FIDELITIES or n_arms * len(tables) > MOST_CELLS:
        most = f"{MOST_ARMS:,} arms, {MOST_FIDELITIES:,} fidelities and {MOST_CELLS:,} cells (arms x fidelities)"
        raise InvalidInput([Fault("spec", f"is too large: this server takes {most} at most")])
    controls = [table.get("controlled") for table in tables]
    others = [entry.get("others") for entry in controls if isinstance(entry, dict)]
    if any(isinstance(count, int) and count > MOST_OTHERS for count in others):
        raise InvalidInput([Fault("spec", f"has too many parts: this server takes {MOST_OTHERS} other seeds at most")])
    names = [*(arms if isinstance(arms, list) else []), *(table.get("name") for table in tables)]
    if any(isinstance(name, str) and len(name) > LONGEST_NAME for name in names):
        raise InvalidInput([Fault("spec", f"has a name of more than {LONGEST_NAME} characters: shorten it")])
