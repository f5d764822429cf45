"""The options of `annotator pool`."""

from pathlib import Path
from typing import Annotated

import typer

Depth = Annotated[
    int | None,
    typer.Option(
        help="How many results of each system per query (with --holes: 10; how far down the lists a budget goes: 100)."
    ),
]
Systems = Annotated[
    str | None, typer.Option(metavar="A,B", help="Only these imported runs (default: all; '' for none).")
]
Retrieve = Annotated[
    str | None,
    typer.Option(
        metavar="A,B", help="Also search the dataset's documents: bm25, tfidf, lsa, vectors, hybrid."
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(
        metavar="LIST=W,…",
        help="With hybrid: the lists to combine (retrievers and run:SYSTEM), with their weights.",
    ),
]
TitleBoost = Annotated[
    str | None,
    typer.Option(
        metavar="exact=W,partial=W",
        help="With hybrid: the weight of documents whose title matches the query.",
    ),
]
Vectors = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Embeddings of the documents: .npy, .npz, .parquet or .jsonl."),
]
QueryVectors = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Embeddings of the queries, in the same formats.")
]
Embed = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Make the vectors with the embedding model in this folder."),
]
StrategyName = Annotated[
    str | None,
    typer.Option(
        "--strategy", metavar="S", help="depth, fused, stratified (by rank), move-to-front or adaptive."
    ),
]
Strata = Annotated[
    str | None,
    typer.Option(
        metavar="RANKS:RATE,…",
        help="With stratified: ranks and the share to draw from each (1-10:1,11-50:0.2).",
    ),
]
Budget = Annotated[
    int | None,
    typer.Option(
        metavar="N", help="The number of pairs to spend on documents that the best lists rank high."
    ),
]
PerCategory = Annotated[
    int | None, typer.Option(metavar="N", help="The number of pairs to spend for each category of queries.")
]
Adaptive = Annotated[
    bool,
    typer.Option("--adaptive", help="Spend the budget on what settles the order of the systems soonest."),
]
OrderMeasureName = Annotated[
    str,
    typer.Option(
        "--measure",
        metavar="M",
        help="With --adaptive: the measure that orders the systems (nDCG@k, P@k or AP).",
    ),
]
Seed = Annotated[
    int, typer.Option(help="Seed for samples by rank and for the documents that LSA learns from.")
]
Holes = Annotated[
    bool,
    typer.Option(
        "--holes", help="Only unjudged documents of the runs, most influential for the systems' order first."
    ),
]
Limit = Annotated[
    int | None, typer.Option(metavar="N", help="With --holes: the maximum number of new pairs.")
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(metavar="FIELD=VALUE", help="Leave out documents with this value (repeatable)."),
]
ExcludeTitle = Annotated[
    list[str] | None,
    typer.Option(metavar="REGEX", help="Leave out documents whose title matches this pattern (repeatable)."),
]
MinLength = Annotated[
    int | None, typer.Option(metavar="N", help="Leave out documents with fewer characters.")
]
OnePer = Annotated[
    str | None,
    typer.Option(
        metavar="FIELD",
        help="For each query, keep only the best ranked document of each value of this field.",
    ),
]
NearDuplicates = Annotated[
    str | None,
    typer.Option(
        metavar="0.9|exact",
        help="For each query, keep only the best ranked of near duplicates; then: annotator duplicates.",
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would be added; change nothing.")]
