"""mfbai study: a file for a group of commands.

create.py       begin a study
reopen.py       go on with other bias bounds
care.py         rename, note, tag, pause, resume, delete
table.py        trials as CSV; values from elsewhere
listing.py      the studies of a storage
trials.py       ask, tell, fail, release: what a worker does by hand
status.py       where a study stands
run.py          run a program for each evaluation
certificate.py  export and verify
common.py       arguments that several have, and commands to suggest
"""

from __future__ import annotations

import typer

from mfbai.cli.study import care, certificate, create, listing, reopen, run, status, table, trials

app = typer.Typer(
    help="Live studies: ask, evaluate, tell, until the verdict.\n\n"
    "Example: mfbai study create problem.toml --name designs --delta 0.05",
    no_args_is_help=True,
    rich_markup_mode=None,
)
for module in (create, listing, trials, status, run, table, care, reopen, certificate):
    module.add_to(app)


def add_to(parent: typer.Typer) -> None:
    parent.add_typer(app, name="study")
