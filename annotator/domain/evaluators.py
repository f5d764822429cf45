"""Name the evaluators that a dataset can be for; `evaluation/profiles/` has what each of them computes."""

PROFILE_NAMES: tuple[str, ...] = ("trec", "nablarch", "law", "survey", "code", "document")
