"""The profile `document`: document search, scored by the rank of the first expected document.

FirstRank is undefined for a query without an expected document in its results; its mean is over the other
queries. Found and InTop@K are 0 or 1.
"""

from annotator.domain.messages import say
from annotator.evaluation.profiles.profile import Profile, TeamMeasure, make_parser

MEASURES = {
    "FirstRank": TeamMeasure("FirstRank", with_cutoff=False),
    "Found": TeamMeasure("Success", with_cutoff=False),
    "InTop": TeamMeasure("Success"),
}
PROFILE = Profile(
    name="document",
    about=say("document search: rank of the first expected document"),
    order="rank",
    measures=("FirstRank", "Found", "InTop@3", "InTop@10"),
    mean_over="listed",
    parse=make_parser("document", MEASURES),
)
