"""Plan an import of runs: which results are kept, in which order, under which system, and a content hash.

The order is decided only here. trec_eval ignores the rank column: it sorts by score as 32-bit floats, highest
first, and breaks ties by the id's bytes, last first. A file whose ranks contradict its scores is counted and
reported, because a program cannot know which are right. Refuses, with the line: a query outside the dataset,
a text of no or several queries, a repeated document in a query, two answers to one query; by rank order, a
missing or repeated rank in a query; every bad line of every file in a folder, a folder without files, and two
files of one system. Hidden files are skipped and counted in a note.
"""

import hashlib
import json
from array import array
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any, Literal, cast

from annotator.domain.errors import BadInput, Problems, ValidationError
from annotator.domain.ground_truth import Run, RunEntry
from annotator.domain.messages import CommandWords, count_of, say
from annotator.formats.runs import (
    QueryNames,
    QueryResponse,
    RunFile,
    RunLine,
    find_system,
    keep_tags,
    name_by_file,
    require_system,
)
from annotator.formats.syntax.text import describe
from annotator.importing.report import expect_query
from annotator.importing.runs.lost_signals import (
    count_partial_signals,
    describe_lost_signal,
    find_lost_signals,
    group_by_query,
)
from annotator.importing.texts.text_plan import QueryText

Order = Literal["score", "rank"]
ORDERS: tuple[Order, ...] = ("score", "rank")
FILE_RANK = "file_rank"
"""The signal that keeps the file's own rank where the result stands in another place."""


@dataclass(frozen=True, slots=True)
class OrderedResults:
    """The results of one query in their order."""

    entries: tuple[RunEntry, ...]
    by: Order
    contradictions: int = 0  # results whose rank in the file is the rank of another score
    reordered_ties: int = 0  # results of equal score that have another order than in the file


def sort_results(entries: Sequence[RunEntry], order: Order) -> list[RunEntry]:
    """Return the results of one query in order.

    By score if `order` is "score" and every result has one, else by rank; in file order if a result has no
    rank.
    """
    if order == "score" and _has_all(entries, "score"):
        return sort_by_score(entries)
    if _has_all(entries, "rank"):
        return sorted(entries, key=lambda entry: entry.rank or 0)
    return list(entries)


def sort_by_score(entries: Sequence[RunEntry]) -> list[RunEntry]:
    """Return the results of one query in trec_eval's order. Each needs a score."""
    scores = read_as_floats(entries)
    # Python compares texts by code points, which is how their bytes in UTF-8 compare.
    ordered = sorted(range(len(entries)), key=lambda at: (scores[at], entries[at].doc_id), reverse=True)
    return [entries[at] for at in ordered]


def read_as_floats(entries: Sequence[RunEntry]) -> list[float]:
    """Return the scores as in trec_eval: rounded to 32 bits, infinite if they do not fit."""
    return array("f", [0.0 if entry.score is None else entry.score for entry in entries]).tolist()


def order_results(entries: Sequence[RunEntry], order: Order, *, first: int = 1) -> OrderedResults:
    """Order the results of one query and number their ranks from `first`.

    By rank if `order` is "rank" or a result has no score; every result then needs a rank. A different rank in
    the file is kept among the signals (`file_rank`).
    """
    has_scores = _has_all(entries, "score")
    contradictions = ties = 0
    if has_scores and _has_all(entries, "rank"):
        contradictions, ties = _compare(sort_results(entries, "rank"), sort_by_score(entries))
    ordered = sort_results(entries, order)
    return OrderedResults(
        tuple(_set_rank(entry, rank) for rank, entry in enumerate(ordered, first)),
        "score" if order == "score" and has_scores else "rank",
        contradictions,
        ties,
    )


def _has_all(entries: Sequence[RunEntry], name: Literal["score", "rank"]) -> bool:
    return all(getattr(entry, name) is not None for entry in entries)


def _compare(by_rank: Sequence[RunEntry], by_score: Sequence[RunEntry]) -> tuple[int, int]:
    """Count the positions with another score by rank than by score, and with another result of equal score."""
    # results of the same rank have no order: they are compared in the order of their scores
    positions = {entry.doc_id: at for at, entry in enumerate(by_score)}
    by_rank = sorted(by_rank, key=lambda entry: (entry.rank or 0, positions[entry.doc_id]))
    different = sum(
        left != right for left, right in zip(read_as_floats(by_rank), read_as_floats(by_score), strict=True)
    )
    moved = sum(left.doc_id != right.doc_id for left, right in zip(by_rank, by_score, strict=True))
    return different, 0 if different else moved


def _set_rank(entry: RunEntry, rank: int) -> RunEntry:
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
    """Options for reading a run."""

    order: Order = "score"
    duplicates: Duplicates = "refuse"  # what to do with a document that a query has twice
    skip_unknown_queries: bool = False  # leave out results for queries that the dataset does not have

    def to_record(self) -> dict[str, Any]:
        """Return the order, and the values that differ from the defaults, for the record of an import."""
        record: dict[str, Any] = {"order": self.order}
        if self.duplicates != "refuse":
            record["duplicates"] = self.duplicates
        if self.skip_unknown_queries:
            record["skip_unknown_queries"] = True
        return record


@dataclass(frozen=True, slots=True)
class RunPlan:
    """A run as it will be stored."""

    run: Run  # its entries in their order
    content_sha256: str  # of what the file says, whatever the order
    figures: Mapping[str, Any]  # counts for the record of the import
    notes: tuple[str, ...]  # for people


def check_options(*, order: str, duplicates: str, skip_unknown_queries: bool) -> RunOptions:
    """Return the options. ValidationError for an unknown value of `order` or `duplicates`."""
    for option, value, allowed in (("--order", order, ORDERS), ("--duplicates", duplicates, DUPLICATES)):
        if value not in allowed:
            raise ValidationError(f"{option}: expected one of {', '.join(allowed)}, found {value!r}")
    return RunOptions(cast(Order, order), cast(Duplicates, duplicates), skip_unknown_queries)


def check_system(system: str) -> str:
    """Return the system's name. ValidationError if it is empty, too long, not printable or reserved."""
    if not system.strip() or len(system) > LONGEST_SYSTEM or not system.isprintable():
        raise ValidationError(
            f"expected a system name of up to {LONGEST_SYSTEM} characters, found {system!r:.220}"
        )
    if system in OWN_SYSTEMS:
        imported = say(
            "the system name {system} is reserved for imported pairs; use another {option}",
            system=repr(system),
            option=CommandWords("--system"),
        )
        remapped = say(
            "the system name {system} is reserved for remapped pairs; use another {option}",
            system=repr(system),
            option=CommandWords("--system"),
        )
        raise ValidationError(imported if system == RESERVED else remapped)
    return system


def plan_run(
    file: RunFile,
    path: str,
    *,
    queries: Mapping[str, QueryText],
    options: RunOptions,
    system: str | None = None,
) -> RunPlan:
    """Order the results for each of the dataset's `queries` (by query_id). `system` overrides the file's.

    Ranks count from 0 if the file's do, else from 1. BadInput names every line that cannot be stored.
    """
    name = check_system(system or require_system(file, path))
    problems = Problems(path)
    chosen = _choose_results(file, queries, problems, skip=options.skip_unknown_queries)
    results = _rank_by_order(keep_tags(chosen.lines, name))
    lines = _drop_duplicates(results, problems, options)
    _check_ranks(lines, problems, options.order)
    signals = _list_query_signals(chosen.answers, problems)
    problems.raise_if_any()
    first = 0 if any(line.entry.rank == 0 for line in lines) else 1
    by_query = group_by_query(line.entry for line in lines)
    ordered = [order_results(entries, options.order, first=first) for entries in by_query.values()]
    entries = tuple(entry for each in ordered for entry in each.entries)
    left_out = {
        "skipped_unknown_queries": len(chosen.unknown),
        "skipped_unknown_results": chosen.unknown_results,
        "duplicates": len(results) - len(lines),
    }
    stored = Run(name, entries, signals)
    lost = find_lost_signals(stored)
    figures = {
        **{name: count for name, count in left_out.items() if count},
        **_count_moved(ordered, options.order),
        **({"lost_signals": [asdict(item) for item in lost]} if lost else {}),
        **({"partial_signals": partial} if (partial := count_partial_signals(stored)) else {}),
    }
    content = hash_run(Run(name, tuple(line.entry for line in lines), signals))
    notes = (
        f"system {name}",
        *file.notes,
        *_note_left_out(left_out),
        *_note_order(ordered, options.order, figures),
        *map(describe_lost_signal, lost),
    )
    return RunPlan(stored, content, figures, notes)


def hash_run(run: Run) -> str:
    """Return the SHA-256 of the file's entries, in hexadecimal; independent of their order."""
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


def check_queries(lines: Iterable[tuple[int, str]], allowed: Collection[str], path: str) -> None:
    """Raise BadInput for every (line, query_id) whose query is not allowed."""
    problems = Problems(path)
    unknown = [(line, query_id) for line, query_id in lines if query_id not in allowed]
    expected = expect_query(allowed, (query_id for _, query_id in unknown))
    for line, query_id in unknown:
        problems.add(line, expected[query_id], describe(query_id))
    problems.raise_if_any()


# Which results are stored ------------------------------------------------------------------------------


@dataclass(slots=True)
class _ChosenAnswers:
    """The results and answers to the dataset's queries, each with its query_id.

    `unknown`: {(id, text) of another query in the file: its first line}; `unknown_results`: the number of
    their results.
    """

    lines: list[RunLine] = field(default_factory=list)
    answers: list[QueryResponse] = field(default_factory=list)
    unknown: dict[tuple[str, str | None], int] = field(default_factory=dict)
    unknown_results: int = 0


def _choose_results(
    file: RunFile, queries: Mapping[str, QueryText], problems: Problems, *, skip: bool
) -> _ChosenAnswers:
    """Return the results for the dataset's queries. Notes every other query unless `skip`."""
    names = QueryNames.of((query_id, query.text) for query_id, query in queries.items())
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
        _refuse_unknown(chosen, queries, problems)
    if not chosen.lines:
        problems.add(None, say("results for a query of this dataset"), say("none"))
    return chosen


def _refuse_unknown(chosen: _ChosenAnswers, query_ids: Iterable[str], problems: Problems) -> None:
    """Note the number of unknown queries with advice, then each query at its first line."""
    if not chosen.unknown:
        return
    queries = count_of(len(chosen.unknown), "query", "queries")
    expected = say(
        "queries of this dataset only ({option} leaves the others out)",
        option=CommandWords("--skip-unknown-queries"),
    )
    problems.add(None, expected, f"{queries} more ({count_of(chosen.unknown_results, 'result')})")
    by_id = expect_query(query_ids, (query_id for query_id, query in chosen.unknown if query is None))
    for (query_id, query), line in chosen.unknown.items():
        if query is None:
            problems.add(line, by_id[query_id], describe(query_id))
        else:
            problems.add(line, say("the text of a query of this dataset"), describe(query))


def _rank_by_order(lines: Sequence[RunLine]) -> Sequence[RunLine]:
    """Rank the results of queries without ranks and scores by file order."""
    ranked_or_scored = {
        line.entry.query_id for line in lines if (line.entry.rank, line.entry.score) != (None, None)
    }
    if all(line.entry.query_id in ranked_or_scored for line in lines):
        return lines
    ranks: dict[str, Iterator[int]] = defaultdict(lambda: count(1))
    return [
        line
        if line.entry.query_id in ranked_or_scored
        else line._replace(entry=replace(line.entry, rank=next(ranks[line.entry.query_id])))
        for line in lines
    ]


def _drop_duplicates(lines: Sequence[RunLine], problems: Problems, options: RunOptions) -> Sequence[RunLine]:
    """Return the lines without repeated documents of a query, or note them as problems if they are refused."""
    first_lines: dict[tuple[str, str], int] = {}
    doubled: set[str] = set()
    for line, entry, *_ in lines:
        pair = (entry.query_id, entry.doc_id)
        if pair not in first_lines:
            first_lines[pair] = line
        elif options.duplicates == "refuse":
            problems.add(
                line,
                say(
                    "each document of a query once (first on line {line}; {option} keeps one)",
                    line=first_lines[pair],
                    option=CommandWords("--duplicates first"),
                ),
                say("{item} again", item=describe(entry.doc_id)),
            )
        else:
            doubled.add(entry.query_id)
    if not doubled:
        return lines
    best: set[int] = set()
    for query_id, entries in group_by_query(line.entry for line in lines).items():
        if query_id in doubled:
            chosen: dict[str, RunEntry] = {}
            for entry in sort_results(entries, options.order):
                chosen.setdefault(entry.doc_id, entry)
            best.update(map(id, chosen.values()))
    return [line for line in lines if line.entry.query_id not in doubled or id(line.entry) in best]


def _check_ranks(lines: Iterable[RunLine], problems: Problems, order: Order) -> None:
    """Note every repeated or missing rank of a query, unless scores decide its order."""
    by_rank = {line.entry.query_id for line in lines if order == "rank" or line.entry.score is None}
    first_lines: dict[tuple[str, int], int] = {}
    for line, entry, *_ in lines:
        if entry.query_id not in by_rank:
            continue
        if entry.rank is None:
            expected = "a rank" if order == "rank" else "a score, or a rank for each result of the query"
            problems.add(line, expected, say("nothing"))
            continue
        before = first_lines.setdefault((entry.query_id, entry.rank), line)
        if before != line:
            expected = say("each rank of a query once (first on line {line})", line=before)
            problems.add(line, expected, say("{item} again", item=f"rank {entry.rank}"))


def _list_query_signals(answers: Iterable[QueryResponse], problems: Problems) -> dict[str, Mapping[str, Any]]:
    """Return {query_id: signals of the whole answer}. Notes a second answer to a query."""
    signals: dict[str, Mapping[str, Any]] = {}
    lines: dict[str, int] = {}
    for answer in answers:
        before = lines.setdefault(answer.query_id, answer.line)
        if answer.query_id in signals:
            expected = f"one answer to each query (first on line {before})"
            problems.add(answer.line, expected, say("{item} again", item=describe(answer.query_id)))
        signals.setdefault(answer.query_id, answer.signals)
    return signals


# What is reported --------------------------------------------------------------------------------------


def _count_moved(ordered: Sequence[OrderedResults], order: Order) -> dict[str, Any]:
    """Return the figures of ranks that contradict scores, and of reordered ties; without those that are 0."""
    contradictions = [results.contradictions for results in ordered if results.contradictions]
    ties = sum(results.reordered_ties for results in ordered) if order == "score" else 0
    counts = {"queries": len(contradictions), "results": sum(contradictions)}
    return {
        **({"rank_contradictions": counts} if contradictions else {}),
        **({"reordered_ties": ties} if ties else {}),
    }


def _note_left_out(left_out: Mapping[str, int]) -> list[str]:
    notes = []
    if left_out["skipped_unknown_queries"]:
        queries = count_of(left_out["skipped_unknown_queries"], "query", "queries")
        results = count_of(left_out["skipped_unknown_results"], "result")
        notes.append(f"{queries} ({results}) left out: not in the dataset")
    if left_out["duplicates"]:
        results = count_of(left_out["duplicates"], "result")
        notes.append(f"{results} left out: the same query lists the document at a better rank")
    return notes


def _note_order(ordered: Sequence[OrderedResults], order: Order, figures: Mapping[str, Any]) -> list[str]:
    notes = []
    if counts := figures.get("rank_contradictions"):
        queries, results = (
            count_of(counts["queries"], "query", "queries"),
            count_of(counts["results"], "result"),
        )
        chosen = (
            say(
                "ordered by score, as trec_eval does; {option} goes by the ranks",
                option=CommandWords("--order rank"),
            )
            if order == "score"
            else "ordered by rank; trec_eval goes by the scores"
        )
        notes.append(f"warning: the ranks contradict the scores in {queries} ({results}): {chosen}")
    if order == "rank":
        return notes
    if ties := figures.get("reordered_ties"):
        verb = "stands" if ties == 1 else "stand"
        notes.append(
            f"{count_of(ties, 'result')} of equal score {verb} in another place than in the file: "
            "ordered by id, as trec_eval does"
        )
    without = sum(results.by == "rank" for results in ordered)
    if without:
        notes.append(f"{count_of(without, 'query', 'queries')} ordered by rank: a result has no score")
    return notes


def list_run_files(folder: Path) -> tuple[list[Path], tuple[str, ...]]:
    """Return a folder's files sorted by name, and a note on skipped ones."""
    entries = sorted(folder.iterdir())
    paths = [path for path in entries if path.is_file() and not path.name.startswith(".")]
    if not paths:
        problems = Problems(str(folder))
        problems.add(None, say("at least one run file"), say("none"))
        problems.raise_if_any()
    skipped = len(entries) - len(paths)
    noun = "hidden file or folder" if skipped == 1 else "hidden files or folders"
    return paths, ((f"{skipped:,} {noun} skipped",) if skipped else ())


def plan_folder(
    folder: Path,
    paths: Iterable[Path],
    read: Callable[[Path], RunFile],
    *,
    queries: Mapping[str, QueryText],
    options: RunOptions,
) -> dict[Path, RunPlan]:
    """Plan the run of each file; its system is its tag or else its name. BadInput names every bad line, and shared systems."""
    problems = Problems(str(folder))
    plans: dict[Path, RunPlan] = {}
    paths_by_system: dict[str, Path] = {}
    for path in paths:
        try:
            file = read(path)
            system = find_system(file, str(path)) or name_by_file(path)
            first = paths_by_system.setdefault(system, path)
            if first != path:
                expected = say(
                    "a system of its own in each file (import it alone with {option}; {file} has it)",
                    option=CommandWords("--system"),
                    file=first.name,
                )
                problems.add(None, expected, describe(system), path=str(path))
                continue
            plans[path] = plan_run(file, str(path), queries=queries, options=options, system=system)
        except BadInput as error:
            problems.errors += error.problems
    problems.raise_if_any()
    return plans
