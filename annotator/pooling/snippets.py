"""The part of a text around the best match of what is searched for, in any language. Pure rules.

A text is looked at in Unicode form NFKC and lower case, as the search itself does, and shown as it is. The best place
is where the most different grams of the search stand close together; longer grams and rarer ones count for more.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence

LENGTH, BEFORE = 180, 50
MOST_PLACES, MOST_GRAMS = 40, 24
PIECE = 400
_SPACES = re.compile(r"\s+")
_WORD = re.compile(r"[^\W_]+")


def cut_snippet(text: str, searched: str) -> str:
    """Up to LENGTH characters around the best match, on one line, with … where something is left out."""
    place = _find_best(text, searched)
    start = max(0, place - BEFORE)
    if start:
        space = text.rfind(" ", start - 12, start)
        start = space + 1 if space > 0 else start
    end = min(len(text), start + LENGTH)
    shown = _SPACES.sub(" ", text[start:end]).strip()
    return ("… " if start else "") + shown + (" …" if end < len(text) else "")


def _find_best(text: str, searched: str) -> int:
    """The place in the text where the best match begins; 0 when nothing matches."""
    pieces = [text[at : at + PIECE] for at in range(0, len(text), PIECE)]
    folded = [_fold(piece) for piece in pieces]
    whole = "".join(folded)
    found = sorted(
        (place, gram, weight)
        for gram in _list_grams(searched)
        for places in [_list_places(whole, gram)]
        for weight in [len(gram) ** 2 / (len(places) + 1)]
        for place in places
    )
    best, best_weight, first = 0, 0.0, 0
    for last, (place, _gram, _weight) in enumerate(found):
        while place - found[first][0] > LENGTH - BEFORE:
            first += 1
        near = {gram: weight for _place, gram, weight in found[first : last + 1]}
        weight = sum(near.values())
        if weight > best_weight:
            best, best_weight = found[first][0], weight
    return _place_in_text(best, pieces, folded)


def _list_grams(searched: str) -> list[str]:
    """The words of the search, and the three-character parts of long ones; the longest first."""
    words = _WORD.findall(_fold(searched))
    parts = {word for word in words if len(word) > 1}
    parts |= {word[at : at + size] for word in words for size in (3, 2) for at in range(len(word) - size + 1)}
    return sorted(parts, key=lambda part: (-len(part), part))[:MOST_GRAMS]


def _list_places(text: str, gram: str) -> list[int]:
    places: list[int] = []
    at = text.find(gram)
    while at >= 0 and len(places) < MOST_PLACES:
        places.append(at)
        at = text.find(gram, at + 1)
    return places


def _place_in_text(place: int, pieces: Sequence[str], folded: Sequence[str]) -> int:
    """Where a place of the folded text lies in the text itself: folding may change lengths."""
    begins = [0]
    for piece in folded:
        begins.append(begins[-1] + len(piece))
    number = min(bisect_right(begins, place) - 1, len(pieces) - 1)
    if number < 0:
        return 0
    inside = place - begins[number]
    if len(folded[number]) == len(pieces[number]):
        return number * PIECE + inside
    length = 0
    for at, character in enumerate(pieces[number]):
        length += len(_fold(character))
        if length > inside:
            return number * PIECE + at
    return number * PIECE


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).lower()
