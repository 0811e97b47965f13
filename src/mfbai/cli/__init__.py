"""The `mfbai` command: thin commands that parse, call the library and print. They import heavy modules when called.

demo.py evidence.py instances.py oracle.py pilot.py plan.py reproduce.py serve.py simulate.py warmup.py
              one command each
study/        `mfbai study` and its commands
options.py    options that several commands share, and how their texts are read
numbers.py    numbers as people read them
output.py     printing: tables and JSON
views/        what several commands, or live displays, show
"""

from __future__ import annotations

import errno
import os
import sys

import typer

from mfbai.cli import demo, evidence, instances, oracle, pilot, plan, reproduce, serve, simulate, study, warmup
from mfbai.cli.options import repeat_options

app = typer.Typer(
    help="Find the best of K alternatives with a stated risk at the least cost, over several fidelities.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for module in (demo, instances, pilot, plan, study, simulate, reproduce, oracle, evidence, serve, warmup):
    module.add_to(app)


def show_version(wanted: bool) -> None:
    if wanted:
        from mfbai._version import __version__

        typer.echo(f"mfbai {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(False, "--version", callback=show_version, is_eager=True, help="Print the version."),
) -> None:
    pass


def main() -> None:
    """Run the command line. Bad input ends it with exit code 2 and a message that says what to do."""
    try:
        app(repeat_options(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        from mfbai.errors import MfbaiError

        if isinstance(error, OSError) and error.errno == errno.ENOSPC and error.filename is None:
            typer.echo(f"error: the output cannot be written: {error.strerror}", err=True)
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what is still to be written
            sys.exit(2)
        if not isinstance(error, MfbaiError):
            raise
        typer.echo(f"error: {error}", err=True)
        sys.exit(2)
