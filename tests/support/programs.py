"""Programs of the repository that belong to no package: tools, examples, skeletons."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[2]


def load(path):
    """The file of that path in the repository, as a module that is not left behind for other tests."""
    file = ROOT / path
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
