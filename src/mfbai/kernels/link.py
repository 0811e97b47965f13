"""Strategies and rules behind function pointers, so that one compiled loop serves all of them.

The loop of a run is compiled for records that stand for a strategy's state and for a rule (`run.linked`). Their
functions are parts of their own, bound to the records of the run. A call passes its numbers through the part's table.
"""

from __future__ import annotations


def invoke(address, table, scalars):
    """Call a part with these numbers. Only compiled code can: see `build`."""
    raise TypeError("only compiled code can call a part by its address")


def result(table, n):
    """What it returned, at place n: an integer."""
    raise TypeError("only compiled code can read the table of a part")


def with_tolerance(model, tolerance):
    """The same problem with another tolerance. In compiled code it is the very same record, until the part returns."""
    return model._replace(tolerance=tolerance)
