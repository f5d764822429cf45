"""The matrices of the agreement report: who agrees with whom, and which grades two annotators gave on the same pairs.

Tables with coloured cells, so that they can be read aloud, copied and printed; every cell holds its number.
"""

from collections.abc import Sequence

from annotator.agreement.html_parts import name, scrollable, text
from annotator.agreement.records import PairAgreement
from annotator.domain.cell_colours import colour_cell, colour_share
from annotator.domain.grades import GRADES
from annotator.domain.messages import show_percent

MOST_PEOPLE = 20
MOST_DRAWN = 4


def draw_heat_map(pairs: Sequence[PairAgreement], annotators: Sequence[str]) -> str:
    """Cohen's kappa of every two annotators above the diagonal, the pairs both judged below it. With more than 20,
    those who share most pairs with others."""
    sharing = {person for pair in pairs for person in pair.annotators}
    if len(annotators) > MOST_PEOPLE:
        annotators = [person for person in annotators if person in sharing]
    shown = choose_people(pairs, annotators)
    known = {pair.annotators: pair for pair in pairs}
    heads = "".join(f'<th scope="col">{number}</th>' for number in range(1, len(shown) + 1))
    rows = []
    for number, person in enumerate(shown):
        cells = [
            _heat_cell(
                known.get((person, other)) or known.get((other, person)),
                above=place > number,
                own=place == number,
            )
            for place, other in enumerate(shown)
        ]
        rows.append(f'<tr><th scope="row">{number + 1} {name(person)}</th>{"".join(cells)}</tr>')
    caption = "Above the diagonal Cohen's κ (unweighted), below it the pairs that both judged."
    if len(shown) < len(annotators):
        caption += f" Shown: the {len(shown)} of {len(annotators):,} annotators who share most; agreement --json has all."
    return _cells(caption, f"<tr><td></td>{heads}</tr>", rows)


def choose_people(pairs: Sequence[PairAgreement], annotators: Sequence[str]) -> list[str]:
    """At most 20 annotators, those who share most pairs with others, in their order."""
    shared = dict.fromkeys(annotators, 0)
    for pair in pairs:
        for person in pair.annotators:
            shared[person] = shared.get(person, 0) + pair.pairs
    most = sorted(shared, key=lambda person: -shared[person])[:MOST_PEOPLE]
    return [person for person in shared if person in most]


def draw_confusion(pair: PairAgreement) -> str:
    """What two annotators gave on the pairs both judged, rows the first one's grades."""
    first, second = pair.annotators
    most = max(max(row) for row in pair.confusion) or 1
    heads = "".join(f'<th scope="col">{grade}</th>' for grade in GRADES)
    rows = [
        f'<tr><th scope="row">{grade}</th>'
        + "".join(_count_cell(count, most, same=grade == other) for other, count in enumerate(counts))
        + "</tr>"
        for grade, counts in enumerate(pair.confusion)
    ]
    caption = f"Rows {first}, columns {second}: {pair.pairs:,} pairs, {show_percent(pair.observed_agreement)} the same"
    return _cells(caption, f"<tr><td></td>{heads}</tr>", rows)


def choose_pairs(pairs: Sequence[PairAgreement]) -> list[PairAgreement]:
    """The annotator pairs worth drawing: those with most pairs on which they differ, at most four."""
    return sorted(pairs, key=lambda pair: (-_count_differing(pair), pair.annotators))[:MOST_DRAWN]


def _count_differing(pair: PairAgreement) -> int:
    return pair.pairs - sum(pair.confusion[grade][grade] for grade in GRADES)


def _heat_cell(pair: PairAgreement | None, *, above: bool, own: bool) -> str:
    if own:
        return '<td class="rest"></td>'
    if pair is None:
        return '<td class="rest">0</td>' if not above else '<td class="rest"></td>'
    if not above:
        return f'<td class="rest">{pair.pairs:,}</td>'
    kappa = pair.cohen_kappa["unweighted"].value
    if kappa is None:
        return '<td class="rest">–</td>'
    return _coloured(f"{kappa:.2f}", *colour_share(min(1.0, abs(kappa)), same=kappa >= 0))


def _count_cell(count: int, most: int, *, same: bool) -> str:
    if not count:
        return '<td class="rest">0</td>'
    return _coloured(f"{count:,}", *colour_cell(count, most, same=same))


def _coloured(shown: str, ground: str, black: bool) -> str:
    return f'<td style="background:{ground};color:{"#000" if black else "#fff"}">{shown}</td>'


def _cells(caption: str, head: str, rows: Sequence[str]) -> str:
    body = "\n".join(rows)
    return (
        f'<div class="wide keep"{scrollable(caption)}><table class="cells">\n<caption>{text(caption)}</caption>\n'
        f"<thead>{head}</thead>\n<tbody>\n{body}\n</tbody>\n</table></div>"
    )
