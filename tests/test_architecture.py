"""The package keeps its shape: imports point one way, public names are exact, `mfbai --help` stays light."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import mfbai

SOURCE = Path(mfbai.__file__).parent
# A module may import from its own layer and from those before it.
LAYERS = [
    ["confidence", "errors", "files", "text"],
    ["families"],
    ["problem"],
    ["guess"],
    ["spec", "instances", "kernels"],
    ["information", "stopping", "cutting"],
    ["certainty"],
    ["complexity", "literature"],
    ["strategies"],
    ["simulation"],
    ["study"],
    ["planning", "client"],
    ["report"],
    ["paper", "web"],
    ["testing", "cli", "__main__"],
]
LAYER_OF = {name: level for level, names in enumerate(LAYERS) for name in names}


def package_imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        modules = [node.module] if isinstance(node, ast.ImportFrom) else []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        for module in modules:
            if module and module.startswith("mfbai."):
                yield module.split(".")[1]


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_one_way(path):
    """Nothing imports against the flow of data (see the layers above)."""
    part = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    if part == "__init__":
        return
    against = [name for name in package_imports(path) if LAYER_OF[name] > LAYER_OF[part]]
    assert not against, f"{part} imports {against}"


def test_public_names_are_exact():
    """Every public name can be had, and nothing else is promised."""
    names = set(mfbai.__all__)
    assert names == {name for name in dir(mfbai) if getattr(mfbai, name) is not None}
    with pytest.raises(AttributeError, match="no attribute 'simulat'"):
        mfbai.simulat  # noqa: B018


def test_package_data_is_installed():
    """The catalogue travels with the package."""
    assert (SOURCE / "catalogue" / "paper-4x5.toml").is_file()
    assert (SOURCE / "py.typed").is_file()


def test_second_process_compiles_nothing():
    """Compiled code is found on disk by the next process."""
    code = (
        "import mfbai; from mfbai.simulation import loop;"
        "mfbai.simulate('paper-5x2', runs=2); print(sum(loop.advance.stats.cache_misses.values()))"
    )
    misses = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(2)
    ]
    assert misses[1].stdout.strip() == "0"
