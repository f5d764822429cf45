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
        metavar="LIST=W,…", help="What hybrid fuses: retrievers and run:SYSTEM, with their weights."
    ),
]
TitleBoost = Annotated[
    str | None,
    typer.Option(
        metavar="exact=W,partial=W", help="With hybrid: weights of documents whose title matches the query."
    ),
]
Vectors = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Embeddings of the documents: .npy, .npz, .parquet or .jsonl."),
]
QueryVectors = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Embeddings of the queries, in the same way.")
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
        metavar="RANKS:RATE,…", help="With stratified: how much to draw of which ranks (1-10:1,11-50:0.2)."
    ),
]
Budget = Annotated[
    int | None,
    typer.Option(metavar="N", help="So many pairs, of the documents that the best lists rank high."),
]
PerCategory = Annotated[
    int | None, typer.Option(metavar="N", help="A budget of so many pairs for each category of queries.")
]
Adaptive = Annotated[
    bool,
    typer.Option("--adaptive", help="Spend the budget on what settles the order of the systems soonest."),
]
OrderMeasureName = Annotated[
    str,
    typer.Option(
        "--measure", metavar="M", help="With --adaptive: nDCG@k, P@k or AP, which orders the systems."
    ),
]
Seed = Annotated[
    int, typer.Option(help="Of what is drawn: a sample by rank, the documents that LSA learns from.")
]
Holes = Annotated[
    bool,
    typer.Option(
        "--holes", help="Only unjudged documents of the runs, most influential for the systems' order first."
    ),
]
Limit = Annotated[int | None, typer.Option(metavar="N", help="With --holes: at most so many new pairs.")]
Exclude = Annotated[
    list[str] | None,
    typer.Option(metavar="FIELD=VALUE", help="Leave out documents with this value (repeatable)."),
]
ExcludeTitle = Annotated[
    list[str] | None,
    typer.Option(metavar="REGEX", help="Leave out documents with such a title (repeatable)."),
]
MinLength = Annotated[
    int | None, typer.Option(metavar="N", help="Leave out documents with a shorter text, in characters.")
]
OnePer = Annotated[
    str | None,
    typer.Option(metavar="FIELD", help="Of each query, only the best ranked document of each value."),
]
NearDuplicates = Annotated[
    str | None,
    typer.Option(
        metavar="0.9|exact",
        help="Of documents that say the same, only the best ranked of each query; then: annotator duplicates.",
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be made; change nothing.")]
