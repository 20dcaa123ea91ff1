"""What `benchmarks.commands` runs: command lines for every command, algorithm and attack.

A line is what stands after `shoal`, with the words of `WORDS` filled in; several commands are run one after the other
and measured together. Files are those of `_command_tables`, or what an earlier line wrote.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

WORDS = {
    "adult": {
        "left": "", "quasi": "sex,age,race,marital-status,education,native-country,workclass,salary-class",
        "some": "sex,race,education", "sex": "sex", "woman": "Female", "numbers": "age,fnlwgt,education-num,"
        "capital-gain,capital-loss,hours-per-week",
        "sliced": "age+race+marital-status+education+native-country+workclass+salary-class|sex+occupation|occupation",
    },
    "census": {
        "left": "--drop salary-class", "quasi": "gender,age,race,marital-status,education,country,work-class",
        "some": "gender,race,education", "sex": "gender", "woman": "Female", "numbers": "age,salary-class,income,hours",
        "sliced": "age+race+marital-status+education+country+work-class|gender+occupation|occupation",
    },
}  # fmt: skip
"""What the lines call by one name on both tables."""

SEED = "--seed 12345678901234567890123 --repeatable"
ROLES = "--quasi {quasi} --sensitive occupation {left} --hierarchies hierarchies"
SURVEY = (
    "survey.csv --quasi {quasi},region --sensitive occupation {left} --hierarchies hierarchies --household home "
    "--household-variables region --weight weight"
)
ANALYSIS = "--analysis 'count where age >= 40 and {sex} = {woman}'"
BESIDE = "table.csv mondrian.csv --hierarchies hierarchies"

GENERALIZING = (
    "optimal", "mondrian", "mondrian:refine=true", "auto", "samarati", "incognito", "datafly", "in-blocks",
    "cell-suppression", "two-phase", "oka", "k-member", "kaca", "r-gather", "mst", "mdav", "k-means", "simple-k-means",
    "coarsening", "kactus", "multiset", "dependency-safe:l=2",
)  # fmt: skip
DIVERSIFYING = (
    "m-invariance:m=3", "l-member", "bucket-clustering", "bucket-clustering:refine=true", "anatomy", "bucketization",
    "slicing", "overlapping-slicing:columns={sliced}",
)  # fmt: skip
PERTURBING = (
    "additive-noise", "multiplicative-noise", "random-projection", "rank-swapping", "resampling", "rotation",
    "rounding", "shuffling", "distortion", "microaggregation", "condensation", "top-bottom-coding",
)  # fmt: skip
CHANGING_CATEGORIES = ("sampling --suppression 0.9", "pram", "targeted-swapping:geography={sex}")

FROM_FILES = {
    "background-knowledge": "", "disclosure": "", "downcoding": "", "homogeneity": "", "prosecutor": "",
    "similarity": "", "skewness": "", "journalist": "--external register.csv", "marketer": "--external register.csv",
    "linkage": "--external register.csv", "membership": "--external register.csv --held-out held-out.csv",
    "population-uniqueness:fraction=0.1": "",
}  # fmt: skip
"""Attacks on a release that is read from its file, and what the attacker has beside it."""
WITH_EARLIER = ("complementary-release", "composition")
AS_MADE = {
    "household-linkage": "mondrian", "individual-risk": "mondrian", "log-linear:interactions=no": "mondrian",
    "unsorted-matching": "mondrian", "definetti": "mondrian", "minimality": "mondrian",
    "functional-dependency": "mondrian", "temporal-release": "mondrian", "probabilistic-linkage": "mondrian",
    "exact-linkage": "rank-swapping", "distance-linkage": "rank-swapping", "assignment-linkage": "rank-swapping",
    "linear-estimation": "additive-noise", "spectral-filtering": "additive-noise", "known-records": "rotation",
    "known-records:linked=false": "rotation", "known-records:linked=false,known=3": "additive-noise",
}  # fmt: skip
"""Attacks on a release as it was made, in Python, and how it was made."""


class Line(NamedTuple):
    """A row of the table: what is measured, and the commands that do it."""

    title: str
    commands: tuple[str, ...]
    tables: tuple[str, ...] = ("adult", "census")
    kind: str = "shoal"


def lines() -> Iterator[Line]:
    """In the order in which they need one another's files."""
    yield from _diagnosing()
    yield from _anonymizing()
    yield from _using()
    yield from _attacking()
    yield from _several_holders()


def _shoal(title: str, *commands: str, tables: tuple[str, ...] = ("adult", "census")) -> Line:
    return Line(title, commands, tables)


def _diagnosing() -> Iterator[Line]:
    yield _shoal("diagnose", f"diagnose table.csv {ROLES} --k 5 --json")
    yield _shoal("diagnose --all, every column", "diagnose table.csv --k 5 --all --json")
    for number in range(1, 13):
        asked = "--attributes {some} --k 5 --delta 0.02" if number % 2 else "--k 5 --delta 0.02"
        yield _shoal(f"diagnose --ask {number}", f"diagnose table.csv {ROLES} --ask {number} {asked} --json")
    yield _shoal("diagnose --k, all sets of columns", f"diagnose table.csv {ROLES} --k 5 --ask 3 --json")
    yield _shoal("diagnose --l, all sets", f"diagnose table.csv {ROLES} --notion entropy-l --l 3 --ask 3 --json")
    yield _shoal("diagnose --t, all sets", f"diagnose table.csv {ROLES} --t 0.2 --ask 3 --json")
    yield _shoal("diagnose --sql", f"diagnose table.csv {ROLES} --k 5 --sql duckdb --json")
    yield _shoal("diagnose --plot", f"diagnose table.csv {ROLES} --k 5 --plot exposure.svg --json")
    yield _shoal("diagnose --detect", "diagnose table.csv --detect --json")
    yield _shoal("diagnose --detect, 53 columns", "diagnose wide.csv --detect --json", tables=("adult",))
    yield _shoal("diagnose --dependencies", "diagnose table.csv --dependencies --json")
    yield _shoal("diagnose --dependencies --tolerance", "diagnose table.csv --dependencies --tolerance 0.01 --json")
    yield _shoal("diagnose --dependencies --support", "diagnose table.csv --dependencies --support 0.1 --json")
    yield _shoal("diagnose --suda", f"diagnose table.csv {ROLES} --suda --json")
    yield _shoal("diagnose, weights and households", f"diagnose {SURVEY} --k 5 --json")
    yield _shoal("diagnose --suda, weights", f"diagnose {SURVEY} --suda --json")
    yield _shoal("scan", "scan table.csv --json")
    yield _shoal(
        "hierarchy intervals", "hierarchy table.csv --column age --builder intervals:width=5 -o age.csv --json"
    )
    yield _shoal("hierarchy automatic", "hierarchy table.csv --column age --builder automatic -o automatic.csv --json")


def _anonymizing() -> Iterator[Line]:
    yield _shoal("keys new", "keys new holder.pem --json")
    yield _shoal("keys show", "keys show holder.pem.pub --json")
    k, diverse = "--k 5 --suppression 0.02", "--model frequency-l-diversity:l=3 --suppression 0.02"
    for name in GENERALIZING:
        also = "--sign holder.pem --ledger people.ledger" if name == "mondrian" else ""
        share = k.replace("0.02", "0.1") if name.startswith("dependency-safe") else k  # whose twins are left out
        yield _shoal(
            f"anonymize, {name}",
            f"anonymize table.csv -o {_file(name)} {ROLES} {share} --algorithm {name} {SEED} {also} --json",
        )
    for name in DIVERSIFYING:
        yield _shoal(
            f"anonymize, {name.partition(':columns')[0]}",
            f"anonymize table.csv -o {_file(name)} {ROLES} {diverse} --algorithm {name} {SEED} --json",
        )
    for name in PERTURBING:
        yield _shoal(
            f"anonymize, {name}",
            f"anonymize numbers.csv -o {_file(name)} --quasi {{numbers}} --algorithm {name} {SEED} --json",
        )
    for name in CHANGING_CATEGORIES:
        yield _shoal(
            f"anonymize, {name.partition(':')[0].split()[0]}",
            f"anonymize table.csv -o {_file(name.split()[0])} {ROLES} --algorithm {name} {SEED} --json",
        )
    yield _shoal(
        "anonymize, weights and households",
        f"anonymize {SURVEY} -o survey-release.csv {k} --algorithm mondrian --publish-weights means {SEED} --json",
    )
    yield _shoal(
        "anonymize --attack",
        f"anonymize table.csv -o attacked.csv {ROLES} {k} --algorithm mondrian --attack {SEED} --json",
    )
    yield _shoal(
        "anonymize, a second release in the ledger",
        f"anonymize table.csv -o second.csv {ROLES} --k 10 --suppression 0.02 --algorithm coarsening {SEED} "
        "--ledger people.ledger --json",
    )
    yield _shoal(
        "anonymize, half of the people",
        f"anonymize first.csv -o half.csv {ROLES} {k} --algorithm optimal {SEED} --save-recoding recoding.json --json",
    )
    # To all people: the other half alone would have groups that are too small.
    yield _shoal("apply, to all what half were recoded by", "apply recoding.json table.csv -o applied.csv --json")


def _file(name: str) -> str:
    return name.replace(":", "-").replace("=", "-").partition("-columns")[0] + ".csv"


def _using() -> Iterator[Line]:
    yield _shoal("verify", "verify mondrian.csv --key holder.pem.pub --json")
    yield _shoal("verify --sql", "verify mondrian.csv --sql duckdb --json")
    yield _shoal("verify --page", "verify --page page.html --json")
    yield _shoal("verify --engine duckdb", "verify mondrian.csv --engine duckdb --json")
    yield _shoal("evaluate, every measure", f"evaluate {BESIDE} --all --json")
    yield _shoal(
        "evaluate, a refined release", "evaluate table.csv mondrian-refine-true.csv --hierarchies hierarchies --json"
    )
    yield _shoal("evaluate, anatomy", "evaluate table.csv anatomy.csv --hierarchies hierarchies --json")
    yield _shoal("evaluate, additive noise", "evaluate numbers.csv additive-noise.csv --json")
    yield _shoal(
        "evaluate --analysis",
        f"evaluate {BESIDE} --metrics gcp {ANALYSIS} --analysis 'mean(age) where race = White' --json",
    )
    for learner in ("decision-stump", "c45", "naive-bayes"):
        yield _shoal(
            f"evaluate --learner {learner}",
            f"evaluate {BESIDE} --metrics gcp --target occupation --learner {learner} --json",
        )
    yield _shoal(
        "query", 'query mondrian.csv --where "{sex} = {woman}" --where "age <= 40" --hierarchies hierarchies --json'
    )
    yield _shoal(
        "query --mean", 'query mondrian.csv --mean age --where "{sex} = {woman}" --hierarchies hierarchies --json'
    )
    yield _shoal(
        "report, HTML and JSON",
        f"report {BESIDE} -o report.html -o report.json --plot risk=risk.svg --plot attacks=attacks.svg "
        "--plot loss=loss.svg --plot classes=classes.svg --json",
    )
    yield _shoal("report --quick", f"report {BESIDE} -o quick.html --quick --json")
    yield _shoal(
        "report --holder, with other tables",
        f"report {BESIDE} -o holder.html --holder --external register.csv --held-out held-out.csv --json",
    )
    yield _shoal("codebook", "codebook mondrian.csv -o codebook.html -o codebook.xml -o codebook.json --json")
    yield _shoal(
        "compare, two algorithms, three k",
        f"compare table.csv {ROLES} --k 2,5,20 --algorithm mondrian --algorithm optimal --seed 1 -o compare.csv "
        "--plot compare.svg --json",
    )
    yield _shoal("compare, default algorithms", f"compare table.csv {ROLES} --k 5 --seed 1 --json")
    yield _shoal(
        "balance, 7 k",
        f"balance table.csv {ROLES} --sweep k=2..20..3 --algorithm mondrian --utility gcp --privacy highest-risk "
        "--seed 1 -o balance.json --plot balance.svg --plane plane.svg --json",
    )
    yield _shoal(
        "balance --target, 3 k",
        f"balance table.csv {ROLES} --sweep k=2..20..9 --algorithm mondrian --target occupation --seed 1 --json",
    )
    yield _shoal(
        "balance, declared analyses, every form",
        f"balance table.csv {ROLES} --model k-anonymity:k=5 --seed 1 {ANALYSIS} --json",
    )
    yield _shoal("ledger list", "ledger list people.ledger --json")
    yield _shoal("ledger check", "ledger check people.ledger --json")
    yield _shoal("ledger export", "ledger export people.ledger -o entries.json --json")
    yield _shoal("recover", "recover . --json")
    yield _shoal("schema", "schema attack", tables=("adult",))
    yield _shoal("demo", "demo -o demo --json", tables=("adult",))
    yield Line("serve, until the page answers", ("serve table.csv --no-browser --port {port}",), kind="serve")


def _attacking() -> Iterator[Line]:
    yield _shoal(
        "attack, every one that applies",
        f"attack {BESIDE} --external register.csv --held-out held-out.csv --plot attack.svg --json",
    )
    for name, also in FROM_FILES.items():
        yield _shoal(f"attack, {name}", f"attack {BESIDE} --attack {name} {also} --json")
    for name in WITH_EARLIER:
        yield _shoal(
            f"attack, {name}",
            f"attack table.csv optimal.csv --hierarchies hierarchies --earlier samarati.csv --attack {name} --json",
        )
    for name, made in AS_MADE.items():
        yield Line(f"attack, {name} ({made})", (f"{name} {made}",), kind="python")


def _several_holders() -> Iterator[Line]:
    for size, title in (("", "who"), ("--size-only", "how many")):
        file = "size" if size else "who"
        yield _shoal(
            f"overlap start, {title}",
            f"overlap start ours.csv --column patient {size} -o {file}.ask --state {file}.state --json",
        )
        yield _shoal(
            f"overlap answer, {title}",
            f"overlap answer theirs.csv {file}.ask --column patient {size} -o {file}.answer --json",
        )
        yield _shoal(
            f"overlap finish, {title}",
            f"overlap finish ours.csv {file}.answer --column patient --state {file}.state -o {file}.csv --json"
            if not size
            else f"overlap finish ours.csv {file}.answer --column patient --state {file}.state --json",
        )
    yield Line(
        "overlap listen and ask",
        (
            "overlap listen theirs.csv --column patient --port {port} --json",
            "overlap ask ours.csv --column patient --port {port} -o shared.csv --json",
        ),
        kind="together",
    )
    yield _shoal("rules start", "rules start items.csv --holders 3 --fewest 10 --longest 1 -o turn-0.points --json")
    turns = [
        f"rules turn {holder}.csv turn-{at}.points --state {holder}.state -o turn-{at + 1}.points --json"
        for at, holder in enumerate(4 * ("one", "two", "three"))
    ]
    yield _shoal("rules turn, all twelve", *turns)
    yield _shoal("rules show", "rules show turn-12.points --json")
