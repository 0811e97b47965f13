"""Verdicts follow from intervals."""

import pytest

from mfbai.paper.claims import AGREES, ANSWERED, DISAGREES, UNDECIDED, Claim, above, below, near, tally, together
from mfbai.paper.intervals import Interval


@pytest.mark.parametrize(
    ("ends", "verdict"),
    [((2, 3), AGREES), ((0.9, 3), UNDECIDED), ((1, 3), UNDECIDED), ((0, 0.9), DISAGREES), ((1, 1), DISAGREES)],
)
def test_a_quantity_is_above_or_below_if_all_of_its_interval_is(ends, verdict):
    assert above(Interval(float("nan"), *ends), 1) == verdict
    assert below(Interval(float("nan"), -ends[1], -ends[0]), -1) == verdict


def test_a_quantity_is_near_if_its_estimate_is():
    verdicts = [near(Interval(middle, middle - 1, middle + 1), 3, 4) for middle in (1.9, 2.1, 3.5, 4.9, 5.1)]
    assert verdicts == [DISAGREES, UNDECIDED, AGREES, UNDECIDED, DISAGREES]


def test_a_statement_of_several_parts_fails_with_any_of_them():
    assert together([AGREES, AGREES]) == AGREES
    assert together([AGREES, UNDECIDED]) == UNDECIDED
    assert together([UNDECIDED, DISAGREES, AGREES]) == DISAGREES


def test_answers_are_tallied_apart():
    told = tally([Claim("", "", "", ANSWERED), Claim("", "", "", DISAGREES)])
    assert told == "0 agree, 1 disagree, 0 undecided, 1 open question answered"
