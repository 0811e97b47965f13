"""The course of a study: its risk and evidence over its cost, in a bounded number of points."""

from __future__ import annotations

from typing import NamedTuple

MOST = 256  # points kept: more than a picture shows
SHARES = 200  # arms, at most, whose shares of the cost are kept at every point


class Point(NamedTuple):
    """Where a study stood."""

    cost: float
    risk: float  # of answering with the leader at that time; 1 if nothing was proven
    evidence: float  # the least over its rivals
    leader: int | None  # None while no arm had data
    spent: tuple[float, ...] = ()  # on each arm; empty if there are many (SHARES)


class History:
    """A point every `stride` results. When there are too many, every second one is dropped and the stride doubled."""

    def __init__(self, stride: int, points: list[Point] | None = None) -> None:
        self.stride = stride
        self.points = [] if points is None else points

    def is_due(self, told: int) -> bool:
        return told % self.stride == 0

    def add(self, point: Point) -> None:
        self.points.append(point)
        if len(self.points) >= MOST:
            del self.points[::2]  # those that are left are multiples of twice the stride
            self.stride *= 2
