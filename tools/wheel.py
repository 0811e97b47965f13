"""Builds the wheel, with compiled code for the x86-64 processors in it: dist/mfbai-*.whl.

Compiled code of other systems, or of changed sources, is made when it is needed: the wheel serves all of them.
"""

import argparse
import shutil
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from mfbai.kernels import store
from mfbai.kernels.machine import KINDS, kind_of_machine
from mfbai.model.families import FAMILIES
from mfbai.terminal import counter
from mfbai.warmup import compile_families

ROOT = Path(__file__).parents[1]


def compile_for(processor: str, families: list[str], place: Path) -> int:
    """Put the parts for a processor into a folder; returns how many there are."""
    with TemporaryDirectory() as folder, counter(len(families), f"compiling for {processor}") as advance:
        chosen = {"MFBAI_PROCESSOR": processor, "NUMBA_CPU_NAME": processor, "NUMBA_CPU_FEATURES": ""}
        compile_families(families, lambda: advance(1), NUMBA_CACHE_DIR=folder, **chosen)
        shutil.copytree(Path(folder, "mfbai", "parts"), place / processor)
    return len(list((place / processor).iterdir()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--families", nargs="+", default=list(FAMILIES), choices=FAMILIES)
    parser.add_argument("--processors", nargs="+", default=list(KINDS), choices=KINDS)
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    given = parser.parse_args()
    best = kind_of_machine()
    if best is None or any(KINDS.index(one) < KINDS.index(best.processor) for one in given.processors):
        sys.exit(f"a wheel for {', '.join(given.processors)} can only be built on a machine that runs such code")
    for old in given.out.glob("mfbai-*.whl"):
        old.unlink()
    begun = time.perf_counter()
    with TemporaryDirectory() as folder:  # a copy, so that no compiled code is left in the checkout
        copy = Path(folder)
        for name in ("pyproject.toml", "README.md", "LICENSE"):
            shutil.copy(ROOT / name, copy)
        shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        place = copy / store.SHIPPED.relative_to(ROOT)
        counts = [compile_for(processor, given.families, place) for processor in given.processors]
        quietly = ["--quiet", "--disable-pip-version-check", "--no-deps"]
        pip = [sys.executable, "-m", "pip", "wheel", *quietly, "--wheel-dir", str(given.out), str(copy)]
        subprocess.run(pip, check=True)
    [wheel] = given.out.glob("mfbai-*.whl")
    size, seconds = wheel.stat().st_size / 1e6, time.perf_counter() - begun
    print(f"{wheel}: {size:.1f} MB, {' + '.join(map(str, counts))} parts, {seconds:.0f} seconds")


if __name__ == "__main__":
    main()
