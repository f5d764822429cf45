"""The opaque id of a pair: what the app calls it. It says nothing about rank, score or system."""

import hashlib
import json


def pair_key(dataset: str, query_id: str, doc_id: str) -> str:
    """24 hexadecimal digits (96 bits) of SHA-256 over the three names; the same on every machine."""
    named = json.dumps([dataset, query_id, doc_id], ensure_ascii=False).encode("utf-8", "surrogatepass")
    return hashlib.sha256(named).hexdigest()[:24]
