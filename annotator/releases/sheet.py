"""Fills the datasheet of a release from what was counted. Pure; what it says is `datasheet.py`."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from annotator.domain.coverage import Coverage
from annotator.domain.people import name_annotator, name_lead
from annotator.domain.quality import QualityStatus
from annotator.releases.datasheet import (
    Datasheet,
    PoolSystem,
    SheetPerson,
    SheetSource,
    write_datasheet,
)
from annotator.releases.snapshot import Snapshot
from annotator.releases.writing import Given


def fill_sheet(
    manifest: Mapping[str, Any],
    snapshot: Snapshot,
    *,
    title: str,
    language: str | None,
    overlap: int,
    rules: str | None = None,
    systems: Iterable[tuple[str, int, int | None, int | None]],
    decisions: Mapping[int, int],
    causes: Mapping[str | None, int],
    led: Mapping[int, Mapping[str | None, int]],
    given: Given,
    coverage: Coverage,
    without_relevant: Sequence[str],
    without_qrels: Sequence[str],
    remapped: int,
    quality: QualityStatus | None = None,
) -> str:
    """DATASHEET.md. `rules`: in words, where not every pair was meant for `overlap`; `systems`: name, pairs, best and worst rank of each; `decisions`: by person; `causes`: of decisions, by why annotators differed; `led`: decisions by the version of the guideline that they led to, and category; people appear under their pseudonyms only. `given`: what was counted; `quality`: with pseudonyms."""
    numbers = snapshot.numbers
    outcomes: Counter[tuple[int, str]] = Counter()
    versions: Counter[int] = Counter()
    for (person, outcome, guideline_version, _), count in given.judgments.items():
        outcomes[person, outcome] += count
        if guideline_version is not None:
            versions[guideline_version] += count
    return write_datasheet(
        Datasheet(
            manifest=manifest,
            rubric=snapshot.rubric,
            overlap=overlap,
            rules=rules,
            title=title,
            language=language,
            list_grade_0=snapshot.list_grade_0,
            systems=[PoolSystem(*system) for system in systems],
            people=_list_people(snapshot, outcomes),
            decisions={
                name_lead(numbers[pk]): count
                for pk, count in sorted(decisions.items(), key=lambda item: numbers[item[0]])
            },
            causes=causes,
            led={version: sum(counts.values()) for version, counts in led.items()},
            guideline_versions=dict(sorted(versions.items())),
            sources=[
                SheetSource(path, known, count)
                for (path, known, _), count in sorted(given.sources.items(), key=lambda item: item[0][:2])
            ],
            coverage=coverage.rows,
            without_relevant=without_relevant,
            without_qrels=without_qrels,
            remapped=remapped,
            quality=quality,
        )
    )


def _list_people(snapshot: Snapshot, outcomes: Mapping[tuple[int, str], int]) -> list[SheetPerson]:
    """Who judged how much, in pseudonym order. `outcomes`: judgments by person and outcome."""
    numbers = snapshot.numbers
    return [
        SheetPerson(
            name_annotator(numbers[pk]),
            outcomes.get((pk, "graded"), 0),
            outcomes.get((pk, "unrateable"), 0),
            pk in snapshot.simulated,
        )
        for pk in sorted({pk for pk, _ in outcomes}, key=lambda pk: numbers[pk])
    ]
