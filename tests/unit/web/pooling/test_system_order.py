"""The order that an adaptive round has kept is read again, also what earlier versions kept."""

from dataclasses import asdict

from annotator.pooling.rounds.pool_records import ExpectedScore, OpenSystems, SystemOrder
from annotator.web.pooling.round_preview import read_order

ORDER = SystemOrder(
    measure="nDCG@10",
    judged=12,
    systems=(ExpectedScore("bm25", 0.5), ExpectedScore("dense", 0.4)),
    open=(OpenSystems("bm25", "dense", 0.1, 0.2),),
    compared=1,
)


def test_a_kept_order_is_read_as_it_was() -> None:
    assert read_order({"order": asdict(ORDER)}) == ORDER
    assert read_order({"new": 3}) is None


def test_errors_and_tau_that_earlier_versions_kept_are_not_read() -> None:
    kept = asdict(ORDER) | {"expected_tau": 0.97}
    kept["systems"] = [item | {"standard_error": 0.01} for item in kept["systems"]]
    kept["open"] = [item | {"standard_error": 0.02} for item in kept["open"]]
    assert read_order({"order": kept}) == ORDER
