"""DATASHEET.md: what a reader of a paper asks, answered from the manifest and what stands beside it."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from markdown_it import MarkdownIt

from annotator.dataset.records import CoverageRow
from annotator.domain.grades import DEFAULT_RUBRIC
from annotator.domain.ground_truth import DECLARED, ImportRecord
from annotator.evaluation.records import RunFindings, SystemMean
from annotator.pooling.rounds.round_records import PoolHistory
from annotator.releases.records import PoolSystem
from annotator.releases.writing.datasheet import (
    Datasheet,
    DatasheetAnnotator,
    DatasheetImport,
    DatasheetRound,
    list_runs,
    write_datasheet,
)

KAPPA = {"value": 0.736842, "ci95": [-0.1, 1.0]}
UNDEFINED = {"value": None, "why": "everybody gave | one grade"}
MANIFEST: dict[str, Any] = {
    "dataset": "検索-법령",
    "version": "1.1.0",
    "created_at": "2026-03-09T05:06:07Z",
    "published_by": "lead_3",
    "note": "初版 *急*",
    "guideline_version": 2,
    "previous": "1.0.0",
    "content_sha256": "ab" * 32,
    "counts": {
        "queries": 3, "queries_without_qrels": 1, "pairs": 11, "qrels": 8, "by_grade": {"0": 2, "1": 1, "2": 4, "3": 1},
        "unanimous": 4, "adjudicated": 2, "single": 1, "imported": 1, "disagreement": 1, "unrateable": 0, "unjudged": 2,
    },
    "agreement": {
        "pairs": 5, "observed_agreement": 0.8, "resamples": 1000, "seed": 7,
        "cohen_kappa": {"unweighted": KAPPA, "linear": KAPPA, "quadratic": UNDEFINED},
        "krippendorff_alpha": {"nominal": KAPPA, "ordinal": KAPPA, "interval": KAPPA},
        "fleiss_kappa": KAPPA, "gwet_ac1": KAPPA, "gwet_ac2": {"value": 1.0, "ci95": None, "why": "one query"},
        "cut_points": [{"relevant_from": 1, "cohen_kappa": KAPPA}], "annotator_pairs": [{"pairs": 5}],
    },
    "gates": [
        {"name": "kappa", "required": 0.7, "measured": 0.736842, "met": True, "override": None, "why": None},
        {"name": "overlap", "required": 0, "measured": 2, "met": False, "override": {"reason": "後で\n| x", "by": "lead_3"},
         "why": "2 pairs"},
    ],
}  # fmt: skip
SHEET = Datasheet(
    manifest=MANIFEST,
    rubric=replace(DEFAULT_RUBRIC, guideline="Judge.\n```\n# not a heading of ours\n```\n"),
    overlap=2,
    title="検索 | 法令",
    systems=[PoolSystem("bm25|x", 9, 1, 50), PoolSystem("import", 2)],
    annotators=[DatasheetAnnotator("annotator_1", 5, 1), DatasheetAnnotator("annotator_2", 4)],
    decisions={"lead_3": 2},
    causes={"borderline": 1, None: 4, "guideline_gap": 1_200},
    guideline_lessons={2: 3, 10: 1},
    guideline_versions={1: 3, 2: 7},
    made_here=10,
    imported=1_200,
    imports=[
        DatasheetImport(
            kind="judgments",
            path="金|.csv",
            imported_at=datetime(2026, 1, 2, tzinfo=UTC),
            count=1_200,
            declared={"who": "대학원생 *3*", "blind": False, "licence": "CC BY 4.0"},
            options={"map_grades": {"4": 3, "-1": "unrateable"}},
        ),
        DatasheetImport(kind="qrels", path="구판.yaml", format="nablarch", count=1),
    ],
    runs=list_runs(
        [
            ImportRecord(
                kind="run",
                path="/data/runs/bm25.txt",
                system="bm25|x",
                imported_at=datetime(2026, 1, 2, tzinfo=UTC),
                figures={
                    "rank_contradictions": {"queries": 1, "results": 12},
                    "duplicates": 1,
                    "skipped_unknown_queries": 2,
                },
            ),
            ImportRecord(
                kind="run",
                path="fine.txt",
                system="fine",
                imported_at=datetime(2026, 1, 2, tzinfo=UTC),
                figures={"read": 3},
            ),
        ]
    ),
    coverage=[CoverageRow("queries", "30", "3", False), CoverageRow("length", "", "5 short", None)],
    without_relevant=["Q1", "مستند"],
    without_qrels=["Q3"],
    remapped=1,
)


def test_where_nobody_judged_in_the_program_it_claims_neither_the_way_nor_the_guideline() -> None:
    counts = {**MANIFEST["counts"], "adjudicated": 0}
    sheet = replace(SHEET, manifest={**MANIFEST, "counts": counts}, made_here=0, guideline_versions={}, imports=[
        DatasheetImport(kind="judgments", count=1_200),
    ])  # fmt: skip
    text = write_datasheet(sheet)
    assert "judged alone" not in text
    assert "word for word" not in text
    assert "not a heading of ours" not in text
    assert "Nobody judged in this program." in text
    assert "- 1,200 judgments, imported before imports were recorded.\n    - Who judged: not known\n" in text
    assert "Whether they are independent is not known beyond what was declared" in text


def test_what_was_all_made_in_the_program_says_nothing_of_files() -> None:
    text = write_datasheet(replace(SHEET, imported=0, imports=[], runs=[]))
    assert "from files" not in text.replace("of them from files", "")
    assert "What came from files" not in text


FINDINGS = RunFindings(
    systems=(SystemMean("dense|x", 0.61234, (0.5, 0.7)), SystemMean("bm25", 0.5, (0.4, 0.6))),
    measure="nDCG@10",
    queries=1_200,
    same_winner=0.912,
    resamples=1_000,
    seed=0,
    sentences=("RR cannot rank these systems.", "No difference is shown."),
)


def test_without_runs_it_says_that_nothing_is_known_about_systems() -> None:
    text = write_datasheet(SHEET)
    assert "No run is imported, so it is not known what this release can tell about systems." in text
    assert "scored" not in text


def test_it_says_in_a_paragraph_what_the_release_can_tell_about_imported_runs() -> None:
    text = write_datasheet(replace(SHEET, findings=FINDINGS))
    paragraph = text.split("## What it can tell about systems\n\n")[1].split("\n\n")[0]
    assert paragraph == (
        "2 imported runs were scored as trec_eval does, over 1,200 queries. nDCG\\@10, the best first, with 95 % intervals: "
        "dense\\|x 0.612 (0.500 to 0.700), bm25 0.500 (0.400 to 0.600). RR cannot rank these systems. No difference is shown. "
        "dense\\|x stays the best in 91.2 % of the resamples. Intervals: 1,000 resamples of the queries, seed 0."
    )
    assert "No run is imported" not in text


def test_of_one_run_it_says_that_it_cannot_be_compared_and_of_many_it_names_the_best() -> None:
    single = replace(FINDINGS, systems=FINDINGS.systems[:1], same_winner=None, sentences=())
    assert "One system alone shows no differences." in write_datasheet(replace(SHEET, findings=single))
    many = replace(FINDINGS, systems=tuple(SystemMean(f"s{number}", 0.5, None) for number in range(25)))
    text = write_datasheet(replace(SHEET, findings=many))
    assert "s19 0.500, and 5 more." in text
    assert "s20 " not in text


def test_runs_without_a_query_of_the_release_are_named() -> None:
    text = write_datasheet(replace(SHEET, findings=RunFindings(unrelated=("old_run",))))
    assert "Not scored, because they have no results for the queries of this release: old_run." in text
    assert "No run is imported" not in text


def say_kappa(value: float, pairs: int) -> dict[str, Any]:
    kappa = {"unweighted": {"value": value, "ci95": None, "why": "one query"}}
    return {"pairs": pairs, "observed_agreement": 0.5, "cohen_kappa": kappa}


def test_it_shows_kappa_of_every_two_annotators_and_by_group() -> None:
    couples = [
        {"annotators": [f"annotator_{index}", f"annotator_{two}"], **say_kappa(0.25, index * two)}
        for index in range(1, 13) for two in range(index + 1, 13)
    ]  # fmt: skip
    groups = [
        {"by": "category", "value": "検|索", **say_kappa(0.5, 3)},
        {"by": "category", "value": None, **say_kappa(0.5, 0), "observed_agreement": None},
    ]
    agreement = {**MANIFEST["agreement"], "annotator_pairs": couples, "groups": groups}
    text = write_datasheet(replace(SHEET, manifest={**MANIFEST, "agreement": agreement}))
    assert "(the 50 who share most, of 66; manifest.json has all):" in text
    assert text.count("| 50.0 % | 0.250 | one query |") == 50
    assert (
        "| annotator\\_11 and annotator\\_12 | 132 |" in text
        or "| annotator_11 and annotator_12 | 132 |" in text
    )
    assert "Cohen's κ by category:" in text
    assert "| 検\\|索 | 3 | 50.0 % | 0.500 | one query |" in text
    assert "| (not said) | 0 |  | 0.500 | one query |" in text


def test_what_a_paper_asks_of_a_dataset_is_told_or_not_said() -> None:
    lines = write_datasheet(replace(SHEET, documents=1_234, language="ja")).splitlines()
    assert "| authors | not given |" in lines
    assert "| main language of the documents | ja |" in lines
    assert "| documents, judged or not | 1,234 |" in lines
    manifest = {
        **MANIFEST,
        "authors": "花子 | 민준",
        "contact": "a@b.example",
        "licence": "CC BY 4.0",
        "source": "편람",
    }
    lines = write_datasheet(replace(SHEET, manifest=manifest)).splitlines()
    assert "| authors | 花子 \\| 민준 |" in lines
    assert "| licence | CC BY 4.0 |" in lines
    assert "| main language of the documents | not given |" in lines


def test_every_text_of_people_is_shown_as_it_is_and_never_becomes_markup() -> None:
    hostile = "# <b>*x*</b> [a](b) | `c` {{ manifest }}"
    manifest = {
        **MANIFEST,
        **dict.fromkeys(("dataset", "note", "authors", "contact", "licence", "source"), hostile),
    }
    sheet = replace(
        SHEET,
        manifest=manifest,
        rubric=replace(DEFAULT_RUBRIC, guideline=""),
        title=f"{hostile}!",
        language=hostile,
        overlap_rules=hostile,
        systems=[PoolSystem(hostile, 1)],
        imports=[DatasheetImport(kind="qrels", path=hostile, format=hostile, declared={"who": hostile})],
        coverage=[CoverageRow(hostile, hostile, hostile, True)],
        without_relevant=[hostile],
        without_qrels=[hostile],
    )
    text = write_datasheet(sheet)
    lines = [token.children or [] for token in MarkdownIt("commonmark").enable("table").parse(text)]
    types = {child.type for children in lines for child in children}
    assert types <= {"text", "text_special", "code_inline", "softbreak", "image"}
    shown = "\n".join("".join(child.content for child in children) for children in lines)
    assert shown.count(hostile) == 19


def test_nothing_and_bare_figures_are_never_printed() -> None:
    manifest = {**MANIFEST, "agreement": {**MANIFEST["agreement"], "seed": None}}
    with pytest.raises(TypeError, match="not None"):
        write_datasheet(replace(SHEET, manifest=manifest))
    with pytest.raises(TypeError, match=r"not 0\.5"):
        write_datasheet(replace(SHEET, overlap=0.5))  # type: ignore[arg-type]


def list_headings(text: str) -> list[str]:
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    return [tokens[index + 1].content for index, token in enumerate(tokens) if token.type == "heading_open"]


def test_every_question_has_its_section() -> None:
    assert list_headings(write_datasheet(SHEET)) == [
        "Datasheet of 検索-법령 1.1.0", "What it holds", "How the pool was made", "Who judged, and how", "What came from files",
        "What they judged by", "How well they agree", "How grades were settled", "Quality control", "What it can tell about systems", "Gates", "Coverage", "Known limits",
        "How to cite and verify",
    ]  # fmt: skip


def test_what_it_says() -> None:
    text = write_datasheet(SHEET)
    for line in (
        "Title: 検索 \\| 法令",
        "Note of the publisher: 初版 \\*急\\*",
        "Changes since 1.0.0: CHANGES.md.",
        "| … of grade 2, Highly relevant | 4 | 50.0 % |",
        "| … kept from an earlier ground truth (`imported`) | 1 | 12.5 % |",
        "| bm25\\|x | 9 | 1 | 50 |",
        "| import | 2 |  |  |",
        "| annotator_1 | 5 | 1 | 0 |  |",
        "10 judgments made in this program. Each annotator judged alone, without seeing ranks, scores, systems or other people's grades.",
        "1,200 judgments from files, made outside this program. The next section has what is known about them.",
        '- 1,200 judgments from "金\\|.csv"; imported: 2026-01-02.',
        "    - Who judged: 대학원생 \\*3\\*",
        "    - When: not known",
        "    - Without seeing each other's grades, ranks or systems: no",
        "    - By which guideline: not known",
        "    - Licence: CC BY 4.0",
        "    - Grades of another scale were read as: 4 as 3, -1 as unrateable",
        '- 1 qrel from "구판.yaml", nablarch; imported: not known.',
        (
            '- Run "bm25\\|x" ("bm25.txt"): its ranks contradict its scores for 12 results of 1 query; it was read by score; '
            "1 result left out, whose documents stood in a query before; 2 queries left out, which the dataset does not have."
        ),
        "| not known (from files) | 1,200 |",
        "| version 1 | 3 |",
        "````markdown",
        "| Cohen's κ | 0.737 | -0.100 to 1.000 |",
        "| Cohen's κ, quadratic weights | undefined | everybody gave \\| one grade |",
        "| Gwet's AC2 | 1.000 | one query |",
        "Decisions by lead: lead_3 2.",
        "Causes of the disagreements, chosen by the leads who decided: guideline gap 1,200, borderline case 1, no cause named 4.",
        "Decisions led to new versions of the guideline: version 2 by 3 decisions, version 10 by 1 decision.",
        "Grades of an earlier ground truth were kept where nobody has judged the pair since: 1 qrel.",
        "| overlap | 0 | 2 | no | overridden by lead_3: 後で⏎\\| x |",
        "| queries | 30 | 3 | no |",
        "| length |  | 5 short |  |",
        "- Left out: 1 pair (annotators differ and nobody has decided).",
        "- Left out: 2 pairs (judged by nobody).",
        "- Judged by one annotator only, without a second opinion: 1 qrel.",
        "- Published although these gates were not met: overlap.",
        "- 2 queries have no relevant document among the judged ones: Q1, \u2068مستند\u2069",
        "- 1 query has no qrel, so it is in no file: Q3",
        "- Documents with another id than in the release before (CHANGES.md): 1.",
        "- nablarch, law, law-compact and assay files do not list grade 0; TREC, BEIR, CSV and JSONL always do.",
    ):
        assert line in text.splitlines(), line
    assert "a lead decides with a reason: 2 of 8 qrels (25.0 %)." in text
    assert f"version 1.1.0 (2026-03-09), content `sha256:{'ab' * 32}`." in text
    assert "unrateable." not in text
    assert "![Distribution of grades](pictures/grades.svg)" in text
    assert text.endswith("\n")
    assert text == write_datasheet(SHEET)


def test_simulated_annotators_are_named_so_wherever_they_show() -> None:
    manifest = {**MANIFEST, "simulated": True, "notice": "Some were simulated."}
    people = [DatasheetAnnotator("annotator_1", 5, simulated=True)]
    text = write_datasheet(replace(SHEET, manifest=manifest, annotators=people))
    assert "**Some were simulated.**" in text
    assert "| annotator_1 | 5 | 0 | 0 | simulated, not a person |" in text
    assert "- Some annotators are simulated" in text
    assert "simulated" not in write_datasheet(SHEET)


def test_it_says_how_the_pool_was_made_and_what_was_not_pooled() -> None:
    rounds = [DatasheetRound(1, "2026-01-02", "stratified", 1_200, "bm25|x to 100, vector to 100")]
    history = PoolHistory(
        without_round=1,
        drawn=800,
        not_pooled=("re|rank",),
        left_out={"exclude:language=ko": 1, "one-per:page": 40},
    )
    text = write_datasheet(replace(SHEET, rounds=rounds, history=history))
    assert "| 1 | 2026-01-02 | stratified | 1,200 | bm25\\|x to 100, vector to 100 |" in text
    assert "1 further pair came from files" in text
    assert "800 pairs were drawn at random, with known probabilities" in text
    assert "Imported runs that added no pairs: re\\|rank." in text
    assert "- exclude:language=ko: 1 candidate\n- one-per:page: 40 candidates\n" in text
    without = write_datasheet(SHEET)
    for sentence in ("These rounds", "drawn at random", "that added no pairs", "left out by rule"):
        assert sentence not in without


def test_with_nothing_known_it_says_that() -> None:
    bare = Datasheet(
        manifest={**MANIFEST, "previous": None, "note": ""}, rubric=replace(DEFAULT_RUBRIC, guideline=""),
        overlap=2, pictures=False, list_grade_0=True,
    )  # fmt: skip
    text = write_datasheet(bare)
    assert "It is the first release." in text
    assert "Nothing is recorded about the systems that found them." in text
    assert "No requirements are declared for this dataset." in text
    assert "has no text beyond these definitions." in text
    assert "assay files list grade 0" in text
    assert "pictures/" not in text


def test_figures_without_requirements_are_shown_as_that() -> None:
    text = write_datasheet(replace(SHEET, coverage=[CoverageRow("queries", "", "3", None)]))
    assert "No requirements are declared for this dataset. What it holds:\n\n| what | measured |" in text
    assert "| queries | 3 |" in text


def test_what_quality_control_reopened_is_left_out_and_said() -> None:
    counts = {**MANIFEST["counts"], "reopened": 2}
    text = write_datasheet(replace(SHEET, manifest={**MANIFEST, "counts": counts}))
    assert (
        "- Left out: 2 pairs (quality control contradicts the grade and nobody has decided)."
        in text.splitlines()
    )


def test_of_very_many_queries_the_first_are_named() -> None:
    text = write_datasheet(replace(SHEET, without_relevant=[f"q{number}" for number in range(502)]))
    assert "q499, and 2 more" in text


def write_with_order(**order: int) -> str:
    none = dict.fromkeys(
        ("tied", "by_lead", "by_earlier", "undecided", "queries_undecided", "queries_without_relevant"), 0
    )
    return write_datasheet(replace(SHEET, manifest={**MANIFEST, "order": {**none, **order}}))


def test_of_the_order_only_what_there_is_is_told() -> None:
    text = write_with_order()
    assert "The hash decided no order." in text
    assert "the same grade and mean" not in text and "leaves out" not in text
    text = write_with_order(tied=3, by_lead=1, undecided=2, queries_undecided=1, queries_without_relevant=1)
    assert "of their query: 3. Ordered by a lead: 1. Ordered by an earlier ground truth: 0." in text
    assert "Ordered by the hash alone: 2, in 1 query." in text
    assert "leaves out 1 query that has no relevant document" in text
    text = write_with_order(tied=4, undecided=4, queries_undecided=2, queries_without_relevant=1_200)
    assert (
        "Ordered by the hash alone: 4, in 2 queries." in text
        and "leaves out 1,200 queries that have no" in text
    )


def test_of_runs_alone_it_is_not_said_that_judgments_came_from_elsewhere() -> None:
    text = write_datasheet(replace(SHEET, imported=0, imports=[]))
    assert "## What came from files" in text and "- Run " in text
    assert "was made outside this program" not in text


def test_a_note_on_an_import_is_told_where_there_is_one() -> None:
    item = SHEET.imports[0]
    words = DECLARED["note"]
    assert f"- {words}:" not in write_datasheet(replace(SHEET, imports=[replace(item, declared={})]))
    declared = {"note": "twice by hand"}
    assert f"- {words}: twice by hand\n" in write_datasheet(
        replace(SHEET, imports=[replace(item, declared=declared)])
    )


def test_of_a_run_that_was_read_again_only_how_it_stands_now_is_told() -> None:
    figures = {"rank_contradictions": {"queries": 1, "results": 12}}
    at = datetime(2026, 1, 2, tzinfo=UTC)
    by_score, by_rank = (
        ImportRecord(
            kind="run", path="r.txt", system="s", imported_at=at, figures=figures, options={"order": order}
        )
        for order in ("score", "rank")
    )
    assert [run.remarks for run in list_runs([by_score, by_rank])] == [
        ("its ranks contradict its scores for 12 results of 1 query; it was read by rank",)
    ]
    assert list_runs([by_score, replace(by_score, figures={})]) == []
