"""What a new study can be made of, as `GET /api/v1/choices` lists it."""

import pytest

from mfbai import InvalidInput, create_study
from mfbai.model.families import FAMILIES
from mfbai.model.spec import from_dict
from mfbai.stopping import RULES, Rule
from mfbai.strategies import STRATEGIES, Strategy
from mfbai.study.storage import IN_MEMORY
from mfbai.web.choices import make_choices
from mfbai.web.replies import Choices
from support.servers import SPEC


def named(choices, kind):
    return {entry["name"]: entry for entry in choices[kind]}


def test_the_choices_are_those_of_the_registries(server):
    """Names and summaries, in the order of the registries."""
    choices = server.call("GET", "/api/v1/choices").json()
    for kind, registry in (("strategies", STRATEGIES), ("rules", RULES)):
        expected = [(entry.name, entry.summary) for entry in registry.values()]
        assert [(entry["name"], entry["summary"]) for entry in choices[kind]] == expected
    assert [family["name"] for family in choices["families"]] == list(FAMILIES)
    assert choices["directions"] == ["maximise", "minimise"]
    assert choices["seeds"] == ["independent", "common"]
    assert choices["on_alarm"] == ["stop", "continue"]


def test_the_choices_say_what_each_strategy_needs():
    """Options with their defaults, a rule of its own, the top fidelity alone, the truth."""
    strategies = named(make_choices(), "strategies")
    assert strategies["mf-grad-const"]["options"] == [
        {"name": "rate", "default": 0.25},
        {"name": "clip", "default": 100.0},
    ]
    assert [name for name, entry in strategies.items() if entry["needs_truth"]] == ["oracle"]
    assert {"iise", "lucb"} <= {name for name, entry in strategies.items() if entry["own_rule"]}
    assert {"grad", "track-and-stop", "lucb"} <= {name for name, entry in strategies.items() if entry["top_only"]}
    assert named(make_choices(), "rules")["theorem"]["options"] == [{"name": "constant", "default": None}]


def test_the_choices_say_what_each_family_takes():
    """The entries of its table in a spec."""
    families = named(make_choices(), "families")
    assert families["gaussian"]["fields"] == [{"name": "variance", "required": True}]
    assert families["subgaussian"]["fields"] == [
        {"name": "variance", "required": False},
        {"name": "bounds", "required": False},
    ]
    assert families["bernoulli"]["fields"] == []
    for name in ("symmetric", "bounded"):
        assert families[name]["fields"] == [{"name": "low", "required": True}, {"name": "high", "required": True}]


@pytest.mark.parametrize(
    ("family", "expected"),
    [({"name": "gaussian", "variance": 0.04}, ("race", "contrasts")), ({"name": "bernoulli"}, ("frugal", "e-process"))],
    ids=lambda entry: entry["name"] if isinstance(entry, dict) else entry[0],
)
def test_a_study_that_says_nothing_has_what_fits_its_problem(server, family, expected):
    """The choices say so: null stands for that."""
    assert server.call("GET", "/api/v1/choices").json()["defaults"] == {"strategy": None, "stopping": None}
    path = server.create(f"of {family['name']}", spec={**SPEC, "family": family})
    settings = server.get(path).json()
    assert (settings["strategy"], settings["stopping"]) == expected


@pytest.mark.parametrize("strategy", make_choices()["strategies"], ids=lambda strategy: strategy["name"])
def test_a_study_takes_every_strategy_that_does_not_need_the_truth(strategy):
    """With the options that have no default, if there are any."""
    required = [option["name"] for option in strategy["options"] if option["default"] is None]
    options = dict(zip(required, (1.0, 0.9), strict=False))
    settings = {"strategy": strategy["name"], "options": options, "storage": IN_MEMORY}
    if strategy["needs_truth"]:
        with pytest.raises(InvalidInput):
            create_study(from_dict(SPEC), 0.1, **settings)
    else:
        assert create_study(from_dict(SPEC), 0.1, **settings).settings.strategy == strategy["name"]


def test_what_is_registered_from_outside_is_a_choice(monkeypatch):
    """The lists are made when they are asked for."""
    monkeypatch.setitem(STRATEGIES, "mine", Strategy("mine", "a strategy of my own", init=dict, options={"depth": 2}))
    monkeypatch.setitem(RULES, "my rule", Rule("my rule", "a rule of my own", init=dict))
    choices = make_choices()
    assert named(choices, "strategies")["mine"]["options"] == [{"name": "depth", "default": 2}]
    assert named(choices, "rules")["my rule"]["summary"] == "a rule of my own"
    Choices.model_validate(choices)
