"""The profile `law`: the law-search evaluator (Python).

Every document that the truth lists is relevant; the gain of NDCG@K is the grade. F1 is computed by query,
then averaged; AP is divided by the number of relevant documents.
"""

from annotator.domain.messages import say
from annotator.evaluation.profiles.profile import Profile, Target, TeamMeasure, make_parser

MEASURES = {
    "P": TeamMeasure("P"),
    "Recall": TeamMeasure("R"),
    "F1": TeamMeasure("F1"),
    "MAP": TeamMeasure("AP", with_cutoff=False),
    "NDCG": TeamMeasure("nDCG"),
    "MRR": TeamMeasure("RR", with_cutoff=False),
}
PROFILE = Profile(
    name="law",
    about=say("the law-search evaluator"),
    order="rank",
    measures=("P@5", "Recall@10", "F1@10", "MAP", "NDCG@10", "MRR"),
    mean_over="listed",
    parse=make_parser("law", MEASURES),
    targets=(
        Target("P@5", minimum=0.80),
        Target("Recall@10", minimum=0.75),
        Target("MAP", minimum=0.70),
        Target("NDCG@10", minimum=0.85),
        Target("MRR", minimum=0.80),
    ),
)
