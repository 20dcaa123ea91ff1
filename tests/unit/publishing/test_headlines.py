"""The sentence that leads says what the findings say."""

from __future__ import annotations

from shoal import job
from shoal.core.finding import Finding, Findings
from shoal.core.formatting import percent
from shoal.core.schema import Role
from shoal.publishing.columns import ReleasedColumn
from shoal.publishing.headlines import exposed, released

K = Finding(name="k", value=5, bound=5, holds=True, claim="5-anonymous", unit="records")


def lost(name: str, share: float) -> ReleasedColumn:
    return ReleasedColumn(name=name, role=Role.QUASI, shape="levels", lost=share)


def test_people_are_counted_where_they_are_known() -> None:
    found = Findings((K, Finding(name="people", value=2100, unit="people")))
    assert released(found, [], 8376, 8376) == "8,376 records of 2,100 people, 5-anonymous; nobody left out."
    k, below = Finding(name="k", value=1, bound=5, holds=False), Finding(name="people-below-k", value=21, holds=False)
    alone = Findings((k, Finding(name="unique-people", value=7), Finding(name="people", value=2100), below))
    assert exposed(alone, 8376, ["age"]) == (
        "7 of 2,100 people stand alone: nobody else has the same age; 21 (1 %) share theirs with fewer than 4 others; "
        "k is 1 and not 5."
    )
    unknown = Findings((K, Finding(name="people", value=None, how="not defined")))
    assert released(unknown, [], 10, 10) == "10 records, 5-anonymous; nobody left out."


def test_columns_are_named_by_what_they_lost() -> None:
    columns = [lost("sex", 0.0), lost("age", 0.86), lost("zip", 0.123), lost("race", 0.01), lost("town", 0.004)]
    said = released(Findings((K,)), columns, 10, 10)
    assert said.endswith("age lost 86 % of its detail, zip 12 %, race 1 %, town 0.4 %.")
    more = released(Findings((K,)), [*columns, lost("work", 0.002)], 10, 10)
    assert more.endswith("age lost 86 % of its detail, zip 12 %, race 1 %, 2 others 0.4 % or less.")
    assert released(Findings((K,)), [lost("sex", 0.0)], 10, 10).endswith("; no detail lost.")


def test_what_only_left_out_records_lost_is_no_detail_of_a_column() -> None:
    sample = [ReleasedColumn(name=name, role=Role.QUASI, shape="raw", lost=0.9, exact=1.0) for name in ("age", "sex")]
    assert released(Findings((K,)), sample, 10, 1).endswith("9 records left out (90 %); what is published is exact.")
    coarser = [*sample, lost("zip", 0.95)]
    assert released(Findings((K,)), coarser, 10, 1).endswith("zip lost 95 % of its detail, age 90 %, sex 90 %.")


def test_what_is_broken_is_said_and_not_claimed() -> None:
    broken = Finding(name="k", value=2, bound=5, holds=False, claim="5-anonymous", unit="records")
    said = released(Findings((broken,)), [], 10, 10)
    assert "not 5-anonymous (k is 2)" in said and "10 records;" in said
    unclaimed = Finding(name="k", value=2, unit="records")
    assert released(Findings((unclaimed,)), [], 10, 10).startswith("10 records, the smallest class has 2 records;")


def test_a_share_is_never_rounded_to_nothing_or_to_all() -> None:
    assert percent(1e-9) == "< 0.1 %" and percent(1 - 1e-9) == "> 99.9 %"
    assert (percent(0), percent(1), percent(0.0999), percent(0.995)) == ("0 %", "100 %", "10 %", "99.5 %")


def test_every_model_claims_something_in_words() -> None:
    for name in ("k-anonymity:k=3", "t-closeness:t=0.2", "recursive-l-diversity:c=2,l=3", "delta-disclosure:delta=1"):
        model = job.plugin("models", name)
        assert model.claim and "{" not in model.claim
