"""Count what waits for a person on a dataset: the numbers beside the pages in the sidebar.

Every page draws them, so each is one query over an index, never a pass over the pool.
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
    """How much waits for somebody.

    `news`: discussions that wait for the person, and decisions on own pairs and answers to own questions that the person
    has not been shown yet.
    The others are for leads, and 0 for everybody else: `questions` without an answer, open `disagreements`, and
    quality-control `checks` that nobody has judged yet.
    """

    news: int = 0
    questions: int = 0
    disagreements: int = 0
    checks: int = 0


def count_waiting_work(
    database: Database, actor: Actor, dataset: str, role: str, *, now: datetime
) -> WaitingWork:
    """Return what waits for the person, whose role on the dataset is `role`."""
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
