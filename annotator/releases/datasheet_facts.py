"""Fills the datasheet of a release from what was counted. Pure; what it says is `datasheet.py`."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from annotator.dataset.records import Coverage
from annotator.domain.import_records import BEFORE_RECORDS, ImportRecord, find_declared
from annotator.domain.people import name_annotator, name_lead
from annotator.quality.records import QualityStatus
from annotator.releases.counts import DatasetSnapshot
from annotator.releases.datasheet import (
    Datasheet,
    PoolSystem,
    SheetPerson,
    write_datasheet,
)
from annotator.releases.datasheet_figures import SheetImport, list_runs
from annotator.releases.write import JudgmentCounts


def fill_sheet(
    manifest: Mapping[str, Any],
    snapshot: DatasetSnapshot,
    *,
    title: str,
    language: str | None,
    overlap: int,
    rules: str | None = None,
    systems: Iterable[tuple[str, int, int | None, int | None]],
    decisions: Mapping[int, int],
    causes: Mapping[str | None, int],
    led: Mapping[int, Mapping[str | None, int]],
    given: JudgmentCounts,
    records: Sequence[ImportRecord] = (),
    documents: int = 0,
    coverage: Coverage,
    without_relevant: Sequence[str],
    without_qrels: Sequence[str],
    remapped: int,
    quality: QualityStatus | None = None,
) -> str:
    """DATASHEET.md. `rules`: in words, where not every pair was meant for `overlap`; `systems`: name, pairs, best and worst rank of each; `decisions`: by person; `causes`: of decisions, by why annotators differed; `led`: decisions by the version of the guideline that they led to, and category; people appear under their pseudonyms only. `given`: what was counted; `records`: of the dataset's imports; `quality`: with pseudonyms."""
    numbers = snapshot.numbers
    outcomes, versions, imported = _count_judgments(given)
    return write_datasheet(
        Datasheet(
            manifest=manifest,
            rubric=snapshot.rubric,
            overlap=overlap,
            rules=rules,
            title=title,
            language=language,
            documents=documents,
            list_grade_0=snapshot.list_grade_0,
            systems=[PoolSystem(*system) for system in systems],
            people=_list_people(snapshot, outcomes, imported),
            decisions={
                name_lead(numbers[pk]): count
                for pk, count in sorted(decisions.items(), key=lambda item: numbers[item[0]])
            },
            causes=causes,
            led={version: sum(counts.values()) for version, counts in led.items()},
            guideline_versions=dict(sorted(versions.items())),
            made_here=sum(outcomes.values()) - sum(imported.values()),
            imported=sum(imported.values()),
            imports=_list_imports(given, records),
            runs=list_runs(records),
            coverage=coverage.rows,
            without_relevant=without_relevant,
            without_qrels=without_qrels,
            remapped=remapped,
            quality=quality,
        )
    )


def _count_judgments(given: JudgmentCounts) -> tuple[Counter[tuple[int, str]], Counter[int], Counter[int]]:
    """The judgments by person and outcome, by guideline version where it is known, and those from files by person."""
    outcomes: Counter[tuple[int, str]] = Counter()
    versions: Counter[int] = Counter()
    imported: Counter[int] = Counter()
    for (person, outcome, guideline_version, file), count in given.judgments.items():
        outcomes[person, outcome] += count
        if guideline_version is not None:
            versions[guideline_version] += count
        if file is not None:
            imported[person] += count
    return outcomes, versions, imported


def _list_imports(given: JudgmentCounts, records: Sequence[ImportRecord]) -> list[SheetImport]:
    """The imports that judgments or qrels of the release came with, in their order; without a record last."""
    by_pk = {record.pk: record for record in records}
    judged: Counter[int] = Counter()
    for (_, _, _, file), count in given.judgments.items():
        if file is not None:
            judged[file] += count
    kept: Counter[tuple[str, str, int | None]] = Counter(given.sources)
    found: list[tuple[int, str, str, str | None, int]]
    found = [(pk, "judgments", "", None, count) for pk, count in judged.items()]
    found += [
        (pk or BEFORE_RECORDS, "qrels", path, known, count) for (path, known, pk), count in kept.items()
    ]
    found.sort(key=lambda item: (item[0] == BEFORE_RECORDS, item[0], item[1], item[2]))
    return [
        _to_import(by_pk.get(pk), kind, path, known, count, records) for pk, kind, path, known, count in found
    ]


def _to_import(
    record: ImportRecord | None,
    kind: str,
    path: str,
    known: str | None,
    count: int,
    records: Sequence[ImportRecord],
) -> SheetImport:
    if record is None:
        return SheetImport(kind=kind, path=path, format=known, count=count)
    return SheetImport(
        kind=kind,
        path=PurePath(record.path).name,
        format=record.format,
        imported_at=record.imported_at,
        count=count,
        declared=find_declared(record, records),
        options=record.options,
    )


def _list_people(
    snapshot: DatasetSnapshot, outcomes: Mapping[tuple[int, str], int], imported: Mapping[int, int]
) -> list[SheetPerson]:
    """Who judged how much, in pseudonym order. `outcomes`: judgments by person and outcome; `imported`: of them from files."""
    numbers = snapshot.numbers
    return [
        SheetPerson(
            name_annotator(numbers[pk]),
            outcomes.get((pk, "graded"), 0),
            outcomes.get((pk, "unrateable"), 0),
            pk in snapshot.simulated,
            imported.get(pk, 0),
        )
        for pk in sorted({pk for pk, _ in outcomes}, key=lambda pk: numbers[pk])
    ]
