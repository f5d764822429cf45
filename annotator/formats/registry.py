"""The table of ground-truth formats: names, what each holds, who reads and writes it, and how to tell them apart.

The table is also the help text and the error message. A format is guessed from content only where that is
certain; otherwise the user is asked for `--format`.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from annotator.domain.errors import ValidationError
from annotator.domain.ground_truth import GroundTruth
from annotator.formats import law, nablarch, trec


class Writer(Protocol):
    """Writes a ground truth. `list_grade_0`: also list grade 0 where the evaluator would count it as relevant."""

    def __call__(self, truth: GroundTruth, *, list_grade_0: bool = ...) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Format:
    """One file format. `certain(head)` says from the first 64 kB whether a file can only be this one.

    `read(data, path)` raises BadInput with every bad place. `find_query_lines(data, path)` gives the line on
    which each query begins, for messages; None where queries have no place of their own.
    """

    name: str
    about: str
    suffixes: tuple[str, ...]
    holds: tuple[str, ...]
    cannot_hold: tuple[str, ...]
    read: Callable[[bytes, str], GroundTruth]
    write: Writer
    certain: Callable[[bytes], bool]
    find_query_lines: Callable[[bytes, str], list[int]] | None = None


HEAD = 65_536
_NABLARCH = re.compile(rb"^queries[ \t]*:", re.MULTILINE)
_LAW = re.compile(rb'\A(?:\xef\xbb\xbf)?\s*\{.*"query_text"', re.DOTALL)
_COMPACT = re.compile(rb'"ground_truth"\s*:\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*-?[0-9]')
_TREC = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*(?:[^\s]+[ \t]+[^\s]+[ \t]+[^\s]+[ \t]+-?[0-9]+[ \t\r]*\n)")

FORMATS: tuple[Format, ...] = (
    Format(
        name="nablarch",
        about="YAML of the Nablarch search evaluator (SearchEvaluationRunner)",
        suffixes=(".yaml", ".yml"),
        holds=("queries", "query metadata", "grades", "descriptions", "further keys"),
        cannot_hold=(
            "notes",
            "annotators' own grades",
            "grade 0 apart from relevant (left out unless asked for)",
        ),
        read=nablarch.read,
        write=nablarch.write,
        certain=lambda head: bool(_NABLARCH.search(head)),
        find_query_lines=nablarch.find_query_lines,
    ),
    Format(
        name="law",
        about="JSON of the law-search evaluator, with the annotators' grades",
        suffixes=(".json",),
        holds=("queries", "query metadata", "grades", "two annotators' grades", "notes", "further keys"),
        cannot_hold=("a third annotator's grade", "grade 0 apart from relevant (left out unless asked for)"),
        read=law.read,
        write=law.write,
        certain=lambda head: bool(_LAW.match(head)) and not _COMPACT.search(head),
        find_query_lines=law.find_query_lines,
    ),
    Format(
        name="trec",
        about="TREC qrels (trec_eval, pytrec_eval, ir_measures, ranx)",
        suffixes=(".txt", ".qrels", ".qrel"),
        holds=("query ids", "grades, 0 included"),
        cannot_hold=("query texts", "metadata", "notes", "ids with white space"),
        read=trec.read,
        write=trec.write,
        certain=lambda head: bool(_TREC.match(head)),
    ),
)


def find_format(name: str) -> Format:
    """The format of that name. ValidationError lists the ones there are."""
    for known in FORMATS:
        if known.name == name:
            return known
    raise ValidationError(
        f"no format named {name!r}; there are: {', '.join(known.name for known in FORMATS)}"
    )


def detect_format(data: bytes, path: str) -> Format:
    """The format that a file's content shows with certainty; ValidationError lists the candidates otherwise."""
    head = data[:HEAD]
    certain = [known for known in FORMATS if known.certain(head)]
    if len(certain) == 1:
        return certain[0]
    likely = certain or [known for known in FORMATS if path.lower().endswith(known.suffixes)] or list(FORMATS)
    names = ", ".join(known.name for known in likely)
    raise ValidationError(
        f"{path}: the content does not say which format this is; say --format, one of: {names}"
    )
