"""X0d: the time of one-pass k-means over k and the number of records (thesis, figure 4.1)."""

from __future__ import annotations

import time

import shoal
from experiments.pages import FOLDER, filled, lines, tabled
from experiments.x0b import QUASI

SIZES, RECORDS = (2, 5, 10, 20, 50), (2000, 4000, 8000, 16000)


def seconds(records: int, k: int) -> float:
    """Seconds of the processor for the search alone, the least of three."""
    from shoal.core.policy import Policy
    from shoal.core.run import Run

    data = shoal.read(shoal.samples.adult().select(QUASI).head(records), quasi=QUASI)
    policy, method = Policy(models=(shoal.KAnonymity(k=k),), seed=1), shoal.algorithms.Oka()
    assert len(data.summary)
    times = []
    for _ in range(3):
        began = time.process_time()
        method.search(data, policy, Run())
        times.append(time.process_time() - began)
    return min(times)


def main() -> None:
    seconds(500, 5)  # compiles
    found = {(records, k): seconds(records, k) for records in RECORDS for k in SIZES}
    rows = [[f"{records:,}", *(f"{found[records, k]:.2f}" for k in SIZES)] for records in RECORDS]
    text = "Seconds of processor time for the search.\n\n" + tabled(["records", *(f"k = {k}" for k in SIZES)], rows)
    filled("x0d", text)
    shown = [{"k": k, "seconds": spent, "records": f"{records:,} records"} for (records, k), spent in found.items()]
    titles = {"k": "k (least records in a class)", "seconds": "seconds of processor time"}
    lines(shown, FOLDER / "x0d.svg", x="k", y="seconds", by="records", titles=titles, log=("k", "seconds"))


if __name__ == "__main__":
    main()
