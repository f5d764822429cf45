"""Cut the text of a law into articles, paragraphs or items: one document each, with ids like `법률_제17조의2_제1항`.

Reads Korean (제17조의2, ①, 1.) and Japanese law texts (第十七条の二, ２, 一), in Markdown or plain text. If articles are
headings, only headings begin an article; otherwise a line that begins with an article's number does. Numbers
in ids are Arabic. Deleted articles, paragraphs and items are left out and counted. Supplementary provisions
(부칙, 附則) quote other laws' articles, so each block of them is one document. Chapters are kept as a field.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from annotator.domain.ground_truth import Document
from annotator.importing.texts.sections import BETWEEN, PageLine, SectionedPage, cut_title, split_lines

Cut = Literal["articles", "paragraphs", "items"]
CUTS: tuple[Cut, ...] = get_args(Cut)

NUMBER = r"[0-9０-９]{1,18}|[一二三四五六七八九十百千〇]{1,18}"
"""The pattern of a number. Python reads no number of thousands of digits."""
_ARTICLE = re.compile(
    rf"(?P<mark>#{{1,6}}[ \t]+)?(?:\*\*)?[제第][ \t]?(?P<number>{NUMBER})[ \t]?(?P<kind>조|条|條)"
    rf"(?P<branch>(?:[의のノ之](?:{NUMBER}))*)(?:\*\*)?"
    r"(?=$|[ \t　(（])[ \t　]*(?P<caption>[(（][^()（）]*(?:[(（][^()（）]*[)）][^()（）]*)*[)）])?[ \t　]*(?P<rest>.*)"
)
_CAPTION = re.compile(r"[ \t　]*[(（][^()（）]+[)）][ \t]*")
_CHAPTER = re.compile(
    rf"(?:#{{1,6}}[ \t]+)?[제第][ \t]?(?:{NUMBER})[ \t]?[편장절관編章節款](?:$|[ \t　<の의].*)"
)
_HEADING = re.compile(r"#{1,6}[ \t]+(?P<title>.*)")
_SUPPLEMENT = re.compile(
    r"(?:#{1,6}[ \t]+)?(?:부[ \t]?칙|附[ \t　]*則)(?P<rest>[ \t　]*(?:[(（<＜〈].*)?(?:抄)?[ \t　]*)"
)
_ACT = re.compile(
    r"제[ \t]?([0-9]{1,18})[ \t]?호|第[ \t]?([0-9０-９一二三四五六七八九十百千〇]{1,18})[ \t]?号"
)
_CIRCLED = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳㉑㉒㉓㉔㉕㉖㉗㉘㉙㉚㉛㉜㉝㉞㉟㊱㊲㊳㊴㊵㊶㊷㊸㊹㊺㊻㊼㊽㊾㊿"
_PARAGRAPH = re.compile(rf"[ \t　]*(?:\*\*)?(?P<circled>[{_CIRCLED}])(?:\*\*)?[ \t　]*(?P<text>.*)")
_NUMBERED = re.compile(r"(?:\*\*)?(?P<number>[0-9０-９]{1,2})(?:\*\*)?[ \t　]+(?P<text>.*)")
_ITEM_KO = re.compile(r"[ \t　]*(?P<number>[0-9]{1,18})(?:의(?P<branch>[0-9]{1,18}))?\\?\.[ \t]+(?P<text>.*)")
_ITEM_JA = re.compile(
    r"[ \t　]*(?P<number>[一二三四五六七八九十百]{1,18})(?P<branch>(?:の[一二三四五六七八九十]{1,18})*)[　 \t]+(?P<text>.*)"
)
_DELETED = re.compile(
    r"\s*(?:삭[ \t]?제|削除)[ \t　]*(?:[<〈＜(（\[][^\n]*)?(?:\n[ \t　]*(?:[<〈＜(（\[][^\n]*)?)*"
)
_DIGITS = {character: value for value, character in enumerate("〇一二三四五六七八九")}
_UNITS = {"十": 10, "百": 100, "千": 1000}
LAW_TYPE = "law_type"
_TYPE_KEYS = (LAW_TYPE, "법령구분", "法令種別")


@dataclass(frozen=True, slots=True)
class LawCut:
    """The documents of a law text, and the number of deleted articles, paragraphs or items left out."""

    documents: tuple[Document, ...]
    deleted: int


@dataclass(slots=True)
class _Part:
    """An article, a block of supplementary provisions, or other text, from `start` to `end`."""

    start: int
    end: int
    number: str = ""  # as in ids: 제17조의2; "" for what is no article
    caption: str = ""
    body: int = 0  # the offset of its text, after number and caption
    chapter: str = ""
    is_supplement: bool = False
    title: str = ""


@dataclass(frozen=True, slots=True)
class _Passage:
    """A paragraph or an item: its number as in ids, and its offsets in the page's text."""

    number: str
    start: int
    end: int
    text: int  # the offset after the number
    items: tuple["_Passage", ...] = field(default=())


def cut_law(page: SectionedPage, cut: Cut) -> LawCut:
    """Return the documents of a law. A page without any article is one document."""
    document = page.document
    text = document.text
    parts = list(_split_articles(text))
    if not any(part.number for part in parts):
        return LawCut((document,), 0)
    own = {key: value for key, value in document.metadata.items() if not _is_of_whole_file(value)}
    law_type = find_law_type(document)
    shared = {**own, "law": document.title, **({LAW_TYPE: law_type} if law_type else {})}
    documents: list[Document] = []
    deleted = 0
    for part in parts:
        if not part.number:
            documents += _make_other(document, part, shared)
            continue
        if _DELETED.fullmatch(text[part.body : part.end]):
            deleted += 1
            continue
        fields = {**shared, "article": part.number, **({"chapter": part.chapter} if part.chapter else {})}
        whole = replace(
            document,
            doc_id=f"{document.doc_id}_{part.number}",
            title=cut_title(
                f"{document.title}{BETWEEN}{part.number}{f' {part.caption}' if part.caption else ''}"
            ),
            text=text[part.start : part.end].strip("\n"),
            metadata=fields,
        )
        if cut == "articles":
            documents.append(whole)
            continue
        passages = _split_paragraphs(text, part)
        pieces, left_out = _make_passages(whole, text, passages, part, cut)
        documents += pieces
        deleted += left_out
    return LawCut(tuple(_make_unique(documents)), deleted)


def _is_of_whole_file(value: Any) -> bool:
    """Check for records in the front matter, such as attachments, which are not copied to every article."""
    return isinstance(value, dict) or (
        isinstance(value, list) and any(isinstance(item, dict) for item in value)
    )


def find_law_type(document: Document) -> str:
    """Return whether it is an act, a decree or a rule; "" if unknown.

    Decided by `law_type` in the front matter, else by its title or file name, else by another field there.
    """
    if document.metadata.get(LAW_TYPE):
        return str(document.metadata[LAW_TYPE])
    for name in (document.title, document.doc_id):
        for ending, law_type in (
            ("시행령", "시행령"),
            ("시행규칙", "시행규칙"),
            ("施行令", "施行令"),
            ("施行規則", "施行規則"),
            ("법률", "법률"),
        ):
            if name.removesuffix(".md").strip().endswith(ending):
                return law_type
    said = next((document.metadata[key] for key in _TYPE_KEYS[1:] if document.metadata.get(key)), None)
    if said is not None:
        return str(said)
    title = document.title.strip()
    return "法律" if title.endswith(("法", "法律")) else "법률" if title.endswith("법") else ""


def read_number(digits: str) -> int:
    """Return the value of a number in Arabic, full-width or Chinese digits: 17, １７, 十七, 百二十."""
    if digits.isdecimal():
        return int(digits)
    total = current = 0
    for character in digits:
        if character in _UNITS:
            total += (current or 1) * _UNITS[character]
            current = 0
        else:
            current = current * 10 + _DIGITS[character]
    return total + current


def name_article(number: str, kind: str, branch: str) -> str:
    """Return an article's number as in ids: 제17조의2, 第17条の2. `kind`: 조 or 条; `branch`: such as の二."""
    korean = kind == "조"
    branches = re.findall(NUMBER, branch)
    joined = "".join(f"{'의' if korean else 'の'}{read_number(part)}" for part in branches)
    return f"{'제' if korean else '第'}{read_number(number)}{kind}{joined}"


def _split_articles(text: str) -> Iterator[_Part]:
    lines = split_lines(text)
    as_headings = any(
        line.text.startswith("#") and _ARTICLE.fullmatch(line.text.strip()) is not None for line in lines
    )
    part = _Part(0, 0)
    chapter = caption = ""
    caption_start: int | None = None
    for line in lines:
        content = line.text.strip()
        start = line.start if caption_start is None else caption_start
        supplement = _SUPPLEMENT.fullmatch(content)
        article = None if part.is_supplement and not content.startswith("#") else _ARTICLE.fullmatch(content)
        if article is not None and not _begins_article(article, as_headings=as_headings):
            article = None
        if supplement is not None:
            yield _end(part, line.start)
            part = _Part(line.start, line.end, is_supplement=True, title=content.lstrip("# "))
        elif article is not None:
            yield _end(part, start)
            stated = (article["caption"] or caption).strip()
            body = line.start + line.text.index(content) + article.start("rest")
            number = name_article(article["number"], article["kind"], article["branch"])
            part = _Part(start, line.end, number, stated, body, chapter)
        elif _HEADING.fullmatch(content) or (_CHAPTER.fullmatch(content) and not part.is_supplement):
            yield _end(part, start)
            title = content.lstrip("# ")
            chapter = re.sub(r"[ \t]*<[^>]*>$", "", title) if _CHAPTER.fullmatch(content) else ""
            part = _Part(line.start, line.end, title=title)
        caption, caption_start = _keep_caption(line, content, caption, caption_start)
    yield _end(part, len(text))


def _begins_article(match: re.Match[str], *, as_headings: bool) -> bool:
    """Check whether the line begins an article: a heading; in plain text also a number with caption or text."""
    if as_headings:
        return match["mark"] is not None
    if match["kind"] != "조" or match["caption"]:
        return True
    return not match["rest"] or _DELETED.fullmatch(match["rest"]) is not None or match["rest"][0] in _CIRCLED


def _keep_caption(
    line: PageLine, content: str, caption: str, caption_start: int | None
) -> tuple[str, int | None]:
    """Return the caption on the line above a Japanese article, and the start of that line."""
    if _CAPTION.fullmatch(line.text):
        return content, line.start
    return (caption, caption_start) if not content else ("", None)


def _end(part: _Part, end: int) -> _Part:
    part.end = end
    return part


def _make_other(document: Document, part: _Part, shared: dict[str, Any]) -> Iterator[Document]:
    """Yield a document for supplementary provisions, and for an annex or a preamble that has text."""
    content = document.text[part.start : part.end].strip("\n")
    own = content.partition("\n")[2] if part.title else content
    if own.strip() in ("", document.title):
        return
    if part.is_supplement:
        act = _ACT.search(part.title)
        word = "부칙" if "칙" in part.title[:3] else "附則"
        number = next((group for group in act.groups() if group), "") if act else ""
        suffix = (
            f"_{'제' if word == '부칙' else '第'}{read_number(number)}{'호' if word == '부칙' else '号'}"
            if number
            else ""
        )
        doc_id = f"{document.doc_id}_{word}{suffix}"
        fields = {**shared, "article": word}
    else:
        name = re.sub(r"[^\w]+", "-", part.title).strip("-")[:80]
        doc_id = f"{document.doc_id}_{name}" if name else document.doc_id
        fields = shared
    title = cut_title(f"{document.title}{BETWEEN}{part.title}") if part.title else document.title
    yield replace(document, doc_id=doc_id, title=title, text=content, metadata=fields)


def _split_paragraphs(text: str, part: _Part) -> list[_Passage]:
    """Return the paragraphs of an article; the first of a Japanese one, or the only one, has no number."""
    japanese = part.number.startswith("第")
    starts: list[tuple[int, int, int]] = []  # number, start, offset of the text
    for line in split_lines(text[part.body : part.end]):
        circled, numbered = _PARAGRAPH.fullmatch(line.text), _NUMBERED.fullmatch(line.text)
        last = starts[-1][0] if starts else 0
        match, number = None, 0
        if circled:
            match, number = circled, _CIRCLED.index(circled["circled"]) + 1
        elif japanese and numbered:
            match, number = numbered, int(numbered["number"])
        if match is None or (number != last + 1 and not (last == 0 and number == 2)):
            continue
        starts.append((number, part.body + line.start, part.body + line.start + match.start("text")))
    if not starts:
        return [
            _Passage("", part.start, part.end, part.body, _split_items(text, part.body, part.end, japanese))
        ]
    if starts[0][0] == 2:
        starts.insert(0, (1, part.body, part.body))
    ends = [*(start for _, start, _ in starts[1:]), part.end]
    word = "第{}項" if japanese else "제{}항"
    return [
        _Passage(word.format(number), start, end, begin, _split_items(text, begin, end, japanese))
        for (number, start, begin), end in zip(starts, ends, strict=True)
    ]


def _split_items(text: str, start: int, end: int, japanese: bool) -> tuple[_Passage, ...]:
    """Return the items of a paragraph, numbered 1, 2, 2의2, 3 …; nested content belongs to its item."""
    pattern = _ITEM_JA if japanese else _ITEM_KO
    starts: list[tuple[str, int, int]] = []
    last = 0
    for line in split_lines(text[start:end]):
        match = pattern.fullmatch(line.text)
        if match is None:
            continue
        number = read_number(match["number"])
        if number != last + 1 and not (number == last and match["branch"]):
            continue
        last = number
        branches = "".join(
            f"{'の' if japanese else '의'}{read_number(branch)}"
            for branch in re.findall(NUMBER, match["branch"] or "")
        )
        name = f"第{number}号{branches}" if japanese else f"제{number}호{branches}"
        starts.append((name, start + line.start, start + line.start + match.start("text")))
    ends = [*(begin for _, begin, _ in starts[1:]), end][: len(starts)]
    return tuple(
        _Passage(name, begin, stop, content)
        for (name, begin, content), stop in zip(starts, ends, strict=True)
    )


def _make_passages(
    article: Document, text: str, passages: Iterable[_Passage], part: _Part, cut: Cut
) -> tuple[list[Document], int]:
    """Return a document for each paragraph (or item) of an article, and the number of deleted ones left out."""
    documents: list[Document] = []
    deleted = 0
    for passage in passages:
        if _DELETED.fullmatch(text[passage.text : passage.end]):
            deleted += 1
            continue
        paragraph = _take(article, text, passage, "paragraph") if passage.number else article
        items = passage.items if cut == "items" else ()
        if not items:
            documents.append(paragraph)
            continue
        head = text[(passage.start if passage.number else part.start) : items[0].start].strip("\n")
        documents.append(replace(paragraph, text=head))
        for item in items:
            if _DELETED.fullmatch(text[item.text : item.end]):
                deleted += 1
            else:
                documents.append(_take(paragraph, text, item, "item"))
    return documents, deleted


def _take(above: Document, text: str, passage: _Passage, field_name: str) -> Document:
    return replace(
        above,
        doc_id=f"{above.doc_id}_{passage.number}",
        title=cut_title(f"{above.title}{BETWEEN}{passage.number}"),
        text=text[passage.start : passage.end].strip("\n"),
        metadata={**above.metadata, field_name: passage.number},
    )


def _make_unique(documents: Iterable[Document]) -> Iterator[Document]:
    """Yield the documents; a repeated id gets -2, -3 …"""
    taken: dict[str, int] = {}
    for document in documents:
        taken[document.doc_id] = taken.get(document.doc_id, 0) + 1
        number = taken[document.doc_id]
        yield document if number == 1 else replace(document, doc_id=f"{document.doc_id}-{number}")
