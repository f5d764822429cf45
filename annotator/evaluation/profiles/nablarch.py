"""The profile `nablarch`: the Nablarch search evaluator (Java).

For MRR every document that the truth lists is relevant; for Recall@K and Precision@K documents of grade 2 or
more. The gain of NDCG@K is 2^grade - 1. A query without such a document adds 0 and still counts in the mean.
The team's text does not say which documents Precision@K counts; here they are the same as for Recall@K.
"""

from annotator.domain.messages import say
from annotator.evaluation.profiles.profile import Profile, Target, TeamMeasure, make_parser

MEASURES = {
    "MRR": TeamMeasure("RR", with_cutoff=False),
    "Recall": TeamMeasure("R", relevant_from=2),
    "NDCG": TeamMeasure("nDCG", gain="exponential"),
    "Precision": TeamMeasure("P", relevant_from=2),
}
PROFILE = Profile(
    name="nablarch",
    about=say("the Nablarch search evaluator"),
    order="rank",
    measures=("MRR", "Recall@5", "NDCG@5", "Recall@10", "NDCG@10"),
    mean_over="all",
    parse=make_parser("nablarch", MEASURES),
    targets=(
        Target("MRR", minimum=0.70),
        Target("Recall@5", minimum=0.80),
        Target("NDCG@5", minimum=0.70),
        Target("latency P50", maximum=200),
        Target("latency P95", maximum=300),
    ),
)
