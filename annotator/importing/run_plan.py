"""Plan an import of runs: which results are kept, in which order, under which system, and its content hash.

The order is decided only here. trec_eval ignores the rank column: it sorts by score as 32-bit floats, highest first,
and breaks ties by the id's bytes, last first. A file whose ranks contradict that is counted and reported, because a
program cannot know which is meant.
Refuses, with the line: a query that is not in the dataset, a text of no or several queries, a document twice in a query, two
answers to one query; by rank order, a missing rank or one twice in a query; every bad line of every file in a folder, a
folder without files, and a system named by two files. Hidden files are skipped and counted in a note.
"""

import hashlib
import json
import unicodedata
from array import array
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, cast

from annotator.domain.errors import BadInput, Problems, ValidationError
from annotator.domain.ground_truth import Run, RunEntry
from annotator.formats.run_lines import QueryResponse, RunFile, RunLine
from annotator.formats.runs import find_system, keep_tags, require_system
from annotator.formats.text import describe

Order = Literal["score", "rank"]
ORDERS: tuple[Order, ...] = ("score", "rank")
FILE_RANK = "file_rank"
"""The signal that keeps the file's own rank where the result stands in another place."""


@dataclass(frozen=True, slots=True)
class OrderedResults:
    """The results of one query in their order. `contradictions`: how many stand, by the file's ranks, where a result of
    another score belongs; `reordered_ties`: how many results of equal score stand otherwise than in the file."""

    entries: tuple[RunEntry, ...]
    by: Order
    contradictions: int = 0
    reordered_ties: int = 0


def sort_results(entries: Sequence[RunEntry], order: Order) -> list[RunEntry]:
    """The results of one query in their order: by score where `order` says so and each has one, else by rank, and as they
    come where one has no rank."""
    if order == "score" and _has_all(entries, "score"):
        return sort_by_score(entries)
    if _has_all(entries, "rank"):
        return sorted(entries, key=lambda entry: entry.rank or 0)
    return list(entries)


def sort_by_score(entries: Sequence[RunEntry]) -> list[RunEntry]:
    """The results of one query as trec_eval orders them. Each needs a score."""
    scores = read_as_floats(entries)
    # Python compares texts by code points, which is how their bytes in UTF-8 compare.
    ordered = sorted(range(len(entries)), key=lambda at: (scores[at], entries[at].doc_id), reverse=True)
    return [entries[at] for at in ordered]


def read_as_floats(entries: Sequence[RunEntry]) -> list[float]:
    """The scores as trec_eval holds them: rounded to 32 bits, infinite where they do not fit."""
    return array("f", [0.0 if entry.score is None else entry.score for entry in entries]).tolist()


def order_results(entries: Sequence[RunEntry], order: Order, *, first: int = 1) -> OrderedResults:
    """Order the results of one query and count their ranks from `first`.

    By rank where `order` says so or a result has no score; every result then needs a rank. The rank that the file
    gave is kept among the signals (`file_rank`) where it is another.
    """
    has_scores = _has_all(entries, "score")
    contradictions = ties = 0
    if has_scores and _has_all(entries, "rank"):
        contradictions, ties = _compare(sort_results(entries, "rank"), sort_by_score(entries))
    ordered = sort_results(entries, order)
    return OrderedResults(
        tuple(_place(entry, rank) for rank, entry in enumerate(ordered, first)),
        "score" if order == "score" and has_scores else "rank",
        contradictions,
        ties,
    )


def _has_all(entries: Sequence[RunEntry], name: Literal["score", "rank"]) -> bool:
    return all(getattr(entry, name) is not None for entry in entries)


def _compare(by_rank: Sequence[RunEntry], by_score: Sequence[RunEntry]) -> tuple[int, int]:
    """How many places hold another score in the one order than in the other, and how many another result of equal score.

    Results that share a rank say nothing about their order, so they are compared as if they stood as by score.
    """
    place = {entry.doc_id: at for at, entry in enumerate(by_score)}
    by_rank = sorted(by_rank, key=lambda entry: (entry.rank or 0, place[entry.doc_id]))
    different = sum(
        one != other for one, other in zip(read_as_floats(by_rank), read_as_floats(by_score), strict=True)
    )
    moved = sum(one.doc_id != other.doc_id for one, other in zip(by_rank, by_score, strict=True))
    return different, 0 if different else moved


def _place(entry: RunEntry, rank: int) -> RunEntry:
    if entry.rank is None or entry.rank == rank:
        return replace(entry, rank=rank) if entry.rank is None else entry
    name = FILE_RANK
    while name in entry.signals:
        name += "_"
    return replace(entry, rank=rank, signals={**entry.signals, name: entry.rank})


RESERVED = "import"
OWN_SYSTEMS = (RESERVED, "remap")
LONGEST_SYSTEM = 200
Duplicates = Literal["refuse", "first"]
DUPLICATES: tuple[Duplicates, ...] = ("refuse", "first")


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a run is read. `duplicates`: what becomes of a document that a query has twice. `skip_unknown_queries`: leave
    out the results for queries that the dataset does not have."""

    order: Order = "score"
    duplicates: Duplicates = "refuse"
    skip_unknown_queries: bool = False

    def to_record(self) -> dict[str, Any]:
        """The options as the record of an import keeps them: the order, and what is not as it is by default."""
        record: dict[str, Any] = {"order": self.order}
        if self.duplicates != "refuse":
            record["duplicates"] = self.duplicates
        if self.skip_unknown_queries:
            record["skip_unknown_queries"] = True
        return record


@dataclass(frozen=True, slots=True)
class RunPlan:
    """A run as it is to be stored: its entries in their order, the SHA-256 of what the file says (the same whatever the
    order), counts for the record of the import, and notes for people."""

    run: Run
    content_sha256: str
    figures: Mapping[str, Any]
    notes: tuple[str, ...]


def check_options(*, order: str, duplicates: str, skip_unknown_queries: bool) -> RunOptions:
    """The options of these names. ValidationError for an order, or a way with duplicates, that there is not."""
    for option, found, known in (("--order", order, ORDERS), ("--duplicates", duplicates, DUPLICATES)):
        if found not in known:
            raise ValidationError(f"{option}: expected one of {', '.join(known)}, found {found!r}")
    return RunOptions(cast(Order, order), cast(Duplicates, duplicates), skip_unknown_queries)


def check_system(system: str) -> str:
    """The system's name. ValidationError when it is empty, too long, or a name that pairs carry which no system proposed."""
    if not system.strip() or len(system) > LONGEST_SYSTEM or not system.isprintable():
        raise ValidationError(
            f"expected a system name of up to {LONGEST_SYSTEM} characters, found {system!r}"
        )
    if system in OWN_SYSTEMS:
        carried = "imported" if system == RESERVED else "remapped"
        raise ValidationError(
            f"the system name {system!r} is what {carried} pairs carry; use another --system"
        )
    return system


def plan_run(
    file: RunFile,
    path: str,
    *,
    queries: Iterable[tuple[str, str]],
    options: RunOptions,
    system: str | None = None,
) -> RunPlan:
    """Order the results for each of the dataset's `queries` (query_id, text). `system` overrides what the file says.

    Ranks count from 0 when the file's do, else from 1. BadInput names every line that cannot be stored.
    """
    name = check_system(system or require_system(file, path))
    problems = Problems(path)
    found = _choose_results(file, queries, problems, skip=options.skip_unknown_queries)
    results = _rank_by_place(keep_tags(found.lines, name))
    lines = _drop_duplicates(results, problems, options)
    _check_ranks(lines, problems, options.order)
    signals = _list_query_signals(found.answers, problems)
    problems.raise_if_any()
    first = 0 if any(line.entry.rank == 0 for line in lines) else 1
    ordered = [order_results(entries, options.order, first=first) for entries in _group(lines).values()]
    entries = tuple(entry for each in ordered for entry in each.entries)
    left_out = {
        "skipped_unknown_queries": len(found.unknown),
        "skipped_unknown_results": found.unknown_results,
        "duplicates": len(results) - len(lines),
    }
    figures = {**{name: count for name, count in left_out.items() if count}, **_count_contradictions(ordered)}
    content = hash_run(Run(name, tuple(line.entry for line in lines), signals))
    notes = (
        f"system {name}",
        *file.notes,
        *_note_left_out(left_out),
        *_note_order(ordered, options.order, figures),
    )
    return RunPlan(Run(name, entries, signals), content, figures, notes)


def hash_run(run: Run) -> str:
    """SHA-256 over the entries as the file has them, in hexadecimal: the same whatever the order of the lines."""
    entries = sorted(
        json.dumps(
            [entry.query_id, entry.rank, entry.doc_id, entry.score, dict(entry.signals)],
            ensure_ascii=False,
            sort_keys=True,
        )
        for entry in run.entries
    )
    if run.query_signals:
        entries.append(json.dumps(run.query_signals, ensure_ascii=False, sort_keys=True))
    return hashlib.sha256("\n".join(entries).encode("utf-8")).hexdigest()


def check_queries(lines: Iterable[tuple[int, str]], known: Container[str], path: str) -> None:
    """BadInput for every (line, query_id) that is not of this dataset."""
    problems = Problems(path)
    for line, query_id in lines:
        if query_id not in known:
            problems.add(line, "a query_id of this dataset", describe(query_id))
    problems.raise_if_any()


# Which results are stored ------------------------------------------------------------------------------


@dataclass(slots=True)
class _ChosenAnswers:
    """What is said of queries of the dataset, each with its query_id. `unknown`: the first line of each other query,
    by what the file calls it; `unknown_results`: how many results those have."""

    lines: list[RunLine] = field(default_factory=list)
    answers: list[QueryResponse] = field(default_factory=list)
    unknown: dict[tuple[str, str | None], int] = field(default_factory=dict)
    unknown_results: int = 0


def _choose_results(
    file: RunFile, queries: Iterable[tuple[str, str]], problems: Problems, *, skip: bool
) -> _ChosenAnswers:
    """The results for the dataset's queries. Notes every other query, unless they are to be skipped."""
    names = _QueryNames.of(queries)
    chosen = _ChosenAnswers()
    for line in file.lines:
        query_id = names.find(line.entry.query_id, line.query, line.line, problems)
        if query_id is None:
            chosen.unknown.setdefault((line.entry.query_id, line.query), line.line)
            chosen.unknown_results += 1
        elif line.query is None:
            chosen.lines.append(line)
        else:
            chosen.lines.append(line._replace(entry=replace(line.entry, query_id=query_id)))
    for answer in file.answers:
        query_id = names.find(answer.query_id, answer.query, answer.line, problems)
        if query_id is None:
            chosen.unknown.setdefault((answer.query_id, answer.query), answer.line)
        else:
            chosen.answers.append(replace(answer, query_id=query_id))
    if not skip:
        _refuse_unknown(chosen, problems)
    if not chosen.lines:
        problems.add(None, "results for a query of this dataset", "none")
    return chosen


def _refuse_unknown(chosen: _ChosenAnswers, problems: Problems) -> None:
    """Note first how many there are and what leaves them out, then each query where it is first named."""
    if not chosen.unknown:
        return
    queries = _count(len(chosen.unknown), "query", "queries")
    expected = "queries of this dataset only (--skip-unknown-queries leaves the others out)"
    problems.add(None, expected, f"{queries} more ({_count(chosen.unknown_results, 'result')})")
    for (query_id, query), line in chosen.unknown.items():
        if query is None:
            problems.add(line, "a query_id of this dataset", describe(query_id))
        else:
            problems.add(line, "the text of a query of this dataset", describe(query))


@dataclass(frozen=True, slots=True)
class _QueryNames:
    """The dataset's queries by their ids and by their texts. `ambiguous`: texts that were refused already."""

    query_ids: frozenset[str]
    by_text: Mapping[str, list[str]]
    ambiguous: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, queries: Iterable[tuple[str, str]]) -> "_QueryNames":
        by_text: dict[str, list[str]] = {}
        query_ids = []
        for query_id, text in queries:
            query_ids.append(query_id)
            by_text.setdefault(_normalise(text), []).append(query_id)
        return cls(frozenset(query_ids), by_text)

    def find(self, query_id: str, query: str | None, line: int, problems: Problems) -> str | None:
        """The query_id in the dataset; None when there is none. Notes a text that several queries have."""
        if query is None:
            return query_id if query_id in self.query_ids else None
        found = self.by_text.get(_normalise(query), [])
        if len(found) > 1 and query not in self.ambiguous:
            self.ambiguous.add(query)
            several = ", ".join(found[:3])
            problems.add(
                line, "a query_id, or a text that one query has", f"{describe(query)}, which {several} have"
            )
        return found[0] if found else None


def _normalise(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip()


def _group(lines: Iterable[RunLine]) -> dict[str, list[RunEntry]]:
    by_query: dict[str, list[RunEntry]] = {}
    for line in lines:
        by_query.setdefault(line.entry.query_id, []).append(line.entry)
    return by_query


def _rank_by_place(lines: Sequence[RunLine]) -> Sequence[RunLine]:
    """Rank the results of every query that has neither ranks nor scores by their order in the file."""
    told = {line.entry.query_id for line in lines if (line.entry.rank, line.entry.score) != (None, None)}
    if all(line.entry.query_id in told for line in lines):
        return lines
    ranks: dict[str, int] = {}
    ranked = []
    for line in lines:
        query_id = line.entry.query_id
        if query_id in told:
            ranked.append(line)
            continue
        ranks[query_id] = ranks.get(query_id, 0) + 1
        ranked.append(line._replace(entry=replace(line.entry, rank=ranks[query_id])))
    return ranked


def _drop_duplicates(lines: Sequence[RunLine], problems: Problems, options: RunOptions) -> Sequence[RunLine]:
    """The lines without those whose document stands higher in the query already; or notes them, if they are refused."""
    first_lines: dict[tuple[str, str], int] = {}
    doubled: set[str] = set()
    for line, entry, *_ in lines:
        place = (entry.query_id, entry.doc_id)
        if place not in first_lines:
            first_lines[place] = line
        elif options.duplicates == "refuse":
            hint = f"first on line {first_lines[place]}; --duplicates first keeps one"
            problems.add(line, f"each document of a query once ({hint})", f"{describe(entry.doc_id)} again")
        else:
            doubled.add(entry.query_id)
    if not doubled:
        return lines
    best: set[int] = set()
    for query_id, entries in _group(lines).items():
        if query_id in doubled:
            chosen: dict[str, RunEntry] = {}
            for entry in sort_results(entries, options.order):
                chosen.setdefault(entry.doc_id, entry)
            best.update(map(id, chosen.values()))
    return [line for line in lines if line.entry.query_id not in doubled or id(line.entry) in best]


def _check_ranks(lines: Iterable[RunLine], problems: Problems, order: Order) -> None:
    """Note every rank that a query has twice or lacks, unless scores decide the order of the query."""
    by_rank = {line.entry.query_id for line in lines if order == "rank" or line.entry.score is None}
    seen: dict[tuple[str, int], int] = {}
    for line, entry, *_ in lines:
        if entry.query_id not in by_rank:
            continue
        if entry.rank is None:
            expected = "a rank" if order == "rank" else "a score, or a rank for each result of the query"
            problems.add(line, expected, "nothing")
            continue
        before = seen.setdefault((entry.query_id, entry.rank), line)
        if before != line:
            expected = f"each rank of a query once (first on line {before})"
            problems.add(line, expected, f"rank {entry.rank} again")


def _list_query_signals(answers: Iterable[QueryResponse], problems: Problems) -> dict[str, Mapping[str, Any]]:
    """What the file says of each query as a whole, by query_id. Notes a second answer to the same query."""
    signals: dict[str, Mapping[str, Any]] = {}
    lines: dict[str, int] = {}
    for answer in answers:
        before = lines.setdefault(answer.query_id, answer.line)
        if answer.query_id in signals:
            expected = f"one answer to each query (first on line {before})"
            problems.add(answer.line, expected, f"{describe(answer.query_id)} again")
        signals.setdefault(answer.query_id, answer.signals)
    return signals


# What is reported --------------------------------------------------------------------------------------


def _count_contradictions(ordered: Iterable[OrderedResults]) -> dict[str, Any]:
    """Of how many queries the ranks contradict the scores, and how many results that moves; nothing when of none."""
    found = [results.contradictions for results in ordered if results.contradictions]
    return {"rank_contradictions": {"queries": len(found), "results": sum(found)}} if found else {}


def _note_left_out(left_out: Mapping[str, int]) -> list[str]:
    notes = []
    if left_out["skipped_unknown_queries"]:
        queries = _count(left_out["skipped_unknown_queries"], "query", "queries")
        results = _count(left_out["skipped_unknown_results"], "result")
        notes.append(f"{queries} ({results}) left out: not in the dataset")
    if left_out["duplicates"]:
        results = _count(left_out["duplicates"], "result")
        notes.append(f"{results} left out: the document stands higher in the same query already")
    return notes


def _note_order(ordered: Sequence[OrderedResults], order: Order, figures: Mapping[str, Any]) -> list[str]:
    notes = []
    if counts := figures.get("rank_contradictions"):
        queries, results = _count(counts["queries"], "query", "queries"), _count(counts["results"], "result")
        chosen = (
            "ordered by score, as trec_eval does; --order rank goes by the ranks"
            if order == "score"
            else "ordered by rank; trec_eval goes by the scores"
        )
        notes.append(f"warning: the ranks contradict the scores in {queries} ({results}): {chosen}")
    if order == "rank":
        return notes
    ties = sum(results.reordered_ties for results in ordered)
    if ties:
        standing = "stands" if ties == 1 else "stand"
        notes.append(
            f"{_count(ties, 'result')} of equal score {standing} in another place than in the file: "
            "ordered by id, as trec_eval does"
        )
    without = sum(results.by == "rank" for results in ordered)
    if without:
        notes.append(f"{_count(without, 'query', 'queries')} ordered by rank: a result has no score")
    return notes


def _count(number: int, one: str, several: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else several or one + 's'}"


SUFFIXES = (".txt", ".trec", ".run", ".res", ".out", ".json", ".jsonl", ".ndjson")


def list_run_files(folder: Path) -> tuple[list[Path], tuple[str, ...]]:
    """The files of a folder by their names, and a note on what was skipped."""
    found = sorted(folder.iterdir())
    paths = [path for path in found if path.is_file() and not path.name.startswith(".")]
    if not paths:
        problems = Problems(str(folder))
        problems.add(None, "at least one run file", "none")
        problems.raise_if_any()
    skipped = len(found) - len(paths)
    what = "hidden file or folder" if skipped == 1 else "hidden files or folders"
    return paths, ((f"{skipped:,} {what} skipped",) if skipped else ())


def name_systems(paths: Iterable[Path], read: Callable[[Path], RunFile]) -> dict[Path, str]:
    """The system of each file: its tag, or else the file's name. BadInput names every bad line of every file."""
    problems = Problems("")
    systems: dict[Path, str] = {}
    first: dict[str, Path] = {}
    for path in paths:
        try:
            system = find_system(read(path), str(path)) or _name_by_file(path)
        except BadInput as error:
            problems.found += error.problems
            continue
        systems[path] = system
        before = first.setdefault(system, path)
        if before != path:
            expected = (
                f"a system of its own in each file (import it alone with --system; {before.name} has it)"
            )
            problems.add(None, expected, describe(system), path=str(path))
    problems.raise_if_any()
    return systems


def _name_by_file(path: Path) -> str:
    """The file's name without the suffixes that say what kind of file it is."""
    name = path.name
    while (suffix := Path(name).suffix).lower() in SUFFIXES and suffix:
        name = name.removesuffix(suffix)
    return name
