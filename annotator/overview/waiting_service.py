"""Count the work that waits for a person on a dataset: the numbers in the sidebar.

Every page draws them, so each is one query over an index, never a scan of the pool.
"""

from dataclasses import dataclass
from datetime import datetime

from annotator.adjudication.discussion.discussion_service import count_news
from annotator.adjudication.queue.queue_service import count_open
from annotator.domain.people import Actor, includes
from annotator.labeling.questions_service import count_new_answers, count_open_questions
from annotator.quality.service import count_open_checks
from annotator.storage.database import Database


@dataclass(frozen=True, slots=True)
class WaitingWork:
    """The amount of waiting work.

    `news`: discussions that wait for the person, and new decisions on own pairs and answers to own questions.
    The others are 0 unless the person is a lead: `questions` without an answer, open `disagreements`, and
    unjudged quality-control `checks`.
    """

    news: int = 0
    questions: int = 0
    disagreements: int = 0
    checks: int = 0


def count_waiting_work(
    database: Database, actor: Actor, dataset: str, role: str, *, now: datetime
) -> WaitingWork:
    """Return the work that waits for the person with this role on the dataset."""
    own = count_news(database, actor, dataset, now=now)
    news = own.discussions + own.decisions + count_new_answers(database, actor, dataset)
    if not includes(role, "lead"):
        return WaitingWork(news)
    return WaitingWork(
        news,
        questions=count_open_questions(database, actor, dataset),
        disagreements=count_open(database, actor, dataset),
        checks=count_open_checks(database, actor, dataset),
    )
