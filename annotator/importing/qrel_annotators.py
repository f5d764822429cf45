"""The annotators' own grades that a ground truth holds beside its settled ones, as lines of judgments.

A rule between the reader and the database, for `import qrels --as-judgments`. A grade, or *cannot rate*, is taken as an independent judgment
of the annotator under whose name it stands (`annotator_1` …), or of the person that the importer declares to be that annotator.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from annotator.domain.errors import ConflictError, ValidationError
from annotator.domain.ground_truth import JudgmentLine, Qrel
from annotator.domain.import_records import ImportRecord
from annotator.formats.released_law import has_mixed_places
from annotator.importing.qrel_source import QrelFile


def name_annotators(file: QrelFile, declared: Mapping[str, str]) -> dict[str, str]:
    """Return under which name each annotator's grades in the file are stored: the declared one, or else the file's own.

    `declared`: a name for each of them, or empty. Raises ValidationError if the file holds no annotators' grades, if it has none
    of a declared annotator, or if an annotator in it has no declared name.
    """
    if file.known.name == "law" and has_mixed_places(file.source):
        raise ValidationError(
            f"--as-judgments: {file.path} belongs to a release with more annotators than its two places: annotator_1 and annotator_2 are "
            "the first two of each pair, whoever they are; the judgments.csv beside it names them (annotator import judgments)"
        )
    graded = (name for qrel in file.truth.qrels for name, _ in qrel.annotator_grades)
    names = list(dict.fromkeys((*graded, *(line.annotator for line in file.truth.further_judgments))))
    if not names:
        raise ValidationError(
            f"--as-judgments: expected annotators' own grades (annotator_1 …) in {file.path}, found none; "
            "without the option its grades are brought in as settled ones"
        )
    if not declared:
        return {name: name for name in names}
    unknown = [name for name in declared if name not in names]
    if unknown:
        raise ValidationError(
            f"--provenance: annotators: expected annotators with grades in {file.path} ({', '.join(names)}), "
            f"found {', '.join(unknown)}"
        )
    missing = [name for name in names if name not in declared]
    if missing:
        raise ValidationError(
            f"--provenance: annotators: expected a name for every annotator in {file.path}, found none for {', '.join(missing)}"
        )
    return {name: declared[name] for name in names}


def check_earlier_names(file: QrelFile, names: Mapping[str, str], records: Iterable[ImportRecord]) -> None:
    """Raise ConflictError if the same file was imported under other names: every grade would count twice.

    `records`: the imports of the dataset.
    """
    for record in records:
        if (
            record.sha256 != file.sha256
            or not record.options.get("as_judgments")
            or record.kind != "judgments"
        ):
            continue
        earlier = record.options.get("annotators", {})
        for name, person in names.items():
            if earlier.get(name, name) != person:
                raise ConflictError(
                    f"{file.path}: the judgments of {name} are in this dataset already, as those of {earlier.get(name, name)}; "
                    f"as those of {person} they would count twice"
                )


def note_same_names(
    file: QrelFile, declared: Mapping[str, str], records: Iterable[ImportRecord]
) -> tuple[str, ...]:
    """Return a warning where an earlier file's annotators bear the same names and nobody says who they are: both become one
    person. `records`: the imports of the dataset."""
    if declared:
        return ()
    unnamed = {
        record.path: None
        for record in records
        if record.kind == "judgments"
        and record.options.get("as_judgments")
        and not record.options.get("annotators")
        and record.sha256 != file.sha256
    }
    if not unnamed:
        return ()
    return (
        (
            f"warning: {', '.join(unnamed)} was imported without saying who its annotators are: those of the same name are taken "
            "for the same people; if they are others, say who they are with --provenance before you import"
        ),
    )


def list_annotator_lines(
    qrels: Iterable[Qrel], further: Iterable[JudgmentLine], names: Mapping[str, str]
) -> list[JudgmentLine]:
    """Return a line for each annotator's judgment, under the name of the person: each grade beside a settled one, and what no
    qrel holds (*cannot rate*, documents that the file does not settle). All carry the dataset's own query ids."""
    graded = [
        JudgmentLine(None, qrel.query_id, qrel.doc_id, names[name], "graded", grade)
        for qrel in qrels
        for name, grade in qrel.annotator_grades
    ]
    return [*graded, *(replace(line, annotator=names[line.annotator]) for line in further)]


def note_annotators(lines: Sequence[JudgmentLine], *, new: int) -> tuple[str, ...]:
    """Notes on the judgments that came with the file, and on the pairs whose annotators differ."""
    names = list(dict.fromkeys(line.annotator for line in lines))
    grades: dict[tuple[str, str], set[int | None]] = {}
    for line in lines:
        grades.setdefault((line.query_id, line.doc_id), set()).add(line.grade)
    differ = sum(len(given) > 1 for given in grades.values())
    judgments = "1 judgment" if len(lines) == 1 else f"{len(lines):,} judgments"
    unrateable = sum(line.grade is None for line in lines)
    judgments += f" ({unrateable:,} of them unrateable)" if unrateable else ""
    pairs = "1 pair" if differ == 1 else f"{differ:,} pairs"
    return (
        f"{judgments} of {', '.join(names)} taken as independent, {new:,} of them new",
        f"{pairs} on which they differ: they wait for a lead; what the file settled is a suggestion, in the pair's history",
    )
