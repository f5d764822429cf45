"""Cut out the part of a text around the best match of a search, in any language. Pure rules.

Text and search are compared in Unicode form NFKC and lower case; the snippet keeps the original text. The
best match begins where the most different grams of the search are close together. Longer and rarer grams
count more. Lines under headings, rules and fences of code are left out.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence

LENGTH, BEFORE = 180, 50
MOST_OCCURRENCES, MOST_GRAMS = 40, 24
PIECE = 400
_SPACES = re.compile(r"\s+")
_SIGNS_ONLY = re.compile(r"^[=\-~^*#_+|:.`\"' \t]{3,}$|^[ \t]*(?:```|~~~).*$", re.MULTILINE)
_WORD = re.compile(r"[^\W_]+")


def cut_snippet(text: str, searched: str) -> str:
    """Return up to LENGTH characters around the best match, on one line, with … where text is cut."""
    text = _SIGNS_ONLY.sub("", text)
    match_start = _find_best(text, searched)
    start = max(0, match_start - BEFORE)
    if start:
        space = text.rfind(" ", start - 12, start)
        start = space + 1 if space > 0 else start
    end = min(len(text), start + LENGTH)
    shown = _SPACES.sub(" ", text[start:end]).strip()
    return ("… " if start else "") + shown + (" …" if end < len(text) else "")


def _find_best(text: str, searched: str) -> int:
    """Return the offset in the text where the best match begins; 0 without a match."""
    pieces = [text[at : at + PIECE] for at in range(0, len(text), PIECE)]
    folded = [_fold(piece) for piece in pieces]
    whole = "".join(folded)
    occurrences = sorted(
        (position, gram, weight)
        for gram in _list_grams(searched)
        for positions in [_list_occurrences(whole, gram)]
        for weight in [len(gram) ** 2 / (len(positions) + 1)]
        for position in positions
    )
    best, best_weight, first = 0, 0.0, 0
    for last, (position, _gram, _weight) in enumerate(occurrences):
        while position - occurrences[first][0] > LENGTH - BEFORE:
            first += 1
        near = {gram: weight for _position, gram, weight in occurrences[first : last + 1]}
        weight = sum(near.values())
        if weight > best_weight:
            best, best_weight = occurrences[first][0], weight
    return _map_to_text(best, pieces, folded)


def _list_grams(searched: str) -> list[str]:
    """Return the words of the search and their parts of two and three characters, the longest first."""
    words = _WORD.findall(_fold(searched))
    parts = {word for word in words if len(word) > 1}
    parts |= {word[at : at + size] for word in words for size in (3, 2) for at in range(len(word) - size + 1)}
    return sorted(parts, key=lambda part: (-len(part), part))[:MOST_GRAMS]


def _list_occurrences(text: str, gram: str) -> list[int]:
    """Return the offsets of the first MOST_OCCURRENCES occurrences of the gram."""
    positions: list[int] = []
    at = text.find(gram)
    while at >= 0 and len(positions) < MOST_OCCURRENCES:
        positions.append(at)
        at = text.find(gram, at + 1)
    return positions


def _map_to_text(position: int, pieces: Sequence[str], folded: Sequence[str]) -> int:
    """Return the offset in the original text for an offset in the folded text. Folding may change lengths."""
    begins = [0]
    for piece in folded:
        begins.append(begins[-1] + len(piece))
    number = min(bisect_right(begins, position) - 1, len(pieces) - 1)
    if number < 0:
        return 0
    inside = position - begins[number]
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
