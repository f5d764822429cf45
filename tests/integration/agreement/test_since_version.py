"""Agreement before and since a version, from what is stored, on both databases."""

import pytest

from annotator.agreement.service import compare_version
from annotator.domain.errors import NotAllowed, NotFound
from annotator.storage.database import Database
from tests.integration.feedback_world import CATEGORIES, FeedbackWorld


def test_judgments_are_told_apart_by_the_version_they_were_made_under(database: Database) -> None:
    world = FeedbackWorld(database)
    key = world.add_disagreement("Q1", 2, 1, 1, "guideline_gap")
    world.add_disagreement("Q2", 3, 3)
    assert compare_version(database, world.lea, "d") is None
    world.publish([(key, 1)])
    for first, second in ((2, 2), (0, 0), (1, 2)):
        world.add_disagreement("Q1", first, second)
    world.publish([])
    comparison = compare_version(database, world.lea, "d", resamples=20)
    assert comparison is not None
    assert (comparison.version, comparison.versions, comparison.between) == (2, ((2, 1), (3, 0)), 0)
    assert [(part.category, part.before.pairs, part.since.pairs) for part in comparison.parts] == [
        (None, 2, 3),
        (CATEGORIES[0], 1, 3),
    ]
    assert all(part.state == "unknown" for part in comparison.parts)
    later = compare_version(database, world.lea, "d", 3, resamples=20)
    assert later is not None
    assert [(part.before.pairs, part.since.pairs) for part in later.parts] == [(5, 0)]


def test_only_leads_compare_and_only_versions_that_there_are(database: Database) -> None:
    world = FeedbackWorld(database)
    with pytest.raises(NotAllowed):
        compare_version(database, world.hanako, "d")
    with pytest.raises(NotFound):
        compare_version(database, world.lea, "d", 2)
