"""The paper's open question (i): is one fidelity an arm always enough?"""

import numpy as np
import pytest

import mfbai
from mfbai.paper import sparsity


def test_two_arms_need_one_fidelity_each():
    """As the paper proves, almost surely."""
    assert sparsity.count(2, 4, instances=60).dense == ()


def test_three_arms_can_need_two_fidelities_for_one():
    """Seed 85 is the first such instance of the paper's generator, by a certified 0.7 %."""
    instance = mfbai.random_instance(3, 2, seed=85, gap=0.01)
    assert sparsity.is_dense(mfbai.oracle(instance))
    assert sparsity.prove(instance).excess == pytest.approx(0.00747, abs=1e-4)


def test_a_sparse_instance_has_no_excess():
    assert abs(sparsity.prove(mfbai.load("lucb-trap")).excess) < 1e-9


def test_no_proof_is_tried_where_supports_are_too_many():
    found = sparsity.count(6, 5, instances=30)
    assert found.examples == ()
    assert found.share == len(found.dense) / 30


def test_the_interval_holds_the_share():
    """Wilson's interval stays inside [0, 1], and has its known value at 10 of 100."""
    found = sparsity.Count(3, 2, 100, tuple(range(10)), ())
    assert np.allclose(found.interval, (0.0552, 0.1744), atol=1e-4)
    assert sparsity.Count(3, 2, 100, (), ()).interval[0] == 0


def test_the_table_is_printed(monkeypatch, capsys):
    monkeypatch.setattr(sparsity, "SHAPES", ((3, 2),))
    monkeypatch.setattr("sys.argv", ["sparsity"])
    monkeypatch.setattr(sparsity.count, "__defaults__", (90, 1, 0.01))
    sparsity.main()
    assert "85: +0.747 %" in capsys.readouterr().out
