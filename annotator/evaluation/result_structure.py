"""Measure where results come from: stages of a search, graph expansion, document types, domains, duplicates.

A run may hold for each result: the `stages` that found it, its `hops` from the first results, its
`source_domain`, its `graph_path`, and fields of the document such as `law_type`. It may hold for each query
the `domains` it was routed to. Every figure is a mean over queries, and says over how many (`queries`);
queries that lack the needed fields are left out. `Collaboration` says how results without a domain and
queries without results count. A document is relevant from the grade `relevant_from`. `measure_structure`
computes every figure for which run and truth have the fields.

The names are those of law search: RNE is graph expansion (`stages` contain "rne_"), cross-law discovery uses
`law_type`, A2A is collaboration between domains (`source_domain` differs from the query's `primary_domain`).
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from annotator.evaluation.records import RankedRun, Truth, _choose_types
from annotator.formats.runs import ID_FIELDS

RNE = "rne_"
PRIMARY_LAW_TYPE = "법률"
ROUTING_CUTOFFS = (1, 3, 5)
LAW_TYPE = "law_type"
DOMAINS = "domains"
RAW_RESULTS = "raw_results"
MOST_STAGES = 20
Edge = tuple[str, str]


@dataclass(frozen=True, slots=True)
class QueryResults:
    """The results of one query, best first, with the signals (further fields) of results and answer."""

    query_id: str
    doc_ids: tuple[str, ...]
    signals: tuple[Mapping[str, Any], ...]  # as many as doc_ids
    query_signals: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class MeanShare:
    """A mean of shares over `queries` queries; `value` is None if no query has the needed fields."""

    value: float | None
    queries: int


@dataclass(frozen=True, slots=True)
class StageContribution:
    """What one stage of a search adds. Means are over queries with at least one result of the stage."""

    stage: str
    results: int
    discovery: MeanShare  # relevant results of the stage / all relevant documents
    precision: MeanShare  # relevant results of the stage / results of the stage
    precision_gain: MeanShare  # precision with the stage minus precision without
    hops: Mapping[int, int]  # number of the stage's results by hops


@dataclass(frozen=True, slots=True)
class TypeDiscovery:
    """Over all queries: how many relevant documents of other types than the primary type are found."""

    found: int
    relevant: int
    by_type: Mapping[str, tuple[int, int]]  # found, relevant

    @property
    def share(self) -> float | None:
        return self.found / self.relevant if self.relevant else None


@dataclass(frozen=True, slots=True)
class GraphCoverage:
    """The shares of relevant documents and of relations between them that the results cover."""

    nodes: MeanShare
    edges: MeanShare
    deepest: int | None  # most hops of any result; None if no result has hops


@dataclass(frozen=True, slots=True)
class RoutingAccuracy:
    """How often the primary domain is among the first domains that a query was routed to."""

    queries: int
    accuracy: Mapping[int, float]  # by cutoff: 1, 3, 5
    mrr: float | None


@dataclass(frozen=True, slots=True)
class Collaboration:
    """What results from other domains than a query's primary domain add.

    A result without `source_domain` belongs to neither. A query without results counts as a wrong trigger if
    the truth says whether it needs other domains, unless its answer says `a2a_triggered`.

    `trigger_accuracy`: other domains took part exactly where needed; over queries whose need is known.
    `contribution`: relevant documents found in other domains / all relevant documents. `precision`: relevant
    results from other domains / results from there. These two are over queries in which other domains took
    part. `primary_precision`: the same for results from the primary domain.
    """

    trigger_accuracy: MeanShare
    contribution: MeanShare
    precision: MeanShare
    primary_precision: MeanShare
    without_domain: int = 0  # results that do not name their domain
    unanswered: int = 0  # queries that are wrong triggers because they have no results


@dataclass(frozen=True, slots=True)
class DuplicateRate:
    """The share of results that repeat a document, before and after deduplication."""

    before: float | None
    after: float | None

    @property
    def effectiveness(self) -> float | None:
        """Return the share of duplicates that deduplication removes; None without duplicates."""
        if self.before is None or self.after is None or self.before == 0:
            return None
        return (self.before - self.after) / self.before


@dataclass(frozen=True, slots=True)
class StructureOptions:
    """What to measure in addition to the fields of the run."""

    relations: frozenset[Edge] = frozenset()  # edges of the graph; empty: no graph coverage
    type_field: str = LAW_TYPE  # the document field of the type discovery
    primary_type: str = PRIMARY_LAW_TYPE  # documents of this type do not count


@dataclass(frozen=True, slots=True)
class RunStructure:
    """All figures on where a run's results come from; None or empty if the run lacks the fields."""

    system: str
    stages: tuple[StageContribution, ...]  # the family RNE first, then each stage by name
    types: TypeDiscovery | None
    graph: GraphCoverage | None
    routing: RoutingAccuracy | None
    collaboration: Collaboration | None
    duplicates: DuplicateRate | None

    @property
    def is_empty(self) -> bool:
        return not (
            self.stages or self.types or self.graph or self.routing or self.collaboration or self.duplicates
        )


def measure_structure(
    run: RankedRun,
    truth: Truth,
    options: StructureOptions,
    types: Mapping[str, str],
    *,
    relevant_from: int = 1,
) -> RunStructure:
    """Return the structure of a run, over the queries of the truth with a judged document.

    `types`: type by doc_id, from `list_document_types`; other documents have the type in their result, if
    any.
    """
    results: list[QueryResults] = []
    if options.relations or run.signals or types:
        results = [query for query in list_query_results(run) if truth.grades.get(query.query_id)]
    by_result = (pair for query in results for pair in zip(query.doc_ids, query.signals, strict=True))
    named = _choose_types(by_result, options.type_field)
    return RunStructure(
        run.system,
        tuple(_measure_stages(results, truth, relevant_from)) if run.signals else (),
        measure_type_discovery(
            results, truth, {**named, **types}, primary=options.primary_type, relevant_from=relevant_from
        )
        if named or types
        else None,
        measure_graph_coverage(results, truth, options.relations, relevant_from=relevant_from)
        if options.relations
        else None,
        _measure_run_routing(run, truth),
        measure_collaboration([*results, *_list_empty_answers(run)], truth, relevant_from=relevant_from)
        if run.signals
        else None,
        _measure_run_duplicates(run),
    )


def _measure_stages(
    results: Sequence[QueryResults], truth: Truth, relevant_from: int
) -> Iterator[StageContribution]:
    """Yield the family RNE if it occurs, then the MOST_STAGES most frequent stages."""
    counts = Counter(
        stage for query in results for signals in query.signals for stage in _list_stages(signals)
    )
    for stage in (RNE, *(name for name, _ in counts.most_common(MOST_STAGES))):
        contribution = measure_stage(results, truth, stage=stage, relevant_from=relevant_from)
        if contribution is not None:
            yield contribution


def _list_stages(signals: Mapping[str, Any]) -> list[str]:
    stages = signals.get("stages")
    if isinstance(stages, list):
        return [str(stage) for stage in stages]
    return [] if stages in (None, "") else [str(stages)]


def _measure_run_routing(run: RankedRun, truth: Truth) -> RoutingAccuracy | None:
    """Return the accuracy of the answers' `domains`, or of results that are domains; None without both."""
    primary_domains = {
        query_id: str(fields["primary_domain"])
        for query_id, fields in truth.fields.items()
        if fields.get("primary_domain") is not None
    }
    routed = {
        query_id: [str(domain) for domain in signals[DOMAINS]]
        for query_id, signals in run.query_signals.items()
        if isinstance(signals.get(DOMAINS), list)
    }
    if not routed and not set(primary_domains.values()).isdisjoint(run.doc_ids):
        routed = {query_id: run.list_documents(index) for index, query_id in enumerate(run.query_ids)}
    return measure_routing(routed, primary_domains) if routed and primary_domains else None


def _measure_run_duplicates(run: RankedRun) -> DuplicateRate | None:
    """Return the shares of repeats: before, in the answers' `raw_results`; after, in the results of the file."""
    raw = [
        signals[RAW_RESULTS]
        for signals in run.query_signals.values()
        if isinstance(signals.get(RAW_RESULTS), list)
    ]
    if not raw and not run.repeats:
        return None
    results = len(run.codes) + run.repeats
    return DuplicateRate(
        _share_repeated(_list_raw_documents(raw, run.id_field)), run.repeats / results if results else None
    )


def _list_raw_documents(raw: Iterable[Sequence[Any]], id_field: str | None) -> list[list[str]]:
    """Return the doc_ids of raw results.

    They come from the first id field that every result has; without such a field there are none. `id_field`:
    the field with the run's doc_ids, tried first. A result may also be a plain id.
    """
    answers = [list(results) for results in raw]
    described = [result for results in answers for result in results if isinstance(result, Mapping)]
    names = [id_field, *ID_FIELDS] if id_field else ID_FIELDS
    name = next((name for name in names if all(result.get(name) is not None for result in described)), None)
    if described and name is None:
        return []
    return [
        [str(result[name] if isinstance(result, Mapping) else result) for result in results]
        for results in answers
    ]


def list_query_results(run: RankedRun) -> list[QueryResults]:
    """Return the results of each query of a run, best first."""
    listed = []
    for index, query_id in enumerate(run.query_ids):
        doc_ids = tuple(run.list_documents(index))
        start = int(run.starts[index])
        signals = tuple(run.signals[start : start + len(doc_ids)]) if run.signals else ({},) * len(doc_ids)
        listed.append(QueryResults(query_id, doc_ids, signals, run.query_signals.get(query_id, {})))
    return listed


def _list_empty_answers(run: RankedRun) -> list[QueryResults]:
    answered = frozenset(run.query_ids)
    return [
        QueryResults(query_id, (), (), signals)
        for query_id, signals in run.query_signals.items()
        if query_id not in answered
    ]


def list_relevant(truth: Truth, query_id: str, relevant_from: int) -> set[str]:
    """Return the documents of the query with at least the grade `relevant_from`."""
    return {doc_id for doc_id, grade in truth.grades.get(query_id, {}).items() if grade >= relevant_from}


def measure_stage(
    results: Iterable[QueryResults], truth: Truth, *, stage: str = RNE, relevant_from: int = 1
) -> StageContribution | None:
    """Measure the gain from the results of a stage, or return None if no result has the stage.

    A name that ends with an underscore, such as "rne_", stands for every stage whose name contains it.
    """
    discovery: list[float] = []
    precision: list[float] = []
    precision_gain: list[float] = []
    hops: Counter[int] = Counter()
    count = 0
    for query in results:
        inside = _select(query, lambda signals: _has_stage(signals, stage))
        if not inside:
            continue
        count += len(inside)
        hops.update(_list_hops(query, inside))
        everything = set(query.doc_ids)
        outside = everything - inside
        relevant = list_relevant(truth, query.query_id, relevant_from)
        precision.append(len(inside & relevant) / len(inside))
        if outside:
            precision_gain.append(
                len(everything & relevant) / len(everything) - len(outside & relevant) / len(outside)
            )
        if relevant:
            discovery.append(len(inside & relevant) / len(relevant))
    if not count:
        return None
    return StageContribution(
        stage,
        count,
        _average(discovery),
        _average(precision),
        _average(precision_gain),
        dict(sorted(hops.items())),
    )


def _has_stage(signals: Mapping[str, Any], stage: str) -> bool:
    stages = _list_stages(signals)
    return any(stage in name for name in stages) if stage.endswith("_") else stage in stages


def _select(query: QueryResults, matches: Callable[[Mapping[str, Any]], bool]) -> set[str]:
    return {doc_id for doc_id, signals in zip(query.doc_ids, query.signals, strict=True) if matches(signals)}


def _list_hops(query: QueryResults, doc_ids: Collection[str]) -> list[int]:
    hops = (
        signals.get("hops", signals.get("graph_hops"))
        for doc_id, signals in zip(query.doc_ids, query.signals, strict=True)
        if doc_id in doc_ids
    )
    return [hop for hop in hops if isinstance(hop, int) and not isinstance(hop, bool)]


def _average(shares: Sequence[float]) -> MeanShare:
    return MeanShare(fmean(shares) if shares else None, len(shares))


def measure_type_discovery(
    results: Iterable[QueryResults],
    truth: Truth,
    types: Mapping[str, str],
    *,
    primary: str = PRIMARY_LAW_TYPE,
    relevant_from: int = 1,
) -> TypeDiscovery:
    """Return how many relevant documents of other types than `primary` are found. `types`: type by doc_id.

    Queries of the truth without results count: their documents are not found.
    """
    found: Counter[str] = Counter()
    expected: Counter[str] = Counter()
    listed = {query.query_id: set(query.doc_ids) for query in results}
    for query_id in truth.grades:
        for doc_id in list_relevant(truth, query_id, relevant_from):
            kind = types.get(doc_id, primary)
            if kind != primary:
                expected[kind] += 1
                found[kind] += doc_id in listed.get(query_id, ())
    by_type = {kind: (found[kind], expected[kind]) for kind in sorted(expected)}
    return TypeDiscovery(sum(found.values()), sum(expected.values()), by_type)


def measure_graph_coverage(
    results: Iterable[QueryResults], truth: Truth, relations: Collection[Edge], *, relevant_from: int = 1
) -> GraphCoverage:
    """Return how much of the graph around the relevant documents the results cover.

    The nodes of a query are its relevant documents that have a relation, its edges the relations between two
    of them. An edge is covered if a result's `graph_path` (`[{"from", "to"}]`) contains it, or, in a run
    without any `graph_path`, if both documents are in the results.
    """
    listed = list(results)
    has_paths = any("graph_path" in signals for query in listed for signals in query.signals)
    connected = {doc_id for edge in relations for doc_id in edge}
    nodes: list[float] = []
    edges: list[float] = []
    hops: list[int] = []
    for query in listed:
        relevant = list_relevant(truth, query.query_id, relevant_from)
        retrieved = set(query.doc_ids)
        hops += _list_hops(query, retrieved)
        expected_nodes = relevant & connected
        expected_edges = {edge for edge in relations if edge[0] in relevant and edge[1] in relevant}
        walked = (
            set(_list_path_edges(query))
            if has_paths
            else {edge for edge in expected_edges if edge[0] in retrieved and edge[1] in retrieved}
        )
        if expected_nodes:
            nodes.append(len(expected_nodes & retrieved) / len(expected_nodes))
        if expected_edges:
            edges.append(len(expected_edges & walked) / len(expected_edges))
    return GraphCoverage(_average(nodes), _average(edges), max(hops, default=None))


def _list_path_edges(query: QueryResults) -> Iterator[Edge]:
    for signals in query.signals:
        path = signals.get("graph_path")
        for step in path if isinstance(path, list) else ():
            if isinstance(step, Mapping) and "from" in step and "to" in step:
                yield str(step["from"]), str(step["to"])


def measure_routing(
    routed: Mapping[str, Sequence[str]], primary_domains: Mapping[str, str]
) -> RoutingAccuracy:
    """Return how often queries were routed to their primary domain.

    `routed`: domains by query_id, best first; a query that was routed nowhere counts as wrong.
    `primary_domains`: the right domain by query_id; other queries are not counted.
    """
    ranks: list[int | None] = []
    for query_id, domain in primary_domains.items():
        domains = list(routed.get(query_id, ()))
        ranks.append(domains.index(domain) + 1 if domain in domains else None)
    if not ranks:
        return RoutingAccuracy(0, {}, None)
    accuracy = {k: fmean(rank is not None and rank <= k for rank in ranks) for k in ROUTING_CUTOFFS}
    return RoutingAccuracy(len(ranks), accuracy, fmean(0.0 if rank is None else 1 / rank for rank in ranks))


def measure_collaboration(
    results: Iterable[QueryResults], truth: Truth, *, relevant_from: int = 1
) -> Collaboration | None:
    """Return what results from other domains than a query's `primary_domain` add.

    None if no result names its domain. The answer's `a2a_triggered` says whether other domains took part in a
    query; without it they did if a result's `source_domain` differs from the query's `primary_domain`. The
    query's field `needs_a2a` says whether it needs them. In a query without `primary_domain` results count as
    neither. Queries without a judged document are in no figure.
    """
    by_query = {query.query_id: query for query in results}
    domains = [_find_domain(signals) for query in by_query.values() for signals in query.signals]
    if not any(domains):
        return None
    unanswered = 0
    triggers: list[float] = []
    contribution: list[float] = []
    precision: list[float] = []
    primary_precision: list[float] = []
    for query_id, grades in truth.grades.items():
        if not grades:
            continue
        fields = truth.fields.get(query_id, {})
        primary, needed = fields.get("primary_domain"), fields.get("needs_a2a")
        query = by_query.get(query_id)
        foreign, home = _split_by_domain(query, primary)
        triggered = _find_trigger(query, foreign, home)
        if isinstance(needed, bool):
            if query is None or (triggered is None and not query.doc_ids):
                unanswered += 1
                triggers.append(0.0)
            elif triggered is not None:
                triggers.append(float(triggered == needed))
        relevant = list_relevant(truth, query_id, relevant_from)
        if home:
            primary_precision.append(len(home & relevant) / len(home))
        if triggered:
            if foreign:
                precision.append(len(foreign & relevant) / len(foreign))
            if relevant:
                contribution.append(len(foreign & relevant) / len(relevant))
    return Collaboration(
        _average(triggers),
        _average(contribution),
        _average(precision),
        _average(primary_precision),
        domains.count(None),
        unanswered,
    )


def _find_domain(signals: Mapping[str, Any]) -> Any:
    """Return the `source_domain` of a result; None if it is missing or empty."""
    return signals.get("source_domain") or None


def _split_by_domain(query: QueryResults | None, primary_domain: Any) -> tuple[set[str], set[str]]:
    """Return (documents from other domains, documents from the primary domain)."""
    if query is None or primary_domain is None:
        return set(), set()
    foreign = _select(query, lambda signals: _find_domain(signals) not in (None, primary_domain))
    return foreign, _select(query, lambda signals: _find_domain(signals) == primary_domain)


def _find_trigger(query: QueryResults | None, foreign: set[str], home: set[str]) -> bool | None:
    """Return whether other domains took part; None if neither the answer nor a result says so."""
    if query is None:
        return None
    if query.query_signals.get("a2a_triggered") is not None:
        return bool(query.query_signals["a2a_triggered"])
    return bool(foreign) if foreign or home else None


def _share_repeated(lists: Iterable[Sequence[str]]) -> float | None:
    results = repeated = 0
    for doc_ids in lists:
        results += len(doc_ids)
        repeated += len(doc_ids) - len(set(doc_ids))
    return repeated / results if results else None
