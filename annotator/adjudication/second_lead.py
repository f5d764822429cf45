"""Say when a decision needs two leads, what settles such a pair, and which proposals a lead may see.

The first lead makes a proposal, and the second decides without seeing it. If they agree, the pair is decided.
If they differ, each may change to the other's grade, or a third lead decides alone.
"""

from collections.abc import Iterable, Mapping, Set

from annotator.adjudication.records import DecisionProposal
from annotator.domain.messages import say
from annotator.domain.settling import Decided

TWO_LEADS_FROM = 3
"""From this distance between the grades on, a decision needs two leads if the dataset asks for them."""
EXPORTED = say(
    "You downloaded the whole dataset while another lead's proposal for this pair was waiting, so a third lead must decide it."
)


def map_by_lead(proposals: Iterable[DecisionProposal]) -> dict[int, Decided]:
    """Return the proposed grades by lead_pk."""
    return {proposal.lead_pk: proposal.decided for proposal in proposals if proposal.decided is not None}


def needs_two_leads(second_adjudicator: bool, distance: int) -> bool:
    """Return whether a decision needs two leads. `second_adjudicator`: the dataset's setting."""
    return second_adjudicator and distance >= TWO_LEADS_FROM


def settles_pair(
    decided: Decided, lead_pk: int, proposals: Mapping[int, Decided], current: Decided | None
) -> bool:
    """Return whether this lead's grade decides a pair that needs two leads; else it is a proposal.

    `proposals`: by lead. `current`: the present decision, which a lead may confirm alone.
    """
    of_others = {proposed for lead, proposed in proposals.items() if lead != lead_pk}
    return decided == current or decided in of_others or len(of_others) > 1


def find_visible_proposals(lead_pk: int | None, proposals: Mapping[int, Decided]) -> Set[int]:
    """Return the leads with visible proposals: all, after the lead's own or if two differ; else none."""
    if lead_pk in proposals or len(set(proposals.values())) > 1:
        return set(proposals)
    return set()
