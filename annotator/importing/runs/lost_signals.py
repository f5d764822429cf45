"""Find signals that a run's own file shows to be lost between the stages of a search and its final list.

A hybrid search fuses the lists of several stages (bm25, vector, …). If a stage's score is dropped on the way,
results fall many ranks without an error. A run file shows this only if it has two kinds of data about a
result:

- that a stage lists it: `stages` (names; or name -> {"rank"}), `<stage>_rank`, `ranks.<stage>`; or, for the
whole answer, `stages` or `lists` (stage -> list of documents, best first);

- its value from the stage in the final list: `<stage>`, `<stage>_score`, `<stage>_contribution`,
`scores.<stage>`, `contributions.<stage>`, `stages.<stage>.score` or `stages.<stage>.contribution`.

A signal is lost in a result if its stage lists the result, other results of the stage have the signal, and
this one does not (null counts as missing, as does a contribution of 0). A result that no stage lists may
rightly lack a signal: the stage did not find it. Such signals are only counted (`count_partial_signals`).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotator.domain.ground_truth import Metadata, Run, RunEntry
from annotator.domain.messages import count_of
from annotator.formats.runs import ID_FIELDS

STAGES = "stages"
LISTS = "lists"
RANK_SUFFIX = "_rank"
CONTRIBUTION = "contribution"
NOT_STAGES = ("file",)  # `file_rank` is this program's own
MOST_NAMES = 50

Listing = Mapping[
    str, int | None
]  # by stage that lists a result, the rank there; None if the file does not say it


@dataclass(frozen=True, slots=True)
class LostSignal:
    """A signal that results lack although its stage lists them. The example is the result that fell furthest."""

    signal: str
    stage: str
    results: int
    queries: int
    ranks_lost: (
        int | None
    )  # the most that a result stands below its rank in the stage; None if no rank is known
    query_id: str
    doc_id: str
    rank: int
    stage_rank: int | None


@dataclass(frozen=True, slots=True)
class _LostMark:
    entry: RunEntry
    stage_rank: int | None

    @property
    def ranks_lost(self) -> int | None:
        return None if self.stage_rank is None else (self.entry.rank or 0) - self.stage_rank


def find_lost_signals(run: Run) -> list[LostSignal]:
    """Return the lost signals by stage and signal, largest loss of ranks first."""
    listed: list[tuple[RunEntry, Listing]] = []
    expected: dict[
        str, dict[str, None]
    ] = {}  # by stage, the signals that a listed result carries, in their order
    for entry, listing in _list_stages(run):
        listed.append((entry, listing))
        for stage in listing:
            expected.setdefault(stage, {}).update(dict.fromkeys(_list_carried(entry.signals, stage)))
    lost: dict[tuple[str, str], list[_LostMark]] = {}
    for entry, listing in listed:
        for stage, stage_rank in listing.items():
            carried = set(_list_carried(entry.signals, stage))
            for signal in expected[stage]:
                if signal not in carried:
                    lost.setdefault((stage, signal), []).append(_LostMark(entry, stage_rank))
    summed = [_sum_up(stage, signal, marks) for (stage, signal), marks in lost.items()]
    return sorted(summed, key=lambda item: (-(item.ranks_lost or 0), -item.results, item.stage, item.signal))


def count_partial_signals(run: Run) -> dict[str, dict[str, int]]:
    """Return, for each signal that only some results of a query have, both counts over these queries."""
    counts: dict[str, dict[str, int]] = {}
    for entries in group_by_query(run.entries).values():
        carrying = Counter(
            name for entry in entries for name, value in entry.signals.items() if value is not None
        )
        for name, number in carrying.items():
            if number < len(entries) and (name in counts or len(counts) < MOST_NAMES):
                count = counts.setdefault(name, {"carrying": 0, "lacking": 0})
                count["carrying"] += number
                count["lacking"] += len(entries) - number
    return counts


def describe_lost_signal(item: LostSignal) -> str:
    """Return a sentence on a lost signal."""
    where = f"{count_of(item.results, 'result')} of {count_of(item.queries, 'query')} that {item.stage} lists"
    example = f"query {item.query_id}, document {item.doc_id}: "
    if item.ranks_lost is not None and item.ranks_lost > 0:
        lost = count_of(item.ranks_lost, "rank")
        example += f"{lost} lost, rank {item.stage_rank} in {item.stage} and {item.rank} in the run"
    elif item.stage_rank is not None:
        example += f"rank {item.stage_rank} in {item.stage} and {item.rank} in the run"
    else:
        example += f"rank {item.rank} in the run"
    return f"warning: the signal {item.signal} is missing in {where} ({example})"


def _sum_up(stage: str, signal: str, marks: Sequence[_LostMark]) -> LostSignal:
    worst = max(marks, key=lambda mark: -1 if mark.ranks_lost is None else mark.ranks_lost)
    return LostSignal(
        signal=signal,
        stage=stage,
        results=len(marks),
        queries=len({mark.entry.query_id for mark in marks}),
        ranks_lost=worst.ranks_lost,
        query_id=worst.entry.query_id,
        doc_id=worst.entry.doc_id,
        rank=worst.entry.rank or 0,
        stage_rank=worst.stage_rank,
    )


# What a file says of stages ----------------------------------------------------------------------------


def _list_stages(run: Run) -> Iterator[tuple[RunEntry, Listing]]:
    of_queries = {query_id: _read_lists(signals) for query_id, signals in run.query_signals.items()}
    for entry in run.entries:
        lists = of_queries.get(entry.query_id)
        if not entry.signals and not lists:
            continue
        listing = dict(_read_listing(entry.signals))
        for stage, ranks in (lists or {}).items():
            if entry.doc_id in ranks and listing.get(stage) is None:
                listing[stage] = ranks[entry.doc_id]
        if listing:
            yield entry, listing


def _read_listing(signals: Metadata) -> Iterator[tuple[str, int | None]]:
    """Yield the stages in a result's own signals. Those with a rank come last and are not overwritten."""
    stages = signals.get(STAGES)
    if isinstance(stages, str):
        yield stages, None
    elif isinstance(stages, Mapping):
        for name, value in stages.items():
            if value is not None and value is not False:
                yield str(name), _read_rank(value.get("rank")) if isinstance(value, Mapping) else None
    elif isinstance(stages, list):
        for item in stages:
            if isinstance(item, str):
                yield item, None
            elif isinstance(item, Mapping) and isinstance(name := item.get("stage", item.get("name")), str):
                yield name, _read_rank(item.get("rank"))
    ranks = signals.get("ranks")
    for name, value in ranks.items() if isinstance(ranks, Mapping) else ():
        if (rank := _read_rank(value)) is not None:
            yield str(name), rank
    for name, value in signals.items():
        stage = name.removesuffix(RANK_SUFFIX)
        if stage and stage != name and stage not in NOT_STAGES and (rank := _read_rank(value)) is not None:
            yield stage, rank


def _read_rank(value: Any) -> int | None:
    return value if type(value) is int and value >= 0 else None


def _read_lists(signals: Metadata) -> dict[str, dict[str, int]]:
    """Return {stage: {document: rank from 1}} from the signals of a whole answer."""
    lists: dict[str, dict[str, int]] = {}
    for key in (STAGES, LISTS):
        given = signals.get(key)
        for name, items in given.items() if isinstance(given, Mapping) else ():
            if isinstance(items, list):
                ranks = lists.setdefault(str(name), {})
                for rank, item in enumerate(items, 1):
                    doc_id = _read_doc_id(item)
                    if doc_id is not None:
                        ranks.setdefault(doc_id, rank)
    return lists


def _read_doc_id(item: Any) -> str | None:
    if isinstance(item, Mapping):
        item = next((item[name] for name in ID_FIELDS if name in item), None)
    return str(item) if isinstance(item, str) or type(item) is int else None


def _list_carried(signals: Metadata, stage: str) -> Iterator[str]:
    """Yield the signal names under which a result has a stage's value."""
    for name in (stage, f"{stage}_score", f"{stage}_{CONTRIBUTION}"):
        if _is_given(signals.get(name), name):
            yield name
    for holder in ("scores", f"{CONTRIBUTION}s"):
        values = signals.get(holder)
        if isinstance(values, Mapping) and _is_given(values.get(stage), holder):
            yield f"{holder}.{stage}"
    stages = signals.get(STAGES)
    inner = stages.get(stage) if isinstance(stages, Mapping) else None
    if isinstance(inner, Mapping):
        for name in ("score", CONTRIBUTION):
            if _is_given(inner.get(name), name):
                yield f"{STAGES}.{stage}.{name}"


def _is_given(value: Any, name: str) -> bool:
    return value is not None and not (CONTRIBUTION in name and value == 0)


def group_by_query(entries: Iterable[RunEntry]) -> dict[str, list[RunEntry]]:
    """Return {query_id: its results}, in their order."""
    by_query: dict[str, list[RunEntry]] = {}
    for entry in entries:
        by_query.setdefault(entry.query_id, []).append(entry)
    return by_query
