"""Read rules of suggestions, check relations against them, follow the relations, and measure the rules.

A rule file is YAML: `rules: [{relation, follow, grade, name}]`; `rules/` has the shipped templates. Refused
with file and line: a rule for a relation that the file does not have, a grade outside 0-3, the same rule
twice, a relation from a document to itself, unknown documents, and a circle of a relation that is followed to
siblings.
"""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Literal

from annotator.domain.errors import Problems, ValidationError
from annotator.domain.grades import GRADES, RELEVANT_FROM
from annotator.domain.messages import say
from annotator.formats.input_tables import RelationLine
from annotator.formats.syntax.source import read_regular
from annotator.formats.syntax.text import describe
from annotator.formats.syntax.tree import TreeProblems
from annotator.formats.syntax.yaml_text import load_yaml, resolve

Follow = Literal["forward", "backward", "both", "siblings"]
FOLLOWS: tuple[Follow, ...] = ("forward", "backward", "both", "siblings")
SETTLED_AT = 3
"""The settled grade from which relations are followed."""


@dataclass(frozen=True, slots=True)
class SuggestionRule:
    """One rule of a file: from a document settled at grade 3, suggest the documents at the end of this relation."""

    name: str
    relation: str
    follow: Follow
    grade: int


@dataclass(frozen=True, slots=True)
class RelationSuggestion:
    """A document that a rule suggests for a query, and the documents at grade 3 where the relation starts."""

    query_id: str
    doc_id: str
    rule: str
    relation: str
    grade: int
    from_doc_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RuleCounts:
    """The pairs that one rule suggests: `pairs` = `new` + `waiting` + `judged_before` + `suggested_before`."""

    rule: str
    relation: str
    grade: int
    pairs: int
    new: int  # not in the pool before
    waiting: int  # in the pool and unjudged: they get the suggestion
    judged_before: int  # judged or settled without this suggestion: they get none
    suggested_before: int  # they already have this suggestion of this rule
    settled_before: int  # of `judged_before`, with a settled grade: they show how good the rule is
    exact_before: int  # of `settled_before`, settled at the suggested grade
    relevant_before: int  # of `settled_before`, settled as relevant (grade 1 or higher)


@dataclass(frozen=True, slots=True)
class SuggestReport:
    """The result of `annotator suggest`. With `dry_run` nothing was stored.

    `queries`: those with a document settled at grade 3. `new_pairs`, `suggestions`: the stored numbers, or
    those that would be stored. `queries_widened`: those with a new pair. `unused_relations`: {relation that
    no rule follows: its count}.
    """

    dataset: str
    dry_run: bool
    relations: int
    queries: int
    settled_documents: int
    new_pairs: int
    queries_widened: int
    suggestions: int
    rules: tuple[RuleCounts, ...]
    unused_relations: Mapping[str, int]
    unknown_documents: int  # documents of the file that the dataset lacks, skipped on request
    outdated: int  # stored suggestions without a starting document at grade 3 today
    round: int | None  # the number of the round with the new pairs; None without any


@dataclass(frozen=True, slots=True)
class MeasuredShare:
    """A count, its share (None of 0), and the exact 95 % interval. Pairs count as independent."""

    count: int
    of: int
    share: float | None
    ci95: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class RuleAccuracy:
    """How often one rule was right at one suggested grade."""

    rule: str
    relation: str
    grade: int
    suggested: int
    open: int  # not settled yet
    unrateable: int
    settled_at: Mapping[int, int]  # settled pairs by grade, for every grade
    exact: MeasuredShare  # settled at the suggested grade
    relevant: MeasuredShare  # settled as relevant (grade 1 or higher)
    outdated: int  # suggestions without a starting document at grade 3 today


@dataclass(frozen=True, slots=True)
class SuggestedPair:
    """A pair with a suggestion. `pair`: its id in the app. `settled`: its settled grade, or None."""

    pair: str
    query_id: str
    doc_id: str
    rule: str
    grade: int
    status: str
    settled: int | None
    from_doc_ids: tuple[str, ...]
    outdated: bool


@dataclass(frozen=True, slots=True)
class SuggestionReport:
    """How often suggestions were right. `hidden`: those for pairs that the reader must still judge; only `rules` count them."""

    dataset: str
    rules: tuple[RuleAccuracy, ...]
    pairs: tuple[SuggestedPair, ...]
    hidden: int


TEMPLATES = Path(__file__).parent / "rules"
KEYS = ("relation", "follow", "grade", "name")
MOST_SUGGESTIONS = 1_000_000
SHOWN = 5  # documents of a circle that an error names


def read_template(name: str) -> str:
    """Return the text of a shipped rule file. Raises ValidationError for an unknown name."""
    path = TEMPLATES / f"{name}.yaml"
    if name not in list_templates():
        raise ValidationError(
            say(
                "there are no rules {name!r}; there are: {names}",
                name=name,
                names=", ".join(list_templates()),
            )
        )
    return path.read_text(encoding="utf-8")


def list_templates() -> list[str]:
    """Return the names of the shipped rule files."""
    return sorted(path.stem for path in TEMPLATES.glob("*.yaml"))


def read_rules(source: str, relations: Iterable[str]) -> tuple[SuggestionRule, ...]:
    """Return the rules of the template of that name, or else of a file. `./law` always means a file.

    `relations`: the names of relations in their file. Raises BadInput with every bad line.
    """
    path = Path(source)
    if source in list_templates():
        data, shown = read_template(source).encode(), f"{source}.yaml"
    else:
        data, shown = read_regular(path), source
    tree = load_yaml(data, shown)
    problems = TreeProblems(tree)
    content = problems.mapping(tree.value, ())
    for key in content:
        if key != "rules":
            problems.add((key,), "rules, the only key of the file", key)
    listed = problems.list(content.get("rules"), ("rules",))
    if isinstance(content.get("rules"), list) and not listed:
        problems.add(("rules",), "at least one rule", "an empty list")
    names = sorted({name for name in relations if name})
    rules: list[SuggestionRule] = []
    for index, entry in enumerate(listed):
        rule = _read_rule(entry, index, names, problems)
        if rule is not None:
            _check_repeated(rule, rules, index, problems)
            rules.append(rule)
    problems.raise_if_any()
    return tuple(rules)


def _read_rule(
    entry: object, index: int, names: Sequence[str], problems: TreeProblems
) -> SuggestionRule | None:
    at = ("rules", index)
    earlier_problems = len(problems.errors)
    cells = problems.mapping(entry, at)
    if len(problems.errors) > earlier_problems:
        return None
    for key in cells:
        if key not in KEYS:
            problems.add((*at, key), f"one of {', '.join(KEYS)}", key)
    relation = str(cells.get("relation") or "")
    if relation not in names:
        expected = f"a relation of the file ({', '.join(names) or 'which names none'})"
        problems.add((*at, "relation") if "relation" in cells else at, expected, relation or "none")
    follow = str(cells.get("follow", "forward"))
    if follow not in FOLLOWS:
        problems.add((*at, "follow"), f"one of {', '.join(FOLLOWS)}", follow)
    grade = resolve(cells.get("grade"))
    if type(grade) is not int or grade not in GRADES:
        problems.add((*at, "grade") if "grade" in cells else at, "a grade 0-3", cells.get("grade"))
    if len(problems.errors) > earlier_problems:
        return None
    name = problems.text(cells["name"], (*at, "name")).strip() if "name" in cells else relation
    return SuggestionRule(name, relation, take_follow(follow), int(str(grade)))


def take_follow(word: str) -> Follow:
    """Return the way of following with this name, which must be one of FOLLOWS."""
    return next(follow for follow in FOLLOWS if follow == word)


def _check_repeated(
    rule: SuggestionRule, rules: Iterable[SuggestionRule], index: int, problems: TreeProblems
) -> None:
    for other in rules:
        ways = {other.follow, rule.follow}
        overlap = len(ways) == 1 or ("both" in ways and "siblings" not in ways)
        if other.relation == rule.relation and overlap:
            problems.add(("rules", index), f"each rule once ({other.relation}, {other.follow})", "it again")
        elif other.name == rule.name:
            problems.add(("rules", index), "a name of its own", rule.name)


def check_relations(
    lines: Sequence[RelationLine],
    rules: Iterable[SuggestionRule],
    doc_ids: Container[str],
    path: str,
    *,
    skip_unknown: bool,
) -> tuple[tuple[RelationLine, ...], int]:
    """Return the relations between documents of the dataset, and the number of unknown documents.

    `doc_ids`: the dataset's documents. Raises BadInput with every bad line; unknown documents are bad unless
    `skip_unknown`.
    """
    problems = Problems(path)
    kept: list[RelationLine] = []
    unknown: dict[str, None] = {}
    for line in lines:
        missing = [doc_id for doc_id in (line.start, line.end) if doc_id not in doc_ids]
        unknown.update(dict.fromkeys(missing))
        if not line.relation:
            problems.add(line.line, "a relation", "an empty cell")
        if line.start == line.end:
            problems.add(line.line, "a relation between two documents", f"{describe(line.start)} twice")
        for doc_id in () if skip_unknown else missing:
            problems.add(line.line, "a document of this dataset", doc_id)
        if not missing:
            kept.append(line)
    for relation in sorted({rule.relation for rule in rules if rule.follow == "siblings"}):
        _check_circles([line for line in lines if line.relation == relation], problems)
    problems.raise_if_any()
    return tuple(kept), len(unknown)


def _check_circles(lines: Sequence[RelationLine], problems: Problems) -> None:
    """Add a problem for a circle of these relations, at the first of its lines."""
    following: dict[str, dict[str, int]] = {}
    leading_to: dict[str, set[str]] = {}
    for line in lines:
        if line.start != line.end:
            following.setdefault(line.start, {}).setdefault(line.end, line.line)
            leading_to.setdefault(line.end, set()).add(line.start)
    open_ends = {doc_id: len(ends) for doc_id, ends in following.items()}
    ended = [doc_id for doc_id in leading_to if doc_id not in following]
    while ended:
        for start in leading_to.get(ended.pop(), ()):
            open_ends[start] -= 1
            if not open_ends[start]:
                del open_ends[start]
                ended.append(start)
    if not open_ends:
        return
    path = {next(iter(open_ends)): 0}  # each document with open ends leads to another one with open ends
    while True:
        end = next(end for end in following[next(reversed(path))] if end in open_ends)
        if end in path:
            break
        path[end] = len(path)
    circle = list(path)[path[end] :]
    circle_lines = [
        following[start][end] for start, end in zip(circle, [*circle[1:], circle[0]], strict=True)
    ]
    shown = [*circle[:SHOWN], *(["…"] if len(circle) > SHOWN else []), circle[0]]
    problems.add(min(circle_lines), f"{lines[0].relation} without a circle", " → ".join(shown))


def find_suggestions(
    settled: Mapping[str, Sequence[str]], lines: Iterable[RelationLine], rules: Sequence[SuggestionRule]
) -> list[RelationSuggestion]:
    """Return the suggestions of the rules, by query, rule and document.

    `settled`: the doc_ids settled at grade 3, by query_id. A document never leads to itself. If several rules
    suggest a document, there is one suggestion for each. ValidationError beyond MOST_SUGGESTIONS.
    """
    lines = tuple(lines)
    ways = [_make_way(lines, rule) for rule in rules]
    suggestions: list[RelationSuggestion] = []
    for query_id, starts in settled.items():
        for rule, follow in zip(rules, ways, strict=True):
            from_doc_ids: dict[str, dict[str, None]] = {}
            for start in starts:
                for end in follow(start):
                    from_doc_ids.setdefault(end, {})[start] = None
            suggestions += [
                RelationSuggestion(
                    query_id, doc_id, rule.name, rule.relation, rule.grade, tuple(sorted(starting))
                )
                for doc_id, starting in sorted(from_doc_ids.items())
            ]
            if len(suggestions) > MOST_SUGGESTIONS:
                raise ValidationError(
                    say(
                        "The relations lead to more than {most:,} suggestions. Follow fewer of them.",
                        most=MOST_SUGGESTIONS,
                    )
                )
    return suggestions


def _make_way(lines: Iterable[RelationLine], rule: SuggestionRule) -> Callable[[str], Iterable[str]]:
    """Return a function from a document to the documents that the rule leads to."""
    forward: dict[str, dict[str, None]] = {}
    backward: dict[str, dict[str, None]] = {}
    for line in lines:
        if line.relation == rule.relation:
            forward.setdefault(line.start, {})[line.end] = None
            backward.setdefault(line.end, {})[line.start] = None

    def list_siblings(start: str) -> Iterator[str]:
        """Yield what leads to the same; nothing is kept, since a million documents can lead to one."""
        for end in forward.get(start, ()):
            yield from (other for other in backward[end] if other != start)

    ways: Mapping[Follow, Callable[[str], Iterable[str]]] = {
        "forward": lambda start: forward.get(start, ()),
        "backward": lambda start: backward.get(start, ()),
        "both": lambda start: chain(forward.get(start, ()), backward.get(start, ())),
        "siblings": list_siblings,
    }
    return ways[rule.follow]


def count_unused(lines: Iterable[RelationLine], rules: Iterable[SuggestionRule]) -> dict[str, int]:
    """Return {relation that no rule follows: its count}."""
    followed = {rule.relation for rule in rules}
    counts = Counter(line.relation for line in lines if line.relation not in followed)
    return dict(sorted(counts.items()))


def measure_accuracy(pairs: Iterable[tuple[str, SuggestedPair]]) -> tuple[RuleAccuracy, ...]:
    """Return the figures of each rule and suggested grade. `pairs`: (relation of the rule, pair)."""
    groups: dict[tuple[str, str, int], list[SuggestedPair]] = {}
    for relation, pair in pairs:
        groups.setdefault((pair.rule, relation, pair.grade), []).append(pair)
    accuracies = []
    for (rule, relation, grade), members in sorted(groups.items()):
        by_grade = Counter(pair.settled for pair in members if pair.settled is not None)
        settled = by_grade.total()
        unrateable = sum(pair.status == "unrateable" for pair in members)
        relevant = sum(count for at, count in by_grade.items() if at >= RELEVANT_FROM)
        accuracies.append(
            RuleAccuracy(
                rule=rule,
                relation=relation,
                grade=grade,
                suggested=len(members),
                open=len(members) - settled - unrateable,
                unrateable=unrateable,
                settled_at={at: by_grade[at] for at in GRADES},
                exact=measure_share(by_grade[grade], settled),
                relevant=measure_share(relevant, settled),
                outdated=sum(pair.outdated for pair in members),
            )
        )
    return tuple(accuracies)


def measure_share(count: int, of: int) -> MeasuredShare:
    """Return a share with Clopper and Pearson's 95 % interval; both None if `of` is 0."""
    from annotator.agreement.intervals import exact_interval  # brings numpy

    if not of:
        return MeasuredShare(count, of, None, None)
    return MeasuredShare(count, of, count / of, exact_interval(count, of))
