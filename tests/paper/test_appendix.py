"""What is said of the appendix follows from its tables."""

import pytest

from mfbai.paper import appendix
from mfbai.paper.claims import AGREES, ANSWERED, DISAGREES, UNDECIDED
from mfbai.paper.pieces import Made, Scale, Table


def tables(**changes):
    """Tables like those of the appendix, in the form in which the claims would all hold."""
    compared = ("instance", "believed in", "used by w*", "cost of the believed", "C*", "cost / C*")
    made = {
        "lower-bounds": (
            ("instance", "earlier bound", "C*", "C* / earlier bound", "as derived in the paper"),
            [("2 x 2, a", 100.0, 200.0, 2.0, 2.0), ("2 x 2, b", 1.0, 500.0, 500.0, 500.0), ("x", 1.0, 1.5, 1.5, "-")],
        ),
        "believed-fidelities": (
            compared,
            [("Case 1, a", "2, 2", "2, 2", 8.0, 8.0, 1.0), ("Case 1, b", "1, 1", "2, 2", "never", 8.0, "-")],
        ),
        "rival-fidelities": (compared, [("Case 2", "any, 2", "1, 1", 30.0, 10.0, 3.0), ("x", "", "", 1.0, 1.0, 1.0)]),
        "null-weights": (
            ("instance", "cells", "unused by w*", "printed", "printed but used", "corrected", "corrected but used"),
            [("a", 10, 5, 5, 0, 5, 0), ("b", 4, 2, 1, 0, 1, 0)],
        ),
        "weights-5x2": (
            ("quantity", "paper", "from eta rounded", "exact", "oracle", "oracle - exact"),
            [
                ("eta", 0.539, 0.539, 0.6, 0.6, 0.0),
                ("w* of arms 1 to 4, fidelity 1", 0.09621, 0.09621, 0.09622, 0.09622, 0.0),
                ("w* of arm 5, fidelity 2", 0.61516, 0.61516, 0.61512, 0.61512, 0.0),
                ("w* of all other cells", 0.0, 0.0, 0.0, 0.1, 0.0),
            ],
        ),
        "sparsity": (
            ("instances of", "instances", "not sparse", "share", "low", "high", "excess cost"),
            [
                ("2 x 2", 500, 0, 0.0, 0.0, 0.01, "-"),
                ("2 x 3", 500, 0, 0.0, 0.0, 0.01, "-"),
                ("3 x 2", 500, 5, 0.01, 0.0, 0.02, 0.007),
                ("named", 1, 1, "-", "-", "-", 0.004),
            ],
        ),
    }
    return {
        name: Table(name, "", "", columns, tuple(changes.get(name.replace("-", "_"), rows)))
        for name, (columns, rows) in made.items()
    }


def appendix_claims(**changes):
    return {claim.text: claim for claim in appendix.claims(Made({}, tables(**changes)))}


WRONG_TABLES = {
    "The lower bound is tighter": [
        {"lower_bounds": [("a", 1.0, 2.0, 2.0, 2.5), ("x", 1.0, 2.0, 2.0, "-")]},
        {"lower_bounds": [("a", 1.0, 2.0, 2.0, 2.0), ("x", 2.0, 1.0, 0.5, "-")]},
    ],
    "The fidelities that Poiani et al.": [
        {"believed_fidelities": [("Case 1, a", "", "", 8.0, 8.0, 1.0), ("x", "", "", "never", 8.0, "-")]}
    ],
    "The fidelities on which IISE": [{"rival_fidelities": [("Case 2", "", "", 1.0, 1.0, 1.0)]}],
    "Proposition": [{"null_weights": [("a", 10, 5, 5, 1, 5, 0), ("b", 4, 2, 1, 0, 1, 0)]}],
    "omega* of paper-5x2": [
        {"weights_5x2": [("w* of arm 5, fidelity 2", 0.61516, 0.61516, 0.6, 0.61522, 0.0)]},
        {"weights_5x2": [("w* of arms 1 to 4, fidelity 1", 0.09621, 0.09621, 0.6, 0.09686, 0.0)]},
    ],
    "In almost all 2 x M": [{"sparsity": [("2 x 6", 500, 1, 0.002, 0.0, 0.01, 0.1), ("n", 1, 1, "-", "-", "-", 0.1)]}],
}


def claim_of(start, claims):
    (found,) = (claim for text, claim in claims.items() if text.startswith(start))
    return found


def test_an_appendix_without_mistakes_agrees():
    found = appendix_claims()
    assert {claim_of(start, found).verdict for start in WRONG_TABLES} == {AGREES}
    assert len(found) == len(WRONG_TABLES) + 1


@pytest.mark.parametrize("start", WRONG_TABLES)
def test_tables_with_other_rows_disagree(start):
    for wrong in WRONG_TABLES[start]:
        found = appendix_claims(**wrong)
        assert claim_of(start, found).verdict == DISAGREES
        others = {claim.verdict for text, claim in found.items() if not text.startswith((start, "Question"))}
        assert others == {AGREES}


def test_the_open_question_is_answered_by_a_certified_excess_alone():
    assert claim_of("Question", appendix_claims()).verdict == ANSWERED
    none = [("2 x 2", 5, 0, 0.0, 0.0, 0.5, "-"), ("3 x 2", 5, 0, 0.0, 0.0, 0.5, "-"), ("n", 1, 0, "-", "-", "-", 0.0)]
    claim = claim_of("Question", appendix_claims(sparsity=none))
    assert claim.verdict == UNDECIDED
    assert not claim.measured.startswith("no:")


def test_what_is_said_of_the_corrected_proposition_is_computed():
    """Column 6 counts cells that even the corrected one denies weight though they are used."""
    rows = [("a", 10, 5, 5, 4, 5, 1), ("b", 4, 2, 1, 0, 1, 0)]
    claim = claim_of("Proposition", appendix_claims(null_weights=rows))
    assert claim.verdict == DISAGREES
    assert not claim.measured.endswith("it holds")


def test_what_is_said_of_the_variants_that_end_is_computed():
    """If none goes on for ever, none of them are `others`."""
    rows = [("Case 1, a", "", "", 8.0, 8.0, 1.0), ("Case 1, b", "", "", 9.0, 8.0, 9 / 8)]
    claim = claim_of("The fidelities that Poiani", appendix_claims(believed_fidelities=rows))
    assert "more than a quarter" not in claim.measured


def test_rivals_fidelities_that_never_end_are_not_optimal():
    rows = [("Case 2", "any, 1", "2, 2", "never", 8.0, "-")]
    assert claim_of("The fidelities on which IISE", appendix_claims(rival_fidelities=rows)).verdict == AGREES


@pytest.mark.parametrize("name", tables())
def test_a_table_alone_has_its_own_claims(name):
    found = list(appendix.claims(Made({}, {name: tables()[name]})))
    assert len(found) == (2 if name == "sparsity" else 1)


def test_the_tables_that_are_computed_have_the_form_that_claims_read():
    """The real ones, with few random instances."""
    made = {sheet.name: sheet.build({}, Scale(instances=3)) for sheet in appendix.sheets()}
    assert made.keys() == tables().keys()
    for name, table in tables().items():
        assert made[name].columns == table.columns
    assert {claim.text for claim in appendix.claims(Made({}, made))} >= {
        claim.text for claim in appendix.claims(Made({}, tables())) if "paper-5x2" not in claim.text
    }
