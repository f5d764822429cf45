"""Which qrel of an older release is which of a newer one, when documents got other ids in between. Pure rules."""

from collections.abc import Collection, Iterator, Mapping

from annotator.releases.compared import PublishedQrel


def give_present_ids(
    before: Mapping[str, PublishedQrel], renamed: Mapping[str, str], parted: Collection[str]
) -> dict[str, PublishedQrel]:
    """The older qrels by the id that their document has now. Where two would meet, the one that kept its id, else
    the first by old id, has it; what was split or merged gives its id up."""
    if not renamed:
        return dict(before)
    given = {renamed[doc_id] for doc_id in before.keys() & renamed.keys()}
    found = {
        doc_id: qrel
        for doc_id, qrel in before.items()
        if doc_id not in renamed and not (doc_id in parted and doc_id in given)
    }
    for doc_id in sorted(before.keys() & renamed.keys()):
        found.setdefault(renamed[doc_id], before[doc_id])
    return found


def follow_grounds(
    before: Mapping[str, PublishedQrel], after: Mapping[str, PublishedQrel], renamed: Mapping[str, str]
) -> dict[str, str]:
    """The id that a document has now by the id it had (they may be the same), where a qrel's grounds tell. What is
    the same in both is left out, unless `renamed` says otherwise of it."""
    differing = [(doc_id, old) for doc_id, old in before.items() if after.get(doc_id) != old]
    owners = {
        key: doc_id for doc_id, new in after.items() if before.get(doc_id) != new for key in _list_keys(new)
    }
    found = {doc_id: doc_id for doc_id in renamed.keys() & before.keys() if before[doc_id].judgments}
    for doc_id, old in differing:
        found.pop(doc_id, None)
        now = next((owners[key] for key in _list_keys(old) if key in owners), None)
        if now is not None:
            found[doc_id] = now
    return found


def _list_keys(qrel: PublishedQrel) -> Iterator[tuple[str, str]]:
    """What belongs to one pair only: its judgments, its decision, its imported grade."""
    yield from (("judgment", key) for key in (qrel.judgments or "").split())
    if qrel.adjudication_pk is not None:
        yield "adjudication", str(qrel.adjudication_pk)
    if qrel.imported_qrel_pk is not None:
        yield "imported", str(qrel.imported_qrel_pk)
