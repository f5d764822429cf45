"""Find relations between a dataset's documents in their texts, as a file for `annotator suggest`. For leads."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from annotator.domain.errors import StateError
from annotator.domain.messages import say
from annotator.domain.people import Actor
from annotator.importing.relations.law_relations import LawRelation, UnknownReference, find_relations
from annotator.importing.texts.texts_sql import list_law_documents
from annotator.people.roles_service import open_dataset
from annotator.storage.database import Database


@dataclass(frozen=True, slots=True)
class RelationReport:
    """The relations and their number by kind. `documents`: the number of articles and parts of articles.

    `unknown`, `other_laws`: references without a target; see `FoundRelations`.
    """

    dataset: str
    documents: int
    counts: Mapping[str, int]
    relations: tuple[LawRelation, ...]
    unknown: tuple[UnknownReference, ...]
    other_laws: int


def find_law_relations(database: Database, actor: Actor, dataset: str) -> RelationReport:
    """Return the relations between the articles of a dataset's laws. StateError if no document is part of a law."""
    with open_dataset(database, actor, dataset, "lead") as (session, _, dataset_pk):
        documents = list_law_documents(session, dataset_pk)
    if not documents:
        raise StateError(
            say(
                "no document of {dataset} is an article of a law: import the laws by articles or paragraphs",
                dataset=dataset,
            )
        )
    found = find_relations(documents)
    counts = Counter(relation.relation for relation in found.relations)
    return RelationReport(
        dataset,
        len(documents),
        dict(sorted(counts.items())),
        found.relations,
        found.unknown,
        found.other_laws,
    )
