"""DATASHEET.md: what a reader of a paper asks of a ground truth before relying on it. Pure text; deterministic.

After Gebru et al., "Datasheets for Datasets" (CACM 2021): how the pool was made, who judged and by what text, how
well they agreed, what was settled how, what is known to be missing, how to cite and verify. The sections are
in `datasheet_sections.py`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotator.dataset.records import CoverageRow
from annotator.domain.grades import Rubric
from annotator.quality.records import QualityStatus
from annotator.releases.datasheet_imports import SheetImport, SheetRun


@dataclass(frozen=True, slots=True)
class PoolSystem:
    """One origin of the pool: a run's system, "import", "remap". Ranks None: it gave none."""

    system: str
    pairs: int
    best_rank: int | None = None
    worst_rank: int | None = None


@dataclass(frozen=True, slots=True)
class SheetPerson:
    """Somebody who judged. `judged`: pairs graded; `unrateable`: pairs said to be that; `imported`: how many of both came
    from a file."""

    pseudonym: str
    judged: int
    unrateable: int = 0
    simulated: bool = False
    imported: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Datasheet:
    """Everything DATASHEET.md says that nobody has to look up elsewhere.

    `manifest`: as published (without `files` is enough). `rules`: by how many a pair was to be judged, in words, where
    that is not `overlap` for all. `title`: the dataset's. `documents`: how many it has, judged or not. `systems`: of all pairs in the
    pool. `people`: in pseudonym order. `decisions`: how many by each lead's pseudonym; `causes`: how many by why annotators
    differed (`adjudication/decisions.py`; None: not said); `led`: how many led to each version of the guideline. `guideline_versions`: how
    many current judgments were made under each version. `imports`: judgments and earlier grades that came from files; `runs`: those with something to say of them. `made_here`,
    `imported`: how many current judgments were made in this program, and came from files. `coverage`: declared
    requirements and figures. `without_relevant`: query_ids with a settled grade but none from 1 on;
    `without_qrels`: query_ids that are left out. `remapped`: how many documents got other ids since the release
    before. `quality`: with pseudonyms, None where nothing was ever drawn. `pictures`: whether pictures/grades.svg and pictures/confusion.svg are in the folder.
    """

    manifest: Mapping[str, Any]
    rubric: Rubric
    overlap: int
    rules: str | None = None
    title: str = ""
    language: str | None = None
    documents: int = 0
    list_grade_0: bool = False
    systems: Sequence[PoolSystem] = ()
    people: Sequence[SheetPerson] = ()
    decisions: Mapping[str, int] = field(default_factory=dict)
    causes: Mapping[str | None, int] = field(default_factory=dict)
    led: Mapping[int, int] = field(default_factory=dict)
    guideline_versions: Mapping[int, int] = field(default_factory=dict)
    made_here: int = 0
    imported: int = 0
    imports: Sequence[SheetImport] = ()
    runs: Sequence[SheetRun] = ()
    coverage: Sequence[CoverageRow] = ()
    without_relevant: Sequence[str] = ()
    without_qrels: Sequence[str] = ()
    remapped: int = 0
    quality: QualityStatus | None = None
    pictures: bool = True


def write_datasheet(sheet: Datasheet) -> str:
    """The whole file, Markdown in UTF-8, lines ended by LF."""
    from annotator.releases.datasheet_sections import SECTIONS

    lines = [line for section in SECTIONS for line in section(sheet)]
    return "\n".join(lines).rstrip("\n") + "\n"
