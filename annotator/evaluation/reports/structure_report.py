"""Describe where a run's results come from: as plain JSON values, and as figures with names for people."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from annotator.domain.messages import say, say_n
from annotator.evaluation.result_structure import RNE, MeanShare, RunStructure, StageContribution


@dataclass(frozen=True, slots=True)
class StructureFigure:
    """One figure of a run's structure. `over`: the number of queries, documents or results behind it."""

    name: str
    value: float | None
    over: str


def describe_structure(structure: RunStructure) -> dict[str, Any]:
    """Return the structure as plain JSON values; null for a part whose fields the run lacks."""
    types, routing, duplicates = structure.types, structure.routing, structure.duplicates
    collaboration = structure.collaboration
    return {
        "system": structure.system,
        "stages": [_describe_stage(stage) for stage in structure.stages],
        "types": types
        and {
            "share": types.share,
            "found": types.found,
            "relevant": types.relevant,
            "by_type": {
                kind: {"found": found, "relevant": relevant}
                for kind, (found, relevant) in types.by_type.items()
            },
        },
        "graph": structure.graph and asdict(structure.graph),
        "routing": routing
        and asdict(routing) | {"accuracy": {str(k): accuracy for k, accuracy in routing.accuracy.items()}},
        "collaboration": collaboration
        and {
            "trigger_accuracy": asdict(collaboration.trigger_accuracy),
            "contribution": asdict(collaboration.contribution),
            "precision": asdict(collaboration.precision),
            "primary_precision": asdict(collaboration.primary_precision),
            "results_without_domain": collaboration.without_domain,
            "queries_without_results": collaboration.unanswered,
        },
        "duplicates": duplicates and asdict(duplicates) | {"effectiveness": duplicates.effectiveness},
    }


def _describe_stage(stage: StageContribution) -> dict[str, Any]:
    discovery = asdict(stage.discovery)
    return {
        "stage": stage.stage,
        "results": stage.results,
        "discovery": discovery,
        "recall_gain": discovery,  # recall with the stage minus recall without: what only this stage found
        "precision": asdict(stage.precision),
        "precision_gain": asdict(stage.precision_gain),
        "hops": {str(hops): count for hops, count in stage.hops.items()},
    }


def list_figures(structure: RunStructure) -> Iterator[StructureFigure]:
    """Yield every figure with its name, in the order of docs/evaluation.md."""
    for stage in structure.stages:
        yield from _list_stage_figures(stage)
    if (types := structure.types) is not None:
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
    if (routing := structure.routing) is not None:
        queries = _count_queries(routing.queries)
        for k, accuracy in routing.accuracy.items():
            yield StructureFigure(say("routing top {k}", k=k), accuracy, queries)
        yield StructureFigure(say("routing MRR"), routing.mrr, queries)
    if (collaboration := structure.collaboration) is not None:
        yield _name_share(say("A2A trigger accuracy"), collaboration.trigger_accuracy)
        yield _name_share(say("A2A contribution"), collaboration.contribution)
        yield _name_share(say("A2A precision"), collaboration.precision)
        yield _name_share(say("precision in the primary domain"), collaboration.primary_precision)
        if collaboration.without_domain:
            results = say_n("{n} result", "{n:,} results", collaboration.without_domain)
            yield StructureFigure(say("results in neither, because they name no domain"), None, results)
        if collaboration.unanswered:
            unanswered = _count_queries(collaboration.unanswered)
            name = say("wrong triggers, because the query has no results")
            yield StructureFigure(name, None, unanswered)
    if (duplicates := structure.duplicates) is not None:
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
