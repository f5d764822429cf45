"""The profile `trec`: the scores of trec_eval, with the names of ir_measures.

Equal to `trec_eval -c -l N`: means over all queries with a qrel, where N is the lowest relevant grade.
Without `-c` (option `complete=False`) a system's means leave out the queries without results.
"""

from annotator.domain.errors import ValidationError
from annotator.domain.messages import say
from annotator.evaluation.profiles.profile import Profile
from annotator.evaluation.records import Ideal, Measure
from annotator.evaluation.scores.measures import describe_measure, parse_measure_name


def parse(name: str, relevant_from: int | None, ideal: Ideal) -> Measure:
    """Return the measure of this name in ir_measures."""
    measure = parse_measure_name(name, relevant_from=relevant_from)
    if ideal == "truth" or measure.kind != "nDCG":
        return measure
    if measure.cutoff is None:
        raise ValidationError(
            f"{name} with the ideal of the retrieved documents needs a cutoff, as in nDCG@10"
        )
    return describe_measure(measure.name, "nDCG", cutoff=measure.cutoff, gain=measure.gain, ideal=ideal)


PROFILE = Profile(
    name="trec",
    about=say("trec_eval -c, by the names of ir_measures"),
    order="score",
    measures=(
        "nDCG@10",
        "nDCG(dcg='exp-log2')@10",
        "P@5",
        "P@10",
        "R@10",
        "R@100",
        "F1@10",
        "AP",
        "RR",
        "Success@1",
        "Success@5",
        "Success@10",
        "ERR@10",
        "RBP",
        "Bpref",
        "Judged@10",
    ),
    mean_over="judged",
    parse=parse,
)
