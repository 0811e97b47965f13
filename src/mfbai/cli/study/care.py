"""mfbai study rename, note, tag, pause, resume, delete: care for a study."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mfbai.cli.options import DEFAULT_STORAGE, JSON, STORAGE
from mfbai.cli.output import print_json, quoted
from mfbai.cli.study.common import NAME, elsewhere, load, or_input

if TYPE_CHECKING:
    from mfbai.study import Study


def rename(
    name: Annotated[str, NAME],
    new: Annotated[str, typer.Argument(metavar="NEW_NAME", help="What to call it.", show_default=False)],
    storage: Annotated[str, STORAGE] = DEFAULT_STORAGE,
    as_json: bool = JSON,
) -> None:
    """Give a study another name.

    Its journal, trials and certificate stay as they are. Workers on a server go on; those with --storage too, but the
    next command has to use the new name.

    Example: mfbai study rename designs "Wing designs, spring"
    """
    study = load(name, storage)
    study.rename(new)
    say(study, f"Study {name!r} is called {new!r} now.", as_json)


def note(
    name: Annotated[str, NAME],
    text: Annotated[str | None, typer.Option(help="The note, in Markdown.", show_default=False)] = None,
    file: Annotated[
        Path | None, typer.Option(allow_dash=True, help="A file with the note; - is standard input.")
    ] = None,
    storage: Annotated[str, STORAGE] = DEFAULT_STORAGE,
    as_json: bool = JSON,
) -> None:
    """Print the note of a study, or write it.

    A note is Markdown for people: why this study, what was decided. It is not part of the proof.

    Example: mfbai study note designs --text "Asked by the *wing* team. See the **old** study."
    """
    study = load(name, storage)
    given = read_note(text, file)
    if given is not None:
        study.set_note(given)
    if as_json or given is not None:
        say(study, f"The note of study {name!r} is written.", as_json)
    elif study.note:
        typer.echo(study.note)
    else:
        typer.echo(f"Study {name!r} has no note.", err=True)


def read_note(text: str | None, file: Path | None) -> str | None:
    from mfbai.errors import Faults
    from mfbai.textfiles import read_text

    faults = Faults()
    if text is not None and file is not None:
        faults.add("--text", "and --file: give one of them")
    faults.raise_if_any("call")
    return text if file is None else read_text(or_input(file)).rstrip("\r\n")


def tag(
    name: Annotated[str, NAME],
    add: Annotated[list[str] | None, typer.Argument(metavar="[TAG]...", help="Tags to add.")] = None,
    remove: Annotated[
        list[str] | None, typer.Option(metavar="TAG", help="A tag to remove; repeat it for several.")
    ] = None,
    storage: Annotated[str, STORAGE] = DEFAULT_STORAGE,
    as_json: bool = JSON,
) -> None:
    """Print the tags of a study, add some, remove some.

    `mfbai study list --tag TAG` finds studies by them.

    Example: mfbai study tag designs wing spring --remove draft
    """
    study = load(name, storage)
    if add or remove:
        check_removed(study, remove or [])
        before = study.tags
        study.set_tags([tag for tag in (*before, *(add or [])) if tag not in (remove or [])], before=before)
    say(study, ", ".join(study.tags) or f"Study {name!r} has no tags.", as_json)


def check_removed(study: Study, tags: list[str]) -> None:
    from mfbai.errors import Faults, suggestion

    faults = Faults()
    for tag in set(tags) - set(study.tags):
        faults.add("--remove", f"is {tag!r}, which study {study.name!r} does not have: {suggestion(tag, study.tags)}")
    faults.raise_if_any("call")


def pause(name: Annotated[str, NAME], storage: Annotated[str, STORAGE] = DEFAULT_STORAGE, as_json: bool = JSON) -> None:
    """Let a study hand out nothing until it is resumed.

    Workers finish the evaluations they have, then wait. Their results count as ever.

    Example: mfbai study pause designs
    """
    study = load(name, storage)
    study.pause()
    again = f"mfbai study resume {quoted(name)}{elsewhere(storage, study)}"
    say(study, f"Study {name!r} is paused; to go on: {again}", as_json)


def resume(
    name: Annotated[str, NAME], storage: Annotated[str, STORAGE] = DEFAULT_STORAGE, as_json: bool = JSON
) -> None:
    """Let a paused study hand out evaluations again.

    Example: mfbai study resume designs
    """
    study = load(name, storage)
    study.resume()
    verdict = study.result
    over = f"Study {name!r} is over, and hands out nothing: {verdict}"
    say(study, f"Study {name!r} hands out evaluations." if verdict is None else over, as_json)


def delete(
    name: Annotated[str, NAME],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    storage: Annotated[str, STORAGE] = DEFAULT_STORAGE,
    as_json: bool = JSON,
) -> None:
    """Delete a study, with its journal and all results.

    It cannot be undone: keep a certificate (`mfbai study export`). Workers on it end with a message.

    Example: mfbai study delete designs --yes
    """
    from mfbai.errors import Fault, InvalidInput

    study = load(name, storage)
    if not yes:
        typer.echo(f"{lost(study)} They cannot be brought back.", err=True)
        if not sys.stdin.isatty():
            raise InvalidInput([Fault("--yes", "is needed where nobody can be asked: nothing was deleted")])
        if typer.prompt("To delete it, type its name", err=True, default="", show_default=False) != name:
            typer.echo("Nothing was deleted.", err=True)
            raise typer.Exit(1)
    study.delete()
    if as_json:
        print_json({"name": name, "deleted": True})
    else:
        typer.echo(f"Study {name!r} is deleted.")


def lost(study: Study) -> str:
    """What is deleted with a study."""
    from mfbai.errors import InvalidInput, StudyUnreadable
    from mfbai.study import sentences

    try:
        status = study.status()
    except (InvalidInput, StudyUnreadable):
        return f"The journal of study {study.name!r}, of length {study.length()}, cannot be read here."
    return f"Study {study.name!r} has {sentences.progress(status)}{', and a note' if study.note else ''}."


def say(study: Study, text: str, as_json: bool) -> None:
    if as_json:
        print_json(to_dict(study))
    else:
        typer.echo(text)


def to_dict(study: Study) -> dict[str, Any]:
    label = study.read_label()
    return {"name": label.name, "paused": label.paused, "note": label.note, "tags": list(label.tags)}


def add_to(app: typer.Typer) -> None:
    for command in (rename, note, tag, pause, resume, delete):
        app.command()(command)
