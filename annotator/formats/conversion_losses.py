"""Find the content of a ground truth that a format cannot hold, and describe it with counts before writing.

A loss is `wrong` if the file would state something untrue or could not be written at all (an id that the
format cannot hold, a grade outside its scale). Then nothing may be written.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from annotator.domain.grades import GRADES, RELEVANT_FROM
from annotator.domain.ground_truth import QUERY_FIELDS, GroundTruth, Qrel, Query
from annotator.domain.messages import CommandWords, count_of, say_n
from annotator.formats.format import Format
from annotator.formats.syntax.text import describe

ANNOTATOR_PLACES = ("annotator_1", "annotator_2")
MAX_NAMED = 5


@dataclass(frozen=True, slots=True)
class ConversionLoss:
    """One thing that a conversion loses."""

    what: str
    """A sentence with the count."""
    wrong: bool = False
    """The converted file would be wrong, not only smaller."""


def find_losses(
    truth: GroundTruth, file_format: Format, *, list_grade_0: bool = False
) -> tuple[ConversionLoss, ...]:
    """Return everything that reading a file of this format back would miss, wrong losses first."""
    losses = [
        *_ids(truth, file_format),
        *_texts(truth, file_format),
        *_grades(truth, file_format, list_grade_0=list_grade_0),
        *_queries(truth, file_format),
        *_qrels(truth, file_format),
        *_judgments(truth),
        *_metadata(truth, file_format),
    ]
    return tuple(sorted(losses, key=lambda loss: not loss.wrong))


def _ids(truth: GroundTruth, file_format: Format) -> Iterator[ConversionLoss]:
    carries = file_format.carries_id
    if carries is not None:
        queries = [query.query_id for query in truth.queries if not carries(query.query_id)]
        documents = {qrel.doc_id for qrel in truth.qrels if not carries(qrel.doc_id)}
        if queries:
            yield ConversionLoss(
                f"{count_of(len(queries), 'query id')} that {file_format.name} cannot carry: {_name(queries)}",
                True,
            )
        if documents:
            unwritable = sorted(documents)
            yield ConversionLoss(
                f"{count_of(len(unwritable), 'document id')} that {file_format.name} cannot carry: {_name(unwritable)}",
                True,
            )
    if "query_ids" not in file_format.features and truth.queries:
        numbered = enumerate(_list_held(truth, file_format), 1)
        changed = [query.query_id for number, query in numbered if query.query_id != f"q{number}"]
        if changed:
            yield ConversionLoss(
                f"{count_of(len(changed), 'query id')} left out; a query is known by its text and place"
            )


def _list_held(truth: GroundTruth, file_format: Format) -> list[Query]:
    """Return the queries that a file of the format contains: without grades, those with a relevant document."""
    if "grades" in file_format.features:
        return list(truth.queries)
    relevant = {qrel.query_id for qrel in truth.qrels if qrel.grade >= RELEVANT_FROM}
    return [query for query in truth.queries if query.query_id in relevant]


_SUPPLY_TEXTS = CommandWords(" (--queries FILE supplies texts)")


def _texts(truth: GroundTruth, file_format: Format) -> Iterator[ConversionLoss]:
    missing = [query.query_id for query in _list_held(truth, file_format) if not query.text]
    if "query_texts" not in file_format.features:
        held = [query for query in truth.queries if query.text]
        if held:
            yield ConversionLoss(
                f"{count_of(len(held), 'query text')} left out: {file_format.name} holds query ids only"
            )
    elif missing and "query_ids" not in file_format.features:
        yield ConversionLoss(
            say_n(
                "{n:,} query without a text, which is all that {format} knows them by{hint}: {names}",
                "{n:,} queries without a text, which is all that {format} knows them by{hint}: {names}",
                len(missing),
                format=file_format.name,
                hint=_SUPPLY_TEXTS,
                names=_name(missing),
            ),
            True,
        )
    elif missing:
        yield ConversionLoss(
            say_n(
                '{n:,} query without a text, written as ""{hint}',
                '{n:,} queries without a text, written as ""{hint}',
                len(missing),
                hint=_SUPPLY_TEXTS,
            )
        )


def _grades(truth: GroundTruth, file_format: Format, *, list_grade_0: bool) -> Iterator[ConversionLoss]:
    counts = Counter(qrel.grade for qrel in truth.qrels)
    beyond = {grade: count for grade, count in counts.items() if grade not in GRADES}
    if beyond and "large_grades" not in file_format.features:
        yield ConversionLoss(
            f"{count_of(sum(beyond.values()), 'grade')} outside of 0 to 3 (up to {max(beyond)}), which {file_format.name} "
            "cannot hold",
            True,
        )
    elif beyond and "grades" in file_format.features:
        yield ConversionLoss(
            f"{count_of(sum(beyond.values()), 'grade')} above 3 (up to {max(beyond)}) written as they are: they stand for "
            "places in a list, not for the scale 0 to 3, and this program reads them back from no file"
        )
    zeros = counts[0]
    if "grades" not in file_format.features:
        if len(truth.qrels) > zeros:
            yield ConversionLoss(
                f"{count_of(len(truth.qrels) - zeros, 'grade')} left out: only the order of documents is kept"
            )
        if zeros:
            yield ConversionLoss(
                f"{count_of(zeros, 'qrel')} of grade 0 left out: {file_format.name} lists relevant documents only"
            )
    elif zeros and not file_format.tells_grade_0:
        if list_grade_0:
            yield ConversionLoss(
                f"{count_of(zeros, 'qrel')} of grade 0 listed as asked for: the evaluator counts every listed "
                "document as relevant in its set-based figures"
            )
        else:
            yield ConversionLoss(f"{count_of(zeros, 'qrel')} of grade 0 left out (--list-grade-0 lists them)")


def _queries(truth: GroundTruth, file_format: Format) -> Iterator[ConversionLoss]:
    listed = {query.query_id for query in _list_held(truth, file_format)}
    irrelevant = [query.query_id for query in truth.queries if query.query_id not in listed]
    if irrelevant:
        yield ConversionLoss(
            f"{count_of(len(irrelevant), 'query', 'queries')} without a relevant document left out, since the evaluator divides "
            f"by the number of relevant documents: {_name(irrelevant)}"
        )
    elif "queries_without_qrels" not in file_format.features:
        judged = {qrel.query_id for qrel in truth.qrels}
        bare = [query.query_id for query in truth.queries if query.query_id not in judged]
        if bare:
            yield ConversionLoss(
                f"{count_of(len(bare), 'query', 'queries')} without qrels left out: {_name(bare)}"
            )
    if "query_fields" not in file_format.features:
        for name in QUERY_FIELDS:
            held = sum(getattr(query, name) is not None for query in truth.queries)
            if held:
                yield ConversionLoss(f"{name} of {count_of(held, 'query', 'queries')} left out")


def _qrels(truth: GroundTruth, file_format: Format) -> Iterator[ConversionLoss]:
    held: Counter[str] = Counter()
    for qrel in truth.qrels:
        if qrel.description is not None:
            held["descriptions"] += 1
        if qrel.note is not None:
            held["notes"] += 1
        if qrel.origin != "imported":
            held["origins"] += 1
        if qrel.annotator_grades:
            held["annotator_grades"] += len(qrel.annotator_grades)
            held["two_annotators"] += len(qrel.annotator_grades[2:])
            held["names"] += not _keeps_names(qrel)
    for feature, word in (("descriptions", "description"), ("notes", "note"), ("origins", "origin")):
        if held[feature] and feature not in file_format.features:
            yield ConversionLoss(f"{count_of(held[feature], word)} left out")
    if "annotator_grades" in file_format.features:
        return
    both = "two_annotators" in file_format.features
    lost = held["two_annotators" if both else "annotator_grades"]
    if lost:
        yield ConversionLoss(f"{count_of(lost, 'grade')} of {'further ' if both else ''}annotators left out")
    if both and held["names"]:
        qrels = count_of(held["names"], "qrel")
        yield ConversionLoss(
            f"names of annotators left out, of {qrels}: {file_format.name} has the first two grades of each as "
            f"{' and '.join(ANNOTATOR_PLACES)}, whoever gave them"
        )


def _keeps_names(qrel: Qrel) -> bool:
    """Return whether a file with two places for grades keeps the names of the first two annotators."""
    names = tuple(name for name, _ in qrel.annotator_grades[:2])
    alone = names == ANNOTATOR_PLACES[1:] and qrel.origin == "imported"
    return alone or names == ANNOTATOR_PLACES[: len(names)]


def _judgments(truth: GroundTruth) -> Iterator[ConversionLoss]:
    """Yield the judgments that no format writes. Only `import qrels --as-judgments` reads them."""
    unrateable = sum(line.grade is None for line in truth.further_judgments)
    graded = len(truth.further_judgments) - unrateable
    if unrateable:
        yield ConversionLoss(f"{count_of(unrateable, 'unrateable')} of annotators left out")
    if graded:
        yield ConversionLoss(
            f"{count_of(graded, 'grade')} of annotators left out, on documents without a settled grade"
        )


def _metadata(truth: GroundTruth, file_format: Format) -> Iterator[ConversionLoss]:
    if truth.documents and "documents" not in file_format.features:
        yield ConversionLoss(f"{count_of(len(truth.documents), 'document')} with title and text left out")
    qrels = [qrel.metadata for qrel in truth.qrels if qrel.metadata]
    if qrels and "iterations" in file_format.features:
        qrels = [{key: held[key] for key in held if key != "iteration"} for held in qrels]
    yield from _lost_keys(
        "the file's own keys", [truth.metadata], "file_metadata", file_format, file_format.reserved.file
    )
    kept = [query.metadata for query in truth.queries]
    yield from _lost_keys(
        "metadata of queries", kept, "query_metadata", file_format, file_format.reserved.query
    )
    yield from _lost_keys("metadata of qrels", qrels, "qrel_metadata", file_format, file_format.reserved.qrel)


def _lost_keys(
    named: str, held: Iterable[Any], feature: str, file_format: Format, reserved: Collection[str]
) -> Iterator[ConversionLoss]:
    """Yield the metadata keys that are left out, used by the format itself, or turned into text."""
    left, turned = Counter[str](), Counter[str]()
    holds, typed = feature in file_format.features, "typed_metadata" in file_format.features
    for metadata in held:
        for key, value in metadata.items():
            if not holds or key in reserved:
                left[key] += 1
            elif not typed and not isinstance(value, str):
                turned[key] += 1
    if left:
        yield ConversionLoss(f"{named} left out: {_name_counts(left)}")
    if turned:
        yield ConversionLoss(f"{named} turned into texts: {_name_counts(turned)}")


def list_wrong(losses: Iterable[ConversionLoss]) -> list[ConversionLoss]:
    """Return the losses that stop a conversion."""
    return [loss for loss in losses if loss.wrong]


def _name(items: list[str]) -> str:
    more = len(items) - MAX_NAMED
    shown = ", ".join(describe(item) for item in items[:MAX_NAMED])
    return f"{shown} and {more:,} more" if more > 0 else shown


def _name_counts(counts: Counter[str]) -> str:
    more = len(counts) - MAX_NAMED
    shown = ", ".join(f"{key} ({count:,})" for key, count in list(counts.items())[:MAX_NAMED])
    return f"{shown} and {more:,} more" if more > 0 else shown
