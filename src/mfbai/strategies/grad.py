"""GRAD: MF-GRAD on the top fidelity alone, as if the others did not exist (Menard 2019)."""

from typing import NamedTuple

from mfbai.kernels.jit import kernel
from mfbai.kernels.stats import Stats, make_stats, record
from mfbai.model.compiled import Model
from mfbai.strategies import mf_grad
from mfbai.strategies.common import top_fidelity
from mfbai.strategies.interface import Strategy, ask, tell


class State(NamedTuple):
    top: Model  # the problem of one fidelity
    stats: Stats  # what was told at it
    inner: mf_grad.State


def init(model, rate, clip):
    top = top_fidelity(model)
    return State(top, make_stats(top.cost.shape), mf_grad.init(top, rate, clip))


@kernel
def grad_ask(model, stats, state, pending):
    last = pending.shape[1] - 1
    arm, _ = mf_grad.mf_grad_ask(state.top, state.stats, state.inner, pending[:, last:])
    return arm, last


@kernel
def grad_tell(model, stats, state, arm, fidelity, x):
    if fidelity == stats.count.shape[1] - 1:
        record(state.top, state.stats, arm, 0, x)
        mf_grad.mf_grad_tell(state.top, state.stats, state.inner, arm, 0, x)


ask.register(State, grad_ask)
tell.register(State, grad_tell)
STRATEGIES = (
    Strategy("grad", "mf-grad on the top fidelity alone", init, {"rate": 0.0, "clip": mf_grad.CLIP}, top_only=True),
    Strategy("grad-const", "the same at a constant rate", init, {"rate": 0.25, "clip": mf_grad.CLIP}, top_only=True),
)
