"""Name the evaluators of datasets. `evaluation/profiles.py` has their measures."""

PROFILE_NAMES: tuple[str, ...] = ("trec", "nablarch", "law", "survey", "code", "document")
