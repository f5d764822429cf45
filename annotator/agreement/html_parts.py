"""The parts of the HTML report: escaped text, sections, tables, numbers, and the style sheet.

The page loads nothing and runs no script; it follows the reader's light or dark scheme and prints on white.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape

from annotator.agreement.records import CoefficientValue
from annotator.domain.svg import clean

KINDS = ("unweighted", "linear", "quadratic")
CSS = """
:root{color-scheme:light dark;--ink:#1c2326;--quiet:#4c5559;--ground:#fff;--rest:#eceee9;--line:#c3c9c5;--bar:#19616b;--goal:#9c4a1a}
@media(prefers-color-scheme:dark){:root{--ink:#e8ebe8;--quiet:#aab3ae;--ground:#14181a;--rest:#2b3438;--line:#4a565b;--bar:#3fa3b0;--goal:#e39a63}}
*{box-sizing:border-box}body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{max-width:66rem;margin:0 auto;padding:1.5rem 1rem 4rem;overflow-wrap:anywhere}
h1{font-size:1.7rem;line-height:1.2;margin:0 0 .5rem}h2{font-size:1.25rem;margin:2.5rem 0 .5rem}h3{font-size:1rem;margin:1.5rem 0 .25rem}
p,ol,ul{margin:.5rem 0;max-width:48rem}li{margin:.25rem 0}.quiet,caption,figcaption{color:var(--quiet)}
.verdict{border-left:.4rem solid var(--bar);padding:.25rem 0 .25rem .8rem;font-size:1.1rem}
.verdict.unmet{border-left-style:double;border-color:var(--goal)}.verdict.unknown{border-left-style:dashed;border-color:var(--quiet)}
.wide{overflow-x:auto}table{border-collapse:collapse;margin:.75rem 0;font-variant-numeric:tabular-nums}
caption{text-align:left;padding-bottom:.25rem}.wide{overflow-wrap:break-word}tbody th{min-width:9rem}th,td{padding:.25rem .6rem;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}
th{font-weight:600}td.n,th.n{text-align:right;white-space:nowrap}table.cells td{text-align:center;min-width:2.7rem;border:2px solid var(--ground)}
table.cells th{border:0;padding:.15rem .4rem;min-width:0}table.cells th[scope=col]{text-align:center}td.rest{background:var(--rest);color:var(--quiet)}
.side{display:flex;flex-wrap:wrap;gap:0 2.5rem}figure{margin:.75rem 0}svg{max-width:100%;height:auto}
svg text{font:14px system-ui,sans-serif;fill:var(--ink)}svg .quiet{fill:var(--quiet)}svg .ground{fill:var(--ground)}svg .dot{fill:var(--bar)}
svg .reach{stroke:var(--bar);stroke-width:2.5}svg .path{stroke:var(--bar);stroke-width:1.5;fill:none}svg .axis{stroke:var(--line)}
svg .goal{stroke:var(--goal);stroke-width:2;stroke-dasharray:5 4}svg .g0{fill:#dcebec}svg .g1{fill:#9cc7cb}svg .g2{fill:#4f98a1}svg .g3{fill:#19616b}
svg .part{stroke:var(--ink);stroke-width:.75}
table.cells th[scope=row]{max-width:11rem}
@media(max-width:40rem){.wide tbody th{min-width:0;max-width:9rem}table.cells th[scope=row]{max-width:7rem}caption{max-width:calc(100vw - 2rem)}}
@media print{:root{--ink:#000;--quiet:#333;--ground:#fff;--rest:#eee;--line:#999;--bar:#19616b;--goal:#9c4a1a}
*{print-color-adjust:exact}main{max-width:none}tr,figure,.keep{break-inside:avoid}h2,h3{break-after:avoid}.wide{overflow:visible}table{font-size:11px}th,td{padding:.15rem .3rem}td.n,th.n{white-space:normal}tbody th{min-width:0}}
""".strip()


class Markup(str):
    """HTML that is safe as it is; any other text is escaped where it is put into a page."""


def text(words: object) -> Markup:
    """Any words as HTML: escaped, without characters that a page cannot bear or that turn the direction around them."""
    return words if isinstance(words, Markup) else Markup(escape(clean(str(words))))


def name(words: str) -> Markup:
    """Somebody's or something's name, whose writing direction is its own."""
    return Markup(f"<bdi>{text(words)}</bdi>")


def section(title: str, *parts: str) -> str:
    """A heading and what stands under it; nothing where nothing does."""
    body = "\n".join(part for part in parts if part)
    return f"<section>\n<h2>{text(title)}</h2>\n{body}\n</section>" if body else ""


def paragraph(words: object, kind: str = "") -> str:
    return f"<p{_class(kind)}>{text(words)}</p>"


def table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table whose first column names the row; numbers, and columns named with a leading "#", stand to the right. Nothing
    when there are no rows."""
    numeric = [column.startswith("#") for column in columns]
    heads = "".join(
        f'<th scope="col"{_class("n" if right else "")}>{text(column.removeprefix("#"))}</th>'
        for column, right in zip(columns, numeric, strict=True)
    )
    lines = [_row(row, numeric) for row in rows]
    if not lines:
        return ""
    body = "\n".join(lines)
    return (
        f'<div class="wide"{scrollable(caption)}><table>\n<caption>{text(caption)}</caption>\n<thead><tr>{heads}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody>\n</table></div>"
    )


def _row(row: Sequence[object], numeric: Sequence[bool]) -> str:
    cells = [f'<th scope="row">{text(row[0])}</th>']
    cells += [
        f"<td{_class('n' if right else '')}>{text('' if cell is None else cell)}</td>"
        for cell, right in zip(row[1:], numeric[1:], strict=True)
    ]
    return f"<tr>{''.join(cells)}</tr>"


def scrollable(named: str) -> str:
    """What lets somebody without a mouse scroll what is wider than the page."""
    return f' role="region" tabindex="0" aria-label="{text(named)}"'


def figure(picture: str, caption: str) -> str:
    return f"<figure>\n{picture}<figcaption>{text(caption)}</figcaption>\n</figure>"


def show_number(number: float | None) -> str:
    """Three decimals; "undefined" for None."""
    return "undefined" if number is None else f"{number:.3f}"


def show_interval(value: CoefficientValue) -> str:
    """ "0.412 to 0.701", or nothing."""
    return f"{value.ci95[0]:.3f} to {value.ci95[1]:.3f}" if value.ci95 else ""


def show_value(value: CoefficientValue) -> str:
    """ "0.571 [0.412, 0.701]"; "undefined" without a value."""
    interval = (
        f" [{value.ci95[0]:.3f}, {value.ci95[1]:.3f}]" if value.value is not None and value.ci95 else ""
    )
    return show_number(value.value) + interval


def list_kappas(kappas: Mapping[str, CoefficientValue]) -> Iterator[str]:
    """Cohen's kappas of every weighting, with their intervals."""
    return (show_value(kappas[kind]) for kind in KINDS)


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""
