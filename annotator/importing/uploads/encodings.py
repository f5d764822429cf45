"""Guess the encoding of a text that is not UTF-8: Japanese and Korean encodings, or UTF-16 by its byte order
mark.

A guess is only a proposal: the importing person sees the text in it and decides.
"""

import codecs
import re
from collections.abc import Mapping

ENCODINGS: Mapping[str, str] = {
    "utf-8": "UTF-8",
    "cp932": "Shift_JIS (cp932)",
    "euc-jp": "EUC-JP",
    "iso-2022-jp": "ISO-2022-JP",
    "cp949": "EUC-KR (cp949)",
    "utf-16": "UTF-16",
    "cp1252": "Windows-1252",
}
"""The encodings that are offered, with their names."""
_KANA = re.compile("[ぁ-んァ-ヶー、。]")
_KANJI = re.compile("[一-龠]")
_HANGUL = re.compile("[가-힣]")
_ODD = re.compile("[\uff61-\uff9f\ue000-\uf8ff\u0400-\u04ff\u0370-\u03ff]")


def guess_encoding(data: bytes, *, whole: bool = True) -> str | None:
    """Return the best key of ENCODINGS; None for UTF-8 or if nothing fits. `whole`: False if the last character may be cut."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if b"\x1b$" in data and _decode(data, "iso-2022-jp", whole=whole) is not None:
        return "iso-2022-jp"
    if _decode(data, "utf-8", whole=whole) is not None:
        return None
    scores = {name: _score(_decode(data, name, whole=whole)) for name in ("cp932", "euc-jp", "cp949")}
    best = max(scores, key=scores.__getitem__)
    if scores[best] > 0.5:
        return best
    return "cp1252" if _decode(data, "cp1252", whole=whole) is not None else None


def _decode(data: bytes, name: str, *, whole: bool) -> str | None:
    decoder = codecs.getincrementaldecoder(name)()
    try:
        text = decoder.decode(data, final=whole)
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _score(text: str | None) -> float:
    """Return the share of non-ASCII characters that are Japanese or Korean: kana and hangul count most."""
    if text is None:
        return 0
    others = sum(ord(character) > 127 for character in text)
    if not others:
        return 0
    kana, hangul = len(_KANA.findall(text)), len(_HANGUL.findall(text))
    kanji, odd = len(_KANJI.findall(text)), len(_ODD.findall(text))
    return (max(kana, hangul) + 0.6 * kanji - odd) / others
