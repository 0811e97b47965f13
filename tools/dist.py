"""Checks a release as others will get it: builds the sdist beside the wheel in dist/, and uses both.

Each is installed into an empty environment of every supported Python that is on the PATH, and used there, outside of
the checkout: from an estimate to a verdict that verifies. `make wheel` makes the wheel before.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
PYTHONS = ("python3.11", "python3.12", "python3.13")
EVALUATE = """
import random, sys
arm, fidelity, seed = sys.argv[1:]
print(random.Random(seed).gauss({"arm 1": .3, "arm 2": .4, "arm 3": .5, "arm 4": .9}[arm], .1))
"""
IDENTIFY = """
import random, mfbai
means = {"plain": 0.2, "deep": 0.8}
problem = mfbai.Problem(list(means), costs=[0.1, 1], biases=[0.1, 0], family=mfbai.Symmetric(0, 1))
found = mfbai.identify(lambda arm, fidelity, seed: random.Random(seed).gauss(means[arm], 0.1), problem, 0.05)
assert found.arm == "deep", found
assert mfbai.simulate("paper-4x5", delta=0.05, runs=100).error_rate <= 0.05
print(mfbai.__version__)
"""


def use(package: Path, python: str) -> int:
    """Install a package into an empty environment, and come to a verdict with it; returns how much was compiled."""
    with TemporaryDirectory() as folder:
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "MFBAI"))}
        env = clean | {"NUMBA_CACHE_DIR": str(Path(folder, "cache"))}

        def call(*words: object) -> str:
            done = subprocess.run(list(map(str, words)), cwd=folder, env=env, capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
            return done.stdout

        call(python, "-m", "venv", "venv")
        programs = Path(folder, "venv", "bin")
        call(programs / "pip", "install", "--quiet", "--disable-pip-version-check", package)
        version = call(programs / "python", "-c", IDENTIFY).strip()
        assert call(programs / "mfbai", "--version").strip() == f"mfbai {version}"
        call(programs / "mfbai", "simulate", "paper-4x5", "--runs", "100")
        Path(folder, "evaluate.py").write_text(EVALUATE)
        call(programs / "mfbai", "study", "create", "paper-4x5", "--name", "one", "--delta", "0.05")
        program = f"{programs / 'python'} evaluate.py {{arm}} {{fidelity}} {{seed}}"
        call(programs / "mfbai", "study", "run", "one", "--command", program)
        call(programs / "mfbai", "study", "export", "one", "--out", "certificate.json")
        call(programs / "mfbai", "study", "report", "one", "--out", "report.html")
        for file in ("certificate.json", "report.html"):
            assert "The best is 'arm 4'" in call(programs / "mfbai", "study", "verify", file)
        return len(list(Path(folder, "cache").rglob("*.part")))


def build_sdist(out: Path) -> Path:
    """The sources as an archive; tests/test_release.py says what is in it."""
    for old in out.glob("mfbai-*.tar.gz"):
        old.unlink()
    subprocess.run([sys.executable, "-m", "build", "--sdist", "--outdir", out, ROOT], check=True, capture_output=True)
    [sdist] = out.glob("mfbai-*.tar.gz")
    with tarfile.open(sdist) as archive:
        print(f"{sdist.name}: {sdist.stat().st_size / 1e6:.1f} MB, {len(archive.getnames())} files")
    return sdist


def works(python: str) -> bool:
    """Whether there is such a Python; a version manager may have a name for it and nothing behind that."""
    return shutil.which(python) is not None and subprocess.run([python, "-V"], capture_output=True).returncode == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    out = parser.parse_args().out
    sdist = build_sdist(out)
    [wheel] = out.glob("mfbai-*.whl")
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", wheel, sdist], check=True)
    for python in PYTHONS:
        if not works(python):
            print(f"{python}: not found, so not tried")
            continue
        for package in (wheel, sdist):
            begun = time.perf_counter()
            parts = use(package, python)
            seconds = time.perf_counter() - begun
            print(f"{python}: {package.name} works ({seconds:.0f} seconds, {parts} parts compiled)", flush=True)


if __name__ == "__main__":
    main()
