"""The profile `code`: the code-search evaluator (TypeScript).

Every path that the truth expects is relevant; the gain of NDCG@K is the relevance. Precision is offered over
K and over the number of returned paths (`P_returned@K`), because the team's published figures do not show
which one it uses. TFFU is the time until the first expected path arrives, from the times in the run.
"""

from annotator.domain.messages import say
from annotator.evaluation.profiles.profile import Profile, TeamMeasure, make_parser

MEASURES = {
    "MRR": TeamMeasure("RR", with_cutoff=False),
    "MAP": TeamMeasure("AP", with_cutoff=False),
    "Hits": TeamMeasure("Success"),
    "P": TeamMeasure("P"),
    "P_returned": TeamMeasure("P", over_returned=True),
    "Recall": TeamMeasure("R"),
    "F1": TeamMeasure("F1"),
    "NDCG": TeamMeasure("nDCG"),
    "TFFU": TeamMeasure("TFFU", with_cutoff=False),
}
PROFILE = Profile(
    name="code",
    about=say("the code-search evaluator"),
    order="rank",
    measures=(
        "MRR",
        "MAP",
        "Hits@1",
        "Hits@3",
        "Hits@5",
        "P@5",
        "P_returned@5",
        "Recall@5",
        "F1@5",
        "NDCG@5",
        "NDCG@10",
        "TFFU",
    ),
    mean_over="listed",
    parse=make_parser("code", MEASURES),
)
