"""Write DATASHEET.md: what a reader asks of a ground truth before relying on it.

After Gebru et al., "Datasheets for Datasets" (CACM 2021): how the pool was made, who judged by what guideline, how well they
agreed, what was settled how and in which order, what is missing, how to cite and verify. Text that others wrote is escaped;
the guideline is fenced.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotator.adjudication.records import CAUSE_NAMES, CAUSES
from annotator.dataset.records import CoverageRow
from annotator.domain.grades import Rubric
from annotator.formats.markdown import escape_markdown, write_table
from annotator.quality.records import QualityStatus
from annotator.releases.datasheet_figures import (
    SheetImport,
    SheetRun,
    say_count,
    say_number,
    say_share,
    write_agreement,
    write_coverage,
    write_gates,
    write_imports,
    write_quality,
)


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
    differed (`adjudication/records.py`; None: not said); `led`: how many led to each version of the guideline. `guideline_versions`: how
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

    lines = [line for section in SECTIONS for line in section(sheet)]
    return "\n".join(lines).rstrip("\n") + "\n"


def write_order(sheet: "Datasheet") -> Iterator[str]:
    """The lines of the section, from the manifest's `order`; none for a manifest without it."""
    order = sheet.manifest.get("order")
    if order is None:
        return
    yield from ("## In which order documents stand", "")
    yield (
        "A query's documents stand by settled grade, then by the mean of its annotators' grades, a lead's order, the place in "
        "an earlier ground truth, and last a hash of the ids with the dataset's seed; never by the rank that a system gave."
    )
    tied, undecided = order["tied"], order["undecided"]
    if tied:
        yield (
            f"Grade and mean are the same as another relevant document's of the query for {say_count(tied, 'document')}: "
            f"{order['by_lead']:,} of them have a place in a lead's order, {order['by_earlier']:,} only one in an earlier "
            "ground truth."
        )
    if undecided:
        queries = order["queries_undecided"]
        yield (
            f"Of these, {undecided:,} in {queries:,} {'query' if queries == 1 else 'queries'} stand in an order that only the "
            "hash decided: a figure that reads places as grades (`ranked.json`) tells nothing about them."
        )
    else:
        yield "No order was left to the hash."
    left_out = order["queries_without_relevant"]
    if left_out:
        yield (
            f"`ranked.json` leaves out {left_out:,} {'query' if left_out == 1 else 'queries'} without a relevant document among those "
            "settled: its evaluator divides by the number of relevant documents."
        )
    yield ""


LISTED = 500
NOT_SAID = "not said"
CONTENT_COLUMNS = ("what", "how many#", "share of the qrels#")
ORIGINS = (
    ("unanimous", "settled by two or more annotators who agree"),
    ("adjudicated", "decided by a lead"),
    ("single", "settled by one annotator alone"),
    ("imported", "kept from an earlier ground truth"),
)
LEFT_OUT = (
    ("disagreement", "annotators differ and nobody has decided"),
    ("reopened", "quality control contradicts the grade and nobody has decided"),
    ("unrateable", "said to be unrateable"),
    ("unjudged", "judged by nobody"),
)


def _write_head(sheet: "Datasheet") -> Iterator[str]:
    manifest = sheet.manifest
    name = escape_markdown(manifest["dataset"])
    yield from (f"# Datasheet of {name} {manifest['version']}", "")
    if sheet.title and sheet.title != manifest["dataset"]:
        yield from (f"Title: {escape_markdown(sheet.title)}", "")
    if manifest.get("notice"):
        yield from (f"**{escape_markdown(manifest['notice'])}**", "")
    yield f"A ground truth of graded relevance, published {manifest['created_at']} by {manifest['published_by']}."
    if manifest.get("note"):
        yield from ("", f"Note of the publisher: {escape_markdown(manifest['note'])}")
    previous = manifest.get("previous")
    yield from ("", f"Changes since {previous}: CHANGES.md." if previous else "It is the first release.", "")
    about = [(name, manifest.get(name)) for name in ("authors", "contact", "licence", "source")]
    about.append(("main language of the documents", sheet.language))
    rows = [(name, escape_markdown(text) if text else NOT_SAID) for name, text in about]
    rows.append(("documents, judged or not", f"{sheet.documents:,}"))
    yield from (*write_table(("about this dataset", ""), rows), "")


def _write_content(sheet: "Datasheet") -> Iterator[str]:
    counts = sheet.manifest["counts"]
    qrels = counts["qrels"]
    yield from ("## What it holds", "")
    rows = [
        ("queries", f"{counts['queries'] - counts['queries_without_qrels']:,}", ""),
        ("qrels (settled pairs of a query and a document)", f"{qrels:,}", ""),
    ]
    for definition in sheet.rubric.grades:
        number = counts["by_grade"][str(definition.grade)]
        label = f"… of grade {definition.grade}, {escape_markdown(definition.name)}"
        rows.append((label, f"{number:,}", say_share(number, qrels)))
    rows += [
        (f"… {words} (`{origin}`)", f"{counts[origin]:,}", say_share(counts[origin], qrels))
        for origin, words in ORIGINS
        if counts.get(origin)
    ]
    yield from write_table(CONTENT_COLUMNS, rows)
    if sheet.pictures:
        yield from ("", "![Distribution of grades](pictures/grades.svg)")
    yield ""


def _write_pool(sheet: "Datasheet") -> Iterator[str]:
    counts = sheet.manifest["counts"]
    yield from ("## How the pool was made", "")
    yield f"{say_count(counts['pairs'], 'pair')} of {say_count(counts['queries'], 'query')} in all {'was' if counts['pairs'] == 1 else 'were'} put up for judging."
    if sheet.systems:
        yield from ("A pair that several systems found is counted with each of them.", "")
        rows = [
            (
                escape_markdown(item.system),
                f"{item.pairs:,}",
                say_number(item.best_rank),
                say_number(item.worst_rank),
            )
            for item in sheet.systems
        ]
        yield from write_table(("system", "pairs#", "best rank#", "pool depth (deepest rank)#"), rows)
    else:
        yield "Nothing is recorded about the systems that found them."
    yield ""


def _write_people(sheet: "Datasheet") -> Iterator[str]:
    yield from ("## Who judged, and how", "")
    meant = (
        f"every pair was meant for {sheet.overlap} of them."
        if sheet.rules is None
        else f"by how many a pair was to be judged: {escape_markdown(sheet.rules)}"
    )
    yield f"{say_count(len(sheet.people), 'annotator')}; {meant}"
    if sheet.made_here:
        yield (
            f"{say_count(sheet.made_here, 'judgment')} made in this program: each annotator judged alone, without seeing a rank, a "
            "score, a system or anybody else's grade."
        )
    if sheet.imported:
        yield f"{say_count(sheet.imported, 'judgment')} from files, made outside this program: what is known of how, see below."
    if sheet.people:
        yield ""
        rows = [
            (
                escape_markdown(item.pseudonym),
                f"{item.judged:,}",
                f"{item.unrateable:,}",
                f"{item.imported:,}",
                "simulated, not a person" if item.simulated else "",
            )
            for item in sheet.people
        ]
        yield from write_table(
            ("annotator", "pairs graded#", "pairs unrateable#", "of them from files#", ""), rows
        )
    yield ""


def _write_standard(sheet: "Datasheet") -> Iterator[str]:
    yield from ("## What they judged by", "")
    decided = bool(sheet.manifest["counts"]["adjudicated"])
    if not sheet.made_here:
        yield (
            "Nobody judged in this program. By what the grades that came from files were given is not known beyond what was declared. "
            "These are the grades as this dataset defines them:"
        )
        yield ""
    yield from write_table(
        ("grade#", "name", "definition"),
        [
            (str(item.grade), escape_markdown(item.name), escape_markdown(item.definition))
            for item in sheet.rubric.grades
        ],
    )
    yield ""
    version = sheet.manifest["guideline_version"]
    if not sheet.made_here and not decided:
        return
    made = [(f"version {key}", f"{number:,}") for key, number in sorted(sheet.guideline_versions.items())]
    if made and sheet.imported:
        made.append(("not known (from files)", f"{sheet.imported:,}"))
    if made:
        yield from write_table(("guideline", "judgments made under it#"), made)
        yield ""
    text = sheet.rubric.guideline.replace("\r\n", "\n").strip("\n")
    if text:
        fence = _choose_fence(text)
        yield from (f"The guideline, version {version}, word for word:", "", f"{fence}markdown", text, fence)
    else:
        yield f"The guideline, version {version}, has no text beyond these definitions."
    yield ""


def _write_settlement(sheet: "Datasheet") -> Iterator[str]:
    counts = sheet.manifest["counts"]
    yield from ("## How grades were settled", "")
    decided = counts["adjudicated"]
    yield (
        f"A pair whose judgments agree has their grade. Where they differ, a lead decides with a reason: "
        f"{decided:,} of {say_count(counts['qrels'], 'qrel')} ({say_share(decided, counts['qrels'])})."
    )
    if sheet.decisions:
        by_lead = ", ".join(f"{name} {number:,}" for name, number in sorted(sheet.decisions.items()))
        yield f"Decisions by lead: {escape_markdown(by_lead)}."
    yield from _write_lessons(sheet)
    if counts.get("imported"):
        kept = say_count(counts["imported"], "qrel")
        yield f"Grades of an earlier ground truth stand where nobody has judged the pair since: {kept}."
    yield ""


def _write_lessons(sheet: "Datasheet") -> Iterator[str]:
    """Why annotators differed, as far as the deciding leads said so, and what the guideline made of it."""
    named = {cause: number for cause, number in sheet.causes.items() if cause is not None}
    if named:
        told = [f"{CAUSE_NAMES[cause]} {named[cause]:,}" for cause in CAUSES if cause in named]
        told += [f"not said {sheet.causes[None]:,}"] if sheet.causes.get(None) else []
        yield f"Why annotators differed, by the word of who decided: {', '.join(told)}."
    if sheet.led:
        versions = ", ".join(
            f"version {version} by {say_count(number, 'decision')}"
            for version, number in sorted(sheet.led.items())
        )
        yield f"Decisions led to new versions of the guideline: {versions}."


def _write_limits(sheet: "Datasheet") -> Iterator[str]:
    counts = sheet.manifest["counts"]
    yield from ("## Known limits", "")
    yield "- A document that is not in the pool was never judged; that is not grade 0. Neither is a pair left out below."
    for status, words in LEFT_OUT:
        if counts.get(status):
            yield f"- Left out: {say_count(counts[status], 'pair')} ({words})."
    if counts["single"]:
        yield f"- Resting on one annotator alone, without a second opinion: {say_count(counts['single'], 'qrel')}."
    if counts.get("imported"):
        taken = say_count(counts["imported"], "qrel")
        yield f"- Taken over from an earlier ground truth and judged by nobody here: {taken}."
    waived = [gate["name"] for gate in sheet.manifest["gates"] if gate.get("override")]
    if waived:
        yield f"- Published although these gates were not met: {', '.join(waived)}."
    if any(person.simulated for person in sheet.people):
        yield "- Some annotators are simulated: their judgments say nothing about relevance."
    if sheet.without_relevant:
        yield f"- {_queries(sheet.without_relevant)} no relevant document among those judged: {_list(sheet.without_relevant)}"
    if sheet.without_qrels:
        yield f"- {_queries(sheet.without_qrels)} no qrel, so {'it is' if len(sheet.without_qrels) == 1 else 'they are'} in no file: {_list(sheet.without_qrels)}"
    if sheet.remapped:
        yield f"- With another id than in the release before (CHANGES.md): {say_count(sheet.remapped, 'document')}."
    listed = "list" if sheet.list_grade_0 else "do not list"
    yield f"- nablarch, law, law-compact and assay files {listed} grade 0; TREC, BEIR, CSV and JSONL always do."
    yield ""


def _write_citation(sheet: "Datasheet") -> Iterator[str]:
    manifest = sheet.manifest
    yield from ("## How to cite and verify", "")
    yield (
        f"Cite: {escape_markdown(manifest['dataset'])}, version {manifest['version']} ({manifest['created_at'][:10]}), "
        f"content `sha256:{manifest['content_sha256']}`."
    )
    yield "The same grades have the same content hash, in whatever format they are."
    yield ""
    yield "Verify: `sha256sum -c SHA256SUMS` in this folder, or `annotator release verify PATH`, which also compares"
    yield "every file with the qrels. All judgments behind the grades: judgments.csv, under pseudonyms."


SECTIONS: tuple[Callable[["Datasheet"], Iterator[str]], ...] = (
    _write_head,
    _write_content,
    _write_pool,
    _write_people,
    write_imports,
    _write_standard,
    write_agreement,
    _write_settlement,
    write_order,
    write_quality,
    write_gates,
    write_coverage,
    _write_limits,
    _write_citation,
)


def _queries(query_ids: Sequence[str]) -> str:
    return f"{len(query_ids):,} {'query has' if len(query_ids) == 1 else 'queries have'}"


def _list(query_ids: Sequence[str]) -> str:
    shown = ", ".join(escape_markdown(query_id) for query_id in query_ids[:LISTED])
    more = len(query_ids) - LISTED
    return f"{shown}, and {more:,} more" if more > 0 else shown


def _choose_fence(text: str) -> str:
    """Longer than any run of backticks in the text, so that nothing in it ends the block."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    return "`" * max(3, longest + 1)
