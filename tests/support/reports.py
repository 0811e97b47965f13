"""Reports as the tests use them: of odd and long studies, and what a forger changes."""

import numpy as np

from mfbai import Gaussian, Problem, create_study
from mfbai.study.report.page import Report, as_block, opening
from mfbai.study.report.reading import END

ODD = [  # names that mean something to browsers, spreadsheets and shells, right-to-left and beyond 16 bits
    "</script><script>alert(1)</script>",
    "\"quoted\" & 'so', <b>",
    "\u0645\u0631\u062d\u0628\u0627 abc",
    "\U0001f600 \u00e9",
    "=1+1",
]
ODD_NAME = "odd </script><!-- & \U0001f600"


def odd_study(storage="sqlite://"):
    problem = Problem(ODD, [0.1, 1.0], [0.1, 0.0], Gaussian(0.04), fidelities=["</script>", "true \U0001f680"])
    study = create_study(problem, 0.05, name=ODD_NAME, storage=storage)
    rng = np.random.default_rng(3)
    while study.result is None:
        trial = study.ask(worker='a "worker", </script>')
        study.tell(trial, float(rng.normal(0.9 if trial.arm_index == 1 else 0.3, 0.2)))
    return study


def long_study(trials, arms=20, storage="sqlite://"):
    """One that is far from its verdict after so many trials."""
    problem = Problem(arms, [0.1, 1.0], [0.1, 0.0], Gaussian(1.0), fidelities=["coarse", "fine"])
    study = create_study(problem, 1e-300, name="long", storage=storage, strategy="uniform")
    rng = np.random.default_rng(1)
    told = 0
    while told < trials:
        asked = study.ask_many(min(1000, trials - told))
        study.tell_many([(trial, float(rng.normal(0.3 + 0.01 * (trial.arm_index % 50), 1.0))) for trial in asked])
        told += len(asked)
    return study


def remade(certificate, shown, beside):
    """What a forger writes who makes the whole page again around what was changed, with digests that fit."""
    return Report(certificate, shown, beside).html


def with_block(html, name, text):
    """The report with another text in one of its blocks."""
    before, begin, after = html.partition(opening(name))
    assert begin
    return f"{before}{begin}{as_block(text)}{END}{after.partition(END)[2]}"
