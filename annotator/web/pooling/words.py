"""Name the strategies, the options and the filters of rounds in the words of the form, not of the command."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from annotator.domain.figures import show_number
from annotator.domain.messages import say
from annotator.web.kit.figures import show_share
from annotator.web.kit.messages import join_names, tr

RETRIEVERS = {
    "bm25": say("BM25 (words)"),
    "tfidf": say("TF-IDF (words)"),
    "lsa": say("LSA (related words)"),
    "hybrid": say("Hybrid (several lists as one)"),
}
STRATEGY_NAMES = {
    "depth": say("First results of each system"),
    "fused": say("First results of all systems as one list"),
    "stratified": say("Random sample by rank"),
    "move-to-front": say("Budget: best documents first"),
    "adaptive": say("Budget: what decides the systems' order"),
}
FURTHER_NAMES = {
    "holes": say("Unjudged results of the systems"),
    "relations": say("Suggestions by relations"),
    "near duplicates": say("Grades of near duplicates"),
    "results": say("Single results"),
}
"""The strategies of rounds that are not made with the form."""


def name_strategy(strategy: str) -> str:
    """Return the name of a round's strategy; an unknown strategy unchanged."""
    name = STRATEGY_NAMES.get(strategy) or FURTHER_NAMES.get(strategy)
    return strategy if name is None else tr(name)


LONGEST = 60
OPTION_NAMES = {
    "depth": say("Results per query"),
    "systems": say("Systems"),
    "retrievers": say("Searches"),
    "weights": say("Weights of the lists"),
    "title_boost": say("Weight of matching titles"),
    "lsa_seed": say("Seed of LSA"),
    "vectors": say("Vectors of the documents"),
    "query_vectors": say("Vectors of the queries"),
    "embed": say("Model"),
    "budget": say("Pairs to judge"),
    "per_category": say("Pairs for each category"),
    "seed": say("Seed"),
    "measure": say("Measure"),
    "strata": say("Ranks and the share to draw"),
    "filters": say("Left out"),
    "rules": say("Rules"),
    "groups": say("Groups of near duplicates"),
}


def describe_options(options: Mapping[str, Any]) -> list[str]:
    """Return the options of a round, one line each, without empty ones."""
    return [
        f"{tr(OPTION_NAMES[name]) if name in OPTION_NAMES else name}: {_show(name, value)}"
        for name, value in options.items()
        if value not in (None, [], {}, "")
    ]


def name_rule(rule: str) -> str:
    kind, _, value = rule.partition(":")
    if not value:
        return rule
    match kind:
        case "exclude":
            return value
        case "exclude-title":
            return tr("title matches {value}", value=value)
        case "min-length":
            return tr("shorter than {value} characters", value=value)
        case "one-per":
            return tr("only the best of each {value}", value=value)
        case "near-duplicate":
            return tr("near duplicates ({value})", value=value)
    return rule


def _show(name: str, value: Any) -> str:
    if name == "retrievers":
        text = join_names(tr(RETRIEVERS[item]) if item in RETRIEVERS else item for item in value)
    elif name == "filters":
        text = join_names(map(name_rule, value))
    elif name == "strata":
        text = join_names(map(_show_stratum, value))
    elif name == "rules":
        text = join_names(f"{item['rule']} ({item['grade']})" for item in value)
    elif isinstance(value, int) and name != "seed":
        text = show_number(value)
    elif isinstance(value, Mapping):
        text = join_names(f"{item} {_show_part(part)}" for item, part in value.items())
    elif isinstance(value, Sequence) and not isinstance(value, str):
        text = join_names(map(_show_part, value))
    else:
        text = str(value)
    return text if len(text) <= LONGEST else text[:LONGEST].rstrip() + "…"


def _show_part(part: Any) -> str:
    return str(part) if isinstance(part, str | int | float) else json.dumps(part, ensure_ascii=False)


def _show_stratum(stratum: str) -> str:
    ranks, _, rate = stratum.partition(":")
    return f"{ranks} {show_share(float(rate), 1)}"
