"""TREC runs: one result a line, `query_id Q0 doc_id rank score tag`.

Refused, each with its line: another number of fields, an id that is too long, a rank or score that is no number, nan
or inf.
"""

from collections.abc import Iterator

from annotator.domain.errors import Problems
from annotator.domain.ground_truth import RunEntry
from annotator.formats.run_lines import RunLine, read_rank, read_score
from annotator.formats.text import ID_LIMIT, is_too_long
from annotator.formats.trec import split_fields


def read_trec_run(text: str, problems: Problems) -> Iterator[RunLine]:
    """The results of a TREC run, in the order of the file."""
    for line, content in enumerate(text.split("\n"), 1):
        fields = split_fields(content)
        if not fields:
            continue
        if len(fields) != 6:
            problems.add(line, "6 fields: query_id Q0 doc_id rank score tag", f"{len(fields)} fields")
            continue
        query_id, _, doc_id, rank, score, tag = fields
        if is_too_long(query_id) or is_too_long(doc_id):
            problems.add(line, f"ids of {ID_LIMIT}", f"{max(len(query_id), len(doc_id)):,} characters")
            continue
        found_rank = read_rank(rank, line, problems)
        found_score = read_score(score, line, problems)
        if found_rank is not None and found_score is not None:
            yield RunLine(line, RunEntry(query_id, doc_id, found_rank, found_score), tag)
