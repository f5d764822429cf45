"""Find a published release and its queries, for releases and evaluation. The rows are immutable."""

from sqlalchemy import func, select
from sqlalchemy.orm import Session
from sqlmodel import col

from annotator.domain.errors import NotFound
from annotator.domain.messages import say
from annotator.storage.tables.releases import ReleaseQrelRow, ReleaseQueryRow, ReleaseRow


def find_release(session: Session, dataset_pk: int, version: str) -> ReleaseRow:
    """Return the release of that version. Raises NotFound with the versions that are published."""
    rows = session.execute(
        select(col(ReleaseRow.pk), col(ReleaseRow.version))
        .where(col(ReleaseRow.dataset_pk) == dataset_pk)
        .order_by(col(ReleaseRow.pk))
    ).all()
    for pk, published in rows:
        if published == version:
            return session.get_one(ReleaseRow, pk)
    versions = ", ".join(published for _, published in rows)
    there = say("there are: {listed}", listed=versions) if versions else say("no releases yet")
    raise NotFound(say("There is no release {version!r}; {there}", version=version, there=there))


def list_published_queries(session: Session, release_pk: int) -> dict[str, str | None]:
    """Return {query_id: text} in the release's order.

    Texts are None in releases from before they were recorded.
    """
    rows = session.execute(
        select(col(ReleaseQueryRow.query_id), col(ReleaseQueryRow.text))
        .where(col(ReleaseQueryRow.release_pk) == release_pk)
        .order_by(col(ReleaseQueryRow.position))
    )
    texts: dict[str, str | None] = {row.query_id: row.text for row in rows}
    if texts:
        return texts
    first = func.min(col(ReleaseQrelRow.position))
    ids = session.scalars(
        select(col(ReleaseQrelRow.query_id))
        .where(col(ReleaseQrelRow.release_pk) == release_pk)
        .group_by(col(ReleaseQrelRow.query_id))
        .order_by(first)
    )
    return dict.fromkeys(ids)
