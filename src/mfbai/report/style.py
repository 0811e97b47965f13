"""The one look of all pictures: readable from the back of a room, and in every kind of colour vision."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mfbai.errors import Fault, Faults, InvalidInput

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

# Okabe and Ito's colours, which people of all kinds of colour vision can tell apart; black is for what matters most.
BLACK, ORANGE, SKY, GREEN, BLUE, RED, PINK = "#000000", "#e69f00", "#56b4e9", "#009e73", "#0072b2", "#d55e00", "#cc79a7"
COLOURS = (BLUE, ORANGE, GREEN, RED, SKY, PINK)
# Dashes, so that colour is never the only difference. They repeat after four, and colours after six: 12 looks.
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 1.5, 1, 1.5)))
FAINT = "#8a8a8a"
TIMES = "\N{MULTIPLICATION SIGN}"

RC: dict[str, Any] = {
    "figure.figsize": (8.0, 5.0),
    "figure.dpi": 100,
    "figure.constrained_layout.use": True,
    "savefig.dpi": 200,
    "font.size": 12,
    "axes.titlesize": 14,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 28.0,
    "axes.labelsize": 12,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#444444",
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.8,
    "lines.linewidth": 2.2,
    "lines.solid_capstyle": "round",
    "legend.frameon": True,
    "legend.framealpha": 0.85,
    "legend.edgecolor": "none",
    "legend.fontsize": 11,
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
}


def check_file(faults: Faults, field: str, path: Path) -> None:
    """Note why no picture can be saved there: to be found out before the work, not after it."""
    try:
        from matplotlib.backend_bases import FigureCanvasBase
    except ImportError:
        faults.add(field, 'needs matplotlib: pip install "mfbai[plot]"')
        return
    known = sorted(FigureCanvasBase.get_supported_filetypes())
    suffix = path.suffix.lower().removeprefix(".")
    if suffix not in known:
        told = f"{str(path)!r} {f'ends in {path.suffix!r}' if suffix else 'has no ending'}"
        faults.add(field, f"{told}: name it as a picture, such as plan.png; known: {', '.join(known)}")
    if not path.parent.is_dir():
        faults.add(field, f"{str(path)!r} is in a folder that does not exist: make {str(path.parent)!r} first")
    elif path.is_dir():
        faults.add(field, f"{str(path)!r} is a folder: give the name of a picture in it")


@contextmanager
def picture(path: str | Path) -> Iterator[Axes]:
    """Axes in our style, whose figure is saved to `path` at the end of the block."""
    file, faults = Path(path), Faults()
    check_file(faults, "path", file)
    faults.raise_if_any("picture")
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # the same picture on every machine, whatever its own settings
        matplotlib.rcParams.update(RC)  # type: ignore[arg-type]  # knows its keys one by one
        figure = Figure()
        yield figure.subplots()
        try:
            figure.savefig(file)
        except OSError as error:
            raise InvalidInput([Fault(str(file), f"cannot be written: {error.strerror}")]) from None


def plain_log_ticks(axis: Axis) -> None:
    """1, 2, 5, 10, ... in plain numbers, for an axis that is logarithmic."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())


def times_axis(axes: Axes, highest: float) -> None:
    """A y axis for factors, from about 1 to `highest`: "2x" says two times."""
    from matplotlib.ticker import FuncFormatter

    if highest > 4:
        axes.set_yscale("log")
        plain_log_ticks(axes.yaxis)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}{TIMES}"))
    axes.axhline(1.0, color=FAINT, linewidth=1.0)
    axes.set_ylim(bottom=0.9)
