"""Find relations between the articles of laws in their texts: siblings, references, and texts of decrees and
rules.

Works on documents cut by `law_articles.py`; their fields `law`, `law_type`, `article` and `paragraph`
identify them. An act, its decree and its rule belong together by their names. Reads Korean references ("법
제17조제2항 및 제3항", "영 제25조", "같은 조제1항", 「…」 with the name of a law of the dataset) and the same in Japanese
("法第十七条第二項"), also references relative to the current article (전조, 다음 조, 前条, 前二条, 次条). References to a law
outside the dataset are counted only. A reference to a missing paragraph leads to its article. Other
references without a target are returned too.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from annotator.domain.errors import ValidationError
from annotator.domain.messages import say
from annotator.importing.texts.law_articles import NUMBER, name_article, read_number

SIBLING, DECREE, RULE, REFERENCE = "sibling", "decree", "rule", "reference"
SUPPLEMENTS = ("부칙", "附則")
_BRANCH = rf"(?:[의のノ之](?:{NUMBER}))*"
_RELATIVE = (
    rf"(?<![가-힣])(?:전[ ]?(?P<before_ko>{NUMBER})?[ ]?조|(?P<after_ko>다음[ ]?조|차조)|본조|이[ ]조)"
    r"(?=[제의에및과와를은는이가도로]|부터|까지|[^가-힣]|$)"
    rf"|(?<![一-龥])(?:前(?P<before_ja>{NUMBER})?条|(?P<after_ja>次条)|本条)(?![例件文約])"
)
"""Articles by their place: the one before, the n before, the one after, this one. Not 안전조치, 전조등, 다음 조치, 以前条例."""
_REFERENCE = re.compile(
    rf"(?P<article>[제第](?:{NUMBER})[조条條]{_BRANCH}|같은[ ]?조|同条(?![例件文約])|(?P<relative>{_RELATIVE}))(?:[ ]?[제第](?P<paragraph>{NUMBER})[항項])?(?:[ ]?[제第](?:{NUMBER})[호号號]{_BRANCH})?"
)
_NEXT = re.compile(
    rf"(?P<range>부터|내지|から|乃至)?(?P<join>[ ]?(?:ㆍ|·|,|및|또는|와|과|、|・|及び|並びに|又は|若しくは|まで)?[ ]?)"
    rf"(?:(?P<article>[제第](?:{NUMBER})[조条條]{_BRANCH}))?(?:[ ]?[제第](?P<paragraph>{NUMBER})[항項])?(?:[ ]?[제第](?:{NUMBER})[호号號]{_BRANCH})?"
)
_ARTICLE_NUMBER = re.compile(rf"[제第]({NUMBER})([조条條])({_BRANCH})")
_NAMED_LAW = re.compile(r"「([^「」]+)」(?:[(（][^()（）]*[)）])?[ 　]*$")
_DECREE_NAMES = ("시행령", "施行令")
_RULE_NAMES = ("시행규칙", "施行規則")
MOST_FOUND = 1_000_000
"""Relations and references together. A hundred thousand articles that refer to five others each have half as many."""
_BEFORE = 80
"""Characters before a reference in which the law is named that it refers to."""
_Number = tuple[int, ...]
_Found = TypeVar("_Found")


class UnknownReference(NamedTuple):
    """A reference to a law of the dataset that leads to no document."""

    doc_id: str
    words: str


class LawRelation(NamedTuple):
    """A relation between two documents, as in a file of relations."""

    start: str
    end: str
    relation: str


@dataclass(frozen=True, slots=True)
class LawDocument:
    """An article, or a part of one. `law`: the law's title; `article`: as in ids, 제17조의2; `paragraph`: 제1항 or ""."""

    doc_id: str
    law: str
    law_type: str
    article: str
    paragraph: str
    text: str


@dataclass(frozen=True, slots=True)
class FoundRelations:
    """The relations in the texts of laws.

    `unknown`: references that lead to no document. `other_laws`: the number of references to laws outside the
    dataset.
    """

    relations: tuple[LawRelation, ...]
    unknown: tuple[UnknownReference, ...]
    other_laws: int


@dataclass(slots=True)
class _Laws:
    """The documents of each law: by article, and by article and paragraph; and the laws of each family by rank."""

    articles: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    paragraphs: dict[str, dict[tuple[str, str], list[str]]] = field(default_factory=dict)
    families: dict[str, dict[str, str]] = field(default_factory=dict)
    ordered: dict[str, dict[_Number, str]] = field(default_factory=dict)  # of each law, by number


class _Citation(NamedTuple):
    """The target of a reference: an article, and a paragraph or "". `law`: None outside the dataset."""

    law: str | None
    article: str
    paragraph: str
    words: str = ""


class _Count:
    """Counts relations and references. Short texts such as ranges can name more than fits into memory."""

    def __init__(self) -> None:
        self.found = 0

    def add(self, item: _Found) -> _Found:
        """Return the item. ValidationError if the limit is exceeded."""
        self.found += 1
        if self.found > MOST_FOUND:
            raise ValidationError(
                say(
                    "The texts of the laws have more than {most:,} relations and references. Use a file of relations.",
                    most=MOST_FOUND,
                )
            )
        return item


def find_relations(documents: Sequence[LawDocument]) -> FoundRelations:
    """Return the relations between the documents, each once, in order, and references without a target.

    ValidationError if there are more than MOST_FOUND of both together.
    `sibling`: between parts of one article, from earlier to later. `decree`, `rule`: from an article to the
    decree's or rule's text that refers to it. `reference`: from a text to its target. Supplementary
    provisions have no relations.
    """
    documents = [
        document for document in documents if document.article and document.article not in SUPPLEMENTS
    ]
    laws = _index(documents)
    count = _Count()
    relations: dict[LawRelation, None] = dict.fromkeys(map(count.add, _list_siblings(documents)))
    unknown: dict[UnknownReference, None] = {}
    other_laws = 0
    ranks = {document.doc_id: _rank(document.law) for document in documents}
    for document in documents:
        for citation in map(count.add, _list_citations(document, laws)):
            if citation.law is None:
                other_laws += 1
                continue
            targets = _list_targets(citation, laws)
            if not targets:
                unknown[UnknownReference(document.doc_id, citation.words)] = None
            for target in map(count.add, targets):
                if target == document.doc_id:
                    continue
                relation = {1: DECREE, 2: RULE}.get(ranks[document.doc_id])
                if relation is not None and ranks[target] < ranks[document.doc_id]:
                    relations[LawRelation(target, document.doc_id, relation)] = None
                if citation.law != document.law or citation.article != document.article:
                    relations[LawRelation(document.doc_id, target, REFERENCE)] = None
    return FoundRelations(tuple(relations), tuple(unknown), other_laws)


def _index(documents: Iterable[LawDocument]) -> _Laws:
    laws = _Laws()
    for document in documents:
        articles = laws.articles.setdefault(document.law, {})
        articles.setdefault(document.article, []).append(document.doc_id)
        paragraphs = laws.paragraphs.setdefault(document.law, {})
        paragraphs.setdefault((document.article, document.paragraph), []).append(document.doc_id)
        family = laws.families.setdefault(_find_family(document.law), {})
        family[str(_rank(document.law))] = document.law
    for law, articles in laws.articles.items():
        laws.ordered[law] = dict(sorted((_read_article(article), article) for article in articles))
    return laws


def _find_family(law: str) -> str:
    """Return the name of the act that a law belongs to: its own name, without "decree" or "rule"."""
    for ending in (*_DECREE_NAMES, *_RULE_NAMES):
        law = law.removesuffix(ending).strip()
    return law


def _rank(law: str) -> int:
    """Return 0 for an act, 1 for a decree, 2 for a rule."""
    return 1 if law.endswith(_DECREE_NAMES) else 2 if law.endswith(_RULE_NAMES) else 0


def _list_siblings(documents: Iterable[LawDocument]) -> Iterator[LawRelation]:
    by_article: dict[tuple[str, str], list[str]] = {}
    for document in documents:
        by_article.setdefault((document.law, document.article), []).append(document.doc_id)
    for members in by_article.values():
        for index, member in enumerate(members):
            yield from (LawRelation(member, other, SIBLING) for other in members[index + 1 :])


def _list_citations(document: LawDocument, laws: _Laws) -> Iterator[_Citation]:
    text = re.sub(r"[ \t　]+", " ", document.text)
    position = 0
    last: _Citation | None = None
    while (match := _REFERENCE.search(text, position)) is not None:
        position = match.end()
        words = match[0].strip()
        if match["article"].startswith(("같은", "同")):
            # before anything is named, "the same article" is unknown
            law, article = (last.law, last.article) if last is not None else (document.law, "")
        elif match["relative"]:
            law = document.law
            *earlier, article = _find_relative(match, document, laws)
            yield from (_Citation(law, name, "", words) for name in earlier)
        else:
            law = _find_law(text[max(0, match.start() - _BEFORE) : match.start()], document, laws)
            article = _name(match["article"])
        if law is None:
            last = _Citation(None, "", "", words)
            yield last
            position = _skip_chain(text, position)
            continue
        last = _Citation(law, article, _name_paragraph(match["paragraph"], law, laws), words)
        yield last
        while (further := _NEXT.match(text, position)) is not None and (
            further["article"] or further["paragraph"]
        ):
            if not further["join"].strip() and not further["range"]:
                break
            position = further.end()
            following = _Citation(
                law,
                _name(further["article"]) if further["article"] else last.article,
                _name_paragraph(further["paragraph"], law, laws),
                further[0].strip(" ㆍ·,、・"),
            )
            if further["range"]:
                yield from _fill_range(last, following, laws)
            yield following
            last = following


def _find_relative(match: re.Match[str], document: LawDocument, laws: _Laws) -> list[str]:
    """Return the articles of a relative reference (this, the next, the previous n); [""] for none or a missing neighbor."""
    ordered = laws.ordered[document.law]
    numbers = list(ordered)
    here = numbers.index(_read_article(document.article))
    words = match["relative"]
    if match["after_ko"] or match["after_ja"]:
        following = numbers[here : here + 2]
        return [ordered[following[1]]] if len(following) == 2 and _follows(*following) else [""]
    if not words.startswith(("전", "前")):
        return [document.article]
    count = read_number(match["before_ko"] or match["before_ja"] or "1")
    before = numbers[max(0, here - count) : here + 1]
    if count < 1 or len(before) <= count or not all(map(_follows, before, before[1:])):
        return [""]
    return [ordered[number] for number in before[:-1]]


def _follows(first: _Number, second: _Number) -> bool:
    """Check whether an article's number is the next one: 17, 17-2, 17-3, 18."""
    depth = len(second) - 1
    if first[:depth] != second[:depth]:
        return False
    return second[depth] == (first[depth] + 1 if len(first) > depth else 2)


def _read_article(article: str) -> _Number:
    """Return the numbers of an article in an id: 제17조의2 is 17, 2."""
    return tuple(map(read_number, re.findall(NUMBER, article)))


def _skip_chain(text: str, position: int) -> int:
    """Return the end position of a chain of references to another law."""
    while (further := _NEXT.match(text, position)) is not None and (
        further["article"] or further["paragraph"]
    ):
        position = further.end()
    return position


def _find_law(before: str, document: LawDocument, laws: _Laws) -> str | None:
    """Return the law named before a reference; None for a law outside the dataset."""
    family = laws.families[_find_family(document.law)]
    named = _NAMED_LAW.search(before)
    if named is not None:
        name = named[1].strip()
        return name if name in laws.articles else None
    words = before.rstrip(" ")
    if words.endswith(
        (
            "같은 법",
            "같은 영",
            "같은 규칙",
            "동법",
            "동시행령",
            "同法",
            "同令",
            "同規則",
            "부칙",
            "附則",
            "」",
            "별표",
        )
    ):
        return None
    if words.endswith(("이 법", "이 영", "이 규칙", "この法律", "この政令", "この省令")):
        return document.law
    for word, rank in (("법", "0"), ("영", "1"), ("규칙", "2"), ("法", "0"), ("令", "1"), ("規則", "2")):
        if words.endswith(word):
            return family.get(rank) if _stands_alone(words.removesuffix(word)) else None
    return document.law


def _stands_alone(before: str) -> bool:
    """Check that a word ending here is not the end of a longer word, as 법 in 건축법."""
    return not before or not before[-1].isalnum()


def _fill_range(first: _Citation, last: _Citation, laws: _Laws) -> Iterator[_Citation]:
    """Yield the articles, or the paragraphs of an article, between both ends of a range."""
    if first.law is None:
        return
    articles = laws.articles[first.law]
    if first.article != last.article:
        names = list(articles)
        if first.article in articles and last.article in articles:
            start, end = names.index(first.article), names.index(last.article)
            yield from (_Citation(first.law, name, "") for name in names[start + 1 : end])
        return
    paragraphs = [paragraph for article, paragraph in laws.paragraphs[first.law] if article == first.article]
    if first.paragraph in paragraphs and last.paragraph in paragraphs:
        start, end = paragraphs.index(first.paragraph), paragraphs.index(last.paragraph)
        yield from (_Citation(first.law, first.article, name) for name in paragraphs[start + 1 : end])


def _list_targets(citation: _Citation, laws: _Laws) -> list[str]:
    """Return the documents of the paragraph, or of the whole article if the paragraph has none."""
    if citation.law is None:
        return []
    paragraphs: Mapping[tuple[str, str], list[str]] = laws.paragraphs[citation.law]
    exact = paragraphs.get((citation.article, citation.paragraph)) if citation.paragraph else None
    return exact or laws.articles[citation.law].get(citation.article, [])


def _name(words: str) -> str:
    """Return an article's number as in ids: 第十七条の二 as 第17条の2."""
    match = _ARTICLE_NUMBER.fullmatch(words)
    return name_article(match[1], match[2], match[3]) if match else ""


def _name_paragraph(number: str | None, law: str, laws: _Laws) -> str:
    if number is None:
        return ""
    japanese = next(iter(laws.articles[law]), "").startswith("第")
    return f"第{read_number(number)}項" if japanese else f"제{read_number(number)}항"
