"""mfbai warmup."""

from __future__ import annotations

import time
from typing import Annotated

import typer


def warmup(
    families: Annotated[
        list[str] | None,
        typer.Argument(metavar="FAMILY", help="Such as gaussian or bounded; all of them if none is given."),
    ] = None,
) -> None:
    """Compile ahead of the first use.

    What mfbai computes with is compiled when it is first needed, and kept. This compiles all of it now: in a container
    image, or once for all nodes of a cluster. With a wheel that has it, there is nothing to do.

    Example: mfbai warmup gaussian bounded
    """
    from mfbai.checks import check_choice
    from mfbai.errors import Faults
    from mfbai.kernels import store
    from mfbai.model.families import FAMILIES
    from mfbai.terminal import counter
    from mfbai.warmup import compile_families

    faults = Faults()
    for name in families or ():
        check_choice(faults, "family", name, FAMILIES)
    faults.raise_if_any("call")
    chosen, begun = families or list(FAMILIES), time.perf_counter()
    with counter(len(set(chosen)), "compiling") as advance:
        compile_families(chosen, lambda: advance(1))
    kept, seconds = store.folder(), time.perf_counter() - begun
    typer.echo(f"Ready for {', '.join(dict.fromkeys(chosen))}, after {seconds:.0f} seconds.")
    if store.is_writable(kept):
        typer.echo(f"Compiled code is kept in {kept}.")
    else:
        typer.echo(f"Nothing is kept: {kept} cannot be written to. Set NUMBA_CACHE_DIR to another folder.", err=True)


def add_to(app: typer.Typer) -> None:
    app.command()(warmup)
