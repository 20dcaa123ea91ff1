"""X0b: the balance on 1,000 records of Adult with all columns and five quasi-identifiers (thesis, experiment 2)."""

from experiments.balances import report, swept

QUASI = ("age", "workclass", "education", "race", "native-country")

if __name__ == "__main__":
    report(
        "x0b",
        swept(1000, None, QUASI, range(2, 21)),
        "**Thesis:** the curves cross between k = 11 and 12 at about 52 %.",
    )
