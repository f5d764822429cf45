"""How far pairs have come, in a sentence: from waiting for judgments to settled."""

from collections.abc import Mapping

from annotator.domain.messages import say
from annotator.web.messages import tr
from annotator.web.times import show_number

STAGES = {
    "waiting": say("waiting for judgments"),
    "agreed": say("agreed"),
    "disputed": say("disputed"),
    "settled": say("settled by a lead"),
    "reopened": say("open again"),
}


def describe_stages(stages: Mapping[str, int]) -> str:
    """Each stage that some pair is at, in the order of the walk."""
    said = [f"{tr(name)} {show_number(stages[stage])}" for stage, name in STAGES.items() if stages[stage]]
    return tr("How far they are: {stages}.", stages=", ".join(said))
