"""A problem for studies whose storage matters, and another program's look at that storage."""

import sqlalchemy as sa

from mfbai import Gaussian, Problem

PROBLEM = Problem(["plain", "wide"], costs=[0.1, 1.0], biases=[0.1, 0.0], family=Gaussian(0.01))


def execute(url, statement, **values):
    """By another program's connection."""
    engine = sa.create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        done = connection.execute(sa.text(statement), values)
        rows = done.all() if done.returns_rows else []
    engine.dispose()
    return rows
