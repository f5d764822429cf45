"""A judged dataset with one of everything that a release must tell apart, in several scripts."""

from annotator.storage.database import Database
from tests.integration.judged_world import NOW, JudgedWorld

EPOCH = NOW.replace(day=9)
NOT_DONE = {
    "kappa": "まだ半分 🙂",
    "overlap": "판정 중",
    "quality_control": "no sample was drawn",
    "unjudged_queries": "읽을 수 없다",
}  # fmt: skip  (what this world never meets: it is too small for a verdict on kappa)
WAIVED = {"disagreements": "later", **NOT_DONE}


class ReleaseWorld(JudgedWorld):
    """Three queries in ja, ko and en; two annotators and a lead; every status, every grade, grade 0 included."""

    def __init__(self, database: Database, *, simulated: bool = False, **settings: str) -> None:
        super().__init__(database, name="検索-법령", **settings)
        self.hanako = self.person("花子")
        self.minjun = self.person("민준", simulated=simulated)
        self.lead = self.person("editor", "lead")
        self.query(
            "Q1", "RESTful Webサービスの構成: yes #1", category="handler", language="ja", difficulty="easy",
            extra={"needs_a2a": False, "needs_rne": True},
        )  # fmt: skip
        self.query("Q2", '17조 "검색"\n', query_type="specific_article", primary_domain="도시계획")
        self.query("Q3", "no", language="en")
        for rank, doc_id in enumerate(["Q1/zero", "Q1/two", "Q1/three", "Q1/one"], 1):
            self.pair("Q1", doc_id, rank=rank, title=f"題 {doc_id}", text="本文")
        self.pair("Q2", "법률_제17조", rank=3, title="제17조", law_type="법률")
        self.pair("Q2", "e\u0301🎯", rank=1)
        self.pair("Q2", "é", rank=2)
        self.pair("Q3", "مستند", rank=1)
        self.pair("Q3", "unjudged")
        both = [("Q1/zero", 0), ("Q1/two", 2), ("Q1/three", 3), ("Q1/one", 1)]
        for doc_id, grade in both:
            self.judge(self.hanako, "Q1", doc_id, grade, note='"引用", and\nnew line' if grade == 3 else None)
            self.judge(self.minjun, "Q1", doc_id, grade, note="메모" if grade == 3 else None)
        self.judge(self.hanako, "Q2", "법률_제17조", 3)
        self.judge(self.minjun, "Q2", "법률_제17조", 1)
        self.judge(self.hanako, "Q2", "e\u0301🎯", 2, note="single")
        self.judge(self.minjun, "Q3", "مستند", None, note="읽을 수 없음")
        self.judge(self.hanako, "Q3", "مستند", None)
