"""How many pairs lack judgments, only check annotators, or wait for a lead, in sentences below the pairs by status."""

from annotator.overview.records import PairCounts
from annotator.web.kit.figures import show_number
from annotator.web.kit.messages import join_sentences, tr_n
from annotator.web.kit.words import name_word


def describe_counts(pairs: PairCounts) -> str:
    """Say what is left to do with the pairs; "" when nothing is."""
    said = []
    if pairs.to_judge:
        said.append(tr_n("{n:,} pair lacks judgments.", "{n:,} pairs lack judgments.", pairs.to_judge))
    if pairs.checks:
        said.append(
            tr_n(
                "{n:,} unjudged pair only checks annotators: nobody is waited for.",
                "{n:,} unjudged pairs only check annotators: nobody is waited for.",
                pairs.checks,
            )
        )
    if pairs.waiting:
        counted = [
            f"{name_word(status)} {show_number(n)}" for status, n in pairs.waiting_by_status.items() if n
        ]
        said.append(
            tr_n(
                "{n:,} pair waits for a lead ({statuses}).",
                "{n:,} pairs wait for a lead ({statuses}).",
                pairs.waiting,
                statuses=", ".join(counted),
            )
        )
    return join_sentences(said)
