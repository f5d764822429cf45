"""Write settled pairs as TREC qrels with inclusion probabilities, for estimates from a sample.

A line is `query_id 0 doc_id grade probability`, as in the files qrelsL07.probs and qrels.probs of TREC's
Legal tracks 2007 and 2008: ordinary qrels with a fifth column, the probability that the document was chosen
from the pool (1 if it was certain). A pair that cannot be rated has the grade -1, TREC's "gray".
"""

from collections.abc import Iterable

from annotator.formats.trec import check_writable
from annotator.pooling.rounds.round_records import JudgedProbability


def write_sampled_qrels(pairs: Iterable[JudgedProbability]) -> str:
    """Return the lines of these pairs, in their order. Raises ValidationError for an id with white space."""
    lines = []
    for pair in pairs:
        check_writable(pair.query_id, "query_id")
        check_writable(pair.doc_id, "doc_id")
        grade = -1 if pair.grade is None else pair.grade
        lines.append(f"{pair.query_id} 0 {pair.doc_id} {grade} {pair.inclusion:.9g}\n")
    return "".join(lines)
