"""Makes the sample release `exports/sample/demo/1.0.0` again, from the demo dataset, byte for byte.

    SOURCE_DATE_EPOCH=1767225600 .venv/bin/python exports/make_sample.py [--to exports/sample]

Its judgments are simulated, so nothing can be concluded from it: it shows what a release looks like. Refuses to write
over a release that is there: remove it first.
"""

import argparse
import csv
import io
import os
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from annotator.adjudication.bulk.bulk_service import adjudicate_file
from annotator.adjudication.queue.queue_service import find_disagreements
from annotator.demo import DATASET, build_demo
from annotator.domain.people import OPERATOR
from annotator.people.roles_service import find_actor
from annotator.releases.records import Release
from annotator.releases.service import publish_release
from annotator.storage.database import Database
from annotator.storage.schema import upgrade_schema

VERSION = "1.0.0"
EPOCH = 1_767_225_600  # 2026-01-01T00:00:00Z, unless SOURCE_DATE_EPOCH says otherwise
SAMPLE = Path(__file__).parent / "sample"
LEAD = "demo-sora"
NOTE = "What a release looks like. Simulated judgments: draw no conclusions."
RATIONALE = "An example of a decision on simulated judgments: in doubt, the lower grade."
WAIVED = {
    "kappa": "simulated judgments, for a sample",
    "overlap": "the simulated annotators judged the first five results of each system only",
    "quality_control": "simulated judgments, for a sample",
    "relevant": "simulated judgments, for a sample",
}


def make_sample(database: Database, folder: Path, *, now: datetime) -> Release:
    """Publish the demo dataset, built with simulated judgments, into `folder`/demo/1.0.0."""
    build_demo(database, now=now, with_judgments=True)
    with database.read() as session:
        lead = find_actor(session, LEAD)
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(["query_id", "doc_id", "grade", "rationale"])
    for item in find_disagreements(database, OPERATOR, DATASET, now=now):
        if not item.grades:  # a question about a pair that nobody has judged
            continue
        writer.writerow([item.query_id, item.doc_id, min(item.grades.values()), RATIONALE])
    adjudicate_file(database, lead, DATASET, lines.getvalue().encode(), "decisions.csv", now=now)
    return publish_release(
        database, lead, DATASET, VERSION, exports_dir=folder, now=now, note=NOTE, overrides=WAIVED
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the sample release again.")
    parser.add_argument("--to", type=Path, default=SAMPLE, metavar="FOLDER")
    chosen = parser.parse_args()
    now = datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", EPOCH)), UTC)
    with tempfile.TemporaryDirectory(prefix="annotator-sample-") as folder:
        database = Database(f"sqlite:///{folder}/sample.db")
        upgrade_schema(database)
        print(make_sample(database, chosen.to, now=now).path)
        database.dispose()


if __name__ == "__main__":
    main()
