"""The estimates of the agreement report, where they were asked for: beside what leads decided, and never in its place."""

from annotator.agreement.consensus_records import NO_QRELS, Consensus, Match
from annotator.agreement.html_parts import name, paragraph, section, table
from annotator.domain.grades import GRADES
from annotator.domain.messages import show_percent


def show_estimates(found: Consensus) -> str:
    """How often each method gives the lead's grade, and how each annotator would err if Dawid and Skene's were right."""
    errors = [
        (
            name(one.annotator), f"{one.judgments:,}", show_percent(one.right), f"{grade}",
            *(f"{share:.3f}" for share in one.confusion[grade] or ()),
            *("" for _ in GRADES if one.confusion[grade] is None),
        )
        for one in found.annotators
        for grade in GRADES
    ]  # fmt: skip
    return section(
        "Estimates for comparison",
        paragraph(NO_QRELS),
        *(paragraph(said) for said in say_estimates(found)),
        table(
            "How often each estimate equals the grade that a lead decided",
            ("method", "#adjudicated pairs compared", "#equal", "#share", "#without one whole grade"),
            [
                (one.method, f"{one.compared:,}", f"{one.equal:,}", show_share(one), f"{one.open:,}")
                for one in found.matches
                if one.compared + one.open
            ],
        ),
        table(
            "The probability of each grade that an annotator gives, by the estimated grade (Dawid and Skene)",
            ("annotator", "#judgments", "#equal to the estimate", "#estimated grade", *(f"#gives {grade}" for grade in GRADES)),
            errors,
        ),
    )  # fmt: skip


def show_share(match: Match) -> str:
    """ "81.3%"; nothing where no pair can be compared."""
    return show_percent(match.equal / match.compared) if match.compared else ""


def say_estimates(found: Consensus) -> list[str]:
    """What the estimates rest on, and what speaks against relying on them."""
    if not found.converged:
        return [found.explain_none()]
    if not found.pairs:
        return ["No pair was judged independently by two annotators, so there is nothing to estimate."]
    shares = ", ".join(
        f"{grade}: {show_percent(share)}" for grade, share in zip(GRADES, found.shares, strict=True)
    )
    said = [
        (
            f"{len(found.pairs):,} pairs with two or more judgments. Dawid and Skene (1979), expectation maximization from the "
            f"share of each grade among a pair's judgments, {found.iterations:,} rounds until nothing changed; estimated shares of the grades: {shares}."
        )
    ]
    if not any(match.compared + match.open for match in found.matches):
        said.append(
            "No lead has decided a pair that two or more judged, so there is no decision to compare them with."
        )
    twice = sum(pair.judgments == 2 for pair in found.pairs)
    if 2 * twice > len(found.pairs):
        said.append(
            f"{twice:,} of these pairs have two judgments only: where these differ, the estimate rests on how the two "
            "annotators judged all their other pairs."
        )
    return said
