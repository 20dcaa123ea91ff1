"""X0a: the balance on 1,000 records of Adult with six columns and four quasi-identifiers (thesis, experiment 1)."""

from experiments.balances import report, swept

COLUMNS = ("age", "education", "marital-status", "occupation", "race", "native-country")
QUASI = ("age", "education", "race", "native-country")

if __name__ == "__main__":
    report(
        "x0a",
        swept(1000, COLUMNS, QUASI, range(2, 21)),
        "**Thesis:** 84.68 % correctly classified at k = 3; the curves cross between k = 8 and 9 at about 60 %.",
    )
