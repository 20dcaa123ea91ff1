"""X0c: as X0b, on 3,000 records (thesis, experiment 3)."""

from experiments.balances import report, swept
from experiments.x0b import QUASI

if __name__ == "__main__":
    report(
        "x0c",
        swept(3000, None, QUASI, (5, 8, 10, 11, 12, 15, 20)),
        "**Thesis:** the curves cross between k = 10 and 11 at about 50 %.",
    )
