"""The tab-separated qrels of BEIR, one split a file: `query-id corpus-id score`, with a header. Read and written.

Part of `beir.py`. A cell that holds a tab, a line break or a quote stands in quotes, as BEIR's own loader reads it.
Refused: another header, a row of another number of cells, a grade other than 0-3, a query that queries.jsonl lacks.
"""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence

from annotator.domain.errors import BadInput, Problems
from annotator.domain.ground_truth import NOTHING, Metadata, Qrel, Query
from annotator.formats.grade_scale import UNRATEABLE
from annotator.formats.qrel_list import QrelList
from annotator.formats.source import MAX_LINE, Source
from annotator.formats.text import ID_LIMIT, describe, is_too_long

QUERIES, TEST = "queries.jsonl", "test"
HEADER = ("query-id", "corpus-id", "score")
_GRADES = {str(grade): grade for grade in range(4)}
_QUOTED = re.compile('["\t\r\n]')


def read_split(
    source: Source, split: str, qrels: QrelList, ids: dict[str, str], *, known: Mapping[str, Query] | None
) -> None:
    """The qrels of one .tsv. `ids` gathers each query_id once; `known`: the queries that there are, None when unknown."""
    problems = Problems(source.path)
    metadata: Metadata = NOTHING if split == TEST else {"split": split}
    for line, (query_id, doc_id, score) in read_rows(source, problems):
        grade = source.scale.translate(score)
        grade = _GRADES.get(score) if grade is None else grade
        if grade is None and source.scale.accepts(score):
            grade = UNRATEABLE
        if grade is None:
            problems.add(line, "a score 0, 1, 2 or 3", describe(score))
        elif not query_id or not doc_id:
            problems.add(line, f"{HEADER[0]} and {HEADER[1]} that are not empty", "an empty one")
        elif is_too_long(doc_id) or is_too_long(query_id):
            problems.add(line, f"ids of {ID_LIMIT}", "a longer one")
        else:
            known_id = ids.get(query_id)
            if known_id is None:
                known_id = ids[query_id] = query_id
                if known is not None and query_id not in known:
                    problems.add(line, f"a query of {QUERIES}", describe(query_id))
            if isinstance(grade, int):
                qrels.add(Qrel(known_id, doc_id, grade, metadata=metadata), line, path=source.path)
    qrels.problems.found.extend(problems.found)


def read_rows(source: Source, problems: Problems) -> Iterator[tuple[int, list[str]]]:
    """Every row below the header with the line it begins on. What is none is noted."""
    csv.field_size_limit(MAX_LINE)
    start, header = 0, False
    try:
        rows = csv.reader(
            (text for _, text in source.read_lines(keep_ends=True)), delimiter="\t", strict=True
        )
        for cells in rows:
            start, line = rows.line_num, start + 1
            if not cells:
                continue
            if not header:
                if tuple(cells) != HEADER:
                    problems.add(line, f"a header {' '.join(HEADER)}, with tabs", describe("\t".join(cells)))
                    return
                header = True
            elif len(cells) != len(HEADER):
                problems.add(line, f"{len(HEADER)} cells: {' '.join(HEADER)}", str(len(cells)))
            else:
                yield line, cells
    except csv.Error as error:
        problems.add(start + 1, "a TSV row", str(error))
    except BadInput as error:
        problems.found.extend(error.problems)
    if not header and not problems:
        problems.add(None, f"a header {' '.join(HEADER)}, with tabs", "an empty file")


def begin_qrels(_: Metadata, __: int) -> str:
    """The header."""
    return "\t".join(HEADER) + "\n"


def add_qrels(query: Query, qrels: Sequence[Qrel], _: int) -> str:
    """A line per qrel."""
    query_id = _cell(query.query_id)
    return "".join([f"{query_id}\t{_cell(qrel.doc_id)}\t{qrel.grade}\n" for qrel in qrels])


def _cell(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text
