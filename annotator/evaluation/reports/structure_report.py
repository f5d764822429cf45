"""Describe where a run's results come from: as plain JSON values, and as rows for people."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from annotator.domain.messages import say, say_n
from annotator.evaluation.result_structure import (
    RNE,
    Collaboration,
    DuplicateRate,
    GraphCoverage,
    MeanShare,
    RoutingAccuracy,
    RunStructure,
    StageContribution,
    TypeDiscovery,
)


@dataclass(frozen=True, slots=True)
class StructureFigure:
    """One figure of a run's structure; `over` says over what it is taken."""

    name: str
    value: float | None
    over: str


def describe_structure(structure: RunStructure) -> dict[str, Any]:
    """Return the structure as plain JSON values; null where the run does not carry the fields."""
    return {
        "system": structure.system,
        "stages": [_describe_stage(stage) for stage in structure.stages],
        "types": _describe_types(structure.types),
        "graph": _describe_graph(structure.graph),
        "routing": _describe_routing(structure.routing),
        "collaboration": _describe_collaboration(structure.collaboration),
        "duplicates": _describe_duplicates(structure.duplicates),
    }


def list_figures(structure: RunStructure) -> Iterator[StructureFigure]:
    """Yield every figure with its name, in the order of docs/evaluation.md."""
    for stage in structure.stages:
        yield from _list_stage_figures(stage)
    if structure.types is not None:
        types = structure.types
        yield StructureFigure(
            say("discovery of other types"), types.share, _count_documents(types.found, types.relevant)
        )
        for kind, (found, relevant) in types.by_type.items():
            share = found / relevant if relevant else None
            name = say("discovery of {type}", type=kind)
            yield StructureFigure(name, share, _count_documents(found, relevant))
    if structure.graph is not None:
        yield _name_share(say("node coverage"), structure.graph.nodes)
        yield _name_share(say("edge coverage"), structure.graph.edges)
    if structure.routing is not None:
        for k, accuracy in structure.routing.accuracy.items():
            yield StructureFigure(
                say("routing top {k}", k=k), accuracy, _count_queries(structure.routing.queries)
            )
        yield StructureFigure(
            say("routing MRR"), structure.routing.mrr, _count_queries(structure.routing.queries)
        )
    if structure.collaboration is not None:
        collaboration = structure.collaboration
        yield _name_share(say("A2A trigger accuracy"), collaboration.trigger_accuracy)
        yield _name_share(say("A2A contribution"), collaboration.contribution)
        yield _name_share(say("A2A precision"), collaboration.precision)
        yield _name_share(say("precision in the primary domain"), collaboration.primary_precision)
        if collaboration.without_domain:
            yield StructureFigure(
                say("results in neither, because they name no domain"),
                None,
                say_n("{n} result", "{n:,} results", collaboration.without_domain),
            )
        if collaboration.unanswered:
            yield StructureFigure(
                say("wrong triggers, because the query has no results"),
                None,
                _count_queries(collaboration.unanswered),
            )
    if structure.duplicates is not None:
        duplicates = structure.duplicates
        yield StructureFigure(say("duplicates before deduplication"), duplicates.before, say("results"))
        yield StructureFigure(say("duplicates after deduplication"), duplicates.after, say("results"))
        yield StructureFigure(say("duplicates removed"), duplicates.effectiveness, say("duplicates"))


def _list_stage_figures(stage: StageContribution) -> Iterator[StructureFigure]:
    name = "RNE" if stage.stage == RNE else stage.stage
    yield _name_share(say("{stage} discovery", stage=name), stage.discovery)
    yield _name_share(say("{stage} precision", stage=name), stage.precision)
    yield _name_share(say("{stage} precision gain", stage=name), stage.precision_gain)
    for hops, count in stage.hops.items():
        share = count / stage.results
        over = say_n("{count:,} of {n} result", "{count:,} of {n:,} results", stage.results, count=count)
        yield StructureFigure(say("{stage} at {hops} hops", stage=name, hops=hops), share, over)


def _name_share(name: str, share: MeanShare) -> StructureFigure:
    return StructureFigure(name, share.value, _count_queries(share.queries))


def _count_queries(queries: int) -> str:
    return say_n("{n:,} query", "{n:,} queries", queries)


def _count_documents(found: int, relevant: int) -> str:
    return say_n("{found:,} of {n} document", "{found:,} of {n:,} documents", relevant, found=found)


def _describe_share(share: MeanShare) -> dict[str, Any]:
    return {"value": share.value, "queries": share.queries}


def _describe_stage(stage: StageContribution) -> dict[str, Any]:
    return {
        "stage": stage.stage,
        "results": stage.results,
        "discovery": _describe_share(stage.discovery),
        "recall_gain": _describe_share(stage.recall_gain),
        "precision": _describe_share(stage.precision),
        "precision_gain": _describe_share(stage.precision_gain),
        "hops": {str(hops): count for hops, count in stage.hops.items()},
    }


def _describe_types(types: TypeDiscovery | None) -> dict[str, Any] | None:
    if types is None:
        return None
    return {
        "share": types.share,
        "found": types.found,
        "relevant": types.relevant,
        "by_type": {
            kind: {"found": found, "relevant": relevant} for kind, (found, relevant) in types.by_type.items()
        },
    }


def _describe_graph(graph: GraphCoverage | None) -> dict[str, Any] | None:
    if graph is None:
        return None
    return {
        "nodes": _describe_share(graph.nodes),
        "edges": _describe_share(graph.edges),
        "deepest": graph.deepest,
    }


def _describe_routing(routing: RoutingAccuracy | None) -> dict[str, Any] | None:
    if routing is None:
        return None
    return {
        "queries": routing.queries,
        "accuracy": {str(k): accuracy for k, accuracy in routing.accuracy.items()},
        "mrr": routing.mrr,
    }


def _describe_collaboration(collaboration: Collaboration | None) -> dict[str, Any] | None:
    if collaboration is None:
        return None
    return {
        "trigger_accuracy": _describe_share(collaboration.trigger_accuracy),
        "contribution": _describe_share(collaboration.contribution),
        "precision": _describe_share(collaboration.precision),
        "primary_precision": _describe_share(collaboration.primary_precision),
        "results_without_domain": collaboration.without_domain,
        "queries_without_results": collaboration.unanswered,
    }


def _describe_duplicates(duplicates: DuplicateRate | None) -> dict[str, Any] | None:
    if duplicates is None:
        return None
    return {
        "before": duplicates.before,
        "after": duplicates.after,
        "effectiveness": duplicates.effectiveness,
    }
