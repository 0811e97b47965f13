"""Engines: where evaluations and simulations run, on this machine or on a cluster.

interface   what every engine does; `perform`, which runs in the worker
shipping    functions and results on their way between processes
local       threads and processes of our own
futures     any `concurrent.futures.Executor`: process pools, loky, mpi4py
dask        a Dask client or cluster
ray         Ray
choose      from what a caller gives to an engine
spread      many calls of one function, spread over an engine
waiting     says that an engine has no workers
"""

from mfbai.engines.choose import ambient, open_engine, using
from mfbai.engines.interface import Engine
from mfbai.engines.shipping import Back
from mfbai.engines.spread import spread

__all__ = ["Back", "Engine", "ambient", "open_engine", "spread", "using"]
