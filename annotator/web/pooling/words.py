"""Name the strategies, the options and the filters of rounds in the words of the form, not of the command."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from annotator.domain.figures import show_number
from annotator.web.kit.figures import show_share
from annotator.web.kit.messages import join_names, read_words, tr

WORDS: Mapping[str, Mapping[str, str]] = read_words(Path(__file__).parent / "words.yaml")
RETRIEVERS, STRATEGY_NAMES, OPTION_NAMES = WORDS["retrievers"], WORDS["strategies"], WORDS["options"]
LONGEST = 60


def name_strategy(strategy: str) -> str:
    """Return the name of a round's strategy; an unknown strategy unchanged."""
    name = STRATEGY_NAMES.get(strategy) or WORDS["further strategies"].get(strategy)
    return strategy if name is None else tr(name)


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
