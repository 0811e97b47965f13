"""The one look of all pictures: readable from the back of a room, and in every kind of colour vision."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from math import log10
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mfbai.errors import Fault, Faults, InvalidInput
from mfbai.files import replacing

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.legend import Legend

    from mfbai.plots.picture import Picture

# Okabe and Ito's colours, which people of all kinds of colour vision can tell apart; black is for what matters most.
BLACK, ORANGE, SKY, GREEN, BLUE, RED, PINK = "#000000", "#e69f00", "#56b4e9", "#009e73", "#0072b2", "#d55e00", "#cc79a7"
COLOURS = (BLUE, ORANGE, GREEN, RED, SKY, PINK)
# Not theirs: much darker than the colours they could be taken for.
BROWN, INDIGO = "#7a4a21", "#4b0082"
# Dashes, so that colour is never the only difference. They repeat after four, and colours after six: 12 lines differ.
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
    "svg.hashsalt": "mfbai",  # or ids would be random
    "pdf.fonttype": 42,
    "hatch.linewidth": 0.6,
}
UNDATED = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}  # the same picture is the same file


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
        faults.add(field, f"{told}: name it as a picture, such as {path.stem or 'plan'}.png; known: {', '.join(known)}")
    if not path.parent.is_dir():
        faults.add(field, f"{str(path)!r} is in a folder that does not exist: make {str(path.parent)!r} first")
    elif path.is_dir():
        faults.add(field, f"{str(path)!r} is a folder: give the name of a picture in it")


@contextmanager
def own_settings() -> Iterator[None]:
    """Our settings of matplotlib in this block: the same picture on every machine, whatever its own."""
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(RC)  # type: ignore[arg-type]  # knows its keys one by one
        yield


@contextmanager
def drawing(size: tuple[float, float] | None = None) -> Iterator[Picture]:
    """A figure in our style, to be drawn in the block."""
    try:
        from mfbai.plots.picture import Picture
    except ImportError:
        raise ImportError("plot needs matplotlib: pip install 'mfbai[plot]'") from None
    with own_settings():
        yield Picture(figsize=size)


@contextmanager
def figure(paths: str | Path | Sequence[str | Path], size: tuple[float, float] | None = None) -> Iterator[Picture]:
    """A figure in our style, saved at the end of the block to each of `paths`: one drawing, several formats."""
    files = [Path(path) for path in ([paths] if isinstance(paths, str | Path) else paths)]
    faults = Faults()
    for file in files:
        check_file(faults, "path", file)
    faults.raise_if_any("picture")
    with drawing(size) as drawn:
        yield drawn
        for file in files:
            try:
                with replacing(file) as part:
                    drawn.savefig(part, metadata=UNDATED.get(file.suffix.lower()))
                drawn.set_layout_engine("none")  # places are found once, for all formats
            except OSError as error:
                raise InvalidInput([Fault(str(file), f"cannot be written: {error.strerror}")]) from None


@contextmanager
def picture(paths: str | Path | Sequence[str | Path], size: tuple[float, float] | None = None) -> Iterator[Axes]:
    """The same with one pair of axes."""
    with figure(paths, size) as drawn:
        yield drawn.subplots()


def legend(axes: Axes, drawn: Iterable[tuple[str, Artist]], **options: Any) -> Legend:
    """A legend that says of each artist what it is, whatever is in a name: "_" at its start, or "$"."""
    names, artists = zip(*drawn, strict=True)
    made = axes.legend(artists, list(map(str, range(len(names)))), **options)
    for text, name in zip(made.get_texts(), names, strict=True):
        text.set_text(name)
    for text in (made.get_title(), *made.get_texts()):
        text.set_parse_math(False)
    return made


def plain_log_ticks(axis: Axis, subs: Sequence[float] = (1.0, 2.0, 5.0), base: float = 10.0) -> None:
    """1, 2, 5, 10, ... in plain numbers, for an axis that is logarithmic."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

    axis.set_major_locator(LogLocator(base, subs))
    axis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())


def plain(value: float) -> str:
    """
    >>> [plain(value) for value in (0.02, 5.0, 20000.0, 500000.0, 2e8, 1e9)]
    ['0.02', '5', '20,000', '500k', '200M', '1e+09']
    """
    if not 1000 <= value < 1e9:
        return f"{value:g}"
    return f"{value:,.0f}" if value < 1e5 else f"{value / 1e3:g}k" if value < 1e6 else f"{value / 1e6:g}M"


def spaced_log_ticks(axis: Axis, low: float, high: float) -> None:
    """The same, the fewer to a decade the more decades there are from low to high: they need room."""
    decades = log10(high / low)
    subs = (1.0, 2.0, 5.0) if decades < 2 else (1.0, 3.0) if decades < 3 else (1.0,)
    plain_log_ticks(axis, subs, base=10.0 if decades < 5 else 100.0)


def times_axis(axes: Axes, highest: float) -> None:
    """A y axis for factors, from about 1 to `highest`: "2x" says two times."""
    from matplotlib.ticker import FuncFormatter

    if highest > 4:
        axes.set_yscale("log")
        plain_log_ticks(axes.yaxis)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}{TIMES}"))
    axes.axhline(1.0, color=FAINT, linewidth=1.0)
    axes.set_ylim(bottom=0.9)
