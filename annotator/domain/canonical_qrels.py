"""Write the canonical bytes of a set of qrels, and hash them: equal grades have equal hashes."""

import hashlib
from collections.abc import Iterable
from itertools import groupby
from json.encoder import encode_basestring

from annotator.domain.ground_truth import Qrel


def write_canonical(query_id: str, grades: Iterable[tuple[str, int]]) -> bytes:
    """Return the canonical lines of one query, as `hash_content` defines them.

    `grades`: its qrels as (doc_id, grade).
    """
    begin = f"[{encode_basestring(query_id)},"
    lines = [f"{begin}{encode_basestring(doc_id)},{grade}]\n" for doc_id, grade in sorted(grades)]
    return "".join(lines).encode()


def hash_content(qrels: Iterable[Qrel]) -> str:
    """Return the SHA-256 of the canonical qrels, in hexadecimal.

    Canonical bytes: one line per qrel, sorted by query_id, then doc_id, both by code point. Each line is the
    JSON array `["query_id","doc_id",grade]` without spaces, in UTF-8 without escaped non-ASCII characters,
    ended by LF. File order, origin and notes do not matter.
    """
    digest = hashlib.sha256()
    keys = sorted((qrel.query_id, qrel.doc_id, qrel.grade) for qrel in qrels)
    for query_id, of_query in groupby(keys, key=lambda key: key[0]):
        digest.update(write_canonical(query_id, ((doc_id, grade) for _, doc_id, grade in of_query)))
    return digest.hexdigest()
