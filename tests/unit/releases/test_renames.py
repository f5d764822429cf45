"""Documents followed through one remap after the other."""

from datetime import UTC, datetime, timedelta

from annotator.releases.diff import RemappedDocument, follow

START = datetime(2026, 3, 4, tzinfo=UTC)


def make(*steps: dict[str, str], kind: str = "renamed") -> list[RemappedDocument]:
    """Each step is one `remap`."""
    return [
        RemappedDocument(old, new, kind, START + timedelta(hours=hour))
        for hour, step in enumerate(steps)
        for old, new in step.items()
    ]


def test_a_chain_of_remaps_leads_to_the_last_id() -> None:
    assert follow(make({"가": "나"}, {"나": "다"})).renamed == {"가": "다"}


def test_a_swap_and_a_chain_within_one_remap_happen_in_one_go() -> None:
    assert follow(make({"a": "b", "b": "a"})).renamed == {"a": "b", "b": "a"}
    assert follow(make({"a": "b", "b": "c"})).renamed == {"a": "b", "b": "c"}
    assert follow(make({"a": "b", "b": "a"}, {"a": "b", "b": "a"})).renamed == {}


def test_an_id_that_was_freed_may_be_another_document_later() -> None:
    assert follow(make({"a": "b"}, {"a": "z"})).renamed == {"a": "b"}


def test_split_and_merged_documents_are_named_by_the_id_they_began_with() -> None:
    rows = make({"páge": "page"})
    rows += [RemappedDocument("page", f"page#{part}", "split", START + timedelta(days=1)) for part in (1, 2)]
    rows += [RemappedDocument("page#1", "chunk#1", "renamed", START + timedelta(days=2))]
    renames = follow(rows)
    assert renames.parted == {"páge"}
    assert renames.joined == {"chunk#1", "page#2"}
    assert renames.renamed == {"page#1": "chunk#1"}
    assert renames.rows[0] == ("páge", "page", "renamed")
    assert len(renames.rows) == 4
