"""The profile `survey`: the survey-template search evaluator (Python).

It uses only lists of relevant documents, best first. Precision@K and Recall@K are rounded to two decimals by
query. The gain of NDCG@K is 2^position - 1, where position is the list's length for the first document and 1
for the last. A truth with grades becomes a list as in `ranked.json` of a release: by grade, equal grades in
the order of the truth.
"""

from annotator.domain.errors import ValidationError
from annotator.domain.messages import say
from annotator.evaluation.profiles.profile import Profile, TeamMeasure, make_parser
from annotator.evaluation.records import Grades, Truth

LONGEST_LIST = 1_000  # 2.0**1024 overflows
MEASURES = {
    "Precision": TeamMeasure("P", relevant_from=1, decimals=2),
    "Recall": TeamMeasure("R", relevant_from=1, decimals=2),
    "NDCG": TeamMeasure("nDCG", relevant_from=1, gain="position"),
}


def list_positions(truth: Truth) -> Grades:
    """Return each relevant document's position from the end of its list, 0 for other judged documents."""
    positions: dict[str, dict[str, int]] = {}
    for query_id, documents in truth.grades.items():
        listed = sorted(
            (doc_id for doc_id, grade in documents.items() if grade >= 1),
            key=lambda doc_id: -documents[doc_id],
        )
        if len(listed) > LONGEST_LIST:
            raise ValidationError(
                say(
                    "{truth}: the profile survey takes up to {most:,} relevant documents for a query, found {found:,} for {query_id!r}",
                    truth=truth.name,
                    most=LONGEST_LIST,
                    found=len(listed),
                    query_id=query_id,
                )
            )
        positions[query_id] = dict.fromkeys(documents, 0) | {
            doc_id: len(listed) - position for position, doc_id in enumerate(listed)
        }
    return positions


PROFILE = Profile(
    name="survey",
    about=say("the survey-template search evaluator"),
    order="rank",
    measures=("Precision@5", "Recall@5", "NDCG@5", "Precision@10", "Recall@10", "NDCG@10"),
    mean_over="listed",
    parse=make_parser("survey", MEASURES),
    choose_grades=list_positions,
    needs_grades=False,
    notes=(say("mean, standard deviation and quartiles over queries are part of this team's report"),),
)
