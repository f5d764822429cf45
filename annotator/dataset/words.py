"""How many words a query has, in any language and without a dictionary: the same number on every machine.

White space separates. Within what it leaves:
- a piece with Hangul in it is one word: the eojeol, as Koreans count (`도시계획을` is one);
- elsewhere each run of kanji, of katakana and of hiragana is one word, and so is what stands between them
  (`Webサービスの構成` is Web, サービス, の, 構成): about what a morphological analyser finds;
- Latin and other letters with their punctuation are one word (`nablarch.fw.handler.RetryHandler` is one).
What holds no letter and no digit (`–`, 🔎) is none. Languages that are written without spaces and are not Japanese or
Chinese (Thai, Khmer) are counted too low.
"""

import re

SHORT, MEDIUM, LONG = "short", "medium", "long"
LENGTHS: dict[str, str] = {SHORT: "up to 3 words", MEDIUM: "4 to 8 words", LONG: "9 words and more"}

_HANGUL = re.compile("[\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7fb\uffa1-\uffdc]")
_KANJI = "\u3005-\u3007\u3021-\u3029\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HIRAGANA = "\u3041-\u3096\u3099\u309a\u309d-\u309f"
_KATAKANA = "\u3099\u309a\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_MARKS = "\u3000-\u3004\u3008-\u3020\u3030\u303d\u30fb\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
_RUN = re.compile(f"[{_KANJI}]+|[{_HIRAGANA}]+|[{_KATAKANA}]+|[^{_KANJI}{_HIRAGANA}{_KATAKANA}{_MARKS}]+")


def count_words(text: str) -> int:
    """The number of words of a text; 0 for one without letters and digits."""
    return sum(_count_in_piece(piece) for piece in text.split())


def name_length(text: str) -> str | None:
    """The length class of a query: short (up to 3 words), medium (4 to 8) or long (9 and more); None without a text."""
    if not text.strip():
        return None
    words = count_words(text)
    return SHORT if words <= 3 else MEDIUM if words <= 8 else LONG


def _count_in_piece(piece: str) -> int:
    if _HANGUL.search(piece):
        return 1
    return sum(any(character.isalnum() for character in run) for run in _RUN.findall(piece))
