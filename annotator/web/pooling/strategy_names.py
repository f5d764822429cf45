"""Name the strategies of rounds in the reader's language."""

from annotator.domain.messages import say
from annotator.web.kit.messages import tr

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
