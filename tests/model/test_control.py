"""Controlled fidelities in problems, instances and spec files."""

import numpy as np
import pytest

from mfbai import Bernoulli, Exponential, Gaussian, InvalidInput, Poisson, Problem, SubGaussian
from mfbai.model.control import Control
from mfbai.model.families import Bounded, Symmetric
from mfbai.model.spec import dumps, from_dict, loads
from mfbai.run.assemble import assemble

INF = float("inf")
NAMES = ["coarse", "fine"]
TABLE = {"by": "coarse", "others": 12, "coefficient": 0.9}
FAMILIES = [Symmetric(0, 1), Bounded(0, 1), Bounded([0, -1], [1, 2]), Gaussian([0.01, 0.02]), SubGaussian([0.01, 0.02])]


def plain(family=FAMILIES[0], bias=INF, **changes):
    about = {"costs": [0.05, 5.0], "biases": [bias, 0.0], "family": family, "fidelities": NAMES}
    return Problem(["plain", "wide", "deep"], **{**about, **changes})


def controlled(family=FAMILIES[0], **changes):
    variance = {} if getattr(family, "variance", None) is None else {"variance": 0.003}
    return plain(family, **changes).controlled("coarse", 12, 0.9, **variance)


def test_a_controlled_fidelity_is_unbiased_and_costs_what_its_parts_cost():
    problem = controlled()
    assert problem.fidelities == ("coarse", "fine by coarse", "fine")
    assert problem.controls == (None, Control(0, 12, 0.9), None)
    assert problem.costs[0] == pytest.approx([0.05, 5 + 13 * 0.05, 5])
    assert problem.bias_high[:, 1:].max() == 0
    assert problem.controls[1].fidelities(2) == [2, *[0] * 13]
    assert "controlled fine by coarse" in repr(problem)


def test_its_value_is_the_sum_of_its_parts():
    parts = [0.7, 0.4, 0.1, 0.3]
    assert Control(0, 2, 0.5).value(parts) == pytest.approx(0.7 - 0.5 * 0.4 + 0.5 * 0.2)
    ends = controlled(Bounded(0, 1)).replace(controls={"fine by coarse": {**TABLE, "others": 1, "coefficient": 0.7}})
    assert ends.compose(1, [1.0, 0.0, 1.0]) == ends.family.high[1]  # up to rounding, and never beyond
    assert ends.admits(ends.compose(1, [0.0, 1.0, 0.0]), 1)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("bias", [INF, 0.2])
def test_specs_say_what_is_controlled_and_what_is_not_known(family, bias):
    problem = controlled(family, bias=bias)
    text = dumps(problem)
    assert loads(text) == problem
    assert from_dict(problem.to_dict()) == problem
    assert ("bias = 0.2" in text) == (bias == 0.2)
    assert 'controlled = {top = "fine", by = "coarse", others = 12, coefficient = 0.9}' in text


def test_kernels_see_what_is_evaluated_by_itself():
    model = controlled(Gaussian([0.01, 0.02])).model()
    assert model.cost.tolist() == [[5.65]] * 3  # the top itself only as a part: alone it tells less
    assert model.law.precision == pytest.approx(np.array([[1 / 0.003]] * 3))
    assert controlled(bias=0.2).noisy == [0, 1]
    assert controlled().noisy == [1]
    assert plain(bias=0.2).noisy == [0, 1]


def test_what_stands_for_the_top_comes_last():
    names = ["coarse", "fine by coarse", "medium", "fine"]
    problem = Problem(2, [1, 1, 2, 4], [INF, 0, 0.1, 0], Symmetric(0, 1), fidelities=names, controls={names[1]: TABLE})
    assert problem.noisy == [2, 1]
    assert problem.parts_only.tolist() == [True, False, False, True]
    assert problem.whole([[1, 2]] * 2, 0.0).tolist() == [[0, 2, 1, 0]] * 2


def test_the_range_of_bounded_values_follows_from_the_parts():
    family = controlled(Bounded([0, -1], [1, 2])).family
    assert family.low == pytest.approx([0, -1 - 0.9, -1])
    assert family.high == pytest.approx([1, 2 + 0.9, 2])


@pytest.mark.parametrize("family", [Bernoulli(), Poisson(), Exponential(), SubGaussian(bounds=(0, 1))])
def test_families_that_do_not_describe_sums_refuse_them(family):
    with pytest.raises(InvalidInput, match="sums of others, which this family does not describe"):
        plain(family).controlled("coarse", 12, 0.9)


def test_one_variance_for_all_is_refused():
    with pytest.raises(InvalidInput, match="give one per fidelity"):
        Problem(2, [1, 1, 2], [INF, 0, 0], Gaussian(0.01), fidelities=["coarse", "y", "fine"], controls={"y": TABLE})
    with pytest.raises(InvalidInput, match="the family states variances"):
        plain(Gaussian(0.01)).controlled("coarse", 12, 0.9)
    with pytest.raises(InvalidInput, match="the family has none"):
        plain().controlled("coarse", 12, 0.9, variance=0.01)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"by": "fine"}, "by = 'fine'"),
        ({"by": "course"}, "coarse"),
        ({"by": "y"}, "by = 'y'"),
        ({"others": 0}, "others = 0"),
        ({"others": 2.5}, "others = 2.5"),
        ({"others": True}, "others = True"),
        ({"coefficient": 0}, "coefficient = 0"),
        ({"coefficient": float("nan")}, "coefficient = nan"),
        ({"top": "coarse"}, "what is controlled is the true fidelity"),
        ({"seeds": 3}, "unknown entry 'seeds'"),
    ],
)
def test_what_cannot_be_is_refused(change, told):
    about = {"fidelities": ["coarse", "y", "fine"], "controls": {"y": {**TABLE, **change}}}
    with pytest.raises(InvalidInput, match=told):
        Problem(2, [1, 1, 2], [INF, 0, 0], Symmetric(0, 1), **about)


def test_what_has_no_noise_controls_nothing():
    with pytest.raises(InvalidInput, match="deterministic, and control is about noise"):
        plain(bias=0.1, deterministic="coarse").controlled("coarse", 12, 0.9)


def test_a_bound_is_missing_for_all_arms_or_for_none():
    with pytest.raises(InvalidInput, match="for all arms"):
        plain(biases=[[INF, 0], [0.1, 0], [INF, 0]])
    with pytest.raises(InvalidInput, match="on both sides"):
        plain(biases=([-0.1, 0], [INF, 0]))
    assert plain(biases=([-INF, 0], [INF, 0])) == plain()


def test_what_is_not_bounded_and_controls_nothing_cannot_be_used():
    assert plain().idle == ["coarse"]
    assert controlled().idle == []
    with pytest.raises(InvalidInput, match="mfbai pilot"):
        assemble(plain(), "frugal", "e-process", np.array([0.05]), {})


def test_charged_risk_is_kept():
    assert loads(dumps(plain(charged=0.01))).charged == 0.01
    for wrong in (-0.1, 1, "x", float("nan")):
        with pytest.raises(InvalidInput, match="charged"):
            plain(charged=wrong)


@pytest.mark.parametrize("entry", ["others = 12}", "others = 0, coefficient = 0.9}", "others = 12, coefficient = 0}"])
def test_a_file_is_refused_with_the_fidelity_that_is_wrong(entry):
    text = dumps(controlled()).replace("others = 12, coefficient = 0.9}", entry)
    with pytest.raises(InvalidInput, match=r"controls\['fine by coarse'\]"):
        loads(text)


@pytest.mark.parametrize("by", [9, None, -1, "corse"])
def test_an_unknown_control_is_refused(by):
    with pytest.raises(InvalidInput, match="give a fidelity to control by"):
        plain().controlled(by, 12, 0.9)
