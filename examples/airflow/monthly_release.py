"""An Airflow DAG: once a month a table is anonymized, checked and verified. A task that finds anybody exposed fails.

The rows stay in files that the workers share; tasks hand over paths, so that no cell gets into Airflow's database or
logs.
"""

from datetime import datetime
from typing import Any

from airflow.sdk import dag, task

QUASI = ["age", "sex", "town"]


@dag(
    schedule="@monthly",
    start_date=datetime(2026, 1, 1),
    catchup=False,
    params={"table": "visits.csv", "release": "release.csv"},
)
def monthly_release() -> None:
    @task
    def anonymize(params: dict[str, Any] | None = None) -> str:
        import shoal

        assert params is not None
        data = shoal.read(params["table"], quasi=QUASI, sensitive=["disease"], identifiers=["name"])
        release = shoal.anonymize(data, "k-anonymity:k=5", "distinct-l-diversity:l=2", suppression=0.05)
        release.write(params["release"])
        return str(params["release"])

    @task
    def check(path: str) -> str:
        from shoal.testing import assert_k_anonymous, assert_l_diverse

        assert_k_anonymous(path, QUASI, k=5)
        assert_l_diverse(path, QUASI, "disease", l=2)
        return path

    @task
    def verify(path: str) -> None:
        import shoal

        findings = shoal.verify(path)
        if not findings.holds:
            broken = ", ".join(finding.name for finding in findings if finding.holds is False)
            raise ValueError(f"the release does not keep what its manifest says: {broken}")

    verify(check(anonymize()))


monthly_release()
