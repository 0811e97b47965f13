"""Processes that are interrupted, wherever the tests run."""

import signal
import subprocess
import sys
import time
from functools import partial

# A background job, as in some CI, starts with SIGINT ignored, and so do its children, unless they are told otherwise.
heed_ctrl_c = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)


def start(*words, heed=heed_ctrl_c, **options):
    """A Python process that takes SIGINT as in the foreground, with its standard error to read."""
    given = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True, **options}
    return subprocess.Popen([sys.executable, *map(str, words)], preexec_fn=heed, **given)


def wait_until(condition, seconds=300, pause=0.02):
    """However slow the machine; the limit is for tests that would hang."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "this takes too long"
        time.sleep(pause)
