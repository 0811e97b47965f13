"""What a new study can be made of, from the registries, with what was registered from outside."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from mfbai.model.families import FAMILIES, Family
from mfbai.model.problem import DIRECTIONS, SEEDS
from mfbai.stopping import RULES, Rule
from mfbai.strategies import STRATEGIES, Strategy
from mfbai.study import limits
from mfbai.study.catalogue import SORTS, STATES
from mfbai.study.settings import ON_ALARM
from mfbai.web.bodies import MOST_RESULTS, MOST_VALUES
from mfbai.web.reading import MOST_ARMS, MOST_CELLS


def make_choices() -> dict[str, Any]:
    """For JSON, as `replies.Choices` describes it."""
    return {
        "strategies": [_strategy(strategy) for strategy in STRATEGIES.values()],
        "rules": [_rule(rule) for rule in RULES.values()],
        "families": [_family(family) for family in FAMILIES.values()],
        "directions": list(DIRECTIONS),
        "seeds": list(SEEDS),
        "on_alarm": list(ON_ALARM),
        "list": {"states": list(STATES), "sorts": list(SORTS)},
        "defaults": {"strategy": None, "stopping": None},
        "limits": {
            "name": limits.LONGEST_NAME,
            "arms": MOST_ARMS,
            "cells": MOST_CELLS,
            "asked": limits.MOST_AT_ONCE,
            "told": MOST_RESULTS,
            "added": MOST_VALUES,
            "lease": limits.LONGEST_LEASE,
            "reason": limits.LONGEST_REASON,
            "note": limits.LONGEST_NOTE,
            "tags": limits.MOST_TAGS,
            "tag": limits.LONGEST_TAG,
            "worker": limits.LONGEST_WORKER,
        },
    }


def _strategy(strategy: Strategy) -> dict[str, Any]:
    stated = None in strategy.options.values()  # options without a default state what a study must know of the truth
    return {
        "name": strategy.name,
        "summary": strategy.summary,
        "options": _options(strategy.options),
        "needs_truth": "instance" in strategy.needs and not stated,
        "own_rule": strategy.own_rule,
        "top_only": strategy.top_only,
    }


def _rule(rule: Rule) -> dict[str, Any]:
    return {"name": rule.name, "summary": rule.summary, "options": _options(rule.options)}


def _options(options: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"name": name, "default": default} for name, default in options.items()]


def _family(family: type[Family]) -> dict[str, Any]:
    fields = [
        {"name": field.name, "required": field.default is dataclasses.MISSING} for field in dataclasses.fields(family)
    ]
    return {"name": family.name, "summary": (family.__doc__ or "").partition("\n")[0], "fields": fields}
