"""How each strategy is drawn: the same in every picture, and unlike all others."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import NamedTuple
from zlib import crc32

from mfbai.plots.style import BLACK, BLUE, BROWN, COLOURS, FAINT, GREEN, INDIGO, ORANGE, PINK, RED, SKY
from mfbai.strategies import STRATEGIES


class Look(NamedTuple):
    colour: str
    hatch: str = ""


CHOSEN = {
    "frugal": Look(INDIGO),
    "mf-grad": Look(BLUE),
    "mf-grad-const": Look(SKY),
    "mf-grad-row": Look(BLUE, "xxxx"),
    "grad": Look(RED),
    "grad-const": Look(ORANGE),
    "uniform": Look(FAINT),
    "iise": Look(GREEN),
    "lucb": Look(PINK),
    "lucb-explore-a": Look(ORANGE, "////"),
    "lucb-explore-b": Look(SKY, "...."),
    "track-and-stop": Look(BROWN),
    "oracle": Look(BLACK),
}
SPARE = [
    look
    for hatch, colour in product(("////", "....", "xxxx"), COLOURS)
    if (look := Look(colour, hatch)) not in CHOSEN.values()
]


def registered() -> dict[str, Look]:
    """The look of every strategy of the registry; those for which none was chosen take spare ones, in order."""
    spare = iter(SPARE)
    return {name: CHOSEN.get(name) or next(spare) for name in STRATEGIES}


def looks(strategies: Iterable[str]) -> list[Look]:
    """The look of each strategy of a picture.

    A strategy that is not registered has one by its name, hence the same in every picture; unless another in this
    picture has it, as long as there are others.

    >>> grad, yours, same = looks(["grad", "yours", "grad"])
    >>> grad == same == CHOSEN["grad"], yours in CHOSEN.values(), looks(["yours"]) == [yours]
    (True, False, True)
    """
    known = dict(registered())
    spare = [look for look in SPARE if look not in known.values()]
    found = []
    for name in strategies:
        if name not in known:
            first = crc32(name.encode()) % len(spare)
            turned = spare[first:] + spare[:first]
            known[name] = next((look for look in turned if look not in known.values()), turned[0])
        found.append(known[name])
    return found
