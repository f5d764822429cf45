"""By what the agreement page can group the pairs of a dataset."""

from collections.abc import Sequence

from annotator.agreement.service import list_groupings
from annotator.domain.people import Actor
from annotator.storage.database import Database
from annotator.web.choices import find_asked

NOTHING = "nothing"


def list_fields(database: Database, actor: Actor, dataset: str) -> list[str]:
    """The choices, "nothing" first."""
    return [NOTHING, *list_groupings(database, actor, dataset)]


def find_grouping(fields: Sequence[str]) -> str | None:
    """The field that is chosen, before its control is drawn; None for nothing."""
    chosen = find_asked("by", fields)
    return chosen if chosen in fields and chosen != NOTHING else None
