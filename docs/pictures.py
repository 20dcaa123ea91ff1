"""Draws the pictures of the pages with the library itself: `python docs/pictures.py`."""

from __future__ import annotations

from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory

import shoal
from shoal.plots import attack, balance, comparison, diagnosis, exposure, lattice, loss, marginals, release, suda
from shoal.plots.drawing import save

IMAGES = Path(__file__).parent / "images"
ADULT = ("age", "workclass", "education", "marital-status", "race", "sex", "native-country", "salary-class")


def adult(*quasi: str) -> shoal.Dataset:
    """The sample with these quasi-identifiers and nothing beside them but the occupation."""
    table = shoal.samples.adult().select(*quasi, "occupation")
    return shoal.read(
        table,
        quasi=quasi,
        sensitive=["occupation"],
        hierarchies=shoal.samples.hierarchies("adult"),
    )


def draw(folder: Path = IMAGES) -> list[Path]:
    """Every picture, written into the folder."""
    whole, few = adult(*ADULT), adult("age", "workclass", "education", "sex", "race")
    local = shoal.anonymize(whole, shoal.KAnonymity(k=5), algorithm="mondrian:numeric=interval", seed=1)
    admissions = shoal.read(
        shoal.samples.admissions(),
        quasi=["birth_date", "sex", "zip", "admitted"],
        sensitive=["diagnosis"],
        identifiers=["first_name", "last_name"],
        person="patient_id",
    )
    visits = shoal.anonymize(admissions, shoal.KAnonymity(k=5), shoal.DistinctLDiversity(l=3), seed=1)
    many = shoal.samples.adult().drop("fnlwgt", "education-num")
    small = adult("workclass", "race", "sex")
    levels = shoal.anonymize(small, shoal.KAnonymity(k=50), algorithm="samarati", suppression=0.01, seed=1)
    compared = shoal.compare(
        few,
        k=[2, 5, 10, 20, 50],
        algorithms=["mondrian", "mondrian:numeric=interval", "k-member"],
        metrics=["gcp", "c-avg"],
        seed=1,
    )
    people = shoal.read(
        shoal.samples.adult().sample(1000, seed=1).drop("fnlwgt", "education-num"),
        quasi=["age", "workclass", "education", "race", "native-country"],
        hierarchies=shoal.samples.hierarchies("adult"),
    )
    swept = shoal.balance(
        people, target="native-country", k=range(2, 41, 6), algorithm="oka:numeric=mean", seeds=2, seed=1
    )
    kinds = ["oka", "mondrian", "k-member"]
    crossed = shoal.balance(
        people, k=[2, 3, 5, 10, 20, 40], algorithm=kinds, utility="gcp", privacy="average-risk", seed=1
    )
    balance.curves(swept, folder / "balance.svg")
    balance.trade_off(crossed, folder / "plane.svg")
    return [
        folder / "balance.svg",
        folder / "plane.svg",
        release.picture(whole, local, folder / "adult-exposure.svg"),
        release.picture(admissions, visits, folder / "admissions-classes.svg"),
        diagnosis.picture(shoal.ask(shoal.read(many, quasi=many.columns), k=5), folder / "many-columns.svg"),
        diagnosis.picture(shoal.ask(few, k=5), folder / "borders.svg"),
        diagnosis.picture(shoal.ask(few, attributes=["age", "sex"], delta="ask"), folder / "curve.svg"),
        lattice.lattice(small.hierarchies, levels.recoding, folder / "lattice.svg"),
        comparison.picture(compared, folder / "comparison.svg"),
    ]


def gallery(folder: Path = IMAGES) -> list[Path]:
    """Pictures that only the gallery shows."""
    data = adult("age", "workclass", "education", "sex", "race")
    made = shoal.anonymize(data, shoal.KAnonymity(k=5), seed=1, repeatable=True)
    charts = {
        "risk": exposure.risk(made.classes),
        "loss": loss.loss(shoal.columns(data, made)),
        "marginal": marginals.marginal(data, made, "education"),
        "suda": suda.contributions(shoal.suda(data, largest=3)),
        "attacks": attack.attacks(list(shoal.attack(data, made))),
    }
    for name, chart in charts.items():
        save(chart, folder / f"plot-{name}.svg")
    return [folder / f"plot-{name}.svg" for name in charts]


def first_page(folder: Path = IMAGES) -> Path:
    """The first page of a report, as a browser shows it."""
    from playwright.sync_api import sync_playwright

    data = adult("age", "sex", "race", "native-country")
    with TemporaryDirectory() as made, sync_playwright() as playwright:
        place = Path(made) / "release.csv"
        shoal.anonymize(data, shoal.KAnonymity(k=11), algorithm="mondrian", seed=1).write(place)
        told = {"recipient": "the labour institute", "purpose": "a study of occupations", "author": "A. Officer"}
        (page,) = shoal.report(data, place, **told, date="2026-05-17").write(Path(made) / "report.html")
        chromium = which("chromium-headless-shell") or which("chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        opened = browser.new_page(viewport={"width": 840, "height": 1180})
        opened.goto(page.as_uri())
        opened.screenshot(path=folder / "report.png")
        browser.close()
    return folder / "report.png"


if __name__ == "__main__":
    for path in (*draw(), *gallery(), first_page()):
        print(path.name)
