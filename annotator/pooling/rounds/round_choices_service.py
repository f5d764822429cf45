"""List the choices for a new round: systems, fields of documents, and the numbers of queries and documents."""

from collections.abc import Mapping
from dataclasses import dataclass

from annotator.domain.people import Actor
from annotator.people.roles_service import open_dataset
from annotator.pooling.filters.filters_sql import sample_field_values
from annotator.storage.database import Database
from annotator.storage.pairs.pool import count_documents, list_queries, list_runs


@dataclass(frozen=True, slots=True)
class RoundChoices:
    """The choices for a new round. `systems`: of imported runs. `fields`: {field: some values} of the first documents."""

    systems: tuple[str, ...]
    queries: int
    documents: int
    fields: Mapping[str, tuple[str, ...]]


def list_round_choices(database: Database, actor: Actor, dataset: str) -> RoundChoices:
    """Return the choices for a new round. For leads."""
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        return RoundChoices(
            systems=tuple(sorted(list_runs(session, dataset_pk).values())),
            queries=len(list_queries(session, dataset_pk)),
            documents=count_documents(session, dataset_pk),
            fields=sample_field_values(session, dataset_pk),
        )
